// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <csignal>
#include <exception>
#include <new>

#include <fcntl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/version.h"

namespace {

int run(int argc, char** argv) {
  CLI::App app("PerfDojo: makes kernels fast by rewriting their loop trees and measuring", "dojo");
  app.set_version_flag("--version", std::string("dojo ") + dojo::cli::kVersion);
  app.require_subcommand(1);
  app.footer("Example:\n  dojo tune softmax --trials 200");
  dojo::cli::addKernels(app);
  dojo::cli::addShow(app);
  dojo::cli::addMoves(app);
  dojo::cli::addCheck(app);
  dojo::cli::addPlay(app);
  dojo::cli::addRun(app);
  dojo::cli::addProfile(app);
  dojo::cli::addTune(app);
  dojo::cli::addTrain(app);
  dojo::cli::addReplay(app);
  dojo::cli::addLog(app);
  dojo::cli::addReport(app);
  dojo::cli::addEnv(app);
  dojo::cli::addTarget(app);
  dojo::cli::addSelfcheck(app);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' &&
      std::find(names.begin(), names.end(), argv[1]) == names.end()) {
    return dojo::cli::fail({"cli.usage",
                            "there is no command '" + std::string(argv[1]) + "'" +
                                dojo::didYouMean(argv[1], names) + " (dojo --help lists all)",
                            "", ""});
  }
  try {
    app.parse(argc, argv);
    return dojo::cli::kDone;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? dojo::cli::kDone : dojo::cli::kUsage;
  } catch (const std::bad_alloc&) {
    return dojo::cli::fail({"memory.full", "this needs more memory than there is", "", ""});
  }
}

/// Where the caller closed a standard stream, no file that we open may take its number; writing to
/// it fails still.
void openStandardStreams() {
  int fd = 0;
  do {
    fd = open("/dev/null", O_RDONLY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe ends the program by a failed write where it matters, not by a signal.
  std::signal(SIGPIPE, SIG_IGN);
  openStandardStreams();
  dojo::cli::handleInterrupts();
  return run(argc, argv);
}
