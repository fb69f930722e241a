// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/encoder/embedder.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace dojo::agent {
namespace {

/// Of more than these everything is forgotten: some tens of megabytes.
constexpr std::size_t kMostKnownLines = 1U << 15;
constexpr std::size_t kMostKnownPrograms = 1U << 14;

std::string keyOf(const std::vector<Token>& line) {
  std::string key;
  key.reserve(line.size() * 10);
  for (const Token& token : line) {
    char bytes[10];
    std::memcpy(bytes, &token.id, 2);
    std::memcpy(bytes + 2, &token.value, 8);
    key.append(bytes, sizeof bytes);
  }
  return key;
}

}  // namespace

std::string OwnEmbedder::identity() const {
  std::string all = hex(vocabularyHash());
  for (const Parameter& one : encoder_.parameters().all()) {
    all.append(reinterpret_cast<const char*>(one.value.data()), one.value.size() * sizeof(float));
  }
  return "own " + hex(contentHash(all));
}

std::vector<std::size_t> OwnEmbedder::known(const std::vector<const std::vector<Token>*>& lines) {
  std::vector<std::size_t> rows;
  std::vector<const std::vector<Token>*> fresh;
  for (const std::vector<Token>* line : lines) {
    const auto [at, added] = lines_.try_emplace(keyOf(*line), lines_.size());
    if (added) fresh.push_back(line);
    rows.push_back(at->second);
  }
  if (fresh.empty()) return rows;
  Tape tape(false);
  const Encoder::Lines made = encoder_.lines(tape, fresh);
  const float* data = made.lines.value().data();
  lineRows_.insert(lineRows_.end(), data, data + made.lines.value().size());
  counts_.lines += static_cast<std::int64_t>(fresh.size());
  return rows;
}

void OwnEmbedder::compute(const std::vector<std::string>& texts,
                          const std::vector<TokenText>& tokens) {
  std::vector<Layout> layouts;
  std::vector<const std::vector<Token>*> lines;
  for (const TokenText& text : tokens) {
    layouts.push_back(layoutOf(text));
    for (std::size_t k = 0; k < layouts.back().lines; ++k) lines.push_back(&text.lines[k].tokens);
  }
  const std::vector<std::size_t> rows = known(lines);
  // The lines in question side by side.
  Matrix values(rows.size(), width());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* row = lineRows_.data() + rows[i] * width();
    std::copy(row, row + width(), values.row(i));
  }
  std::vector<const Layout*> pointers;
  std::vector<std::vector<std::size_t>> lineRows;
  std::size_t next = 0;
  for (const Layout& layout : layouts) {
    pointers.push_back(&layout);
    lineRows.emplace_back();
    for (std::size_t k = 0; k < layout.lines; ++k) lineRows.back().push_back(next++);
  }
  Tape tape(false);
  const Encoder::Programs made =
      encoder_.programs(tape, tape.constant(std::move(values)), pointers, lineRows);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const float* row = made.programs.value().row(i);
    programs_[texts[i]].assign(row, row + width());
  }
  counts_.programs += static_cast<std::int64_t>(texts.size());
}

Result<Matrix> OwnEmbedder::embed(const std::vector<std::string>& texts) {
  if (lines_.size() > kMostKnownLines) {
    lines_.clear();
    lineRows_.clear();
  }
  if (programs_.size() > kMostKnownPrograms) programs_.clear();
  std::vector<std::string> fresh;
  std::vector<TokenText> tokens;
  for (const std::string& text : texts) {
    if (programs_.contains(text) || std::find(fresh.begin(), fresh.end(), text) != fresh.end()) {
      continue;
    }
    Result<TokenText> made = tokenize(text);
    if (!made.ok()) return made.error();
    fresh.push_back(text);
    tokens.push_back(*std::move(made));
  }
  if (!fresh.empty()) compute(fresh, tokens);
  Matrix out(texts.size(), width());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::vector<float>& row = programs_.at(texts[i]);
    std::copy(row.begin(), row.end(), out.row(i));
  }
  counts_.asked += static_cast<std::int64_t>(texts.size());
  return out;
}

}  // namespace dojo::agent
