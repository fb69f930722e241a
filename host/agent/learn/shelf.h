// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The embeddings of all programs that the learner remembers, each once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "agent/nn/matrix.h"

namespace dojo::agent {

/// A program on the shelf.
using ProgramKey = std::uint64_t;
[[nodiscard]] ProgramKey keyOf(std::string_view text);

class Shelf {
 public:
  explicit Shelf(std::size_t width) : width_(width) {}

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// The embedding of a program; what is there stays.
  void put(ProgramKey key, const float* embedding);
  [[nodiscard]] bool has(ProgramKey key) const { return rows_.contains(key); }
  [[nodiscard]] const float* get(ProgramKey key) const;  ///< It must be there.
  /// Forgets all others.
  void keep(const std::vector<ProgramKey>& keys);
  [[nodiscard]] std::vector<ProgramKey> keys() const;  ///< Ascending.

 private:
  std::size_t width_;
  std::unordered_map<ProgramKey, std::vector<float>> rows_;
};

}  // namespace dojo::agent
