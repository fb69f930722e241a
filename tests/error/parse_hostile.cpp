// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text that nobody would write: an answer in linear time, never a crash.
#include <chrono>
#include <random>
#include <string>

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"

using namespace dojo;

namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;

/// Whatever is accepted must print to its own fixed point.
void parseSafely(const std::string& text) {
  const auto parsed = ir::parse(text);
  if (!parsed.ok()) {
    CHECK(parsed.error().code.starts_with("parse."));
    CHECK(parsed.error().where.starts_with("<text>"));
    CHECK_FALSE(parsed.error().message.empty());
    return;
  }
  const std::string printed = ir::print(parsed->program);
  const auto again = ir::parse(printed);
  INFO(printed);
  REQUIRE(again.ok());
  CHECK(again->program == parsed->program);
}

std::string repeat(const std::string& part, std::size_t times) {
  std::string out;
  out.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) out += part;
  return out;
}

std::string codeOf(const std::string& text) {
  const auto start = std::chrono::steady_clock::now();
  const auto parsed = ir::parse(text);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
  return parsed.ok() ? "ok" : parsed.error().code;
}

const std::string kHeader = "kernel k\nin x f32 [8]\nout y f32 [8]\n";

}  // namespace

TEST_CASE("every kernel cut at every byte") {
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    for (std::size_t size = 0; size <= kernel.text.size(); ++size) {
      parseSafely(std::string(kernel.text.substr(0, size)));
    }
  }
}

TEST_CASE("every kernel with a byte or a line changed, removed or doubled") {
  std::mt19937 random(11);
  const std::string alphabet = "|[]{}(),.:=+-*/<>&^~@#\n\r\t 0123456789eEabixyN_\x80\xff";
  for (const kernels::Kernel& kernel : kernels::list()) {
    INFO(kernel.name);
    for (int turn = 0; turn < 600; ++turn) {
      std::string text(kernel.text);
      for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
        const std::size_t at = random() % text.size();
        switch (random() % 5) {
          case 0:
            text[at] = alphabet[random() % alphabet.size()];
            break;
          case 1:
            text.erase(at, 1);
            break;
          case 2:
            text.insert(at, 1, alphabet[random() % alphabet.size()]);
            break;
          case 3: {  // a piece once more, somewhere
            const std::string piece = text.substr(at, random() % 20);
            text.insert(random() % text.size(), piece);
            break;
          }
          default: {  // a line less
            const std::size_t end = text.find('\n', at);
            text.erase(at, end == std::string::npos ? end : end - at + 1);
          }
        }
        if (text.empty()) text = "k";
      }
      INFO(text);
      parseSafely(text);
    }
  }
}

TEST_CASE("random bytes") {
  std::mt19937 random(5);
  for (int turn = 0; turn < 200; ++turn) {
    std::string text = turn % 2 == 0 ? "" : kHeader;
    for (unsigned i = 0; i < 1000; ++i) text += static_cast<char>(random());
    parseSafely(text);
  }
  CHECK(codeOf(std::string(kMega, '\0')) == "parse.character");
}

TEST_CASE("ten megabytes of brackets, of anything") {
  for (const char* part : {"[", "(", "{",  "|",  "]", "{0}", "-",   "~",  "exp(", "x[", "1",
                           "a", ",", "\n", "# ", ":", "..",  "0..", "\"", "1e",   "x["}) {
    INFO(part);
    const std::string much = repeat(part, 10 * kMega / std::string(part).size());
    CHECK(codeOf(much) != "ok");
    CHECK(codeOf(kHeader + much) != "ok");
    CHECK(codeOf(kHeader + "8\n| y[{0}] = " + much) != "ok");
    CHECK(codeOf(kHeader + "8\n| y[" + much) != "ok");
    CHECK(codeOf("kernel k\nparam N = " + much) != "ok");
    CHECK(codeOf("kernel k\nin x f32 [" + much) != "ok");
  }
}

TEST_CASE("long but right programs are read in linear time") {
  const std::string lines = repeat("y[0] = x[0] * 2 + 1\n", 200000);
  CHECK(codeOf(kHeader + lines) == "ok");
  CHECK(codeOf(repeat("# comment\n", kMega) + kHeader + "y[0] = 1\n") == "ok");
  CHECK(codeOf(kHeader + "y[0] = 1" + std::string(10 * kMega, ' ') + "\n") == "ok");
  std::string buffers = "kernel k\n";
  for (int i = 0; i < 100000; ++i) buffers += "in b" + std::to_string(i) + " f32 []\n";
  CHECK(codeOf(buffers + "out y f32 []\ny = b7\n") == "ok");
  CHECK(codeOf(buffers + "out y f32 []\ny = c\n") == "parse.unknown-name");
}

TEST_CASE("a hundred thousand tmps in one array, in a chain and all in one") {
  for (const bool chain : {false, true}) {
    std::string text = "kernel k\nout y f32 []\ntmp b0 f32 []\n";
    std::string lines = "b0 = 1\n";
    for (int i = 1; i < 100000; ++i) {
      const std::string name = "b" + std::to_string(i);
      text += "tmp " + name + " f32 [] shares b" + std::to_string(chain ? i - 1 : 0) + "\n";
      lines += name + " = 1\n";
    }
    CHECK(codeOf(text + lines + "y = b99999\n") == "ok");
    // Written the other way round, each is declared after what names it now.
    CHECK(codeOf(text + "b99999 = 1\n" + lines + "y = b99998\n") == "ok");
  }
}

TEST_CASE("nesting has a limit, ten thousand is past it") {
  const auto scopes = [](int depth) {
    std::string text = "kernel k\nout y f32 [1]\n";
    std::string bars;
    for (int i = 0; i < depth; ++i) {
      text += bars + "1\n";
      bars += "| ";
    }
    return text + bars + "y[0] = 1\n";
  };
  CHECK(codeOf(scopes(ir::kMaxDepth)) == "ok");
  CHECK(codeOf(scopes(ir::kMaxDepth + 1)) == "parse.depth");
  CHECK(codeOf(scopes(10000)) == "parse.depth");
  CHECK(codeOf(kHeader + repeat("| ", 10000) + "y[0] = 1\n") == "parse.depth");

  const auto brackets = [](std::size_t depth) {
    return kHeader + "y[0] = " + repeat("(", depth) + "x[0]" + repeat(")", depth) + "\n";
  };
  CHECK(codeOf(brackets(50)) == "ok");
  CHECK(codeOf(brackets(10000)) == "parse.depth");
  CHECK(codeOf(kHeader + "y[0] = " + repeat("-", 10000) + "x[0]\n") == "parse.depth");
  CHECK(codeOf(kHeader + "y[0] = " + repeat("exp(", 10000) + "1" + repeat(")", 10000) + "\n") ==
        "parse.depth");
  CHECK(codeOf(kHeader + "y[" + repeat("(", 10000) + "0" + repeat(")", 10000) + "] = 1\n") ==
        "parse.depth");
}

TEST_CASE("one line has a limited number of operations") {
  const auto sum = [](std::size_t terms) {
    return kHeader + "y[0] = x[0]" + repeat(" + x[0]", terms) + "\n";
  };
  CHECK(codeOf(sum(400)) == "ok");
  CHECK(codeOf(sum(2000)) == "parse.too-long");
  CHECK(codeOf(sum(kMega)) == "parse.too-long");
}
