// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/verification.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include <catch2/catch.hpp>

#include "ir/parse.h"
#include "ir/print.h"
#include "measure/verification_cache.h"

using namespace dojo;
using namespace dojo::measure;

namespace {

ir::Program program(const std::string& text) {
  auto parsed = ir::parse(text);
  if (!parsed) FAIL(parsed.error().text());
  return parsed->program;
}

Verifier verifier(const std::string& text, VerifierOptions options = {}) {
  auto made = Verifier::make(program(text), options);
  if (!made) FAIL(made.error().text());
  return std::move(made).value();
}

using Outputs = std::vector<std::span<const std::byte>>;
Outputs spans(const std::vector<ir::Tensor>& tensors) {
  Outputs out;
  for (const ir::Tensor& tensor : tensors) out.emplace_back(tensor.bytes);
  return out;
}

std::vector<ir::Tensor> run(const std::string& text, const std::vector<ir::Tensor>& inputs) {
  auto result = ir::interpret(program(text), inputs);
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

const std::string kScaled = R"(kernel scaled
in x f32 [3, 40]
in w f32 [40]
out y f32 [3]

3
| y[{0}] = 0
| 40
| | y[{0}] += x[{0}, {1}] * w[{1}]
)";

}  // namespace

TEST_CASE("right outputs pass on every set, wrong ones are named") {
  const Verifier v = verifier(kScaled);
  REQUIRE(v.sets().size() >= 2);
  CHECK(v.sets()[0].name == "uniform");
  CHECK(v.inputs().size() == v.sets().size());
  const Compare compare = v.compare();
  for (std::size_t set = 0; set < v.sets().size(); ++set) {
    INFO(v.sets()[set].name);
    CHECK(v.sets()[set].medianBound <= 1e-3);
    std::vector<ir::Tensor> got = run(kScaled, v.inputs()[set]);
    auto found = v.check(static_cast<int>(set), spans(got));
    REQUIRE(found);
    CHECK(found->elements == 3);
    CHECK(found->skipped == 0);
    CHECK(found->worstError <= 1);
    CHECK(compare(static_cast<int>(set), spans(got)));

    const double right = ir::loadAsDouble(got[2], 1);
    ir::store(got[2], 1, right + 0.01);
    found = compare(static_cast<int>(set), spans(got));
    REQUIRE_FALSE(found);
    CHECK(found.error().code == "verify.mismatch");
    CHECK(found.error().message.find("y[1] is ") == 0);
    CHECK(found.error().message.find("'" + v.sets()[set].name + "'") != std::string::npos);
  }
}

TEST_CASE("poison is never a right output") {
  const Verifier v = verifier(kScaled);
  std::vector<ir::Tensor> got = run(kScaled, v.inputs()[0]);
  std::memset(got[2].bytes.data() + 8, 0xff, 4);
  const auto found = v.check(0, spans(got));
  REQUIRE_FALSE(found);
  CHECK(found.error().message.find("y[2] is -nan") == 0);
}

TEST_CASE("sets that prove nothing are not used, long sums have the exact ones") {
  const std::string text = R"(kernel dot
param N = 100000
in x f32 [N]
in y f32 [N]
out s f32 []

s[] = 0
N
| s[] += x[{0}] * y[{0}]
)";
  const Verifier v = verifier(text);
  REQUIRE(v.sets().size() == 2);
  CHECK(v.sets()[0].name == "exact");
  CHECK(v.sets()[1].name == "exact, second");
  CHECK(v.inputs()[0] != v.inputs()[1]);
  CHECK(v.dropped().size() == 4);
  // A single term that is lost shows.
  std::string lost = text;
  lost.replace(lost.rfind("N\n| s"), 1, "99999");
  CHECK(v.check(0, spans(run(text, v.inputs()[0]))));
  CHECK_FALSE(v.check(0, spans(run(lost, v.inputs()[0]))));
}

TEST_CASE("NaN and infinities must be the same, overflow is skipped and counted") {
  const std::string text =
      "kernel k\nin x f32 [40]\nout y f32 [40]\nout z f32 [40]\n\n40\n| y[{0}] = sqrt(x[{0}])\n"
      "| z[{0}] = exp(x[{0}] * 2)\n";
  VerifierOptions options;
  options.sets = {ir::InputSet::uniform, ir::InputSet::awkward};
  const Verifier v = verifier(text, options);
  REQUIRE(v.sets().size() == 2);
  CHECK(v.sets()[0].skipped == 0);
  CHECK(v.sets()[1].skipped > 0);  // exp(128)
  std::vector<ir::Tensor> got = run(text, v.inputs()[0]);
  CHECK(v.check(0, spans(got)));
  std::int64_t nan = 0;
  while (!std::isnan(ir::loadAsDouble(got[1], nan))) ++nan;
  ir::store(got[1], nan, 0.5);
  CHECK_FALSE(v.check(0, spans(got)));
}

TEST_CASE("integers and in-place arguments are compared exactly") {
  const std::string text =
      "kernel k\nin x i64 [9]\nout y i64 [9]\ninout a f64 [9 pad 1]\n\n9\n| y[{0}] = x[{0}] * 3\n"
      "| a[{0}] = a[{0}] * 1.5\n";
  const Verifier v = verifier(text);
  for (std::size_t set = 0; set < v.sets().size(); ++set) {
    std::vector<ir::Tensor> got = run(text, v.inputs()[set]);
    const auto found = v.check(static_cast<int>(set), spans(got));
    REQUIRE(found);
    CHECK(found->elements == 18);
    const std::int64_t right = ir::loadAsInteger(got[1], 4);
    ir::store(got[1], 4, right + 1);
    const auto wrong = v.check(static_cast<int>(set), spans(got));
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message.find("y[4] is " + std::to_string(right + 1) + ", but must be " +
                                     std::to_string(right)) == 0);
  }
}

TEST_CASE("what can't be verified is refused") {
  const auto refused = [](const std::string& text) {
    auto made = Verifier::make(program(text));
    return made ? "" : made.error().code;
  };
  CHECK(refused("kernel k\nin x i32 [4]\nout y i32 [4]\n\n4\n| y[{0}] = x[{0}] / 0\n") ==
        "verify.reference");
  CHECK(refused("kernel k\nin x f32 [4]\nout y f32 [4]\n\n4\n| y[{0}] = exp(x[{0}] * 0 + 100)\n") ==
        "verify.weak");
}

TEST_CASE("references are kept on disk and damaged files are not believed") {
  const auto folder = std::filesystem::path(DOJO_BINARY_DIR) / "verification_cache_test";
  std::filesystem::remove_all(folder);
  const std::vector<std::vector<ir::Bounded>> references = {{}, {{1, 2, 3}, {4, 5, 6}}};
  const std::string key = referenceKey("kernel k\n", ir::InputSet::wide, 5);
  CHECK_FALSE(readReferences(folder, key));
  writeReferences(folder, key, references);
  auto back = readReferences(folder, key);
  REQUIRE(back);
  CHECK((*back)[0].empty());
  CHECK((*back)[1][1].bound == 6);
  CHECK_FALSE(readReferences(folder, referenceKey("kernel k\n", ir::InputSet::wide, 6)));

  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::filesystem::resize_file(entry.path(), std::filesystem::file_size(entry.path()) - 3);
  }
  CHECK_FALSE(readReferences(folder, key));

  VerifierOptions options;
  options.cacheFolder = folder;
  const Verifier first = verifier(kScaled, options);
  const Verifier second = verifier(kScaled, options);
  const auto got = run(kScaled, first.inputs()[0]);
  CHECK(first.check(0, spans(got))->worstError == second.check(0, spans(got))->worstError);
  // What is kept is what is used: an entry under the right key that says something else.
  writeReferences(folder, referenceKey(ir::print(program(kScaled)), ir::InputSet::uniform, 1),
                  {{}, {}, {{7, 0, 0}, {7, 0, 0}, {7, 0, 0}}});
  CHECK_FALSE(verifier(kScaled, options).check(0, spans(got)));
  std::filesystem::remove_all(folder);
}
