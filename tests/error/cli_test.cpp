// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Wrong use of the command line: one clear sentence, the right exit code, nothing half-written.
#include "unit/cli/run_dojo.h"

using dojo::test::Folder;
using dojo::test::runDojo;

namespace {

/// One line that starts with "dojo: " (and perhaps a source line with a caret below).
void refused(const std::vector<std::string>& args, int code, const std::string& says) {
  const auto ran = runDojo(args);
  INFO("dojo " << args[0] << " " << (args.size() > 1 ? args[1] : "") << "\n" << ran.err);
  CHECK(ran.code == code);
  CHECK(ran.out.empty());
  CHECK(ran.err.find(says) != std::string::npos);
  CHECK(ran.err.find("terminate") == std::string::npos);
}

const char* const kSmall = "M=8,N=8";

}  // namespace

TEST_CASE("names that mean nothing: usage, with the nearest") {
  refused({"tunne", "add"}, 2, "did you mean 'tune'");
  refused({"run", "sofmax"}, 2, "did you mean 'softmax'");
  refused({"show", "./nosuch.dojo"}, 2, "nosuch.dojo");
  refused({"run", "add", "--target", "hots"}, 2, "did you mean 'host'");
  refused({"target", "show", "moon"}, 2, "moon");
  refused({"tune", "add", "--strategy", "gredy"}, 2, "did you mean 'greedy'");
  refused({"moves", "splt_scope"}, 2, "did you mean 'split_scope'");
  refused({"run", "add", "--dtype", "f23"}, 2, "f23");
  refused({"run", "add", "--no-such-option"}, 2, "no-such-option");
  refused({"show", "add", "--as", "poem"}, 2, "poem");
  refused({"tune", "add", "--trials", "0"}, 2, "trials");
  refused({"tune", "add", "--trials", "many"}, 2, "many");
  refused({"run", "add", "--threads", "1000"}, 2, "threads");
  refused({"log", "show", "1", "--log", "/dev/null"}, 1, "log");
  CHECK(runDojo({}).code == 2);
  CHECK(runDojo({"log"}).code == 2);
}

TEST_CASE("shapes") {
  refused({"run", "add", "--shape", "M=0"}, 2, "M=0");
  refused({"run", "add", "--shape", "M=-3"}, 2, "M=-3");
  refused({"run", "add", "--shape", "M=99999999999999999999"}, 2, "M=9999");
  refused({"run", "add", "--shape", "M"}, 2, "NAME=NUMBER");
  refused({"run", "add", "--shape", "M=4,M=5"}, 2, "twice");
  refused({"run", "add", "--shape", "Q=4"}, 2, "no parameter 'Q'");
  refused({"run", "add", "--shape", "M=1000000,N=1000000000"}, 1, "too large");
  refused({"run", "add", "--shape", "M=100000,N=100000"}, 1, "bytes");
  refused({"run", "matmul", "--shape", "M=4000,N=4000,K=4000"}, 1, "operations");
}

TEST_CASE("logs that can't be written or read") {
  Folder folder;
  folder.write("text", std::string(4096, 'x'));
  refused({"tune", "add", "--shape", kSmall, "--log", "/no/such/folder/a.sqlite"}, 1,
          "cannot open");
  refused({"tune", "add", "--shape", kSmall, "--log", "/dev/full"}, 1, "no space");
  refused({"tune", "add", "--shape", kSmall, "--log", "/"}, 1, "directory");
  refused({"tune", "add", "--shape", kSmall, "--log", folder / "text"}, 1, "not an SQLite file");
  refused({"log", "list", "--log", folder / "none.sqlite"}, 1, "no such log");
  refused({"replay", "1", "--log", folder / "none.sqlite"}, 1, "no such log");
  refused({"log", "merge", folder / "text", "--log", folder / "new.sqlite"}, 1, "not an SQLite");
  CHECK(dojo::test::slurp(folder / "text") == std::string(4096, 'x'));
  // Names that mean something else to SQLite.
  refused({"tune", "add", "--shape", kSmall, "--log", ""}, 1, "empty");
  refused({"log", "list", "--log", ":memory:"}, 1, "no such log");
}

TEST_CASE("what is quoted in a message is short and can be printed") {
  Folder folder;
  folder.write("long.trace", "split_scope @0 " + std::string(1 << 20, '9') + "\n");
  folder.write("escape.trace", "\x1b[2J\x07 @0\n");
  for (const std::string name : {"long.trace", "escape.trace"}) {
    const auto ran = runDojo({"show", "add", "--trace", folder / name});
    CHECK(ran.code == 1);
    CHECK(ran.err.size() < 10000);
    CHECK(ran.err.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("invalid programs are told with their file, and too large ones don't crash") {
  Folder folder;
  folder.write("far.dojo", "kernel k\nin x f32 [8]\nout y f32 [8]\n\n8\n| y[{0}] = x[{0} + 1]\n");
  refused({"run", folder / "far.dojo"}, 1, "far.dojo, line");
  folder.write("large.dojo",
               "kernel k\nin x f32 [4]\nout y f32 [4]\ntmp t f32 [100000000000]\n\n"
               "4\n| t[{0}] = x[{0}]\n4\n| y[{0}] = t[{0}]\n");
  refused({"run", folder / "large.dojo"}, 1, "");
}

TEST_CASE("standard output that can't be written") {
  const auto ran = runDojo({"kernels"}, "", "/dev/full");
  CHECK(ran.code == 1);
  CHECK(ran.err.find("standard output") != std::string::npos);
}

TEST_CASE("a runner that isn't there, or isn't one") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  refused({"run", "add", "--shape", kSmall, "--runner", "/nonexistent"}, 1, "No such file");
  refused({"tune", "add", "--shape", kSmall, "--log", log, "--runner", "/nonexistent"}, 1,
          "No such file");
  refused({"run", "add", "--shape", kSmall, "--runner", "/bin/false"}, 1, "link.");
  // Its complaints are heard, however many, and what it started doesn't outlive us.
  folder.write("chatty", "#!/bin/sh\nyes complaint | head -c 1000000 >&2\nexec " DOJO_BINARY_DIR
                         "/bin/dojo-runner-linux \"$@\"\n");
  folder.write("deaf", "#!/bin/sh\nexec 0<&- 1>&-\nsleep 1000\n");
  for (const char* name : {"chatty", "deaf"}) {
    dojo::test::fs::permissions(folder / name, dojo::test::fs::perms::owner_all);
  }
  CHECK(runDojo({"run", "add", "--shape", kSmall, "--runner", folder / "chatty"}).code == 0);
  refused({"run", "add", "--shape", kSmall, "--runner", folder / "deaf"}, 1, "runs on");
}

TEST_CASE("kernel and trace files that aren't") {
  Folder folder;
  std::string noise;
  for (int k = 0; k < 4096; ++k) noise += static_cast<char>((k * 7919 + k / 3) % 256);
  folder.write("noise.dojo", noise);
  folder.write("brackets.dojo", "kernel k\nin x f32 " + std::string(10 << 20, '['));
  folder.write("empty.dojo", "");
  folder.write("bad.trace", "split_scope @0 3\n");
  folder.write("unknown.trace", "fly_away @0\n");
  refused({"check", folder / "noise.dojo"}, 1, "parse.");
  refused({"check", folder / "brackets.dojo"}, 1, "parse.");
  refused({"check", folder / "empty.dojo"}, 1, "parse.");
  refused({"run", "add", "--shape", kSmall, "--trace", folder / "bad.trace"}, 1, "bad.trace");
  refused({"run", "add", "--shape", kSmall, "--trace", folder / "unknown.trace"}, 1, "fly_away");
  refused({"run", "add", "--shape", kSmall, "--trace", folder / "none.trace"}, 2, "none.trace");
}
