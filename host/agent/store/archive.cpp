// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/store/archive.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "agent/store/bytes.h"
#include "agent/text/vocabulary.h"
#include "base/check.h"
#include "base/text.h"
#include "moves/rule.h"

namespace dojo::agent {
namespace {

constexpr std::string_view kMagic = "DOJOAGNT";
constexpr std::uint32_t kFormat = 1;
constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::uint32_t crc32(std::string_view bytes) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t k = 0; k < out.size(); ++k) {
      std::uint32_t value = k;
      for (int bit = 0; bit < 8; ++bit) {
        value = (value & 1U) != 0 ? value >> 1 ^ 0xedb88320U : value >> 1;
      }
      out[k] = value;
    }
    return out;
  }();
  std::uint32_t crc = 0xffffffffU;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 255U] ^ crc >> 8;
  return ~crc;
}

std::vector<std::string> movesHere() {
  std::vector<std::string> out;
  for (const moves::Rule* rule : moves::catalogue()) out.emplace_back(rule->info().name);
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::vector<std::string> without(const std::vector<std::string>& all,
                                 const std::vector<std::string>& those) {
  std::vector<std::string> out;
  for (const std::string& one : all) {
    if (std::find(those.begin(), those.end(), one) == those.end()) out.push_back(one);
  }
  return out;
}

std::optional<Matrix> readMatrix(ByteReader& in, Stored type) {
  const auto rows = in.number<std::uint32_t>();
  const auto cols = in.number<std::uint32_t>();
  if (!rows || !cols) return std::nullopt;
  const std::uint64_t count = std::uint64_t{*rows} * *cols;
  if (count > in.left() / (type == Stored::half ? 2 : 4)) return std::nullopt;
  Matrix out(*rows, *cols);
  for (std::size_t k = 0; k < out.size(); ++k) {
    out.data()[k] = type == Stored::half ? fromHalf(*in.number<std::uint16_t>())
                                         : std::bit_cast<float>(*in.number<std::uint32_t>());
  }
  return out;
}

}  // namespace

std::uint16_t halfOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const float size = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  // Steps of 2^-24 below 2^-14, else of 2^-10 of the power of two below the value.
  const int exponent = std::max(std::ilogb(std::max(size, 0x1p-30F)), -14);
  const auto steps = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
  return static_cast<std::uint16_t>(sign |
                                    (static_cast<std::uint32_t>(exponent + 14) * 1024U + steps));
}

float fromHalf(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  float size = 0;
  if (exponent == 31) {
    size = fraction == 0 ? std::numeric_limits<float>::infinity() : std::nanf("");
  } else if (exponent == 0) {
    size = std::ldexp(fraction, -24);
  } else {
    size = std::ldexp(1024 + fraction, exponent - 25);
  }
  return (bits & 0x8000U) != 0 ? -size : size;
}

Archive::Archive(std::string kind)
    : kind_(std::move(kind)), vocabulary_(vocabularyHash()), moves_(movesHere()) {}

const Archive::Section* Archive::find(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

void Archive::put(std::string name, const Matrix& matrix, Stored type) {
  DOJO_CHECK(find(name) == nullptr && type != Stored::bytes, "a second section " + name);
  sections_.push_back({std::move(name), type, matrix, ""});
}

void Archive::put(std::string name, std::string bytes) {
  DOJO_CHECK(find(name) == nullptr, "a second section " + name);
  sections_.push_back({std::move(name), Stored::bytes, {}, std::move(bytes)});
}

void Archive::put(const std::string& prefix, const Parameters& parameters, Stored type) {
  for (const Parameter& one : parameters.all()) put(prefix + '/' + one.name, one.value, type);
}

const Matrix* Archive::matrix(std::string_view name) const {
  const Section* found = find(name);
  return found != nullptr && found->type != Stored::bytes ? &found->matrix : nullptr;
}

const std::string* Archive::bytes(std::string_view name) const {
  const Section* found = find(name);
  return found != nullptr && found->type == Stored::bytes ? &found->bytes : nullptr;
}

Status Archive::get(const std::string& prefix, Parameters& parameters) const {
  for (Parameter& one : parameters.all()) {
    const Matrix* stored = matrix(prefix + '/' + one.name);
    if (stored == nullptr || !stored->sameShape(one.value)) {
      return Error{"agent.shape",
                   "expected '" + prefix + '/' + one.name + "' of " +
                       std::to_string(one.value.rows()) + " x " + std::to_string(one.value.cols()) +
                       (stored == nullptr ? ", which the file lacks"
                                          : ", not of " + std::to_string(stored->rows()) + " x " +
                                                std::to_string(stored->cols())),
                   "", ""};
    }
    one.value = *stored;
  }
  return {};
}

std::vector<std::string> Archive::newMoves() const { return without(movesHere(), moves_); }
std::vector<std::string> Archive::lostMoves() const { return without(moves_, movesHere()); }

std::string Archive::write() const {
  std::string out(kMagic);
  putNumber(out, kFormat);
  putText(out, kind_);
  putNumber(out, vocabulary_);
  std::string moves;
  for (const std::string& name : moves_) moves += name + '\n';
  putText(out, moves);
  putNumber(out, static_cast<std::uint32_t>(sections_.size()));
  for (const Section& section : sections_) {
    putText(out, section.name);
    putNumber(out, static_cast<std::uint8_t>(section.type));
    if (section.type == Stored::bytes) {
      putText(out, section.bytes);
      continue;
    }
    const Matrix& matrix = section.matrix;
    putNumber(out, static_cast<std::uint32_t>(matrix.rows()));
    putNumber(out, static_cast<std::uint32_t>(matrix.cols()));
    for (std::size_t k = 0; k < matrix.size(); ++k) {
      if (section.type == Stored::half) {
        putNumber(out, halfOf(matrix.data()[k]));
      } else {
        putNumber(out, std::bit_cast<std::uint32_t>(matrix.data()[k]));
      }
    }
  }
  putNumber(out, crc32(out));
  return out;
}

Status Archive::save(const std::string& path) const { return writeFile(path, write()); }

Result<Archive> Archive::read(std::string_view data, const std::string& kind,
                              const std::string& where) {
  const auto fail = [&](const char* code, const std::string& message) {
    return Error{code, message, where, ""};
  };
  if (data.size() < kMagic.size() + 8 || data.substr(0, kMagic.size()) != kMagic) {
    return fail("agent.file", "expected weights or a checkpoint of the agent");
  }
  ByteReader in(data.substr(kMagic.size(), data.size() - kMagic.size() - 4));
  const auto format = in.number<std::uint32_t>();
  if (!format || *format != kFormat) {
    return fail("agent.format", "the file has format " + std::to_string(format.value_or(0)) +
                                    "; this program reads format " + std::to_string(kFormat));
  }
  const Error damaged =
      fail("agent.damaged", "the file is damaged: its content isn't what its checksum says");
  ByteReader tail(data.substr(data.size() - 4));
  if (crc32(data.substr(0, data.size() - 4)) != tail.number<std::uint32_t>()) return damaged;
  Archive out(kind);
  auto ownKind = in.text();
  const auto vocabulary = in.number<std::uint64_t>();
  const auto moves = in.text();
  const auto sections = in.number<std::uint32_t>();
  if (!ownKind || !vocabulary || !moves || !sections) return damaged;
  if (*ownKind != kind) {
    return fail("agent.kind",
                "the file holds '" + printable(*ownKind, 40) + "', not '" + kind + "'");
  }
  if (*vocabulary != vocabularyHash()) {
    return fail("agent.vocabulary",
                "the file was made for another version of the language: its vocabulary is " +
                    hex(*vocabulary) + ", this program's " + hex(vocabularyHash()) +
                    "; train again");
  }
  out.moves_ = split(*moves);
  for (std::uint32_t k = 0; k < *sections; ++k) {
    auto name = in.text();
    const auto type = in.number<std::uint8_t>();
    if (!name || !type || *type > 2 || out.find(*name) != nullptr) return damaged;
    Section section{std::move(*name), static_cast<Stored>(*type), {}, ""};
    if (section.type == Stored::bytes) {
      auto bytes = in.text();
      if (!bytes) return damaged;
      section.bytes = std::move(*bytes);
    } else {
      auto matrix = readMatrix(in, section.type);
      if (!matrix) return damaged;
      section.matrix = std::move(*matrix);
    }
    out.sections_.push_back(std::move(section));
  }
  if (in.left() != 0) return damaged;
  return out;
}

Result<Archive> Archive::load(const std::string& path, const std::string& kind) {
  Result<std::string> data = readFile(path, kMostBytes);
  if (!data.ok()) return data.error();
  return read(*data, kind, path);
}

void put(Archive& archive, const std::string& prefix, const Parameters& parameters,
         const Adam& adam) {
  std::size_t k = 0;
  for (const Parameter& one : parameters.all()) {
    const Adam::Moments& moments = adam.moments()[k++];
    archive.put(prefix + '/' + one.name + ".mean", moments.mean, Stored::single);
    archive.put(prefix + '/' + one.name + ".square", moments.square, Stored::single);
  }
  archive.put(prefix + "/steps", std::to_string(adam.steps()));
}

Status get(const Archive& archive, const std::string& prefix, const Parameters& parameters,
           Adam& adam) {
  std::vector<Adam::Moments> moments;
  for (const Parameter& one : parameters.all()) {
    const Matrix* mean = archive.matrix(prefix + '/' + one.name + ".mean");
    const Matrix* square = archive.matrix(prefix + '/' + one.name + ".square");
    if (mean == nullptr || square == nullptr || !mean->sameShape(one.value) ||
        !square->sameShape(one.value)) {
      return Error{"agent.shape", "expected the moments of '" + one.name + "'", "", ""};
    }
    moments.push_back({*mean, *square});
  }
  const std::string* text = archive.bytes(prefix + "/steps");
  std::int64_t steps = -1;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), steps);
  if (steps < 0) return Error{"agent.shape", "expected the number of steps", "", ""};
  adam.restore(std::move(moments), steps);
  return {};
}

}  // namespace dojo::agent
