// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which data mover takes which accesses, and where it starts.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "ir/dependence.h"
#include "region/sequence.h"
#include "region/tree.h"

namespace dojo::region {
namespace {

/// An access of the program, of which there may be several copies.
using Origin = std::pair<const ir::Leaf*, int>;

/// What one mover does.
struct Group {
  ir::BufferId buffer = -1;
  bool write = false;
  std::vector<Origin> origins;
  int mover = -1;
};

class Assigner {
 public:
  Assigner(Tree& tree, const ir::Program& program, const target::Target& target)
      : tree_(tree), program_(program), target_(target), accesses_(program) {}

  Status run() {
    visit(tree_.items, false);
    return failure_ ? Status(*failure_) : Status();
  }

 private:
  void refuse(std::string message) {
    if (!failure_) failure_ = refusal("lower.stream", std::move(message), line_);
  }
  [[nodiscard]] const std::string& name(ir::BufferId id) const { return program_.buffer(id).name; }
  [[nodiscard]] const Site& site(int id) const { return tree_.sites[static_cast<std::size_t>(id)]; }

  void visit(Items& items, bool inHardware) {
    for (Item& item : items) {
      if (failure_) return;
      if (auto* streams = item.get<Streams>()) {
        line_ = streams->line;
        if (inHardware) return refuse("a stream begins inside a hardware loop");
        if (contains<Streams>(streams->body)) return refuse("a stream inside a stream");
        assign(*streams);
        continue;
      }
      const auto* loop = item.get<Loop>();
      if (item.body() != nullptr) visit(*item.body(), inHardware || (loop && loop->hardware));
    }
  }

  template <class T>
  static bool contains(const Items& items) {
    return std::any_of(items.begin(), items.end(), [](const Item& item) {
      return item.get<T>() != nullptr || (item.body() != nullptr && contains<T>(*item.body()));
    });
  }

  void forEachInstruction(Items& items, const std::function<void(Instruction&)>& fn) {
    for (Item& item : items) {
      if (auto* instruction = item.get<Instruction>()) fn(*instruction);
      if (item.body() != nullptr) forEachInstruction(*item.body(), fn);
    }
  }

  [[nodiscard]] bool in(const Group& group, int id) const {
    const Site& one = site(id);
    if (one.buffer != group.buffer || one.write != group.write) return false;
    return std::find(group.origins.begin(), group.origins.end(), Origin(one.leaf, one.position)) !=
           group.origins.end();
  }
  [[nodiscard]] std::function<bool(int)> chooser(const Group& group) const {
    return [this, &group](int id) { return in(group, id); };
  }

  void assign(Streams& streams) {
    std::vector<Group> groups;
    for (const ir::BufferId buffer : streams.buffers) {
      const std::size_t before = groups.size();
      for (const bool write : {false, true}) gather(streams, buffer, write, groups);
      if (failure_) return;
      if (groups.size() == before) {
        return refuse(fmt::format("{} is not accessed in memory here", name(buffer)));
      }
    }
    number(groups);
    checkOrder(streams, groups);
    for (const Group& group : groups) {
      if (failure_) return;
      if (!place(streams.body, group)) return refuse(irregular(group));
      streams.movers.push_back(group.mover);
      if (group.write) streams.writers.push_back(group.mover);
    }
    forEachInstruction(streams.body, [&](Instruction& instruction) {
      const auto move = [&](Operand& operand) {
        if (operand.kind != Operand::Kind::site) return;
        for (const Group& group : groups) {
          if (!in(group, operand.index)) continue;
          operand = moverOperand(group.mover);
          return;
        }
      };
      for (Operand& operand : instruction.in) move(operand);
      move(instruction.out);
    });
  }

  std::string irregular(const Group& group) const {
    return fmt::format(
        "the elements of {} that are {} here don't follow one another as a data "
        "mover steps ({} dims)",
        name(group.buffer), group.write ? "written" : "read", target_.streams.dims);
  }

  /// The accesses of one buffer in one direction, in as few groups as are sequences.
  void gather(Streams& streams, ir::BufferId buffer, bool write, std::vector<Group>& groups) {
    std::vector<Origin> origins;
    const auto look = [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::site) return;
      const Site& one = site(operand.index);
      if (one.buffer != buffer || one.write != write) return;
      check(one);
      const Origin origin(one.leaf, one.position);
      if (std::find(origins.begin(), origins.end(), origin) == origins.end()) {
        origins.push_back(origin);
      }
    };
    forEachInstruction(streams.body, [&](Instruction& instruction) {
      for (const Operand& operand : instruction.in) look(operand);
      look(instruction.out);
    });
    if (failure_ || origins.empty()) return;
    Group all{buffer, write, origins, -1};
    if (isOne(streams.body, all)) {
      groups.push_back(std::move(all));
      return;
    }
    Group group{buffer, write, {}, -1};
    for (const Origin& origin : origins) {
      Group more = group;
      more.origins.push_back(origin);
      if (!group.origins.empty() && !isOne(streams.body, more)) {
        groups.push_back(group);
        more.origins = {origin};
      }
      group = std::move(more);
    }
    groups.push_back(std::move(group));
  }

  void check(const Site& one) {
    const ir::Buffer& buffer = program_.buffer(one.buffer);
    if (one.form == Form::f32) {
      return refuse(
          fmt::format("{} is f32 and accessed element by element; data movers move 8 "
                      "bytes, a vector of two",
                      buffer.name));
    }
    if (one.splat || one.apart) {
      return refuse(
          fmt::format("the lanes of {} aren't neighbours at a multiple of 8 bytes, which "
                      "is what data movers move",
                      buffer.name));
    }
    if (buffer.location != "heap" && buffer.location != "stack") {
      return refuse(fmt::format("{} is in '{}', which data movers don't reach", buffer.name,
                                buffer.location));
    }
  }

  /// No instruction takes two elements of it.
  bool distinct(const Items& items, const Group& group) const {
    return std::all_of(items.begin(), items.end(), [&](const Item& item) {
      if (const auto* instruction = item.get<Instruction>()) {
        return sitesOf(*instruction, tree_, chooser(group)).size() <= 1;
      }
      return item.body() == nullptr || distinct(*item.body(), group);
    });
  }

  bool isOne(const Items& items, const Group& group) const {
    if (!distinct(items, group)) return false;
    const auto sequences = sequencesOf(items, tree_, chooser(group));
    return sequences && sequences->size() == 1 && start(sequences->front(), group).has_value();
  }

  /// The sequence as the movers take it.
  std::optional<Start> start(Sequence sequence, const Group& group) const {
    Start out;
    out.mover = group.mover;
    out.write = group.write;
    out.storage = program_.storageOf(group.buffer);
    std::vector<Sequence::Dim>& dims = sequence.dims;
    if (!group.write && !dims.empty() && dims.back().stride == 0 &&
        dims.back().count <= target_.streams.repeat) {
      out.repeat = dims.back().count;
      dims.pop_back();
    }
    const std::int64_t bound = target_.streams.bound;
    for (const Sequence::Dim& dim : dims) {
      if (bound > 0 && dim.count > bound) return std::nullopt;
    }
    if (dims.empty()) dims.push_back({1, 0});
    if (dims.size() > static_cast<std::size_t>(target_.streams.dims)) return std::nullopt;
    out.sequence = std::move(sequence);
    return out;
  }

  void number(std::vector<Group>& groups) {
    if (groups.size() > static_cast<std::size_t>(target_.streams.movers)) {
      return refuse(fmt::format("{} streams are needed, more than the {} data movers of target {}",
                                groups.size(), target_.streams.movers, target_.name));
    }
    int read = 0;
    int write = target_.streams.movers;
    for (Group& group : groups) group.mover = group.write ? --write : read++;
  }

  /// Puts starts before what they are for: outside of all loops, else within.
  bool place(Items& items, const Group& group) {
    const auto choose = chooser(group);
    const auto count = [&](std::size_t from, std::size_t to) {
      return sequencesOf(std::span(items).subspan(from, to - from), tree_, choose);
    };
    for (std::size_t from = 0; from < items.size();) {
      const auto own = count(from, from + 1);
      if (own && own->empty()) {
        ++from;
        continue;
      }
      std::size_t to = std::min(items.size(), from + kMostItems);
      std::optional<Start> found;
      for (; to > from; --to) {
        const auto sequences = count(from, to);
        if (sequences && sequences->size() == 1) found = start(sequences->front(), group);
        if (found) break;
      }
      if (found) {
        items.insert(items.begin() + static_cast<std::ptrdiff_t>(from), {std::move(*found)});
        from = to + 1;
        continue;
      }
      const auto* loop = items[from].get<Loop>();
      if (items[from].body() == nullptr || (loop != nullptr && loop->hardware)) return false;
      if (!place(*items[from].body(), group)) return false;
      ++from;
    }
    return true;
  }

  /// Movers run ahead of the program when they read, and behind it when they write.
  void checkOrder(const Streams& streams, const std::vector<Group>& groups) {
    for (const Group& group : groups) {
      for (const ir::BufferId other : program_.sharing(program_.storageOf(group.buffer))) {
        if (other != group.buffer && !below(streams, other).empty()) {
          return refuse(fmt::format("{} shares the storage of {}, and both are accessed here",
                                    name(other), name(group.buffer)));
        }
      }
      const std::vector<const ir::Site*> sites = below(streams, group.buffer);
      for (const ir::Site* first : sites) {
        if (first->touch != ir::Touch::write) continue;
        for (const ir::Site* second : sites) {
          const bool same = mover(*first, groups) == mover(*second, groups);
          if (second->touch == ir::Touch::write && same) continue;
          if (!precedes(streams, *first, *second)) continue;
          const char* what =
              second->touch == ir::Touch::write
                  ? "are written twice, by two streams or a stream and a store"
                  : "are read after they were written here, and a stream doesn't wait for that";
          return refuse(fmt::format("elements of {} {}", name(group.buffer), what));
        }
      }
    }
  }

  std::vector<const ir::Site*> below(const Streams& streams, ir::BufferId buffer) const {
    std::vector<const ir::Site*> found;
    for (const ir::Site* one : accesses_.below(streams.path)) {
      if (one->access.buffer == buffer) found.push_back(one);
    }
    return found;
  }

  static int mover(const ir::Site& one, const std::vector<Group>& groups) {
    if (!one.node->isLeaf()) return -1;
    for (const Group& group : groups) {
      if (group.buffer != one.access.buffer || group.write != (one.touch == ir::Touch::write)) {
        continue;
      }
      for (const auto& [leaf, position] : group.origins) {
        if (leaf != &one.node->leaf()) continue;
        if (one.touch == ir::Touch::write) return group.mover;
        const ir::Access& access =
            position < 0 ? leaf->dst
                         : std::get<ir::Access>(leaf->operands[static_cast<std::size_t>(position)]);
        if (access == one.access && (position < 0) == one.reduction) return group.mover;
      }
    }
    return -1;
  }

  /// Whether some execution of `first` comes before one of `second` on the same element, both in
  /// one execution of the scope.
  bool precedes(const Streams& streams, const ir::Site& first, const ir::Site& second) const {
    const auto outer = static_cast<int>(streams.path.size()) - 1;
    const auto ends = std::mismatch(first.enclosing.begin(), first.enclosing.end(),
                                    second.enclosing.begin(), second.enclosing.end());
    const auto common = static_cast<int>(ends.first - first.enclosing.begin());
    for (int depth = outer; depth < common; ++depth) {
      const auto relations = ir::equalThen(depth, {ir::Relation::less});
      if (ir::meet(accesses_, first, second, relations) != ir::Answer::no) return true;
    }
    if (!(first.path < second.path)) return false;
    return ir::meet(accesses_, first, second, ir::equalThen(common, {})) != ir::Answer::no;
  }

  static constexpr std::size_t kMostItems = 512;

  Tree& tree_;
  const ir::Program& program_;
  const target::Target& target_;
  ir::Accesses accesses_;
  int line_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Status assignStreams(Tree& tree, const ir::Program& program, const target::Target& target) {
  return Assigner(tree, program, target).run();
}

}  // namespace dojo::region
