// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>

#include <catch2/catch.hpp>

#include "agent/encoder/embedder.h"
#include "agent/encoder/weights.h"
#include "agent/store/archive.h"
#include "base/text.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("agent-store-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name) const { return (path / name).string(); }
};

std::string codeOf(const std::string& data, const std::string& kind = "test") {
  const Result<Archive> read = Archive::read(data, kind, "the file");
  return read.ok() ? "" : read.error().code;
}

}  // namespace

TEST_CASE("agent: f16 and back") {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = fromHalf(half);
    if (!std::isnan(value)) CHECK(halfOf(value) == half);
  }
  CHECK(std::isnan(fromHalf(halfOf(std::nanf("")))));
  CHECK(fromHalf(halfOf(1e9F)) == std::numeric_limits<float>::infinity());
  // Halfway between neighbours: to the even one.
  CHECK(fromHalf(halfOf(1 + 0x1p-11F)) == 1);
  CHECK(fromHalf(halfOf(1 + 3 * 0x1p-11F)) == 1 + 2 * 0x1p-10F);
  CHECK(fromHalf(halfOf(1e-9F)) == 0);
  CHECK(fromHalf(halfOf(-0.1F)) == Approx(-0.1F).epsilon(1e-3));
}

TEST_CASE("agent: an archive comes back, and every byte of it counts") {
  Archive archive("test");
  Matrix matrix(2, 3);
  for (std::size_t k = 0; k < 6; ++k) matrix.data()[k] = 0.1F * static_cast<float>(k);
  archive.put("m", matrix, Stored::single);
  archive.put("h", matrix, Stored::half);
  archive.put("note", "a text");
  const std::string data = archive.write();
  const Result<Archive> back = Archive::read(data, "test", "the file");
  REQUIRE(back.ok());
  CHECK(*back->matrix("m") == matrix);
  CHECK((*back->matrix("h"))(1, 2) == Approx(0.5).epsilon(1e-3));
  CHECK(*back->bytes("note") == "a text");
  CHECK(back->matrix("note") == nullptr);
  CHECK(back->bytes("x") == nullptr);
  CHECK(back->newMoves().empty());
  CHECK(back->lostMoves().empty());
  for (std::size_t k = 0; k < data.size(); ++k) {
    std::string broken = data;
    broken[k] = static_cast<char>(broken[k] ^ 0x20);
    INFO("byte " << k);
    CHECK_FALSE(codeOf(broken).empty());
    CHECK_FALSE(codeOf(data.substr(0, k)).empty());
  }
}

TEST_CASE("agent: files that aren't what was asked for say what they are") {
  const std::string data = Archive("test").write();
  CHECK(codeOf(data, "encoder") == "agent.kind");
  CHECK(codeOf("kernel softmax\n") == "agent.file");
  CHECK(codeOf("") == "agent.file");
  CHECK(codeOf(std::string(1000, '\0')) == "agent.file");
  std::string later = data;
  later[8] = 9;
  CHECK(codeOf(later) == "agent.format");
  CHECK(codeOf(data.substr(0, data.size() - 5)) == "agent.damaged");
}

TEST_CASE("agent: weights of the encoder are kept as f16 and make the same embeddings") {
  const Folder folder;
  search::Random random(3);
  const EncoderConfig config = {
      .width = 16, .heads = 2, .lineLayers = 1, .programLayers = 1, .hidden = 16};
  Encoder encoder(config, random);
  REQUIRE(saveEncoder(encoder, "a test", folder.file("weights")).ok());
  auto loaded = loadEncoder(folder.file("weights"));
  REQUIRE(loaded.ok());
  CHECK((*loaded)->config() == config);
  const std::string text = "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = exp(x[{0}])\n";
  const Matrix a = *OwnEmbedder(encoder).embed({text});
  const Matrix b = *OwnEmbedder(**loaded).embed({text});
  for (std::size_t j = 0; j < config.width; ++j) {
    CHECK(a(0, j) == Approx(b(0, j)).margin(0.02));
  }
  // What was read and saved again is the same file.
  REQUIRE(saveEncoder(**loaded, "a test", folder.file("again")).ok());
  CHECK(*readFile(folder.file("weights")) == *readFile(folder.file("again")));
  CHECK(OwnEmbedder(encoder).identity() != OwnEmbedder(**loaded).identity());
}

TEST_CASE("agent: weights of other sizes are refused") {
  const Folder folder;
  Archive archive("encoder");
  archive.put("sizes", Matrix(1, 5, 16), Stored::single);
  REQUIRE(archive.save(folder.file("weights")).ok());
  const auto loaded = loadEncoder(folder.file("weights"));
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().code == "agent.shape");
  CHECK(loaded.error().where == folder.file("weights"));
  CHECK(loadEncoder(folder.file("none")).error().code == "file.missing");
}
