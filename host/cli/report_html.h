// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A report as one page of HTML that needs nothing else: no network, no scripts. It is well-formed
/// XML too, and whatever a log says is shown as text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/report_data.h"

namespace dojo::cli {

/// `log`: the file's name as a command line takes it.
[[nodiscard]] std::string toHtml(const std::vector<ReportDevice>& devices, const std::string& log);

/// As text of an element or a quoted attribute; what isn't UTF-8 or can't stand in XML is replaced.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace dojo::cli
