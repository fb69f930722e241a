// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model as a process: loads a program, runs it, joins its console and its JTAG port to the
// outside. What it is for is told by kUsage.
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>

#include <sys/prctl.h>

#include "console.h"
#include "host_interface.h"
#include "load_elf.h"
#include "model.h"
#include "remote_bitbang.h"

namespace {

using namespace dojo::rtl;

constexpr const char* kUsage =
    "usage: %s [options]\n"
    "  --elf FILE       load a program; a store to its symbol `tohost` with bit 0 set ends the\n"
    "                   run, the exit status is the value shifted right by one; another value is\n"
    "                   the address of a system call's block (64: write, 93: exit)\n"
    "  --jtag WHERE     serve OpenOCD's remote_bitbang on loopback port WHERE (0: a free one,\n"
    "                   which is printed on standard error) or on unix:PATH\n"
    "  --clocks N       cycles of the machine for each half period of TCK (default 1)\n"
    "  --once           end when the JTAG client leaves, or the process that started this one\n"
    "  --stdio          the console reads standard input, whose end ends the run\n"
    "  --max-cycles N   end after N cycles, with status 3 (also --cycles)\n"
    "  --memory FILE    memory is this file: who maps it has a back door\n"
    "  --log FILE       write what each hart does, an instruction a line\n"
    "  --events FILE    count what happens at each address, write it at the end\n"
    "  --trace FILE     write all signals as FST\n"
    "  --stats          at the end, print cycles and speed on standard error\n";

struct Options {
  std::string elf, jtag, memory, log, events, trace;
  std::uint64_t cycles = 0;
  std::uint64_t clocks = 1;
  bool once = false;
  bool stdio = false;
  bool stats = false;
};

bool readNumber(const char* text, std::uint64_t& into) {
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, into);
  return error == std::errc() && stop == end && stop != text;
}

std::optional<Options> readOptions(int count, char** arguments) {
  Options out;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const char* value = i + 1 < count ? arguments[i + 1] : nullptr;
    bool good = true;
    if (name == "--once") {
      out.once = true;
    } else if (name == "--stdio") {
      out.stdio = true;
    } else if (name == "--stats") {
      out.stats = true;
    } else if (value == nullptr) {
      good = false;
    } else {
      ++i;
      if (name == "--elf") {
        out.elf = value;
      } else if (name == "--jtag") {
        out.jtag = value;
      } else if (name == "--memory") {
        out.memory = value;
      } else if (name == "--log") {
        out.log = value;
      } else if (name == "--events") {
        out.events = value;
      } else if (name == "--trace") {
        out.trace = value;
      } else if (name == "--cycles" || name == "--max-cycles") {
        good = readNumber(value, out.cycles);
      } else if (name == "--clocks") {
        good = readNumber(value, out.clocks) && out.clocks > 0 && out.clocks <= 1000;
      } else {
        good = false;
      }
    }
    if (!good) {
      std::fprintf(stderr, "%s: wrong option or value\n", name.c_str());
      return std::nullopt;
    }
  }
  return out;
}

/// Runs until something ends it; the exit status.
int simulate(Model& model, HostInterface& host, RemoteBitbang* jtag, const Options& options) {
  Console& console = Console::instance();
  // While the debugger talks, the clock goes on with TCK only, and the process sleeps until the
  // next word: a sleeper is woken at once, on a busy machine too. After a silence it runs freely.
  constexpr std::uint64_t kBatch = 1024;
  constexpr int kSilence = 200;  // Microseconds.
  bool talking = false;
  bool waited = false;
  while (true) {
    const bool waits = model.idle() || console.vainLooks() >= kBatch / 64;
    if (waits && !waited) model.settle();
    waited = waits;
    if (jtag != nullptr) {
      talking = jtag->serve(talking ? kSilence : waits ? 1000 : 0);
      if (options.once && jtag->abandoned()) return 0;
    }
    if (!talking) model.run(kBatch);
    console.exchange(waits && jtag == nullptr ? 1 : 0);
    if (const auto status = host.serve()) return *status;
    if (options.stdio && console.ended() && waits) return 0;
    if (options.cycles != 0 && model.cycles() >= options.cycles) return 3;
  }
}

/// Opens what the options ask for. What went wrong; empty: nothing.
std::string prepare(Model& model, const Options& options) {
  std::string error;
  if (!options.memory.empty()) error = model.shareMemory(options.memory);
  if (error.empty() && !options.log.empty()) error = model.openLog(options.log);
  if (error.empty() && !options.events.empty()) error = model.openEvents(options.events);
  if (error.empty() && !options.trace.empty()) error = model.openTrace(options.trace);
  return error;
}

}  // namespace

int main(int count, char** arguments) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::optional<Options> options = readOptions(count, arguments);
  if (!options) {
    std::fprintf(stderr, kUsage, arguments[0]);
    return 2;
  }
  if (options->once) prctl(PR_SET_PDEATHSIG, SIGTERM);
  const std::unique_ptr<Model> model = makeModel();
  LoadedElf program;
  program.error = prepare(*model, *options);
  if (program.error.empty() && !options->elf.empty()) {
    program = loadElf(*model, options->elf);
    if (program.error.empty()) model->start(program.entry);
  }
  if (!program.error.empty()) {
    std::fprintf(stderr, "%s\n", program.error.c_str());
    return 2;
  }
  if (options->stdio) Console::instance().openInput(options->jtag.empty());
  std::optional<RemoteBitbang> jtag;
  if (!options->jtag.empty()) {
    jtag.emplace(*model, static_cast<unsigned>(options->clocks));
    const std::string error = jtag->listen(options->jtag);
    if (!error.empty()) {
      std::fprintf(stderr, "%s\n", error.c_str());
      return 2;
    }
    std::fprintf(stderr, "jtag: %s\n", jtag->address().c_str());
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t beginUsed = std::clock();
  HostInterface host(*model, program);
  const int status = simulate(*model, host, jtag ? &*jtag : nullptr, *options);
  Console::instance().exchange(0);
  if (options->stats) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const double used = static_cast<double>(std::clock() - beginUsed) / CLOCKS_PER_SEC;
    const auto khz = [&model](double seconds) {
      return static_cast<double>(model->cycles()) / seconds / 1e3;
    };
    std::fprintf(stderr, "%llu cycles in %.3f s: %.0f kHz; %.0f kHz of processor time\n",
                 static_cast<unsigned long long>(model->cycles()), took.count(), khz(took.count()),
                 khz(used));
  }
  return status;
}
