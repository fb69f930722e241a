// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the networks compute with: row-major matrices of f32.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace dojo::agent {

/// Numbers for matrices, aligned for vectors and not set to anything. What is given back is kept by
/// its thread for the next matrix of about the size: networks make the same ones over and over.
[[nodiscard]] float* takeNumbers(std::size_t count);
void giveNumbers(float* numbers, std::size_t count);

template <class T>
struct NumberAllocator {
  using value_type = T;
  NumberAllocator() = default;
  template <class U>
  NumberAllocator(const NumberAllocator<U>&) {}
  [[nodiscard]] T* allocate(std::size_t count) { return takeNumbers(count); }
  void deallocate(T* numbers, std::size_t count) { giveNumbers(numbers, count); }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  bool operator==(const NumberAllocator&) const { return true; }
};

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t cols, float value = 0)
      : rows_(rows), cols_(cols), data_(rows * cols, value) {}
  /// Its elements are anything, until they are written.
  static Matrix unset(std::size_t rows, std::size_t cols) {
    Matrix out;
    out.rows_ = rows;
    out.cols_ = cols;
    out.data_.resize(rows * cols);
    return out;
  }

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
  std::vector<float, NumberAllocator<float>> data_;
};

}  // namespace dojo::agent
