// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Sharing time over several tunings by what still improves.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace dojo::tune {

/// Whose turn it is: first each once, in order; then mostly the one that lately got faster by the
/// largest factor a second, and now and then the one that had the least time.
class Shares {
 public:
  explicit Shares(std::size_t count) : all_(count) {}

  /// nullopt: every one is done.
  [[nodiscard]] std::optional<std::size_t> next() const;
  /// What a turn of `seconds` brought: the best before and after it, 0 where there is none.
  void report(std::size_t which, double seconds, double before, double after);
  /// It won't have another turn.
  void done(std::size_t which) { all_[which].done = true; }

 private:
  struct One {
    int turns = 0;
    double seconds = 0;
    double rate = 0;  ///< Logarithm of the factor gained a second; the past counts ever less.
    bool done = false;
  };
  std::vector<One> all_;
  int turns_ = 0;
};

}  // namespace dojo::tune
