// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The rows of a table of timing, as they stand in the files of host/bringup/timing: what each mark
/// means is told in snitch.S.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dojo::bringup {

struct TimingSource {
  std::string name;
  double cycles = 0;   ///< Of the reference.
  double allowed = 0;  ///< Difference.
  bool most = false;   ///< Fewer cycles are well, too.
  bool onDmaHart = false;
  int cold = 0;  ///< Lines of code; 0: the warm run counts.
  std::optional<int> gives;
  std::string prepare, body, after;
};

/// Texts of the folder by file name; made when the program is built.
[[nodiscard]] const std::map<std::string, std::string_view>& timingTexts();
/// Error "timing.rows": the line and what is wrong with it.
[[nodiscard]] Result<std::vector<TimingSource>> readTimingRows(std::string_view text);

}  // namespace dojo::bringup
