// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The game: by commands in a pipe, and as JSON lines.
#include "unit/cli/run_dojo.h"

using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::runDojo;

namespace {
const char* const kSmall = "M=16,N=32,K=8";
}

TEST_CASE("play in a pipe: list, apply by number and text, undo, save, load, measure") {
  Folder folder;
  const std::string trace = folder / "my.trace";
  const auto ran = runDojo({"play", "matmul", "--shape", kSmall},
                           "moves @0\n1\nundo\nsplit_scope @0 4\nregister_block @0.0 2 1 0 0 0 1\n"
                           "undo\nredo\nundo\nvectorize_loop @0.0.0 1\nmeasure\nsave " +
                               trace + "\nshow asm\nquit\nnever\n");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  CHECK(ran.out.find("times as fast as the plain program") != std::string::npos);
  CHECK(ran.out.find("never") == std::string::npos);
  const std::string saved = dojo::test::slurp(trace);
  CHECK(saved.find("split_scope @0 4\n") == 0);
  const auto shown = runDojo({"show", "matmul", "--shape", kSmall, "--trace", trace});
  CHECK(shown.code == 0);
  CHECK(shown.out.find(":vector") != std::string::npos);
  const auto loaded =
      runDojo({"play", "matmul", "--shape", kSmall}, "load " + trace + "\nshow tree\ntrace\n");
  CHECK(loaded.code == 0);
  CHECK(loaded.out.find(shown.out) != std::string::npos);
  CHECK(loaded.out.find(saved) != std::string::npos);
}

TEST_CASE("play: what is refused is told, the game goes on, and a script hears of it") {
  const auto ran =
      runDojo({"play", "matmul", "--shape", kSmall},
              "split_scope @0 7\nsplit_scop @0 4\n99\nmoves @9\nsplit_scope @0 4\nundo\n"
              "undo\nload /no/such/file\n\n# nothing\n");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 1);
  CHECK(ran.out.find("7 does not divide") != std::string::npos);
  CHECK(ran.out.find("did you mean 'split_scope'") != std::string::npos);
  CHECK(ran.out.find("nothing to undo") != std::string::npos);
}

TEST_CASE("env: a conversation") {
  const auto ran = runDojo({"env"}, R"({"op":"state"}
{"op":"reset","kernel":"matmul","shape":"M=16,N=32,K=8","id":7}
{"op":"moves"}
{"op":"moves","place":"@0"}
{"op":"step","move":"split_scope @0 4"}
{"op":"step","move":"split_scope @0 3"}
{"op":"undo"}
{"op":"undo"}
{"op":"redo"}
{"op":"measure"}
{"op":"quit"}
{"op":"state"}
)");
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  const auto lines = jsonLines(ran.out);
  REQUIRE(lines.size() == 10);
  CHECK(lines[0]["error"]["code"] == "env.no-game");
  CHECK(lines[1]["ok"] == true);
  CHECK(lines[1]["id"] == 7);
  CHECK(lines[1]["state"].get<std::string>().find("kernel matmul\n") == 0);
  CHECK(lines[2]["moves"].size() > lines[3]["moves"].size());
  CHECK(lines[3]["moves"].size() > 0);
  CHECK(lines[4]["trace"][0] == "split_scope @0 4");
  CHECK(lines[5]["error"]["code"] == "move.extent");
  CHECK(lines[6]["state"] == lines[1]["state"]);
  CHECK(lines[7]["error"]["code"] == "environment.start");
  CHECK(lines[8]["state"] == lines[4]["state"]);
  CHECK(lines[9]["ok"] == true);
  CHECK(lines[9]["reward"].get<double>() > 0);
  CHECK(lines[9]["cycles"].get<double>() > 0);
}

TEST_CASE("env: whatever comes in, an object goes out") {
  const std::string deep(100000, '[');
  const auto ran =
      runDojo({"env"}, "{\n[]\n\"op\"\n{}\n{\"op\":3}\n{\"op\":\"fly\"}\n" + deep +
                           "\n\x01\xff\xfe\n{\"op\":\"reset\"}\n"
                           "{\"op\":\"reset\",\"kernel\":\"nosuch\"}\n"
                           "{\"op\":\"reset\",\"kernel\":\"add\",\"shape\":\"M=0\"}\n"
                           "{\"op\":\"reset\",\"kernel\":\"add\",\"target\":\"moon\"}\n"
                           "{\"op\":\"step\",\"move\":\"unroll @0\"}");
  CHECK(ran.code == 0);
  const auto lines = jsonLines(ran.out);
  REQUIRE(lines.size() == 13);
  for (const auto& line : lines) {
    CHECK(line["ok"] == false);
    CHECK(line["error"]["message"].get<std::string>().size() > 5);
  }
  CHECK(lines[9]["error"]["code"] == "kernel.unknown");
}
