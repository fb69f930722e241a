// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finding kernels by name and by path.
#include <cstdlib>
#include <filesystem>
#include <string>

#include <catch2/catch.hpp>
#include <unistd.h>

#include "base/text.h"
#include "kernels/kernels.h"

using namespace dojo;

namespace {

std::string temporaryFile(const std::string& name, const std::string& content) {
  const auto path = std::filesystem::temp_directory_path() /
                    (name + std::to_string(static_cast<long>(::getpid())) + ".dojo");
  REQUIRE(writeFile(path.string(), content).ok());
  return path.string();
}

}  // namespace

TEST_CASE("an unknown kernel is answered with the nearest and the way to list all") {
  const auto near = kernels::load("sofmax");
  REQUIRE_FALSE(near.ok());
  CHECK(near.error().code == "kernel.unknown");
  CHECK(near.error().message.find("did you mean 'softmax'?") != std::string::npos);
  CHECK(near.error().message.find("dojo kernels") != std::string::npos);

  const auto far = kernels::load("abcdefgh");
  REQUIRE_FALSE(far.ok());
  CHECK(far.error().message.find("did you mean") == std::string::npos);
  CHECK_FALSE(kernels::load("").ok());
}

TEST_CASE("parameters bind, and unknown ones are named") {
  ir::ParseOptions options;
  options.params = {{"M", 3}, {"K", 5}};
  const auto parsed = kernels::load("matmul", options);
  REQUIRE(parsed.ok());
  CHECK(parsed->program.buffers[0].dims[0].extent == 3);
  CHECK(parsed->program.buffers[0].dims[1].extent == 5);
  CHECK(parsed->program.buffers[1].dims[1].extent == 512);

  options.params = {{"Q", 3}};
  const auto unknown = kernels::load("matmul", options);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().code == "parse.unknown-param");
  CHECK(unknown.error().text() ==
        "matmul.dojo: kernel matmul has no parameter 'Q' (it has M, N, K) [parse.unknown-param]");

  options.params = {{"M", 0}};
  const auto zero = kernels::load("matmul", options);
  REQUIRE_FALSE(zero.ok());
  CHECK(zero.error().code == "parse.extent");
}

TEST_CASE("the dtype of a kernel is replaced, its constants with it") {
  ir::ParseOptions options;
  options.dtype = ir::DType::f64;
  const auto parsed = kernels::load("layernorm", options);
  REQUIRE(parsed.ok());
  CHECK(parsed->dtype == ir::DType::f64);
  for (const ir::Buffer& buffer : parsed->program.buffers) CHECK(buffer.dtype == ir::DType::f64);

  options.dtype = ir::DType::i32;
  CHECK(kernels::load("matmul", options).ok());
  const auto whole = kernels::load("conv2d", options);  // Whose weights are finite as floats.
  REQUIRE(whole.ok());
  CHECK_FALSE(whole->program.buffer(*whole->program.find("w")).finite);
  const auto floats = kernels::load("softmax", options);
  REQUIRE_FALSE(floats.ok());
  CHECK(floats.error().code == "parse.constant");
}

TEST_CASE("a file of the user's is a kernel too") {
  const std::string path = temporaryFile("mine", "kernel mine\nout y f32 []\ny = 1\n");
  const auto parsed = kernels::load(path);
  REQUIRE(parsed.ok());
  CHECK(parsed->program.name == "mine");
  std::filesystem::remove(path);

  const auto missing = kernels::load(path);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().code == "file.missing");
  const auto directory = kernels::load("/");
  REQUIRE_FALSE(directory.ok());
  CHECK(directory.error().code == "file.unreadable");
  const auto endless = kernels::load("/dev/zero");
  REQUIRE_FALSE(endless.ok());
  CHECK(endless.error().code == "file.too-large");

  const std::string broken = temporaryFile("broken", "kernel broken\nout y f32 []\ny = z\n");
  const auto wrong = kernels::load(broken);
  REQUIRE_FALSE(wrong.ok());
  CHECK(wrong.error().where == broken + ":3:5");
  std::filesystem::remove(broken);
}
