// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// A file for what is read from files alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace dojo::fuzz {

/// A folder of this process, in memory where that is to be had; removed at the end.
inline const std::string& scratch() {
  static const struct Folder {
    std::string path;
    Folder() {
      std::error_code failed;
      const bool memory = std::filesystem::is_directory("/dev/shm", failed);
      path = std::string(memory ? "/dev/shm" : "/tmp") + "/dojo-fuzz-XXXXXX";
      if (mkdtemp(path.data()) == nullptr) std::abort();
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  } folder;
  return folder.path;
}

inline void write(const std::string& path, const void* data, std::size_t size) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) std::abort();
  if (std::fwrite(data, 1, size, file) != size) std::abort();
  if (std::fclose(file) != 0) std::abort();
}

}  // namespace dojo::fuzz
