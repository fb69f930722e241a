// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The worked exchange of PROTOCOL.md is what both sides really say.
#include "protocol/protocol.h"

#include <fstream>
#include <map>
#include <sstream>

#include <catch2/catch.hpp>

#include "board.h"
#include "core/frame.h"
#include "transport/frame.h"
#include "transport/hello.h"

namespace dojo::transport {
namespace {

struct Line {
  char direction = ' ';
  std::string name;
  std::vector<std::byte> wire;
};

std::vector<Line> workedExchange() {
  std::ifstream file(DOJO_SOURCE_DIR "/runner/protocol/PROTOCOL.md");
  std::vector<Line> lines;
  bool here = false;
  for (std::string text; std::getline(file, text);) {
    here = here || text == "## A worked exchange";
    if (!here) continue;
    if (text.starts_with("> ") || text.starts_with("< ")) {
      lines.push_back({text[0], text.substr(2, text.find_first_of(":", 2) - 2), {}});
    } else if (text.starts_with("    ")) {
      REQUIRE_FALSE(lines.empty());
      std::istringstream words(text);
      for (std::string word; words >> word;) {
        lines.back().wire.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
      }
    }
  }
  return lines;
}

}  // namespace

TEST_CASE("Every frame of the worked exchange is whole and of the kind it's said to be") {
  const std::map<std::string, int> kinds = {
      {"HELLO", DOJO_HELLO},   {"INFO", DOJO_INFO}, {"PING", DOJO_PING}, {"OK", DOJO_OK},
      {"FILL", DOJO_FILL},     {"CALL", DOJO_CALL}, {"ACK", DOJO_ACK},   {"STARTED", DOJO_STARTED},
      {"SAMPLE", DOJO_SAMPLE}, {"DONE", DOJO_DONE}};
  const std::vector<Line> lines = workedExchange();
  REQUIRE(lines.size() == 12);
  for (const Line& line : lines) {
    INFO(line.direction << " " << line.name);
    Decoder decoder;
    decoder.feed(line.wire);
    const auto frame = decoder.next();
    REQUIRE(frame);
    REQUIRE(kinds.contains(line.name));
    CHECK(frame->kind == kinds.at(line.name));
    CHECK((frame->kind < DOJO_INFO) == (line.direction == '>'));
    CHECK(encode(*frame) == line.wire);
    std::size_t taken = 0;
    for (const std::byte byte : line.wire) {
      taken = std::max(taken, dojo_frame_take(std::to_integer<std::uint8_t>(byte)));
    }
    CHECK(taken == frame->body.size() + DOJO_HEAD_BYTES);
    if (line.name == "CALL") CHECK(frame->body.size() == DOJO_CALL_BYTES);
    if (line.name == "DONE") CHECK(frame->body.size() == DOJO_DONE_BYTES);
    if (line.name == "INFO") {
      auto hello = parseHello(frame->body);
      REQUIRE(hello);
      CHECK(hello->port == "board");
      CHECK(hello->largestFrame == 192);
      CHECK(hello->chainCycles == 30720);
    }
  }
}

TEST_CASE("The core answers the worked PING as it's written") {
  const std::vector<Line> lines = workedExchange();
  Board& board = Board::get();
  board.start();
  board.toBoard(lines.at(0).wire);
  std::vector<std::byte> got;
  for (int i = 0; i < 100 && (got.size() < 2 || got.back() != std::byte{0}); ++i) {
    for (const std::byte byte : board.fromBoard(0.05)) got.push_back(byte);
  }
  Decoder decoder;
  decoder.feed(got);
  REQUIRE(decoder.next());
  board.toBoard(lines.at(2).wire);
  got.clear();
  for (int i = 0; i < 100 && got.size() < lines.at(3).wire.size(); ++i) {
    for (const std::byte byte : board.fromBoard(0.05)) got.push_back(byte);
  }
  CHECK(got == lines.at(3).wire);
  board.stop();
}

}  // namespace dojo::transport
