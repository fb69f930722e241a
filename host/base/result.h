// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Values or errors. An expected failure (bad input, a refused move, a dead device) is an Error
/// value with a stable code; a bug in this program is an abort that says where (see check.h).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace dojo {

/// What was wrong and where, for people and for programs.
struct Error {
  /// Stable, dotted, lower case: "parse.unknown-name", "move.dependence". Never renamed.
  std::string code;
  /// One sentence: what was wrong and what was expected.
  std::string message;
  /// File, line, key or place; empty where there is none.
  std::string where = {};
  /// Further lines for people (source line with a caret); empty mostly.
  std::string detail = {};

  /// "WHERE: MESSAGE [CODE]" followed by the detail on lines of its own.
  [[nodiscard]] std::string text() const;
};

/// A T or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  [[nodiscard]] const T& value() const& {
    DOJO_CHECK(ok(), error().text());
    return std::get<T>(state_);
  }
  [[nodiscard]] T& value() & {
    DOJO_CHECK(ok(), error().text());
    return std::get<T>(state_);
  }
  [[nodiscard]] T&& value() && {
    DOJO_CHECK(ok(), error().text());
    return std::get<T>(std::move(state_));
  }
  [[nodiscard]] const Error& error() const {
    DOJO_CHECK(!std::holds_alternative<T>(state_), "error() of a good result");
    return std::get<Error>(state_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error: what a precondition or an action without a value returns.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    DOJO_CHECK(error_.has_value(), "error() of a good status");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace dojo
