// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/profile.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "codegen/codegen.h"
#include "ir/print.h"
#include "ir/tree.h"
#include "link/link.h"
#include "measure/verification.h"
#include "tune/bench.h"

namespace dojo::tune {
namespace {

constexpr double kMostWait = 10;  ///< Seconds for the model to write its counts.
constexpr double kQuiet = 0.1;    ///< After that long without a new count it's the last.
constexpr const char* kRetired = "retired";

/// The counts of a model up to some cycle: one row for each hart and address.
struct Counts {
  std::vector<std::string> names;
  struct Row {
    int hart = 0;
    std::uint64_t pc = 0;
    double cycles = 0;
    std::vector<double> counts;
  };
  std::vector<Row> rows;
};

/// "hart pc cycles NAMES...", then a row a line, "end" last.
Result<Counts> parseCounts(const std::string& text) {
  Counts out;
  std::istringstream lines(text);
  std::string line, word;
  std::getline(lines, line);
  std::istringstream head(line);
  while (head >> word) out.names.push_back(word);
  if (out.names.size() < 4 || out.names[0] != "hart") {
    return Error{"profile.events", "the model's counts don't begin with their names", "", ""};
  }
  out.names.erase(out.names.begin(), out.names.begin() + 3);
  while (std::getline(lines, line)) {
    if (line == "end") return out;
    std::istringstream fields(line);
    Counts::Row row;
    fields >> row.hart >> std::hex >> row.pc >> std::dec >> row.cycles;
    row.counts.resize(out.names.size());
    for (double& count : row.counts) fields >> count;
    if (!fields) return Error{"profile.events", "a count that can't be read: " + line, "", ""};
    out.rows.push_back(std::move(row));
  }
  return Error{"profile.events", "the model's counts have no end", "", ""};
}

/// What the model has written, once it writes nothing more.
Result<Counts> settled(const std::string& path) {
  Stopwatch watch, since;
  std::string last;
  while (watch.seconds() < kMostWait) {
    Result<std::string> text = readFile(path);
    if (text.ok() && *text != last) {
      last = *text;
      since = Stopwatch();
    }
    if (!last.empty() && since.seconds() > kQuiet) return parseCounts(last);
    systemClock().sleep(kQuiet / 10);
  }
  return Error{"profile.events", "the model has written no counts", path, ""};
}

/// Lines of a program's text.
std::vector<std::string> linesOf(const ir::Program& program) {
  std::vector<std::string> out;
  std::istringstream text(ir::print(program));
  for (std::string line; std::getline(text, line);) out.push_back(line);
  return out;
}

/// The lines around each line, nearest first.
std::map<int, std::vector<int>> around(const ir::Program& program) {
  std::map<int, std::vector<int>> out;
  ir::walk(program, [&](const ir::Visit& visit) {
    const int line = ir::lineOf(program, visit.path);
    ir::Path path = visit.path;
    for (path.pop_back(); !path.empty(); path.pop_back()) {
      const int outer = ir::lineOf(program, path);
      if (outer != line) out[line].push_back(outer);
    }
    return true;
  });
  return out;
}

/// Of a placed kernel: the line from which the instruction at an address comes.
class Places {
 public:
  Places(const link::Image& image, std::vector<codegen::CodeLine> lines)
      : image_(image), lines_(std::move(lines)) {}
  [[nodiscard]] bool has(std::uint64_t pc) const {
    return pc >= image_.base && pc < image_.base + image_.bytes.size();
  }
  [[nodiscard]] int lineAt(std::uint64_t pc) const {
    const auto offset = static_cast<std::int64_t>(pc - image_.entry);
    const auto after =
        std::upper_bound(lines_.begin(), lines_.end(), offset,
                         [](std::int64_t at, const codegen::CodeLine& l) { return at < l.offset; });
    return after == lines_.begin() ? 0 : std::prev(after)->line;
  }

 private:
  const link::Image& image_;
  std::vector<codegen::CodeLine> lines_;
};

using Key = std::pair<int, std::uint64_t>;
std::map<Key, const Counts::Row*> byPlace(const Counts& counts) {
  std::map<Key, const Counts::Row*> out;
  for (const Counts::Row& row : counts.rows) out[{row.hart, row.pc}] = &row;
  return out;
}

/// What happened in between, shared out to the lines and to one call.
Profile shareOut(const Counts& before, const Counts& after, const Places& places,
                 std::uint64_t entry, const ir::Program& program) {
  const auto earlier = byPlace(before);
  const auto retired = std::find(after.names.begin(), after.names.end(), kRetired);
  const auto retiredAt = static_cast<std::size_t>(retired - after.names.begin());
  std::map<int, Happened> own;
  double calls = 0;
  for (const Counts::Row& row : after.rows) {
    if (!places.has(row.pc)) continue;
    const auto old = earlier.find({row.hart, row.pc});
    Happened happened;
    happened.cycles = row.cycles - (old == earlier.end() ? 0 : old->second->cycles);
    for (std::size_t i = 0; i < after.names.size(); ++i) {
      const double count = row.counts[i] - (old == earlier.end() ? 0 : old->second->counts[i]);
      happened.events[after.names[i]] = count;
      if (row.pc == entry && i == retiredAt) calls += count;
    }
    own[places.lineAt(row.pc)] += happened;
  }
  Profile out;
  out.events = after.names;
  const auto outer = around(program);
  std::map<int, Happened> all;
  for (auto& [line, happened] : own) {
    if (calls > 0) {
      happened.cycles /= calls;
      for (auto& [name, count] : happened.events) count /= calls;
    }
    out.total += happened;
    all[line] += happened;
    const auto found = outer.find(line);
    if (found == outer.end()) continue;
    for (const int around : found->second) all[around] += happened;
  }
  const std::vector<std::string> text = linesOf(program);
  for (const auto& [line, happened] : all) {
    const bool known = line > 0 && static_cast<std::size_t>(line) <= text.size();
    out.lines.push_back({line, known ? text[static_cast<std::size_t>(line) - 1] : "",
                         own.contains(line) ? own.at(line) : Happened(), happened});
  }
  return out;
}

/// A file name that is gone with its owner.
class TemporaryFile {
 public:
  TemporaryFile()
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("dojo-events-{}", static_cast<long>(::getpid())))
                  .string()) {}
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Happened& Happened::operator+=(const Happened& other) {
  cycles += other.cycles;
  for (const auto& [name, count] : other.events) events[name] += count;
  return *this;
}

Result<Profile> profile(const target::Target& target, const std::string& runnerPath,
                        const ir::Program& program, std::uint64_t seed) {
  if (target.runner.transport != "verilator") {
    return Error{"profile.target",
                 "the device of target " + target.name +
                     " doesn't count what happens at each address; models of ours do (snitch)",
                 "", ""};
  }
  const TemporaryFile events;
  target::Target watched = target;
  watched.runner.command += " --events " + events.path();
  Result<std::unique_ptr<transport::Device>> device = reach(watched, runnerPath);
  if (!device.ok()) return device.error();
  measure::VerifierOptions verifying;
  verifying.seed = seed;
  verifying.sets = {ir::InputSet::uniform};
  Result<measure::Verifier> verifier = measure::Verifier::make(program, verifying);
  if (!verifier.ok()) return verifier.error();
  measure::Options measuring;
  measuring.harts = target.harts;
  measuring.limitSeconds = target.runner.callSeconds;
  measuring.seed = seed;
  Result<std::unique_ptr<measure::Session>> session = measure::Session::open(
      **device, watched, program, verifier->inputs(), verifier->compare(), measuring);
  if (!session.ok()) return session.error();
  Result<codegen::LinedObject> object = codegen::compileWithLines(program, target);
  if (!object.ok()) return object.error();
  const measure::CodeSlot slot = (*session)->slot(0);
  Result<link::Image> image = link::place(object->object.bytes, codegen::kEntry, slot.base,
                                          slot.capacity, (*session)->symbols());
  if (!image.ok()) return image.error();
  measure::Kernel kernel;
  kernel.bytes = image->bytes;
  kernel.entry = image->entry;
  for (const codegen::AbiBuffer& buffer : codegen::abi(program)) {
    if (!program.buffer(buffer.id).isArgument()) kernel.scratchBytes.push_back(buffer.bytes);
  }
  // All that is cold is met by the first.
  Counts counts[2];
  Outcome outcome;
  for (Counts& each : counts) {
    outcome = (*session)->evaluate(kernel);
    if (!outcome.ok()) return Error{outcome.failure().code, outcome.failure().detail, "", ""};
    Result<Counts> read = settled(events.path());
    if (!read.ok()) return read.error();
    each = std::move(*read);
  }
  const Places places(*image, std::move(object->lines));
  Profile out = shareOut(counts[0], counts[1], places, image->entry, program);
  out.cycles = outcome.measurement().cycles;
  out.harts = target.harts;
  return out;
}

}  // namespace dojo::tune
