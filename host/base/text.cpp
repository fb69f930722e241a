// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <numeric>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dojo {

namespace {

std::size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Error systemError(const std::string& code, const std::string& what, const std::string& path) {
  return {code, fmt::format("{}: {}", what, std::strerror(errno)), path, ""};
}

}  // namespace

std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string>& candidates) {
  if (word.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  std::size_t bestDistance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = editDistance(word, candidate);
    if (distance < bestDistance && distance < std::max(word.size(), candidate.size())) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string didYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> found = nearest(word, candidates);
  return found ? "; did you mean '" + *found + "'?" : "";
}

std::string printable(std::string_view text, std::size_t most) {
  constexpr std::string_view kCut = " ... ";
  std::string cut;
  if (text.size() > most) {
    const std::size_t end = most / 4;
    cut = std::string(text.substr(0, most - end)) + std::string(kCut) +
          std::string(text.substr(text.size() - end));
    text = cut;
  }
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

std::uint64_t contentHash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

std::string hex(std::uint64_t value) { return fmt::format("{:016x}", value); }

Result<std::string> readFile(const std::string& path, std::size_t limit) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) {
    return systemError(errno == ENOENT ? "file.missing" : "file.unreadable", "cannot read", path);
  }
  if (S_ISDIR(status.st_mode)) {
    return Error{"file.unreadable", "cannot read: it is a directory", path, ""};
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return systemError("file.unreadable", "cannot read", path);
  std::string out;
  char chunk[65536];
  std::size_t got = 0;
  while (out.size() <= limit && (got = std::fread(chunk, 1, sizeof chunk, file)) > 0) {
    out.append(chunk, got);
  }
  const bool bad = std::ferror(file) != 0;
  std::fclose(file);
  if (bad) return systemError("file.unreadable", "cannot read", path);
  if (out.size() > limit) {
    return Error{"file.too-large", fmt::format("the file has more than {} bytes", limit), path, ""};
  }
  return out;
}

Status writeFile(const std::string& path, std::string_view content) {
  return writeFile(path, [&](std::FILE* file) -> Status {
    (void)std::fwrite(content.data(), 1, content.size(), file);
    return {};
  });
}

Status writeFile(const std::string& path, const std::function<Status(std::FILE*)>& fill) {
  struct stat status = {};
  const bool replace = stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  const std::string draft = replace ? path + ".tmp" + std::to_string(getpid()) : path;
  std::FILE* file = std::fopen(draft.c_str(), "wb");
  if (file == nullptr) return systemError("file.unwritable", "cannot write", path);
  Status done = fill(file);
  errno = 0;
  const bool written =
      std::fflush(file) == 0 && std::ferror(file) == 0 && (!replace || fsync(fileno(file)) == 0);
  if (done.ok() && !written) {
    done = errno != 0 ? systemError("file.unwritable", "cannot write", path)
                      : Error{"file.unwritable", "cannot write", path, ""};
  }
  if (std::fclose(file) != 0 && done.ok()) {
    done = systemError("file.unwritable", "cannot write", path);
  }
  if (done.ok() && replace && std::rename(draft.c_str(), path.c_str()) != 0) {
    done = systemError("file.unwritable", "cannot write", path);
  }
  if (!done.ok() && replace) std::remove(draft.c_str());
  return done;
}

}  // namespace dojo
