// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Vectors of texts in a file that only grows: what was written once is there after any end of the
/// process. Internal to agent/remote.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace dojo::agent {

/// What all vectors of a file have in common.
struct VectorSpace {
  std::string url, asked;  ///< The server, and the model that was asked for.
  std::string model;       ///< That replied.
  std::size_t width = 0;
  bool operator==(const VectorSpace&) const = default;
};

using VectorsByText = std::unordered_map<std::string, std::vector<float>>;

class VectorFile {
 public:
  explicit VectorFile(std::string path) : path_(std::move(path)) {}

  /// Reads what is there: the width is 0 where there is nothing. A record that is damaged or cut is
  /// dropped with what follows it. Errors: "embedder.cache".
  [[nodiscard]] Result<VectorSpace> load(VectorsByText& vectors) const;
  /// Adds at the end; makes the file. Several processes may do so at once, of the same space.
  [[nodiscard]] Status append(const VectorSpace& space, const VectorsByText& vectors) const;

 private:
  std::string path_;
};

}  // namespace dojo::agent
