// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transport/elf.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "transport/frame.h"

namespace dojo::transport {
namespace {

/// Offsets of what is used, for 32 and 64 bits.
struct Offsets {
  std::size_t entry, tableAt, entryBytes, entries, headerBytes;
  std::size_t offset, physical, virtual_, fileBytes, memoryBytes, flags, align, programBytes;
  int word;
};
constexpr Offsets k32{24, 28, 42, 44, 52, 4, 12, 8, 16, 20, 24, 28, 32, 4};
constexpr Offsets k64{24, 32, 54, 56, 64, 8, 24, 16, 32, 40, 4, 48, 56, 8};
constexpr std::uint64_t kLoad = 1;
constexpr std::uint64_t kReadWrite = 6;
constexpr std::size_t kAlign = 4096;

Error bad(const std::string& path, const std::string& reason) {
  return {"load.image", fmt::format("{}: {}", path, reason), "", ""};
}

Result<std::vector<std::byte>> readFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return bad(path, std::strerror(errno));
  std::vector<char> chars{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const auto* first = reinterpret_cast<const std::byte*>(chars.data());
  return std::vector<std::byte>(first, first + chars.size());
}

Result<Offsets> offsetsOf(const std::string& path, std::span<const std::byte> file) {
  constexpr std::uint64_t kMagic = 0x464c457f;
  const std::uint64_t kind = getAt(file, 4, 1);
  if (getAt(file, 0, 4) != kMagic || getAt(file, 5, 1) != 1 || (kind != 1 && kind != 2)) {
    return bad(path, "not a little-endian ELF file");
  }
  const Offsets at = kind == 1 ? k32 : k64;
  const std::uint64_t table = getAt(file, at.tableAt, at.word);
  const std::uint64_t count = getAt(file, at.entries, 2);
  if (file.size() < at.headerBytes || getAt(file, at.entryBytes, 2) != at.programBytes ||
      table > file.size() || count * at.programBytes > file.size() - table) {
    return bad(path, "its program headers are damaged");
  }
  return at;
}

}  // namespace

Result<ElfImage> readElf(const std::string& path) {
  auto file = readFile(path);
  if (!file) return file.error();
  auto offsets = offsetsOf(path, *file);
  if (!offsets) return offsets.error();
  const Offsets& at = *offsets;
  ElfImage image;
  image.entry = getAt(*file, at.entry, at.word);
  image.machine = static_cast<int>(getAt(*file, 18, 2));
  image.wide = at.word == 8;
  const std::uint64_t table = getAt(*file, at.tableAt, at.word);
  for (std::uint64_t i = 0; i < getAt(*file, at.entries, 2); ++i) {
    const std::size_t header = table + i * at.programBytes;
    const auto field = [&](std::size_t offset) { return getAt(*file, header + offset, at.word); };
    if (getAt(*file, header, 4) != kLoad || field(at.memoryBytes) == 0) continue;
    const std::uint64_t from = field(at.offset), bytes = field(at.fileBytes);
    if (from > file->size() || bytes > file->size() - from) return bad(path, "a segment is cut");
    const auto first = file->begin() + static_cast<std::ptrdiff_t>(from);
    image.segments.push_back({.address = field(at.physical),
                              .memoryBytes = field(at.memoryBytes),
                              .bytes = {first, first + static_cast<std::ptrdiff_t>(bytes)}});
  }
  if (image.segments.empty()) return bad(path, "nothing in it is loaded");
  return image;
}

Status addSegment(const std::string& from, const std::string& to, std::uint64_t address,
                  std::span<const std::byte> bytes) {
  auto file = readFile(from);
  if (!file) return file.error();
  auto offsets = offsetsOf(from, *file);
  if (!offsets) return offsets.error();
  const Offsets& at = *offsets;
  const std::uint64_t oldTable = getAt(*file, at.tableAt, at.word);
  const std::uint64_t count = getAt(*file, at.entries, 2);
  const std::span<const std::byte> old =
      std::span(*file).subspan(oldTable, count * at.programBytes);
  std::vector<std::byte> table(old.begin(), old.end());
  // The segment, then a table of headers that is one longer, at the end of the file.
  const auto padTo = [&](std::size_t align) {
    file->resize((file->size() + align - 1) / align * align);
  };
  padTo(kAlign);
  file->resize(file->size() + address % kAlign);
  std::vector<std::byte> header(at.programBytes);
  putAt(header, 0, kLoad, 4);
  putAt(header, at.flags, kReadWrite, 4);
  putAt(header, at.offset, file->size(), at.word);
  putAt(header, at.virtual_, address, at.word);
  putAt(header, at.physical, address, at.word);
  putAt(header, at.fileBytes, bytes.size(), at.word);
  putAt(header, at.memoryBytes, bytes.size(), at.word);
  putAt(header, at.align, kAlign, at.word);
  table.insert(table.end(), header.begin(), header.end());
  file->insert(file->end(), bytes.begin(), bytes.end());
  padTo(8);
  putAt(*file, at.tableAt, file->size(), at.word);
  putAt(*file, at.entries, count + 1, 2);
  file->insert(file->end(), table.begin(), table.end());
  std::ofstream out(to, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(file->data()),
            static_cast<std::streamsize>(file->size()));
  out.flush();
  return out ? Status() : Status(bad(to, std::strerror(errno)));
}

}  // namespace dojo::transport
