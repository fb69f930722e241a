// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/learn/shelf.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace dojo::agent {

ProgramKey keyOf(std::string_view text) { return contentHash(text); }

void Shelf::put(ProgramKey key, const float* embedding) {
  rows_.try_emplace(key, embedding, embedding + width_);
}

const float* Shelf::get(ProgramKey key) const {
  const auto found = rows_.find(key);
  DOJO_CHECK(found != rows_.end(), "a program that isn't on the shelf");
  return found->second.data();
}

void Shelf::keep(const std::vector<ProgramKey>& keys) {
  std::unordered_map<ProgramKey, std::vector<float>> kept;
  for (const ProgramKey key : keys) {
    const auto found = rows_.find(key);
    if (found != rows_.end()) kept.emplace(key, std::move(found->second));
    if (found != rows_.end()) rows_.erase(found);
  }
  rows_ = std::move(kept);
}

std::vector<ProgramKey> Shelf::keys() const {
  std::vector<ProgramKey> out;
  for (const auto& [key, row] : rows_) out.push_back(key);
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace dojo::agent
