// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/bench.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/process.h"
#include "codegen/codegen.h"
#include "codegen/device.h"
#include "ir/print.h"
#include "link/link.h"
#include "measure/layout.h"
#include "tune/work.h"

namespace dojo::tune {
namespace {

/// Slots of a session that candidates are placed in; the others are for pairs.
constexpr int kPairSlots = 2;
/// Objects that are kept.
constexpr std::size_t kMostObjects = 4096;

/// A compiled and placed program.
struct Placed {
  link::Image image;
  measure::Kernel kernel;
};

constexpr std::size_t kLeastSets = 2;
/// A kernel that does more than this can't be verified in reasonable time.
constexpr double kMostExecutions = 3e10;

/// Bytes of the buffers that a kernel is given after its arguments.
std::vector<std::int64_t> scratchOf(const ir::Program& program) {
  std::vector<std::int64_t> out;
  for (const codegen::AbiBuffer& buffer : codegen::abi(program)) {
    if (!program.buffer(buffer.id).isArgument()) out.push_back(buffer.bytes);
  }
  return out;
}

/// As many of the default input sets as the device holds, at least two. Refuses what can't be
/// verified or held, before anything is drawn or computed.
Result<std::vector<ir::InputSet>> setsThatFit(const ir::Program& program,
                                              const transport::Device& device,
                                              const BenchOptions& options) {
  const Work work = countWork(program);
  if (work.executions > kMostExecutions) {
    return Error{"verify.size",
                 fmt::format("one call is {:.3g} operations, and more than {:.3g} aren't verified "
                             "in reasonable time",
                             work.executions, kMostExecutions),
                 program.name, ""};
  }
  std::vector<ir::InputSet> sets = measure::defaultSets(program);
  for (;; sets.pop_back()) {
    const bool least = sets.size() == kLeastSets;
    // Room for another one is left to what candidates keep beside their arguments.
    const int count = static_cast<int>(sets.size()) + (least ? 0 : 1);
    Status fits = measure::Layout::fits(device.hello(), program, count, {});
    if (fits && options.first) {
      const std::vector<std::int64_t> scratch = scratchOf(*options.first);
      fits = measure::Layout::fits(device.hello(), *options.first, count, scratch);
    }
    if (fits) return sets;
    if (least) return fits.error();
  }
}

std::vector<ir::Buffer> argumentsOf(const ir::Program& program) {
  std::vector<ir::Buffer> out;
  std::copy_if(program.buffers.begin(), program.buffers.end(), std::back_inserter(out),
               [](const ir::Buffer& buffer) { return buffer.isArgument(); });
  return out;
}

Failure failureOf(const Error& error, Stage fallback) {
  const std::string kind = error.code.substr(0, error.code.find('.'));
  Stage stage = fallback;
  if (kind == "lower") stage = Stage::lower;
  if (kind == "compile") stage = Stage::compile;
  if (kind == "load" || error.code == "link.size") stage = Stage::load;
  std::string detail = error.where.empty() ? error.message : error.where + ": " + error.message;
  return {stage, error.code, std::move(detail)};
}

}  // namespace

Result<std::unique_ptr<transport::Device>> reach(const target::Target& target,
                                                 const std::string& runnerPath) {
  Result<std::unique_ptr<transport::Transport>> transport = transport::make(target, runnerPath);
  if (!transport.ok()) return transport.error();
  transport::LinkOptions link;
  link.helloSeconds = target.runner.helloSeconds;
  link.answerSeconds = target.runner.answerSeconds;
  Result<std::unique_ptr<transport::Device>> device =
      transport::Device::open(std::move(transport).value(), link);
  if (!device.ok()) return device;
  // Code for what the device lacks would trap, or compute garbage and not say so.
  if (Status runs = codegen::deviceRuns(target, (*device)->hello().isa); !runs) return runs.error();
  // What we do ourselves stays off the cores that are measured on.
  keepOff((*device)->hello().cores);
  return device;
}

double tickRate(const target::Target& target, const transport::Device& device) {
  return target.cyclesAreTime ? device.hello().timerHz : 0;
}

std::string describedBy(const target::Target& target, int harts) {
  return fmt::format("{} harts {}", target.hash, harts);
}

log::Fingerprint fingerprint(const target::Target& target, const transport::Device& device) {
  const transport::Hello& hello = device.hello();
  const transport::CounterInfo* counter = hello.counter(0);
  log::Fingerprint out;
  out.description = describedBy(target, target.harts);
  out.isa = hello.isa;
  out.clock = counter == nullptr ? "ticks" : counter->name;
  if (const double hz = tickRate(target, device); hz > 0) {
    out.clock += fmt::format(" {:.1f} GHz", hz / 1e9);
  }
  out.runner = fmt::format("{} protocol {}", hello.port, hello.version);
  return out;
}

struct Bench::State {
  /// A candidate on its way, in order of submission.
  struct Job {
    ir::Program program;
    std::string text;
    Stopwatch sinceSubmitted;
    enum class Stage { waiting, compiling, placed, running, done } stage = Stage::waiting;
    Placed placed;
    int slot = -1;
    Outcome outcome;
  };

  const target::Target& target;
  BenchOptions options;
  transport::Hello hello;  ///< As it was at the start: the threads share no device.
  std::unique_ptr<measure::Session> session;
  std::vector<measure::VerifiedSet> sets, dropped;
  std::vector<ir::Buffer> arguments;  ///< As their inputs lie on the device.

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<Job>> jobs;
  std::vector<int> freeSlots;
  std::set<std::string> banned;
  double best = std::numeric_limits<double>::infinity();
  bool stopped = false;
  int working = 0;  ///< Threads inside a compilation or a call.

  std::mutex objectsMutex;
  std::unordered_map<std::string, std::shared_ptr<const codegen::Object>> objects;

  std::thread compiler, runner;

  State(const target::Target& t, BenchOptions o) : target(t), options(std::move(o)) {}

  Result<std::shared_ptr<const codegen::Object>> compile(const ir::Program& program,
                                                         const std::string& text) {
    {
      const std::lock_guard lock(objectsMutex);
      if (auto it = objects.find(text); it != objects.end()) return it->second;
    }
    Result<codegen::Object> object = codegen::compile(program, target);
    if (!object.ok()) return object.error();
    auto shared = std::make_shared<const codegen::Object>(std::move(object).value());
    const std::lock_guard lock(objectsMutex);
    if (objects.size() >= kMostObjects) objects.clear();
    objects.emplace(text, shared);
    return shared;
  }

  /// The arguments as the program wants them packed; empty where that is how the inputs lie.
  [[nodiscard]] Result<std::vector<ir::Buffer>> layoutOf(const ir::Program& program) const {
    std::vector<ir::Buffer> wanted = argumentsOf(program);
    if (wanted == arguments) return std::vector<ir::Buffer>();
    const bool same = std::equal(wanted.begin(), wanted.end(), arguments.begin(), arguments.end(),
                                 [](const ir::Buffer& a, const ir::Buffer& b) {
                                   return a == b || ir::packsSameArray(a, b);
                                 });
    if (!same) return Error{"load.arguments", "the program takes other arguments", "", ""};
    return wanted;
  }

  Result<Placed> place(const ir::Program& program, const std::string& text, int slot) {
    Result<std::vector<ir::Buffer>> layout = layoutOf(program);
    if (!layout.ok()) return layout.error();
    const std::vector<std::int64_t> scratch = scratchOf(program);
    Status held = measure::Layout::fits(hello, program, static_cast<int>(sets.size()), scratch);
    if (!held.ok()) return held.error();
    Result<std::shared_ptr<const codegen::Object>> object = compile(program, text);
    if (!object.ok()) return object.error();
    const measure::CodeSlot at = session->slot(slot);
    Result<link::Image> image =
        link::place((*object)->bytes, codegen::kEntry, at.base, at.capacity, session->symbols());
    if (!image.ok()) return image.error();
    Placed out;
    out.image = std::move(image).value();
    out.kernel.slot = slot;
    out.kernel.entry = out.image.entry;
    out.kernel.arguments = std::move(layout).value();
    out.kernel.scratchBytes = scratch;
    return out;
  }

  void compileLoop() {
    std::unique_lock lock(mutex);
    while (true) {
      std::shared_ptr<Job> job;
      changed.wait(lock, [&] {
        if (stopped) return true;
        if (freeSlots.empty()) return false;
        auto it = std::find_if(jobs.begin(), jobs.end(),
                               [](const auto& j) { return j->stage == Job::Stage::waiting; });
        if (it != jobs.end()) job = *it;
        return job != nullptr;
      });
      if (stopped) return;
      job->stage = Job::Stage::compiling;
      if (banned.contains(job->text)) {
        job->outcome.result =
            Failure{Stage::run, "run.banned",
                    "this program took the device down twice and isn't run again"};
        job->stage = Job::Stage::done;
        changed.notify_all();
        continue;
      }
      job->slot = freeSlots.back();
      freeSlots.pop_back();
      ++working;
      lock.unlock();
      Stopwatch watch;
      Result<Placed> placed = place(job->program, job->text, job->slot);
      const double seconds = watch.seconds();
      lock.lock();
      --working;
      job->outcome.time.compile = seconds;
      if (placed.ok()) {
        job->placed = std::move(placed).value();
        job->placed.kernel.bytes = job->placed.image.bytes;
        job->stage = Job::Stage::placed;
      } else {
        job->outcome.result = failureOf(placed.error(), Stage::compile);
        job->stage = Job::Stage::done;
        freeSlots.push_back(job->slot);
      }
      changed.notify_all();
    }
  }

  void runLoop() {
    std::unique_lock lock(mutex);
    while (true) {
      std::shared_ptr<Job> job;
      changed.wait(lock, [&] {
        if (stopped) return true;
        auto it = std::find_if(jobs.begin(), jobs.end(),
                               [](const auto& j) { return j->stage != Job::Stage::done; });
        // In order: the device waits for the oldest.
        if (it != jobs.end() && (*it)->stage == Job::Stage::placed) job = *it;
        return job != nullptr;
      });
      if (stopped) return;
      job->stage = Job::Stage::running;
      const measure::Race race{best * options.raceFactor};
      ++working;
      lock.unlock();
      Outcome outcome = session->evaluate(job->placed.kernel, race);
      lock.lock();
      --working;
      outcome.time.compile = job->outcome.time.compile;
      const TimeSplit& time = outcome.time;
      outcome.time.queue = std::max(0.0, job->sinceSubmitted.seconds() - time.compile -
                                             time.transfer - time.verify - time.run);
      if (outcome.ok() && !outcome.measurement().censored && outcome.measurement().score > 0) {
        best = std::min(best, outcome.measurement().score);
      }
      job->outcome = std::move(outcome);
      job->stage = Job::Stage::done;
      freeSlots.push_back(job->slot);
      changed.notify_all();
    }
  }
};

Bench::Bench(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Bench>> Bench::open(const ir::Program& program, const target::Target& target,
                                           transport::Device& device, const BenchOptions& options) {
  Result<std::vector<ir::InputSet>> sets = setsThatFit(program, device, options);
  if (!sets.ok()) return sets.error();
  measure::Options measuring;
  measuring.coldCache = options.coldCache;
  measuring.harts = options.harts;
  measuring.limitSeconds = target.runner.callSeconds;
  measuring.seed = options.seed;
  measure::VerifierOptions verifying;
  verifying.seed = options.seed;
  verifying.cacheFolder = options.referenceFolder;
  Result<measure::Verifier> verifier = Error{};
  Result<std::unique_ptr<measure::Session>> session = Error{};
  // What a session lays beside the buffers shows when it is laid out.
  for (;; sets->pop_back()) {
    verifying.sets = *sets;
    verifier = measure::Verifier::make(program, verifying);
    if (!verifier.ok()) return verifier.error();
    session = measure::Session::open(device, target, program, verifier->inputs(),
                                     verifier->compare(), measuring);
    if (session.ok()) break;
    if (session.error().code != "load.size" || sets->size() <= kLeastSets) return session.error();
  }
  auto state = std::make_shared<State>(target, options);
  state->hello = device.hello();
  state->session = std::move(session).value();
  state->sets = verifier->sets();
  state->dropped = verifier->dropped();
  state->arguments = argumentsOf(program);
  for (int slot = state->session->slots() - 1; slot >= kPairSlots; --slot) {
    state->freeSlots.push_back(slot);
  }
  // The threads hold the state, not the bench: see the destructor.
  state->compiler = std::thread([state] { state->compileLoop(); });
  state->runner = std::thread([state] { state->runLoop(); });
  return std::unique_ptr<Bench>(new Bench(state));
}

Bench::~Bench() {
  stop();
  state_->compiler.join();
  state_->runner.join();
}

int Bench::depth() const { return state_->options.depth; }

void Bench::submit(const search::Candidate& candidate) {
  auto job = std::make_shared<State::Job>();
  job->program = candidate.program;
  job->text = candidate.text;
  const std::lock_guard lock(state_->mutex);
  state_->jobs.push_back(std::move(job));
  state_->changed.notify_all();
}

std::optional<Outcome> Bench::next() {
  std::unique_lock lock(state_->mutex);
  State& s = *state_;
  DOJO_CHECK(s.stopped || !s.jobs.empty(), "nothing was submitted");
  while (!s.stopped && s.jobs.front()->stage != State::Job::Stage::done) {
    // The flag is set by a signal handler, which can't wake anybody.
    s.changed.wait_for(lock, std::chrono::milliseconds(50));
    const std::atomic<bool>* interrupted = s.options.interrupted;
    if (interrupted != nullptr && interrupted->load()) {
      s.stopped = true;
      s.changed.notify_all();
    }
  }
  if (s.stopped) return std::nullopt;
  Outcome outcome = std::move(s.jobs.front()->outcome);
  s.jobs.pop_front();
  return outcome;
}

void Bench::stop() {
  const std::lock_guard lock(state_->mutex);
  state_->stopped = true;
  state_->changed.notify_all();
}

bool Bench::idle(double seconds) {
  Stopwatch watch;
  while (true) {
    {
      const std::lock_guard lock(state_->mutex);
      if (state_->working == 0) return true;
    }
    if (watch.seconds() > seconds) return false;
    systemClock().sleep(0.01);
  }
}

void Bench::ban(const std::string& text) {
  const std::lock_guard lock(state_->mutex);
  state_->banned.insert(text);
}

void Bench::setLeastCycles(double ticks) { state_->session->setLeastCycles(ticks); }

void Bench::setBest(double score) {
  const std::lock_guard lock(state_->mutex);
  state_->best = std::min(state_->best, score);
}

const std::vector<measure::VerifiedSet>& Bench::inputSets() const { return state_->sets; }
const std::vector<measure::VerifiedSet>& Bench::droppedSets() const { return state_->dropped; }

Result<measure::Pairing> Bench::compare(const ir::Program& a, const ir::Program& b, int pairs) {
  Result<Placed> first = state_->place(a, ir::print(a), 0);
  if (!first.ok()) return first.error();
  Result<Placed> second = state_->place(b, ir::print(b), 1);
  if (!second.ok()) return second.error();
  first->kernel.bytes = first->image.bytes;
  second->kernel.bytes = second->image.bytes;
  return state_->session->compareAB(first->kernel, second->kernel, pairs);
}

}  // namespace dojo::tune
