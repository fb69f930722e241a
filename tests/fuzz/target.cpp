// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Any bytes as a target's description: refused with a reason, or a target that makes sense.
#include "target/target.h"

#include <cstddef>
#include <cstdint>

#include "scratch.h"

using namespace dojo;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string file = fuzz::scratch() + "/fuzzed.json";
  fuzz::write(file, data, size);
  const Result<target::Target> read = target::load(file);
  if (!read.ok()) {
    const std::string& code = read.error().code;
    DOJO_CHECK(code.starts_with("target.") || code.starts_with("file."), read.error().text());
    DOJO_CHECK(!read.error().message.empty(), code);
    return 0;
  }
  DOJO_CHECK(!read->name.empty(), "a target without a name");
  DOJO_CHECK(read->harts >= 1, "a target without harts");
  DOJO_CHECK(read->vector.grouping >= 1, "grouping");
  for (const int bytes : {1, 2, 4, 8}) DOJO_CHECK(read->lanes(bytes) >= 1, "lanes");
  DOJO_CHECK(read->unrollLimit >= 1 && read->stackBytes >= 0, "limits");
  for (const target::Memory& memory : read->memories) {
    DOJO_CHECK(memory.origin + memory.length >= memory.origin, "a memory past the last address");
  }
  return 0;
}
