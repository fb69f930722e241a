// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Signs that the next operation takes in: a negated factor or addend makes another form of it.
/// Pairs that are only copied are put together where they are needed.
#include <algorithm>

#include "region/tree.h"

namespace dojo::region {
namespace {

class Folder {
 public:
  explicit Folder(Tree& tree) : tree_(tree), uses_(tree.cells.size()) {}

  void run() {
    collect(tree_.items);
    visit(tree_.items);
  }

 private:
  struct Use {
    const Items* list;
    std::size_t position;
    bool writes;
  };

  void collect(const Items& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].body() != nullptr) collect(*items[i].body());
      const auto* instruction = items[i].get<Instruction>();
      if (instruction == nullptr) continue;
      const auto note = [&](const Operand& operand, bool writes) {
        if (operand.kind != Operand::Kind::cell) return;
        uses_[static_cast<std::size_t>(operand.index)].push_back({&items, i, writes});
      };
      for (const Operand& operand : instruction->in) note(operand, false);
      note(instruction->out, true);
    }
  }

  void visit(Items& items) {
    std::vector<std::size_t> gone;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].body() != nullptr) visit(*items[i].body());
      if (items[i].get<Instruction>() != nullptr && fold(items, i)) gone.push_back(i);
    }
    for (std::size_t i = gone.size(); i-- > 0;) {
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(gone[i]));
    }
  }

  /// True where the instruction has become part of the one that uses it.
  bool fold(Items& items, std::size_t at) {
    if (items[at].get<Instruction>()->operation == Operation::pack) return foldPack(items, at);
    const Instruction& negation = *items[at].get<Instruction>();
    if (negation.operation != Operation::neg || negation.out.kind != Operand::Kind::cell) {
      return false;
    }
    const Use* use = onlyUse(items, at, negation.out.index);
    if (use == nullptr || !stays(items, at, use->position, negation.in[0])) return false;
    Instruction& user = *items[use->position].get<Instruction>();
    if (user.form != negation.form) return false;
    return takeIn(user, negation.out, negation.in[0]);
  }

  bool foldPack(Items& items, std::size_t at) {
    const Instruction& pack = *items[at].get<Instruction>();
    if (pack.out.kind != Operand::Kind::cell) return false;
    const Use* use = onlyUse(items, at, pack.out.index);
    if (use == nullptr || !stays(items, at, use->position, pack.in[0]) ||
        !stays(items, at, use->position, pack.in[1])) {
      return false;
    }
    Instruction& user = *items[use->position].get<Instruction>();
    if (user.operation != Operation::move || user.form != Form::pair) return false;
    const Operand out = user.out;
    user = pack;
    user.out = out;
    return true;
  }

  /// Each assignment of the cell has one use after it, all in this list.
  const Use* onlyUse(const Items& items, std::size_t at, int cell) const {
    const auto& uses = uses_[static_cast<std::size_t>(cell)];
    const Use* found = nullptr;
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i].list != &items || uses[i].writes != (i % 2 == 0)) return nullptr;
      if (i % 2 == 1 && uses[i - 1].position == at) found = &uses[i];
    }
    return found;
  }

  /// The operand is the same at the later place.
  bool stays(const Items& items, std::size_t from, std::size_t to, const Operand& operand) const {
    for (std::size_t i = from + 1; i < to; ++i) {
      const auto* instruction = items[i].get<Instruction>();
      if (instruction == nullptr) return false;
      const Operand& out = instruction->out;
      if (out == operand) return false;
      if (operand.kind != Operand::Kind::site || out.kind != Operand::Kind::site) continue;
      if (site(out.index).storage == site(operand.index).storage) return false;
    }
    return true;
  }
  [[nodiscard]] const Site& site(int id) const { return tree_.sites[static_cast<std::size_t>(id)]; }

  static bool takeIn(Instruction& user, const Operand& negated, const Operand& operand) {
    auto& in = user.in;
    if (std::count(in.begin(), in.end(), negated) != 1) return false;
    const auto place = std::find(in.begin(), in.end(), negated) - in.begin();
    using enum Operation;
    switch (user.operation) {
      case add:
        if (place == 0) std::swap(in[0], in[1]);
        in[1] = operand;
        user.operation = sub;
        return true;
      case sub:
        if (place == 0) return false;
        in[1] = operand;
        user.operation = add;
        return true;
      case fmadd:
        user.operation = place == 2 ? fmsub : fnmsub;
        break;
      case fmsub:
        user.operation = place == 2 ? fmadd : fnmadd;
        break;
      case fnmsub:
        user.operation = place == 2 ? fnmadd : fmadd;
        break;
      case fnmadd:
        user.operation = place == 2 ? fnmsub : fmsub;
        break;
      default:
        return false;
    }
    in[static_cast<std::size_t>(place)] = operand;
    return true;
  }

  Tree& tree_;
  std::vector<std::vector<Use>> uses_;  ///< By cell, in program order.
};

}  // namespace

void foldSigns(Tree& tree) { Folder(tree).run(); }

}  // namespace dojo::region
