// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands that only look: kernels, show, moves, check, target, help.
#include "unit/cli/run_dojo.h"

using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::runDojo;

TEST_CASE("every command has a help that ends in an example") {
  for (const char* name : {"kernels", "show", "moves", "check", "play", "run", "tune", "replay",
                           "log", "env", "target", "selfcheck"}) {
    const auto ran = runDojo({name, "--help"});
    INFO(name << "\n" << ran.out << ran.err);
    CHECK(ran.code == 0);
    CHECK(ran.out.find("Example:\n") != std::string::npos);
    const std::size_t example = ran.out.rfind("  ", ran.out.size() - 2);
    CHECK(ran.out.find("dojo ", ran.out.rfind("Example:")) != std::string::npos);
    CHECK(example != std::string::npos);
  }
  CHECK(runDojo({"--help"}).code == 0);
  CHECK(runDojo({"--version"}).out.find("dojo 0.") == 0);
  for (const char* sub : {"list", "runs", "show", "export", "merge", "verify"}) {
    CHECK(runDojo({"log", sub, "--help"}).code == 0);
  }
}

TEST_CASE("kernels: a table, or a line of JSON each") {
  const auto table = runDojo({"kernels"});
  CHECK(table.code == 0);
  CHECK(table.out.find("softmax") != std::string::npos);
  CHECK(table.err.empty());
  const auto lines = jsonLines(runDojo({"kernels", "--json"}).out);
  REQUIRE(lines.size() >= 14);
  for (const auto& line : lines) {
    CHECK(line["text"].get<std::string>().find("kernel " + line["kernel"].get<std::string>()) !=
          std::string::npos);
  }
}

TEST_CASE("show: tree, places, LLVM and assembly, shapes and types") {
  const auto tree = runDojo({"show", "matmul", "--shape", "M=4,N=8,K=16", "--dtype", "f64"});
  CHECK(tree.code == 0);
  CHECK(tree.out.find("in a f64 [4, 16]") != std::string::npos);
  CHECK(runDojo({"show", "matmul", "--places"}).out.find("@0.0.1") != std::string::npos);
  CHECK(runDojo({"show", "add", "--as", "llvm"}).out.find("define") != std::string::npos);
  CHECK(runDojo({"show", "add", "--as", "asm"}).out.find("ret") != std::string::npos);
  // What is shown can be given back.
  Folder folder;
  folder.write("shown.dojo", tree.out);
  const auto again = runDojo({"show", folder / "shown.dojo"});
  CHECK(again.out == tree.out);
}

TEST_CASE("moves: the catalogue, one of them, and what is applicable") {
  const auto all = jsonLines(runDojo({"moves", "--json"}).out);
  REQUIRE(all.size() > 25);
  bool composite = false;
  for (const auto& line : all) composite = composite || line.contains("composite");
  CHECK(composite);
  CHECK(runDojo({"moves", "split_scope"}).out.find("Needs:") != std::string::npos);
  CHECK(runDojo({"moves", "register_block"}).out.find("rows") != std::string::npos);
  CHECK(jsonLines(runDojo({"moves", "split_scope", "--json"}).out).at(0)["move"] == "split_scope");
  CHECK(jsonLines(runDojo({"moves", "splt", "--json"}).out).at(0)["error"]["code"] ==
        "move.unknown");
  const auto here = runDojo({"moves", "--on", "softmax"});
  CHECK(here.code == 0);
  CHECK(here.out.find("join_scopes @0\n") != std::string::npos);
}

TEST_CASE("check: a user's own file works, and a wrong one is told where") {
  Folder folder;
  folder.write("good.dojo",
               "kernel twice\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = x[{0}] * 2\n");
  folder.write("out.dojo", "kernel far\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = x[{0} + 1]\n");
  folder.write("text.dojo", "kernel k\nin x f32 [8\n");
  CHECK(runDojo({"check", folder / "good.dojo"}).code == 0);
  const auto json = jsonLines(runDojo({"check", folder / "good.dojo", "--json"}).out);
  REQUIRE(json.size() == 1);
  CHECK(json[0]["kernel"] == "twice");
  CHECK(json[0]["lowerable"] == true);
  auto ran = runDojo({"check", folder / "out.dojo"});
  CHECK(ran.code == 1);
  CHECK(ran.err.find("check.bounds") != std::string::npos);
  ran = runDojo({"check", folder / "text.dojo", "--json"});
  CHECK(ran.code == 1);
  CHECK(jsonLines(ran.out).at(0)["error"]["code"].get<std::string>().find("parse.") == 0);
}

TEST_CASE("target list and show") {
  CHECK(runDojo({"target", "list"}).out.find("host") != std::string::npos);
  const auto lines = jsonLines(runDojo({"target", "show", "host", "--json"}).out);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["target"] == "host");
  CHECK(lines[0]["harts"].get<int>() >= 1);
}
