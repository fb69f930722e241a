// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Weights of the encoder as files.
#pragma once

#include <memory>
#include <string>

#include "agent/encoder/encoder.h"
#include "base/result.h"

namespace dojo::agent {

/// As f16; `madeBy`: the command that trained them.
[[nodiscard]] Status saveEncoder(const Encoder& encoder, const std::string& madeBy,
                                 const std::string& path);
/// Errors: those of Archive, "agent.shape".
[[nodiscard]] Result<std::unique_ptr<Encoder>> loadEncoder(const std::string& path);

}  // namespace dojo::agent
