// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Files of weights and checkpoints: named matrices and texts, with what they were made for.
///
/// All numbers are little-endian.
///   8 bytes "DOJOAGNT", u32 format, text kind, u64 vocabulary, text moves, u32 sections
///   a section: text name, u8 type (0 bytes, 1 f16, 2 f32),
///              bytes: text; matrices: u32 rows, u32 cols, the elements row by row
///   u32 CRC-32 of all before
/// A text is a u32 length and so many bytes. Names are unique. Formats are only ever added.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/nn/adam.h"
#include "agent/nn/tape.h"
#include "base/result.h"

namespace dojo::agent {

enum class Stored : std::uint8_t { bytes, half, single };

class Archive {
 public:
  /// For the vocabulary and the catalogue of moves of this program.
  explicit Archive(std::string kind);

  void put(std::string name, const Matrix& matrix, Stored type);
  void put(std::string name, std::string bytes);
  /// All parameters, as PREFIX/NAME.
  void put(const std::string& prefix, const Parameters& parameters, Stored type);
  [[nodiscard]] const Matrix* matrix(std::string_view name) const;
  [[nodiscard]] const std::string* bytes(std::string_view name) const;
  /// Into parameters of the same names and shapes; the file may have more. Error: "agent.shape".
  [[nodiscard]] Status get(const std::string& prefix, Parameters& parameters) const;

  [[nodiscard]] const std::string& kind() const { return kind_; }
  /// Moves that this program has and the file's didn't, and the other way round; empty: none.
  [[nodiscard]] std::vector<std::string> newMoves() const;
  [[nodiscard]] std::vector<std::string> lostMoves() const;

  [[nodiscard]] std::string write() const;
  [[nodiscard]] Status save(const std::string& path) const;  ///< Whole or not at all.
  /// `where` names the data in errors: "agent.file" (another kind of file), "agent.format" (of a
  /// later program), "agent.damaged", "agent.kind", "agent.vocabulary" (for another vocabulary).
  [[nodiscard]] static Result<Archive> read(std::string_view data, const std::string& kind,
                                            const std::string& where);
  [[nodiscard]] static Result<Archive> load(const std::string& path, const std::string& kind);

 private:
  struct Section {
    std::string name;
    Stored type;
    Matrix matrix;
    std::string bytes;
  };
  [[nodiscard]] const Section* find(std::string_view name) const;

  std::string kind_;
  std::uint64_t vocabulary_;
  std::vector<std::string> moves_;
  std::vector<Section> sections_;
};

/// \name The state of Adam, as PREFIX/NAME.mean, .square, and PREFIX/steps. Error: "agent.shape".
/// @{
void put(Archive& archive, const std::string& prefix, const Parameters& parameters,
         const Adam& adam);
[[nodiscard]] Status get(const Archive& archive, const std::string& prefix,
                         const Parameters& parameters, Adam& adam);
/// @}

/// The nearest f16, ties to even; beyond its range infinite. And back.
[[nodiscard]] std::uint16_t halfOf(float value);
[[nodiscard]] float fromHalf(std::uint16_t bits);

}  // namespace dojo::agent
