// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/store/events.h"

#include <catch2/catch.hpp>

using namespace dojo::agent;

namespace {

std::string hexOf(const std::string& bytes) {
  static const char* const digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15U];
  }
  return out;
}

}  // namespace

TEST_CASE("agent: the checksum of events is Castagnoli's") {
  // RFC 3720, B.4, and the check value of the polynomial.
  CHECK(crc32c("123456789") == 0xe3069283U);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aaU);
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43U);
  CHECK(maskedCrc32c("") == 0xa282ead8U);
}

TEST_CASE("agent: a file of events begins as TensorBoard's do") {
  const std::string made = eventsHeader(0);
  // The length and its checksum are the same in every such file.
  CHECK(hexOf(made.substr(0, 12)) == "1800000000000000a37f4b22");
  CHECK(hexOf(made.substr(12, 11)) == "0900000000000000001a0d");
  CHECK(made.substr(23, 13) == "brain.Event:2");
  CHECK(made.size() == 12 + 24 + 4);
}

TEST_CASE("agent: scalars of a step, byte by byte") {
  const std::string made = scalarsEvent(1.0, 300, {{"loss", 0.5}});
  // 1: 1.0; 2: 300; 5: {1: {1: "loss", 2: 0.5}}
  CHECK(hexOf(made.substr(12, made.size() - 16)) ==
        "09000000000000f03f"
        "10ac02"
        "2a0d"
        "0a0b"
        "0a046c6f7373"
        "150000003f");
  CHECK(made.size() == 12 + 27 + 4);
}
