// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Golden files of moves: tests/golden/MOVE.txt holds cases of
///
///     == what the case shows
///     kernel ...
///     -- moves
///     split_scope @0 16
///     -- gives                      (or "-- refuses": then the code of the refusal)
///     kernel ...
///
/// With DOJO_GOLDEN=update in the environment the expectations are rewritten with what happened;
/// the reviewer reads the difference.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace dojo::test {

struct GoldenCase {
  std::string title;
  std::string program;
  std::string moves;
  std::string outcome;   ///< "gives" or "refuses".
  std::string expected;  ///< Program text, or the code of the refusal and a newline.
};

struct GoldenFile {
  std::string header;  ///< Lines before the first case.
  std::vector<GoldenCase> cases;
};

[[nodiscard]] Result<GoldenFile> parseGolden(const std::string& text);
[[nodiscard]] std::string toString(const GoldenFile& file);

}  // namespace dojo::test
