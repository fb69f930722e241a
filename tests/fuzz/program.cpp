// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any text: what the parser accepts prints to its own fixed point, and the checker has an answer.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ir/check.h"
#include "ir/parse.h"
#include "ir/print.h"

using namespace dojo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<ir::Parsed> parsed = ir::parse(text);
  (void)ir::declaredParams(text, "<text>");
  if (!parsed.ok()) {
    DOJO_CHECK(parsed.error().code.starts_with("parse."), parsed.error().text());
    return 0;
  }
  const std::string printed = ir::print(parsed->program);
  const Result<ir::Parsed> again = ir::parse(printed);
  DOJO_CHECK(again.ok(), again.ok() ? "" : again.error().text());
  DOJO_CHECK(again->program == parsed->program, printed);
  DOJO_CHECK(ir::print(again->program) == printed, printed);
  (void)ir::printWithPlaces(parsed->program);
  const Status good = ir::check(parsed->program);
  DOJO_CHECK(good.ok() == ir::check(again->program).ok(), printed);
  if (!good.ok()) DOJO_CHECK(good.error().code.starts_with("check."), good.error().text());
  return 0;
}
