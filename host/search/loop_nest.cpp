// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/loop_nest.h"

#include <algorithm>

namespace dojo::search {

int LoopNest::position(const std::string& loop) const {
  auto it = std::find(loops_.begin(), loops_.end(), loop);
  DOJO_CHECK(it != loops_.end(), "no loop " + loop);
  return static_cast<int>(it - loops_.begin());
}

bool LoopNest::has(const std::string& loop) const {
  return std::find(loops_.begin(), loops_.end(), loop) != loops_.end();
}

ir::Path LoopNest::path(int position) const {
  ir::Path out = root_;
  out.insert(out.end(), static_cast<std::size_t>(position), 0);
  return out;
}

std::int64_t LoopNest::extent(const std::string& loop) const {
  return freeExtent(script_.program(), path(loop));
}

bool LoopNest::split(const std::string& loop, std::int64_t factor, const std::string& inner) {
  const int at = position(loop);
  if (!script_.apply("split_scope", {path(at), factor})) return false;
  loops_.insert(loops_.begin() + at + 1, inner);
  return true;
}

bool LoopNest::move(const std::string& loop, int to) {
  int at = position(loop);
  while (at != to) {
    const int upper = at < to ? at : at - 1;
    if (!script_.apply("swap_scopes", {path(upper)})) return false;
    std::swap(loops_[static_cast<std::size_t>(upper)], loops_[static_cast<std::size_t>(upper) + 1]);
    at += at < to ? 1 : -1;
  }
  return true;
}

bool LoopNest::reorder(const std::vector<std::string>& order) {
  for (std::size_t k = 0; k < order.size(); ++k) {
    if (!move(order[k], static_cast<int>(k))) return false;
  }
  return true;
}

bool LoopNest::peelTo(const std::string& loop, std::int64_t factor) {
  const std::int64_t n = extent(loop);
  if (n % factor == 0) return true;
  if (n < factor) return script_.refuse("the loop is shorter than the block");
  const int back = position(loop);
  if (!move(loop, 0) || !script_.apply("peel_scope", {path(0), n - n % factor})) return false;
  if (!move(loop, back)) return false;
  ir::Path rest = root_;
  ++rest.back();
  separate(script_, rest);
  LoopNest other(script_, rest, loops_);
  std::rotate(other.loops_.begin(), other.loops_.begin() + back, other.loops_.begin() + back + 1);
  return other.move(loop, back);
}

std::optional<ir::Path> LoopNest::isolate(int first, int keep, int children) {
  // What stands after the kept child goes first, so that positions before it don't change.
  auto cut = [&](int position) {
    for (int k = size() - 1; k >= first; --k) {
      if (!script_.apply("fission_scope",
                         {path(k), std::int64_t{k == size() - 1 ? position : 1}})) {
        return false;
      }
    }
    return true;
  };
  if (keep + 1 < children && !cut(keep + 1)) return std::nullopt;
  if (keep > 0 && !cut(keep)) return std::nullopt;
  ir::Path kept = path(first);
  if (keep > 0) ++kept.back();
  loops_.resize(static_cast<std::size_t>(first));
  return kept;
}

}  // namespace dojo::search
