// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dojo profile on the model of a cluster with one core.
#include <algorithm>
#include <map>

#include "unit/cli/run_dojo.h"

using dojo::test::Folder;
using dojo::test::runDojo;
using dojo::test::slurp;
using nlohmann::json;

namespace {

const std::vector<std::string> kMatmul = {"profile", "matmul", "--shape",  "M=8,N=8,K=8",
                                          "--dtype", "f64",    "--target", "snitch1"};

std::vector<std::string> with(std::vector<std::string> args, const std::vector<std::string>& more) {
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

double count(const json& happened, const std::string& event) { return happened.value(event, 0.0); }

/// Each cycle and each event belongs to one line.
void checkSums(const json& profile) {
  std::map<std::string, double> sums;
  for (const json& line : profile["lines"]) {
    for (const auto& [event, value] : line["own"].items()) sums[event] += value.get<double>();
    CHECK(count(line["all"], "cycles") >= count(line["own"], "cycles"));
  }
  for (const auto& [event, value] : profile["total"].items()) {
    INFO(event);
    CHECK(sums[event] == Approx(value.get<double>()));
  }
}

/// The names of elements that are open at the end, or closed where they weren't.
std::vector<std::string> unbalanced(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos || text.find('<', at + 1) < end) return {text.substr(at, 20)};
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.ends_with('/')) continue;
    if (tag.front() != '/') {
      open.push_back(name);
    } else if (!open.empty() && open.back() == name.substr(1)) {
      open.pop_back();
    } else {
      return {name};
    }
  }
  return open;
}

}  // namespace

TEST_CASE("profile: cycles and operations by scope, within a region too") {
  const auto ran = runDojo(with(kMatmul, {"--expert", "--json"}));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  const json profile = json::parse(ran.out);
  checkSums(profile);
  CHECK(count(profile["total"], "cycles") == Approx(profile["cycles"].get<double>()).margin(40));
  // 8 x 8 elements: a product, six products that are added, and one that is added and written.
  std::vector<double> operations;
  double region = 0;
  for (const json& line : profile["lines"]) {
    const auto text = line["text"].get<std::string>();
    if (text.find("stream(") != std::string::npos) region = count(line["all"], "fpu_busy");
    if (text.find(" = ") == std::string::npos && text.find("+=") == std::string::npos) continue;
    operations.push_back(count(line["own"], "fpu_busy"));
    CHECK(count(line["own"], "cycles") >= operations.back());
  }
  CHECK(operations == std::vector<double>{64, 384, 64});
  CHECK(region >= 512);
  CHECK(region <= 520);
}

TEST_CASE("profile: a program without regions, as a table and with a roofline") {
  Folder folder;
  const auto ran = runDojo(with(kMatmul, {"--roofline", folder / "roof.svg"}));
  INFO(ran.out << ran.err);
  REQUIRE(ran.code == 0);
  CHECK(ran.out.find("matmul (M=8,N=8,K=8, f64) on snitch1: ") == 0);
  CHECK(ran.out.find("FPU busy") != std::string::npos);
  CHECK(ran.out.find("| | | c[{0}, {1}] += a[{0}, {2}] * b[{2}, {1}]") != std::string::npos);
  const std::string svg = slurp(folder / "roof.svg");
  CHECK(svg.find("<svg ") == 0);
  CHECK(svg.find("matmul (M=8,N=8,K=8, f64)") != std::string::npos);
  CHECK(unbalanced(svg).empty());
  for (const char* bad : {"nan", "inf", "&"}) CHECK(svg.find(bad) == std::string::npos);

  const auto plain = runDojo(with(kMatmul, {"--json"}));
  REQUIRE(plain.code == 0);
  const json profile = json::parse(plain.out);
  checkSums(profile);
  for (const json& line : profile["lines"]) {
    if (line["text"].get<std::string>().find("+=") == std::string::npos) continue;
    CHECK(count(line["own"], "fpu_busy") == 2 * 8 * 8 * 8);
  }
}

TEST_CASE("profile: what can't be profiled gets a sentence") {
  const auto refused = [](const std::vector<std::string>& args, int code, const std::string& says) {
    const auto ran = runDojo(args);
    INFO(ran.out << ran.err);
    CHECK(ran.code == code);
    CHECK(ran.out.empty());
    CHECK(ran.err.find(says) != std::string::npos);
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
  };
  refused({"profile", "matmul", "--target", "host"}, 1, "doesn't count what happens");
  refused({"profile", "matmul", "--target", "snich1"}, 2, "did you mean 'snitch1'?");
  refused({"profile", "nothing", "--target", "snitch1"}, 2, "there is no kernel 'nothing'");
  refused({"profile", "matmul", "--target", "snitch1", "--shape", "M=0"}, 2, "sizes go from 1");
  refused({"profile", "matmul", "--target", "snitch1"}, 1, "device memory");
  refused(with(kMatmul, {"--roofline", "/nowhere/roof.svg"}), 1, "/nowhere/roof.svg");
}
