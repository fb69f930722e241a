// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "load_elf.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include <elf.h>

namespace dojo::rtl {

namespace {

/// The file, read without ever looking past its end.
class Image {
 public:
  explicit Image(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

  template <typename T>
  [[nodiscard]] std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }
  [[nodiscard]] std::optional<std::span<const std::byte>> range(std::uint64_t offset,
                                                                std::uint64_t size) const {
    if (offset > bytes_.size() || bytes_.size() - offset < size) return std::nullopt;
    return std::as_bytes(std::span(bytes_)).subspan(offset, size);
  }
  /// The text that begins there and ends with a zero or with the file.
  [[nodiscard]] std::string text(std::uint64_t offset) const {
    std::string out;
    while (offset < bytes_.size() && bytes_[offset] != 0) out += bytes_[offset++];
    return out;
  }

 private:
  std::vector<char> bytes_;
};

void readSymbols(const Image& image, const Elf32_Ehdr& header, LoadedElf& out) {
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto table = image.at<Elf32_Shdr>(std::uint64_t(header.e_shoff) + i * sizeof(Elf32_Shdr));
    if (!table || table->sh_type != SHT_SYMTAB) continue;
    const auto names = image.at<Elf32_Shdr>(std::uint64_t(header.e_shoff) +
                                            std::uint64_t(table->sh_link) * sizeof(Elf32_Shdr));
    if (!names) continue;
    for (std::uint64_t at = 0; at + sizeof(Elf32_Sym) <= table->sh_size; at += sizeof(Elf32_Sym)) {
      const auto symbol = image.at<Elf32_Sym>(table->sh_offset + at);
      if (!symbol) return;
      if (symbol->st_name == 0) continue;
      const std::string name = image.text(std::uint64_t(names->sh_offset) + symbol->st_name);
      out.symbols[name] = symbol->st_value;
    }
  }
}

}  // namespace

LoadedElf loadElf(Model& model, const std::string& path) {
  LoadedElf out;
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    out.error = path + ": can't be read";
    return out;
  }
  const Image image(std::vector<char>(std::istreambuf_iterator<char>(in), {}));
  const auto header = image.at<Elf32_Ehdr>(0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS32 || header->e_machine != EM_RISCV) {
    out.error = path + ": not a 32-bit RISC-V ELF file";
    return out;
  }
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment =
        image.at<Elf32_Phdr>(std::uint64_t(header->e_phoff) + i * sizeof(Elf32_Phdr));
    if (!segment) {
      out.error = path + ": cut short";
      return out;
    }
    if (segment->p_type != PT_LOAD || segment->p_memsz == 0) continue;
    const auto bytes = image.range(segment->p_offset, segment->p_filesz);
    const std::uint64_t rest =
        segment->p_memsz > segment->p_filesz ? segment->p_memsz - segment->p_filesz : 0;
    // Ranges are checked before anything as large as the file claims is made.
    std::byte last{};
    const bool fits = model.peek(std::uint64_t(segment->p_paddr) + segment->p_filesz + rest - 1,
                                 std::span(&last, 1));
    if (!bytes || !fits || !model.poke(segment->p_paddr, *bytes) ||
        !model.poke(std::uint64_t(segment->p_paddr) + segment->p_filesz,
                    std::vector<std::byte>(rest))) {
      out.error = path + ": a segment isn't in the file or not within the memory";
      return out;
    }
  }
  out.entry = header->e_entry;
  readSymbols(image, *header, out);
  return out;
}

}  // namespace dojo::rtl
