// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/nn/matrix.h"

#include <array>
#include <bit>
#include <cstdlib>

namespace dojo::agent {
namespace {

constexpr std::size_t kAlignment = 64;
/// Sizes are powers of two, from 64 bytes.
constexpr std::size_t kSizes = 40;
/// Of each size so many bytes are kept at most, and one piece in any case.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

std::size_t sizeClass(std::size_t count) {
  const std::size_t lines = (count * sizeof(float) + kAlignment - 1) / kAlignment;
  return static_cast<std::size_t>(std::bit_width(lines > 0 ? lines - 1 : 0));
}

struct Kept {
  std::array<std::vector<float*>, kSizes> pieces;
  ~Kept() {
    for (std::vector<float*>& list : pieces) {
      for (float* piece : list) std::free(piece);
      // What is given back later, while the thread ends, isn't kept.
      list.clear();
    }
    gone = true;
  }
  static thread_local bool gone;
};
thread_local bool Kept::gone = false;
thread_local Kept kept;

}  // namespace

float* takeNumbers(std::size_t count) {
  const std::size_t size = sizeClass(count);
  if (size >= kSizes) throw std::bad_alloc();
  if (!Kept::gone && !kept.pieces[size].empty()) {
    float* out = kept.pieces[size].back();
    kept.pieces[size].pop_back();
    return out;
  }
  void* made = std::aligned_alloc(kAlignment, kAlignment << size);
  if (made == nullptr) throw std::bad_alloc();
  return static_cast<float*>(made);
}

void giveNumbers(float* numbers, std::size_t count) {
  const std::size_t size = sizeClass(count);
  if (Kept::gone || (!kept.pieces[size].empty() &&
                     (kept.pieces[size].size() + 1) * (kAlignment << size) > kMostKept)) {
    std::free(numbers);
    return;
  }
  kept.pieces[size].push_back(numbers);
}

}  // namespace dojo::agent
