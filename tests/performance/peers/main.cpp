// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of the suite against other libraries, side by side: one process, one thread, the same
// inputs, calls in turn, the lower quartile of the rounds. Ours is the expert's program, or with
// --log the best of a tuning log.
//
//   peers [--json] [--log FILE] [--rounds N] [KERNEL ...]
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <immintrin.h>
#include <nlohmann/json.hpp>
#include <sched.h>

#include "base/clock.h"
#include "codegen/codegen.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "kernels/kernels.h"
#include "log/log.h"
#include "performance/must.h"
#include "performance/peers/peers.h"
#include "run_here/run_here.h"
#include "search/expert.h"
#include "tune/bench.h"
#include "tune/peak.h"
#include "tune/work.h"

using namespace dojo;

namespace {

struct Options {
  bool json = false;
  std::string log;
  int rounds = 15;
  std::vector<std::string> kernels;
};

struct Shape {
  std::string kernel;
  std::map<std::string, std::int64_t> params;  ///< Other than the defaults.
};

std::vector<Shape> shapes(const Options& options) {
  std::vector<Shape> out;
  const auto wanted = [&](const std::string& name) {
    return options.kernels.empty() ||
           std::find(options.kernels.begin(), options.kernels.end(), name) != options.kernels.end();
  };
  for (const kernels::Kernel& kernel : kernels::list()) {
    if (!wanted(kernel.name)) continue;
    out.push_back({kernel.name, {}});
    if (kernel.name == "matmul")
      out.push_back({kernel.name, {{"M", 768}, {"N", 1024}, {"K", 1024}}});
    if (kernel.name == "conv2d") out.push_back({kernel.name, {{"stride", 2}}});
  }
  return out;
}

/// Zeroed memory that begins with a cache line, no two at the same place of their pages: loads and
/// stores of two buffers then don't wait for each other.
class Memory {
 public:
  explicit Memory(std::size_t bytes)
      : data_(std::aligned_alloc(4096, (bytes + 2 * 4096 - 1) / 4096 * 4096), &std::free),
        offset_(count()++ * 5 % 64 * 64) {
    std::memset(data(), 0, bytes);
  }
  [[nodiscard]] void* data() const { return static_cast<char*>(data_.get()) + offset_; }

 private:
  static std::size_t& count() {
    static std::size_t count = 0;
    return count;
  }
  std::unique_ptr<void, decltype(&std::free)> data_;
  std::size_t offset_;
};

using Run = std::function<void()>;

/// Seconds a call of each, in turn, many rounds: the lower quartiles, since what else runs on the
/// machine only ever adds.
std::vector<double> timeInTurn(const std::vector<Run>& runs, int rounds) {
  constexpr double kBatch = 1e-3;
  std::vector<std::int64_t> repeats;
  for (const Run& run : runs) {
    run();
    Stopwatch watch;
    run();
    repeats.push_back(
        std::max<std::int64_t>(1, std::llround(kBatch / std::max(watch.seconds(), 1e-9))));
  }
  std::vector<std::vector<double>> times(runs.size());
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i]();  // What the one before left in the caches isn't ours.
      Stopwatch watch;
      for (std::int64_t k = 0; k < repeats[i]; ++k) runs[i]();
      times[i].push_back(watch.seconds() / static_cast<double>(repeats[i]));
    }
  }
  std::vector<double> out;
  for (std::vector<double>& all : times) {
    std::sort(all.begin(), all.end());
    out.push_back(all[all.size() / 4]);
  }
  return out;
}

/// The program to compare, and where it is from.
std::pair<ir::Program, std::string> ours(const ir::Program& plain, const Shape& shape,
                                         const target::Target& target, const Options& options) {
  if (!options.log.empty()) {
    log::Log log = must(log::Log::open(options.log, log::Log::Mode::read));
    log::Filter filter;
    filter.kernel = shape.kernel;
    filter.successes = true;
    filter.best = true;
    for (const log::Record& record : must(log.query(filter))) {
      if (record.settings.source != ir::print(plain)) continue;
      if (record.settings.fingerprint.description != tune::describedBy(target, 1)) continue;
      return {must(ir::parse(record.trial.program)).program,
              fmt::format("row {}", record.trial.row)};
    }
  }
  return {
      search::expert({std::make_shared<const moves::State>(plain, target), {}}).state()->program(),
      "expert"};
}

/// Buffers and code of one program in this process.
class Ours {
 public:
  Ours(const ir::Program& program, const target::Target& target, const peers::Call& call)
      : code_(must(test::Loaded::load(must(codegen::compile(program, target)).bytes))) {
    for (const codegen::AbiBuffer& passed : codegen::abi(program)) {
      const ir::Buffer& buffer = program.buffer(passed.id);
      if (buffer.role == ir::Role::in) {
        pointers_.push_back(call.inputs.at(buffer.name));
        continue;
      }
      memory_.emplace_back(static_cast<std::size_t>(passed.bytes));
      if (buffer.isArgument()) output_ = memory_.back().data();
      pointers_.push_back(memory_.back().data());
    }
  }
  void run() const { code_.call(pointers_.data()); }
  [[nodiscard]] void* output() const { return output_; }

 private:
  test::Loaded code_;
  std::vector<Memory> memory_;
  std::vector<void*> pointers_;
  void* output_ = nullptr;
};

/// The largest difference between two outputs, floats relative to the largest value.
double difference(const ir::Buffer& buffer, const void* a, const void* b) {
  const std::int64_t count = buffer.storageElements();
  double most = 0, scale = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (buffer.dtype == ir::DType::f32) {
      const double x = static_cast<const float*>(a)[i], y = static_cast<const float*>(b)[i];
      most = std::max(most, std::abs(x - y));
      scale = std::max(scale, std::abs(x));
    } else {
      const auto* x = static_cast<const std::int8_t*>(a);
      const auto* y = static_cast<const std::int8_t*>(b);
      most = std::max(most, std::abs(double(x[i]) - double(y[i])));
      scale = 127;
    }
  }
  return scale > 0 ? most / scale : most;
}

/// Copies with ordinary or with streaming stores; whole cache lines.
template <bool kStream>
void copyBytes(const void* from, void* to, std::size_t bytes) {
  const auto* source = static_cast<const float*>(from);
  auto* goal = static_cast<float*>(to);
  for (std::size_t i = 0; i < bytes / sizeof(float); i += 16) {
    const __m512 line = _mm512_load_ps(source + i);
    if constexpr (kStream) {
      _mm512_stream_ps(goal + i, line);
    } else {
      _mm512_store_ps(goal + i, line);
    }
  }
  if constexpr (kStream) _mm_sfence();
}

nlohmann::ordered_json compare(const Shape& shape, const target::Target& target,
                               const Options& options) {
  ir::ParseOptions parse;
  parse.params = shape.params;
  const ir::Parsed parsed = must(kernels::load(shape.kernel, parse));
  const ir::Program& plain = parsed.program;
  peers::Call call;
  call.kernel = shape.kernel;
  std::string size;
  for (const auto& [name, value] : parsed.params) {
    call.params[name] = value;
    size += (size.empty() ? "" : ",") + name + "=" + std::to_string(value);
  }
  const std::vector<ir::Tensor> inputs = ir::makeInputs(plain, ir::InputSet::uniform, 1);
  std::vector<Memory> memory;
  const ir::Buffer* output = nullptr;
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : plain.buffers) {
    if (!buffer.isArgument()) continue;
    const ir::Tensor& tensor = inputs[argument++];
    memory.emplace_back(std::max<std::size_t>(tensor.bytes.size(), 64));
    std::memcpy(memory.back().data(), tensor.bytes.data(), tensor.bytes.size());
    if (buffer.role == ir::Role::in) {
      call.inputs[buffer.name] = memory.back().data();
    } else {
      output = &buffer;
      call.output = memory.back().data();
      // Sums into it start at zero on both sides.
      std::memset(call.output, 0, tensor.bytes.size());
    }
  }
  const auto [program, from] = ours(plain, shape, target, options);
  const Ours mine(program, target, call);
  std::vector<peers::Peer> others;
  peers::addBlas(call, others);
  peers::addDnnl(call, others);
  peers::addEigen(call, others);
  peers::addXsmm(call, others);

  nlohmann::ordered_json row;
  row["kernel"] = shape.kernel;
  row["shape"] = size;
  mine.run();
  for (const peers::Peer& peer : others) {
    if (output->role == ir::Role::inout) {
      std::memset(call.output, 0, static_cast<std::size_t>(output->storageElements()) * 4);
    }
    peer.run();
    constexpr double kAllowed = 1e-4;
    const double off = difference(*output, mine.output(), call.output);
    const double allowed = output->dtype == ir::DType::f32 ? kAllowed : 1.0 / 127;
    if (!(off <= allowed)) {
      fmt::print(stderr, "{} of {} computes something else: {:.2g} off\n", shape.kernel, peer.name,
                 off);
      row["differs"].push_back(peer.name);
    }
  }
  const tune::Work work = tune::countWork(plain);
  const auto half = static_cast<std::size_t>(work.bytes / 2) / 64 * 64;
  const Memory source(half + 64), goal(half + 64);
  std::vector<Run> runs = {[&] { mine.run(); },
                           [&] { copyBytes<false>(source.data(), goal.data(), half); },
                           [&] { copyBytes<true>(source.data(), goal.data(), half); },
                           [&] { std::memcpy(goal.data(), source.data(), half); }};
  const std::size_t first = runs.size();
  for (const peers::Peer& peer : others) runs.push_back(peer.run);
  const std::vector<double> seconds = timeInTurn(runs, options.rounds);
  row["ours_us"] = seconds[0] * 1e6;
  row["ours"] = from;
  row["gflops"] = work.flops.value_or(0) / seconds[0] / 1e9;
  row["peer"] = nullptr;
  row["peer_us"] = nullptr;
  row["ratio"] = nullptr;
  double best = 0;
  for (std::size_t i = 0; i < others.size(); ++i) {
    const double time = seconds[first + i];
    row["peers_us"][others[i].name] = time * 1e6;
    if (best != 0 && time >= best) continue;
    best = time;
    row["peer"] = others[i].name;
    row["peer_us"] = time * 1e6;
    row["ratio"] = time / seconds[0];
  }
  // Time of a copy that reads half and writes half of the bytes that the kernel must move.
  row["copy_us"] = {{"ordinary stores", seconds[1] * 1e6},
                    {"streaming stores", seconds[2] * 1e6},
                    {"memcpy", seconds[3] * 1e6}};
  row["of_copy"] = seconds[1] / seconds[0];
  return row;
}

void printRow(const nlohmann::ordered_json& row, double peak) {
  const auto number = [&](const char* key) {
    return row[key].is_null() ? 0 : row[key].get<double>();
  };
  fmt::print("{:<11} {:>9.1f} us ({}), {:>6.1f} GFLOP/s, {:3.0f}% of peak, {:3.0f}% of a copy; ",
             row["kernel"].get<std::string>(), number("ours_us"), row["ours"].get<std::string>(),
             number("gflops"), number("gflops") / peak * 1e2, number("of_copy") * 100);
  if (row["peer"].is_null()) {
    fmt::print("no peer has it\n");
  } else {
    fmt::print("{:5.2f} times {} ({:.1f} us)\n", number("ratio"), row["peer"].get<std::string>(),
               number("peer_us"));
  }
  std::fflush(stdout);
}

Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--json") {
      out.json = true;
    } else if (argument == "--log" && i + 1 < argc) {
      out.log = argv[++i];
    } else if (argument == "--rounds" && i + 1 < argc) {
      out.rounds = std::max(1, std::atoi(argv[++i]));
    } else {
      if (argument.starts_with("--")) {
        fmt::print(stderr, "usage: peers [--json] [--log FILE] [--rounds N] [KERNEL ...]\n");
        std::exit(2);
      }
      must(kernels::load(argument));  // or says which name is near
      out.kernels.push_back(argument);
    }
  }
  return out;
}

/// GFLOP/s of multiply-adds alone, by the runner.
double measuredPeak(const target::Target& target) {
  auto device = must(tune::reach(target, ""));
  const double perTick = must(tune::measurePeak(*device, target, ir::DType::f32));
  return 2 * perTick * device->hello().timerHz / 1e9;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  peers::useOneThread();
  target::Target target = must(target::load("host"));
  target.harts = 1;
  std::erase(target.mappings, "parallel");
  const double peak = measuredPeak(target);
  cpu_set_t cpu;
  CPU_ZERO(&cpu);
  CPU_SET(0, &cpu);
  sched_setaffinity(0, sizeof cpu, &cpu);
  nlohmann::ordered_json out;
  out["threads"] = 1;
  out["peak_gflops"] = peak;
  out["kernels"] = nlohmann::ordered_json::array();
  for (const Shape& shape : shapes(options)) {
    nlohmann::ordered_json row = compare(shape, target, options);
    if (!options.json) printRow(row, peak);
    out["kernels"].push_back(std::move(row));
  }
  out["peak_gflops_after"] = measuredPeak(target);
  if (options.json) {
    fmt::print("{}\n", out.dump(2));
  } else {
    fmt::print("measured peak {:.0f} GFLOP/s before, {:.0f} after\n", peak,
               out["peak_gflops_after"].get<double>());
  }
}
