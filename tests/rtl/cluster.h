// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Programs for all harts of a Snitch cluster.
#pragma once

#include <string>
#include <vector>

#include "support.h"

namespace rtl {

using Lines = std::vector<std::string>;

/// The cluster with eight compute cores.
[[nodiscard]] const Machine& snitch8();

/// One compute core, and assertions on: a broken one ends the model with a signal.
[[nodiscard]] const Machine& checked();

/// Builds a program in which every hart calls `all` (assembly that ends with ret) with its number
/// in a0; then hart 0 prints `words` words from `results` on, one a line. `data` comes after the
/// code.
[[nodiscard]] std::string buildCluster(const Folder& folder, const std::string& all, int words,
                                       const std::string& data = {});
/// Runs it on a machine and gives back what it printed; fails the test where it doesn't end well.
[[nodiscard]] Lines runCluster(const std::string& all, int words,
                               const Machine& machine = snitch8(), const std::string& data = {});

}  // namespace rtl
