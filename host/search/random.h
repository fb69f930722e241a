// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Random numbers that are the same on every machine and library (xoshiro256**).
#pragma once

#include <cstdint>
#include <vector>

namespace dojo::search {

class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (std::uint64_t& word : state_) word = splitMix(seed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// 0 <= result < n; n must be positive.
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
  /// In [0, 1).
  double real() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return real() < probability; }
  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t splitMix(std::uint64_t& seed) {
    std::uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t state_[4];
};

}  // namespace dojo::search
