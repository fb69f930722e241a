// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Where the cycles of a kernel go, on devices that are models of ours and count what happens at
/// each address (`--events FILE`, targets/rtl/README.md).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "target/target.h"

namespace dojo::tune {

/// Counts of one call of a kernel, over all harts.
struct Happened {
  double cycles = 0;                     ///< Of harts: two harts in one cycle are two.
  std::map<std::string, double> events;  ///< By the model's name of the event.
  Happened& operator+=(const Happened& other);
};

struct ProfiledLine {
  int line = 0;      ///< Of print(program); 0: what is around it, and the runner's services.
  std::string text;  ///< As printed.
  Happened own;      ///< What is inside of it not included.
  Happened all;      ///< With all that is inside.
};

struct Profile {
  double cycles = 0;  ///< From start to end, as measured, of the slowest hart.
  int harts = 1;
  std::vector<std::string> events;  ///< In the model's order.
  Happened total;
  std::vector<ProfiledLine> lines;  ///< Those where something happened, by line.
};

/// Runs a program on generated inputs until it's warm, and then once more. `runnerPath` as of
/// reach(). Errors: "profile.target" (its device counts nothing by address), "profile.events", and
/// those of compiling, loading and running.
[[nodiscard]] Result<Profile> profile(const target::Target& target, const std::string& runnerPath,
                                      const ir::Program& program, std::uint64_t seed);

}  // namespace dojo::tune
