// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file is a word that says what it is, and records: size, bytes, the bytes' hash. The first
// record is the space, each further one a text and its vector.
#include "agent/remote/vector_file.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/store/bytes.h"
#include "base/text.h"

namespace dojo::agent {
namespace {

constexpr std::string_view kWord = "dojo vectors 1\n";
constexpr std::size_t kLimit = std::size_t{1} << 32;

Error trouble(const std::string& path, const std::string& what) {
  return {"embedder.cache", what, path, ""};
}

Error systemTrouble(const std::string& path, const char* what) {
  return trouble(
      path, fmt::format("the file of embeddings can't be {}: {}", what,
                        std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe): glibc's is safe.
}

/// An open file, held by one process at a time.
class Held {
 public:
  Held(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (fd_ >= 0) (void)flock(fd_, LOCK_EX);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_;
};

void putRecord(std::string& out, const std::string& bytes) {
  putText(out, bytes);
  putNumber(out, contentHash(bytes));
}

std::string spaceBytes(const VectorSpace& space) {
  std::string out;
  putText(out, space.url);
  putText(out, space.asked);
  putText(out, space.model);
  putNumber(out, static_cast<std::uint64_t>(space.width));
  return out;
}

std::optional<VectorSpace> spaceOf(const std::string& bytes) {
  ByteReader in(bytes);
  auto url = in.text();
  auto asked = in.text();
  auto model = in.text();
  const auto width = in.number<std::uint64_t>();
  if (!url || !asked || !model || !width || *width == 0) return std::nullopt;
  return VectorSpace{*std::move(url), *std::move(asked), *std::move(model),
                     static_cast<std::size_t>(*width)};
}

/// False where it isn't a vector of that width.
bool take(const std::string& bytes, std::size_t width, VectorsByText& vectors) {
  ByteReader in(bytes);
  auto text = in.text();
  if (!text || in.left() != width * sizeof(float)) return false;
  std::vector<float> row(width);
  for (float& x : row) {
    x = std::bit_cast<float>(*in.number<std::uint32_t>());
    if (!std::isfinite(x)) return false;
  }
  vectors.try_emplace(*std::move(text), std::move(row));
  return true;
}

struct Contents {
  VectorSpace space;
  std::size_t whole = 0;  ///< Bytes until the end of the last whole record; 0: not even the word.
};

/// Into `vectors`, unless that is null.
Result<Contents> read(const std::string& path, const std::string& data, VectorsByText* vectors) {
  Contents out;
  // Cut within its first record there is nothing in it yet.
  if (data.size() < kWord.size() && kWord.starts_with(data)) return out;
  if (!data.starts_with(kWord)) {
    return trouble(path, "this isn't a file of embeddings; name another folder, or remove it");
  }
  ByteReader in(std::string_view(data).substr(kWord.size()));
  while (in.left() > 0) {
    const auto bytes = in.text();
    const auto hash = in.number<std::uint64_t>();
    if (!bytes || !hash || *hash != contentHash(*bytes)) return out;
    if (out.space.width == 0) {
      std::optional<VectorSpace> space = spaceOf(*bytes);
      if (!space) return trouble(path, "the file of embeddings doesn't tell whose they are");
      out.space = *std::move(space);
    } else if (vectors != nullptr && !take(*bytes, out.space.width, *vectors)) {
      return trouble(path, "the file of embeddings has one of another width");
    }
    out.whole = data.size() - in.left();
    if (vectors == nullptr) break;
  }
  return out;
}

Status writeAll(int fd, const std::string& path, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return systemTrouble(path, "written");
    done += static_cast<std::size_t>(n);
  }
  return {};
}

}  // namespace

Result<VectorSpace> VectorFile::load(VectorsByText& vectors) const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return VectorSpace();
  // What is cut is taken away, so that what is added later can be read.
  const Held held(path_, O_RDWR);
  if (held.fd() < 0) return systemTrouble(path_, "opened");
  const Result<std::string> data = readFile(path_, kLimit);
  if (!data.ok()) return trouble(path_, data.error().message);
  const Result<Contents> contents = read(path_, *data, &vectors);
  if (!contents.ok()) return contents.error();
  if (contents->whole < data->size() &&
      ftruncate(held.fd(), static_cast<off_t>(contents->whole)) != 0) {
    return systemTrouble(path_, "cut after its last whole record");
  }
  return contents->space;
}

Status VectorFile::append(const VectorSpace& space, const VectorsByText& vectors) const {
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code failed;
  if (!folder.empty()) std::filesystem::create_directories(folder, failed);
  const Held held(path_, O_RDWR | O_CREAT | O_APPEND);
  if (held.fd() < 0) return systemTrouble(path_, "opened");
  struct stat status {};
  if (fstat(held.fd(), &status) != 0) return systemTrouble(path_, "looked at");
  std::string out;
  VectorSpace before;
  if (status.st_size > 0) {
    // Another process may have made it since.
    std::string head(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), 1U << 16), 0);
    if (pread(held.fd(), head.data(), head.size(), 0) != static_cast<ssize_t>(head.size())) {
      return systemTrouble(path_, "read");
    }
    const Result<Contents> there = read(path_, head, nullptr);
    if (!there.ok()) return there.error();
    before = there->space;
    if (before.width > 0 && before != space) {
      return trouble(path_,
                     "the file of embeddings is another model's by now; remove it, or start "
                     "again");
    }
  }
  if (before.width == 0) {
    if (ftruncate(held.fd(), 0) != 0) return systemTrouble(path_, "written");
    out = kWord;
    putRecord(out, spaceBytes(space));
  }
  for (const auto& [text, row] : vectors) {
    std::string bytes;
    putText(bytes, text);
    for (const float x : row) putNumber(bytes, std::bit_cast<std::uint32_t>(x));
    putRecord(out, bytes);
  }
  return writeAll(held.fd(), path_, out);
}

}  // namespace dojo::agent
