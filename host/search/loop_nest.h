// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Perfectly nested loops under a script, each followed by a name while they are split and moved.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "search/script.h"

namespace dojo::search {

/// `loops[k]` is the scope at root, root.0, root.0.0, ...
class LoopNest {
 public:
  LoopNest(Script& script, ir::Path root, std::vector<std::string> loops)
      : script_(script), root_(std::move(root)), loops_(std::move(loops)) {}

  [[nodiscard]] const ir::Path& root() const { return root_; }
  [[nodiscard]] int size() const { return static_cast<int>(loops_.size()); }
  [[nodiscard]] int position(const std::string& loop) const;
  [[nodiscard]] bool has(const std::string& loop) const;
  [[nodiscard]] ir::Path path(int position) const;
  [[nodiscard]] ir::Path path(const std::string& loop) const { return path(position(loop)); }
  [[nodiscard]] std::int64_t extent(const std::string& loop) const;

  /// `loop` becomes itself over `inner` of `factor` iterations.
  bool split(const std::string& loop, std::int64_t factor, const std::string& inner);
  /// Interchanges neighbours until the loop stands at `to`.
  bool move(const std::string& loop, int to);
  /// Brings the loops into this order (all of them, outermost first).
  bool reorder(const std::vector<std::string>& order);
  /// Makes the extent of `loop` a multiple of `factor`: what is left over becomes a nest of its own
  /// right after this one, with the loops in the same order.
  bool peelTo(const std::string& loop, std::int64_t factor);
  /// The innermost body's child `keep` gets the loops from `first` inwards for itself; what stood
  /// before and after it becomes siblings. The nest then ends above `first`. Returns the place of
  /// the kept part.
  std::optional<ir::Path> isolate(int first, int keep, int children);

 private:
  Script& script_;
  ir::Path root_;
  std::vector<std::string> loops_;
};

}  // namespace dojo::search
