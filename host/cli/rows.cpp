// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/rows.h"

namespace dojo::cli {

void addLogOption(CLI::App& command, std::string& file) {
  file = log::defaultPath();
  command.add_option("--log", file, "The log; $DOJO_LOG, else dojo.sqlite")->capture_default_str();
}

Result<log::Record> findRow(const log::Log& log, const std::string& text) {
  log::Filter filter;
  if (text.size() < 8 && text.find_first_not_of("0123456789") == std::string::npos &&
      !text.empty()) {
    filter.row = std::stoll(text);
  } else if (text.size() >= 8 && text.find_first_not_of("0123456789abcdef-") == std::string::npos) {
    filter.id = text;
  } else {
    return Error{
        "cli.usage",
        "'" + text + "' names no row: expected its number, or at least 8 digits of its uuid", "",
        ""};
  }
  filter.limit = 2;
  Result<std::vector<log::Record>> found = log.query(filter);
  if (!found.ok()) return found.error();
  if (found->size() == 1) return found->front();
  return Error{"log.row",
               found->empty() ? "the log has no row '" + text + "'"
                              : "several rows begin with '" + text + "'",
               "", ""};
}

}  // namespace dojo::cli
