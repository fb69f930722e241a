// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Small text helpers that more than one library needs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dojo {

/// The candidate with the smallest edit distance to `word`, where it is close enough to be a
/// likely slip (at most a third of its length, at least 2); nullopt otherwise.
[[nodiscard]] std::optional<std::string> nearest(std::string_view word,
                                                 const std::vector<std::string>& candidates);
/// "; did you mean 'X'?" or nothing.
[[nodiscard]] std::string didYouMean(std::string_view word,
                                     const std::vector<std::string>& candidates);

/// For messages that quote what somebody gave us: control characters as \xNN (but line ends and
/// tabs stay), and of more than `most` bytes the beginning and the end.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most = 1000);

/// FNV-1a, 64 bits: a name for content, not a defence against anybody.
[[nodiscard]] std::uint64_t contentHash(std::string_view text);
[[nodiscard]] std::string hex(std::uint64_t value);  ///< 16 digits.

/// A whole file. Errors: "file.missing", "file.unreadable", "file.too-large" (`limit` bytes).
[[nodiscard]] Result<std::string> readFile(const std::string& path,
                                           std::size_t limit = std::size_t{64} << 20);
/// Writes beside `path` and renames, so that a reader sees the old or the new file, never half;
/// what isn't a regular file (a pipe, /dev/stdout) is written to as it stands. Error:
/// "file.unwritable".
[[nodiscard]] Status writeFile(const std::string& path, std::string_view content);
/// The same for what is long: `fill` writes, and its error is the error.
[[nodiscard]] Status writeFile(const std::string& path,
                               const std::function<Status(std::FILE*)>& fill);

}  // namespace dojo
