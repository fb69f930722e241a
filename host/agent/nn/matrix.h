// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the networks compute with: row-major matrices of f32.
#pragma once

#include <cstddef>
#include <vector>

namespace dojo::agent {

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols, float value = 0)
      : rows_(rows), cols_(cols), data_(rows * cols, value) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }
  [[nodiscard]] std::size_t size() const { return data_.size(); }
  [[nodiscard]] bool empty() const { return data_.empty(); }
  [[nodiscard]] float* data() { return data_.data(); }
  [[nodiscard]] const float* data() const { return data_.data(); }
  [[nodiscard]] float* row(std::size_t i) { return data_.data() + i * cols_; }
  [[nodiscard]] const float* row(std::size_t i) const { return data_.data() + i * cols_; }
  float& operator()(std::size_t i, std::size_t j) { return data_[i * cols_ + j]; }
  float operator()(std::size_t i, std::size_t j) const { return data_[i * cols_ + j]; }
  [[nodiscard]] bool sameShape(const Matrix& other) const {
    return rows_ == other.rows_ && cols_ == other.cols_;
  }
  void fill(float value) { data_.assign(data_.size(), value); }
  bool operator==(const Matrix&) const = default;

 private:
  std::size_t rows_ = 0, cols_ = 0;
  std::vector<float> data_;
};

}  // namespace dojo::agent
