// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the floating-point instructions of the Snitch cluster compute: F and D, the 16 and 8 bit
/// formats, packed SIMD on 64 bits (targets/rtl/snitch/ENCODINGS.md).
#pragma once

#include <cstdint>

#include "float.h"

namespace dojo::rtl {

/// The operands that an instruction takes beside its encoding.
struct FpOperands {
  std::uint64_t a = 0;  ///< rs1; the integer register where it reads one.
  std::uint64_t b = 0;  ///< rs2
  std::uint64_t c = 0;  ///< rs3, or rd where that is read.
};

/// The result of an instruction that the decoder let pass, as it goes into its register (integer
/// results in the low 32 bits). `frm` is fcsr.frm; `mode` the CSR FP mode: bit 0 takes the other
/// 16 and 8 bit formats for destinations, bit 1 for sources.
std::uint64_t computeFp(std::uint32_t instruction, unsigned frm, unsigned mode,
                        const FpOperands& operands, unsigned& flags);

}  // namespace dojo::rtl
