// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text as a trace of moves: what is accepted reads back the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "moves/move.h"

using namespace dojo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<moves::Trace> trace = moves::parseTrace(text, "<text>");
  if (!trace.ok()) {
    DOJO_CHECK(trace.error().code == "move.syntax", trace.error().text());
    return 0;
  }
  const std::string printed = moves::toString(*trace);
  const Result<moves::Trace> again = moves::parseTrace(printed, "<text>");
  DOJO_CHECK(again.ok(), again.ok() ? "" : again.error().text() + "\n" + printed);
  DOJO_CHECK(*again == *trace, printed);
  return 0;
}
