// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The oracle: executes a program directly, independent of the code generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/bounded.h"
#include "ir/program.h"

namespace dojo::ir {

/// The bytes of one argument in the storage layout of its buffer (native byte order).
struct Tensor {
  DType dtype = DType::f32;
  std::vector<std::byte> bytes;
  bool operator==(const Tensor&) const = default;
};
[[nodiscard]] double loadAsDouble(const Tensor& tensor, std::int64_t element);
[[nodiscard]] std::int64_t loadAsInteger(const Tensor& tensor, std::int64_t element);
/// Rounds to nearest even / wraps into the dtype.
void store(Tensor& tensor, std::int64_t element, double value);
void store(Tensor& tensor, std::int64_t element, std::int64_t value);
/// How far an element is off over what its reference allows (bounded.h).
[[nodiscard]] double excess(const Bounded& want, const Tensor& got, std::int64_t element);
[[nodiscard]] Tensor makeTensor(const Buffer& buffer);  ///< Zeroed.
/// What the caller of a packed argument does: the same values in the layout of another buffer for
/// the same array (that of the argument after moves, or before them); zero where that is padded.
[[nodiscard]] Tensor repack(const Tensor& tensor, const Buffer& from, const Buffer& to);
/// True for layouts of one packed argument: what repack() takes.
[[nodiscard]] bool packsSameArray(const Buffer& a, const Buffer& b);

struct InterpretOptions {
  /// Order of concurrent iterations: `parallel` interleaved leaf by leaf at random, `vector` lane
  /// by lane in lockstep for each leaf, private storage poisoned at each iteration.
  std::uint64_t seed = 1;
  /// Stops with "interpret.budget" past this many leaf executions.
  std::int64_t budget = std::int64_t{1} << 40;
};

/// Runs `program` on `arguments` (one a non-tmp buffer, in order; outs are ignored on entry) in the
/// arithmetic of the dtypes (numeric.h). Returns all arguments after the run. Errors:
/// "interpret.bounds", "interpret.unwritten", "interpret.unwritten-out", "interpret.division",
/// "interpret.budget" with the line; "interpret.arguments", "interpret.value-range" with the
/// argument; "check.structure".
[[nodiscard]] Result<std::vector<Tensor>> interpret(const Program& program,
                                                    const std::vector<Tensor>& arguments,
                                                    const InterpretOptions& options = {});

/// The same in a finite ring where exp(a + b) = exp(a) exp(b), with fixed hash functions for the
/// other functions (interpret_field.h): equal results mean equal computations, no tolerance, but
/// for a chance of one in a million an element. Inputs are drawn from
/// `inputSeed`; integers and bools stay themselves. Returns one array an argument, in logical
/// order (for packed arguments that of the caller's array), empty for `in`.
[[nodiscard]] Result<std::vector<std::vector<std::uint64_t>>> interpretExact(
    const Program& program, std::uint64_t inputSeed, const InterpretOptions& options = {});

/// Runs in wider arithmetic (double for f32 and narrower, double-double for f64) and carries for
/// each value the error that allowed rewrites and roundings may cause (reference_estimate.h,
/// measuring.md): propagated error plus the rounding of each operation, (n+1) u sum|t| for a sum of
/// n terms in any order (nothing where no order needs rounding), the allowed ULPs of functions, the
/// smallest subnormal. Integers that no uncertain comparison or cast decides have bound 0. Returns
/// one array for each argument, empty for `in`, in storage order (unused elements have an infinite
/// bound). Expects a valid program (check.h), in which tmps that share storage may as well have
/// their own; of reads of unwritten elements it makes infinite bounds. Errors: as interpret(), but
/// for "interpret.unwritten*" and "interpret.budget".
[[nodiscard]] Result<std::vector<std::vector<Bounded>>> reference(
    const Program& program, const std::vector<Tensor>& arguments);

/// Inputs for a program: every `in` and `inout` filled from `seed`, index buffers within their
/// declared values, every float finite.
enum class InputSet : std::uint8_t {
  uniform,  ///< (-1, 1), no two alike
  exact,    ///< few quarters, mostly positive: sums of products need no rounding, so that the
            ///< reference has no error and nothing can hide in it, however long the sum
  wide,     ///< magnitudes over several binades, both signs
  awkward,  ///< mostly uniform, with signed zeros, subnormals and repeated extremes mixed in
  equal,    ///< all elements of a buffer equal
};
[[nodiscard]] std::string_view name(InputSet set);
[[nodiscard]] std::vector<Tensor> makeInputs(const Program& program, InputSet set,
                                             std::uint64_t seed);

}  // namespace dojo::ir
