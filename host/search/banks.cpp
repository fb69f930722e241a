// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/banks.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dojo::search {
namespace {

/// Steps of each hart that are looked at: some rounds of what inner loops repeat.
constexpr std::size_t kSteps = 1024;
/// Elements that a data mover holds on their way.
constexpr std::size_t kAhead = 4;
/// From one operation to the next that needs its result.
constexpr std::int64_t kLatency = 4;
constexpr std::int64_t kMostCycles = 64 * static_cast<std::int64_t>(kSteps);

struct Stream {
  bool write = false;
  std::vector<int> banks;  ///< Of its elements in order.
  /// \name While it runs: how many elements have been asked for and granted, and used or made
  /// @{
  std::size_t granted = 0, used = 0, arrived = 0;
  /// @}
};

struct Step {
  std::vector<std::pair<std::size_t, std::size_t>> reads;  ///< Stream, and elements it must bring.
  std::vector<std::size_t> writes;
  std::vector<int> needs;  ///< Elements in registers.
  int makes = -1;
};

struct Hart {
  std::vector<Stream> streams;
  std::vector<Step> steps;
  std::vector<std::int64_t> ready;  ///< By element in registers.
  std::size_t done = 0;
};

/// Executions of leaves at or below the node.
double executions(const ir::Node& node) {
  if (node.isLeaf()) return 1;
  double out = 0;
  for (const ir::Node& inner : node.scope().body) out += executions(inner);
  const ir::Scope& scope = node.scope();
  if (scope.mapping.has(ir::MapKind::vector) || !scope.extent.isConstant()) return out;
  return out * static_cast<double>(scope.extent.count);
}

/// What one hart does, step by step.
class Tracer {
 public:
  Tracer(const ir::Program& program, const target::Memory& memory)
      : program_(program), memory_(memory) {
    std::int64_t at = 0;
    for (const ir::Buffer& buffer : program.buffers) {
      base_.push_back(at);
      if (buffer.isLocal() || buffer.shares >= 0) continue;
      at += (buffer.storageBytes() + memory.bankWidth - 1) / memory.bankWidth * memory.bankWidth;
    }
  }

  Hart run(const ir::Node& scope, std::vector<std::int64_t> variables) {
    hart_ = Hart();
    streams_.clear();
    cells_.clear();
    variables_ = std::move(variables);
    body(scope.scope().body, {});
    return std::move(hart_);
  }

 private:
  void body(const std::vector<ir::Node>& nodes, const std::vector<ir::BufferId>& streamed) {
    for (const ir::Node& node : nodes) {
      if (hart_.steps.size() >= kSteps) return;
      if (node.isLeaf()) {
        leaf(node, streamed);
        continue;
      }
      const ir::Scope& scope = node.scope();
      if (!scope.extent.isConstant()) continue;
      std::vector<ir::BufferId> here = streamed;
      here.insert(here.end(), scope.mapping.streams.begin(), scope.mapping.streams.end());
      // Lanes are one step.
      const bool lanes = scope.mapping.has(ir::MapKind::vector);
      for (std::int64_t i = 0; i < (lanes ? 1 : scope.extent.count); ++i) {
        variables_.push_back(i);
        body(scope.body, here);
        variables_.pop_back();
        if (hart_.steps.size() >= kSteps) return;
      }
    }
  }

  [[nodiscard]] std::int64_t elementOf(const ir::Access& access) const {
    const ir::Buffer& buffer = program_.buffer(access.buffer);
    const std::vector<std::int64_t> strides = buffer.strides();
    std::int64_t out = 0;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      if (access.indices[d].isGather()) continue;
      const std::int64_t index = access.indices[d].affine.evaluate(variables_);
      out += (buffer.dims[d].fold > 1 ? index % buffer.dims[d].fold : index) * strides[d];
    }
    return out;
  }

  void leaf(const ir::Node& node, const std::vector<ir::BufferId>& streamed) {
    Step step;
    std::map<std::pair<ir::BufferId, bool>, int> seen;
    ir::forEachAccess(node, [&](const ir::Access& access, ir::Touch touch) {
      const ir::BufferId storage = program_.storageOf(access.buffer);
      const bool write = touch == ir::Touch::write;
      if (program_.buffer(access.buffer).location == "register") {
        const auto [cell, fresh] =
            cells_.try_emplace({storage, elementOf(access)}, static_cast<int>(hart_.ready.size()));
        if (fresh) hart_.ready.push_back(0);
        if (write) {
          step.makes = cell->second;
        } else {
          step.needs.push_back(cell->second);
        }
        return;
      }
      if (std::find(streamed.begin(), streamed.end(), access.buffer) == streamed.end()) return;
      const int which = seen[{access.buffer, write}]++;
      const std::size_t id = stream(access.buffer, write, which);
      Stream& stream = hart_.streams[id];
      const std::int64_t element = elementOf(access);
      std::int64_t& last = last_.try_emplace(id, -1).first->second;
      if (write || stream.banks.empty() || element != last) {
        const std::int64_t byte = base_[static_cast<std::size_t>(storage)] +
                                  element * ir::sizeBytes(program_.buffer(access.buffer).dtype);
        stream.banks.push_back(static_cast<int>(byte / memory_.bankWidth % memory_.banks));
      }
      last = element;
      if (write) {
        step.writes.push_back(id);
      } else {
        step.reads.emplace_back(id, stream.banks.size());
      }
    });
    hart_.steps.push_back(std::move(step));
  }

  std::size_t stream(ir::BufferId buffer, bool write, int which) {
    const auto [found, fresh] = streams_.try_emplace({buffer, write, which}, hart_.streams.size());
    if (fresh) {
      hart_.streams.emplace_back();
      hart_.streams.back().write = write;
      last_.erase(found->second);
    }
    return found->second;
  }

  const ir::Program& program_;
  const target::Memory& memory_;
  std::vector<std::int64_t> base_;
  Hart hart_;
  std::vector<std::int64_t> variables_;
  std::map<std::tuple<ir::BufferId, bool, int>, std::size_t> streams_;
  std::map<std::size_t, std::int64_t> last_;  ///< The element of each stream that came last.
  std::map<std::pair<ir::BufferId, std::int64_t>, int> cells_;
};

/// Harts and banks, cycle by cycle.
class Machine {
 public:
  Machine(std::vector<Hart> harts, int banks)
      : harts_(std::move(harts)), next_(static_cast<std::size_t>(banks)) {}

  std::int64_t run() {
    std::int64_t cycle = 0;
    while (!finished() && cycle < kMostCycles) {
      for (Hart& hart : harts_) work(hart, cycle);
      grant();
      ++cycle;
    }
    return cycle;
  }

 private:
  [[nodiscard]] bool finished() const {
    return std::all_of(harts_.begin(), harts_.end(),
                       [](const Hart& hart) { return hart.done == hart.steps.size(); });
  }

  static void work(Hart& hart, std::int64_t cycle) {
    for (Stream& stream : hart.streams) {
      if (!stream.write) stream.arrived = stream.granted;
    }
    if (hart.done == hart.steps.size()) return;
    const Step& step = hart.steps[hart.done];
    for (const auto& [id, count] : step.reads) {
      if (hart.streams[id].arrived < count) return;
    }
    for (const std::size_t id : step.writes) {
      if (hart.streams[id].used - hart.streams[id].granted >= kAhead) return;
    }
    for (const int cell : step.needs) {
      if (hart.ready[static_cast<std::size_t>(cell)] > cycle) return;
    }
    for (const auto& [id, count] : step.reads) hart.streams[id].used = count;
    for (const std::size_t id : step.writes) ++hart.streams[id].used;
    if (step.makes >= 0) hart.ready[static_cast<std::size_t>(step.makes)] = cycle + kLatency;
    ++hart.done;
  }

  static bool asks(const Stream& stream) {
    if (stream.granted == stream.banks.size()) return false;
    return stream.write ? stream.granted < stream.used
                        : stream.granted < std::max<std::size_t>(stream.used, 1) - 1 + kAhead;
  }

  /// Who asks for one bank takes turns.
  void grant() {
    std::vector<Stream*> ports;
    for (Hart& hart : harts_) {
      for (Stream& stream : hart.streams) ports.push_back(&stream);
    }
    std::vector<std::size_t> winner(next_.size(), ports.size());
    for (std::size_t p = 0; p < ports.size(); ++p) {
      if (!asks(*ports[p])) continue;
      const auto bank = static_cast<std::size_t>(ports[p]->banks[ports[p]->granted]);
      const auto turn = [&](std::size_t port) {
        return (port + ports.size() - next_[bank]) % ports.size();
      };
      if (winner[bank] == ports.size() || turn(p) < turn(winner[bank])) winner[bank] = p;
    }
    for (std::size_t bank = 0; bank < next_.size(); ++bank) {
      if (winner[bank] == ports.size()) continue;
      ++ports[winner[bank]]->granted;
      next_[bank] = (winner[bank] + 1) % ports.size();
    }
  }

  std::vector<Hart> harts_;
  std::vector<std::size_t> next_;  ///< By bank: the port whose turn it is.
};

}  // namespace

double bankCycles(const ir::Program& program, const ir::Path& path, const target::Target& target) {
  const ir::Node* node = ir::find(program, path);
  if (node == nullptr || !node->isScope() || !node->scope().extent.isConstant()) return 0;
  const auto memory =
      std::find_if(target.memories.begin(), target.memories.end(), [&](const target::Memory& each) {
        return each.name == target.streams.memory && each.banks > 0 && each.bankWidth > 0;
      });
  if (memory == target.memories.end()) return 0;
  Tracer tracer(program, *memory);
  std::vector<Hart> harts;
  const std::int64_t most = std::min<std::int64_t>(node->scope().extent.count, target.harts);
  for (std::int64_t hart = 0; hart < most; ++hart) {
    std::vector<std::int64_t> variables(path.size() - 1, 0);
    variables.push_back(hart);
    harts.push_back(tracer.run(*node, std::move(variables)));
    if (harts.back().streams.empty()) return 0;
  }
  if (harts.empty() || harts.front().steps.empty()) return 0;
  const auto steps = static_cast<double>(harts.front().steps.size());
  const auto cycles = static_cast<double>(Machine(std::move(harts), memory->banks).run());
  return cycles / steps * executions(*node) / static_cast<double>(most);
}

}  // namespace dojo::search
