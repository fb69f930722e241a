// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C, whatever is going on: the end comes within two seconds, says so, and leaves no runner.
#include <sys/prctl.h>

#include "unit/cli/run_dojo.h"

using dojo::test::Child;
using dojo::test::Folder;
using dojo::test::runDojo;

namespace {

/// Children of ours, grandchildren of dead ones included.
int childrenLeft() {
  int count = 0;
  for (const auto& entry : dojo::test::fs::directory_iterator("/proc")) {
    const std::string stat = dojo::test::slurp(entry.path() / "stat");
    const std::size_t end = stat.rfind(')');
    if (end == std::string::npos) continue;
    std::istringstream fields(stat.substr(end + 1));
    char state = 0;
    pid_t parent = 0;
    fields >> state >> parent;
    if (parent == getpid() && state != 'Z') ++count;
  }
  return count;
}

void endsSoon(const std::vector<std::string>& args, const std::string& input,
              std::chrono::milliseconds after, int number = SIGINT) {
  Child child(args, input);
  std::this_thread::sleep_for(after);
  const auto start = std::chrono::steady_clock::now();
  child.signal(number);
  const int code = child.wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  INFO(args[0] << "\n" << child.out() << child.err());
  CHECK(code == 1);
  CHECK(took.count() < 2);
  CHECK(child.err().find("stopped") != std::string::npos);
  CHECK(child.err().back() == '\n');
  CHECK(childrenLeft() == 0);
}

}  // namespace

TEST_CASE("Ctrl-C ends every command within two seconds", "[time]") {
  // Orphans become ours.
  REQUIRE(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  Folder folder;
  const std::string log = folder / "a.sqlite";
  // Computing what must come out takes many seconds here.
  const std::vector<std::string> large = {"matmul", "--shape", "M=1400,N=1400,K=1400"};
  // No call comes back soon.
  folder.write("endless.dojo",
               "kernel endless\nin x f32 [4]\ninout y f32 [4]\n\n1000000000\n| 4\n"
               "| | y[{1}] = y[{1}] * x[{1}]\n");
  const std::string endless = folder / "endless.dojo";
  using std::chrono::milliseconds;
  auto on = [&](const std::string& command, std::vector<std::string> rest) {
    rest.insert(rest.begin(), command);
    return rest;
  };
  endsSoon(on("run", large), "", milliseconds(1000));
  endsSoon({"tune", "matmul", large[1], large[2], "--log", log}, "", milliseconds(1000), SIGTERM);
  endsSoon({"run", endless}, "", milliseconds(1500));
  endsSoon({"tune", endless, "--log", log}, "", milliseconds(1500));
  endsSoon(on("play", large), "measure\n", milliseconds(1000));
  endsSoon({"env"}, "{\"op\":\"reset\",\"kernel\":\"" + endless + "\"}\n{\"op\":\"measure\"}\n",
           milliseconds(1500));
  endsSoon({"selfcheck", "--moves", "100000000"}, "", milliseconds(500));
  endsSoon({"selfcheck", "--math", "--exhaustive"}, "", milliseconds(1000));
  // The log is whole, and the device serves the next.
  CHECK(runDojo({"log", "verify", "--log", log}).code == 0);
  REQUIRE(runDojo({"tune", "softmax", "--trials", "2", "--log", log}).code == 0);
  endsSoon({"replay", "1", "--log", log}, "", milliseconds(300));
}
