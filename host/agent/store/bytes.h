// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Numbers and texts as bytes, little-endian, and back from what may be cut anywhere.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dojo::agent {

/// Whole numbers without a sign.
template <class T>
void putNumber(std::string& out, T value) {
  for (std::size_t k = 0; k < sizeof(T); ++k) {
    out.push_back(static_cast<char>(value >> (8 * k) & 255U));
  }
}

inline void putText(std::string& out, std::string_view text) {
  putNumber(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

inline void putReal(std::string& out, double value) {
  putNumber(out, std::bit_cast<std::uint64_t>(value));
}

/// Reads what may end anywhere.
class ByteReader {
 public:
  explicit ByteReader(std::string_view data) : data_(data) {}

  template <class T>
  std::optional<T> number() {
    if (left() < sizeof(T)) return std::nullopt;
    T value = 0;
    for (std::size_t k = 0; k < sizeof(T); ++k) {
      const auto byte = static_cast<unsigned char>(data_[at_ + k]);
      value = static_cast<T>(value | static_cast<T>(static_cast<T>(byte) << (8 * k)));
    }
    at_ += sizeof(T);
    return value;
  }
  std::optional<std::string> text() {
    const auto size = number<std::uint32_t>();
    if (!size || left() < *size) return std::nullopt;
    at_ += *size;
    return std::string(data_.substr(at_ - *size, *size));
  }
  std::optional<double> real() {
    const auto bits = number<std::uint64_t>();
    if (!bits) return std::nullopt;
    return std::bit_cast<double>(*bits);
  }
  [[nodiscard]] std::size_t left() const { return data_.size() - at_; }

 private:
  std::string_view data_;
  std::size_t at_ = 0;
};

}  // namespace dojo::agent
