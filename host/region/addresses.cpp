// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/addresses.h"

#include <algorithm>
#include <array>
#include <bit>

#include <fmt/format.h>

namespace dojo::region {
namespace {

/// What an offset in an instruction reaches, and a group of addresses spans.
constexpr std::int64_t kReach = 2047;

/// Those that calls may change come first; s0 and s1 are left alone.
constexpr std::array kIntegers = {"a0", "a1", "a2", "a3", "a4", "a5",  "a6", "a7", "t0",
                                  "t1", "t2", "t3", "t4", "t5", "t6",  "s2", "s3", "s4",
                                  "s5", "s6", "s7", "s8", "s9", "s10", "s11"};

bool fits(std::int64_t value) { return value >= -2048 && value <= 2047; }

/// The upper word of 1.
constexpr std::int64_t kOne = 0x3ff00000;
/// This less a number's upper word is near that of its inverse (12%); the other less half of it
/// near that of its inverse root (3.5%).
constexpr std::int64_t kInverse = 0x7fde6238;
constexpr std::int64_t kInverseRoot = 0x5fe6eb50;

ir::Affine moving(const ir::Affine& bytes) { return bytes - ir::Affine(bytes.constant()); }

}  // namespace

Addresses::Addresses(const Tree& tree, const std::function<void(const std::string&)>& emit)
    : tree_(tree), emit_(emit) {}

std::string Addresses::take() {
  if (next_ >= kIntegers.size()) {
    enough_ = false;
    return "x0";
  }
  used_.emplace_back(kIntegers[next_]);
  return kIntegers[next_++];
}

std::string Addresses::input(decltype(Input::what) what) {
  for (const Input& known : inputs_) {
    if (known.what == what) return known.reg;
  }
  inputs_.push_back({std::move(what), take()});
  return inputs_.back().reg;
}

void Addresses::need(ir::BufferId storage, const ir::Affine& bytes) {
  needs_.emplace_back(storage, bytes);
}

void Addresses::collect(const Items& items, std::size_t loops) {
  loops_ = std::max(loops_, loops);
  for (const Item& item : items) {
    if (const auto* instruction = item.get<Instruction>()) {
      for (const Operand& operand : {instruction->out, instruction->in[0]}) {
        if (operand.kind != Operand::Kind::site) continue;
        const Site& site = tree_.sites[static_cast<std::size_t>(operand.index)];
        need(site.storage, site.bytes);
      }
      if (instruction->site >= 0) {
        const Site& site = tree_.sites[static_cast<std::size_t>(instruction->site)];
        need(site.storage, site.bytes);
      }
      wordsOf(*instruction);
    } else if (const auto* start = item.get<Start>()) {
      need(start->storage, start->sequence.start);
    } else if (const auto* guarded = item.get<Guarded>()) {
      need(-1, guarded->term.expr - ir::Affine(guarded->term.lo));
    }
    const auto* loop = item.get<Loop>();
    const bool counted = loop != nullptr && !loop->hardware;
    if (item.body() != nullptr) collect(*item.body(), loops + (counted ? 1 : 0));
  }
}

void Addresses::wordsOf(const Instruction& instruction) {
  const auto word = [&](std::int64_t value) { words_.try_emplace(value); };
  switch (instruction.operation) {
    case Operation::power:
      return word(kOne);
    case Operation::inverse:
      return word(kInverse);
    case Operation::root:
      return word(kInverseRoot);
    case Operation::patch:
      if (!fits(instruction.bounds.offset)) word(instruction.bounds.offset);
      return word(instruction.bounds.limit);
    default:
      return;
  }
}

void Addresses::write(const Instruction& instruction) {
  const std::string& slot = slots_[static_cast<std::size_t>(instruction.slot)];
  const std::string& room = scratch_[1];
  Reached place;
  if (instruction.site >= 0) {
    const Site& site = tree_.sites[static_cast<std::size_t>(instruction.site)];
    place = reach(site.storage, site.bytes);
  }
  const auto store = [&] { emit_(fmt::format("sw {}, {}({})", room, place.offset, place.reg)); };
  switch (instruction.operation) {
    case Operation::upper:
      return emit_(fmt::format("lw {}, {}({})", slot, place.offset, place.reg));
    case Operation::power:
      emit_(fmt::format("slli {}, {}, 20", room, slot));
      emit_(fmt::format("add {0}, {0}, {1}", room, words_.at(kOne)));
      return store();
    case Operation::inverse:
      emit_(fmt::format("sub {}, {}, {}", room, words_.at(kInverse), slot));
      return store();
    case Operation::root:
      emit_(fmt::format("srli {}, {}, 1", room, slot));
      emit_(fmt::format("sub {0}, {1}, {0}", room, words_.at(kInverseRoot)));
      return store();
    default:
      DOJO_CHECK(false, "an instruction that isn't the integer core's");
  }
}

std::string Addresses::outside(const Instruction& instruction) {
  const Bounds& bounds = instruction.bounds;
  const std::string& room = scratch_[1];
  std::string from = slots_[static_cast<std::size_t>(instruction.slot)];
  if (bounds.doubled) {
    emit_(fmt::format("slli {}, {}, 1", room, from));
    from = room;
  }
  if (fits(bounds.offset)) {
    emit_(fmt::format("addi {}, {}, {}", room, from, bounds.offset));
  } else {
    emit_(fmt::format("add {}, {}, {}", room, from, words_.at(bounds.offset)));
  }
  return fmt::format("bgeu {}, {}", room, words_.at(bounds.limit));
}

/// Neighbours within an offset's reach become one group.
void Addresses::cluster() {
  std::vector<std::pair<ir::BufferId, ir::Affine>> sorted = needs_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second.constant() < b.second.constant();
  });
  std::vector<std::pair<std::size_t, Group>> made;
  for (const auto& [storage, bytes] : sorted) {
    const ir::Affine moves = moving(bytes);
    const std::int64_t at = bytes.constant();
    const auto found = std::find_if(made.begin(), made.end(), [&](const auto& each) {
      const Group& group = each.second;
      return group.storage == storage && group.moves == moves && at - group.least <= kReach;
    });
    if (found == made.end()) {
      made.push_back({0, {storage, moves, at, at, "", 0}});
    } else {
      found->second.most = at;
    }
  }
  for (auto& [first, group] : made) {
    first = needs_.size();
    for (std::size_t i = needs_.size(); i-- > 0;) {
      const auto& [storage, bytes] = needs_[i];
      if (storage == group.storage && moving(bytes) == group.moves &&
          bytes.constant() >= group.least && bytes.constant() <= group.most) {
        first = i;
      }
    }
  }
  // In the order in which the program comes to them.
  std::stable_sort(made.begin(), made.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [first, group] : made) groups_.push_back(std::move(group));
}

bool Addresses::plan() {
  collect(tree_.items, 0);
  cluster();
  for (const Group& group : groups_) {
    if (group.storage >= 0) (void)input(Base{group.storage});
    if (group.storage == kScratch) (void)input(Scratch{tree_.scratch});
  }
  for (const Group& group : groups_) {
    for (const ir::Term& term : group.moves.terms()) {
      if (term.var >= kFirstNumber) {
        (void)input(tree_.numbers[static_cast<std::size_t>(term.var - kFirstNumber)]);
      } else if (term.var < tree_.depth) {
        (void)input(Number{ir::Index(ir::Affine::variable(term.var)), 0});
      }
    }
  }
  for (Group& group : groups_) {
    const auto alike = std::count_if(groups_.begin(), groups_.end(), [&](const Group& other) {
      return other.storage == group.storage;
    });
    const bool own = alike == 1 && group.storage != -1;
    group.reg = own ? (group.storage == kScratch ? input(Scratch{tree_.scratch})
                                                 : input(Base{group.storage}))
                    : take();
  }
  for (std::size_t i = 0; i < loops_; ++i) counters_.push_back(take());
  for (int i = 0; i < tree_.slots; ++i) slots_.push_back(take());
  for (auto& [value, reg] : words_) reg = take();
  for (std::string& reg : scratch_) reg = take();
  return enough_;
}

void Addresses::set(const std::string& reg, std::int64_t value) {
  emit_(fmt::format("li {}, {}", reg, value));
}

void Addresses::add(const std::string& to, const std::string& from, std::int64_t value) {
  if (value == 0) {
    if (to != from) emit_(fmt::format("mv {}, {}", to, from));
  } else if (fits(value)) {
    emit_(fmt::format("addi {}, {}, {}", to, from, value));
  } else {
    const std::string& room = to == from ? scratch_[1] : to;
    set(room, value);
    emit_(fmt::format("add {}, {}, {}", to, from, room));
  }
}

void Addresses::addScaled(const std::string& to, const std::string& number, std::int64_t factor) {
  const std::uint64_t size =
      factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
  std::string scaled = number;
  if (size != 1) {
    scaled = scratch_[0];
    if (std::has_single_bit(size)) {
      emit_(fmt::format("slli {}, {}, {}", scaled, number, std::countr_zero(size)));
    } else {
      set(scaled, static_cast<std::int64_t>(size));
      emit_(fmt::format("mul {}, {}, {}", scaled, scaled, number));
    }
  }
  emit_(fmt::format("{} {}, {}, {}", factor < 0 ? "sub" : "add", to, to, scaled));
}

void Addresses::begin() {
  for (const auto& [value, reg] : words_) set(reg, value);
  for (const Group& group : groups_) {
    if (group.storage == -1) {
      set(group.reg, group.least);
    } else {
      add(group.reg,
          group.storage == kScratch ? input(Scratch{tree_.scratch}) : input(Base{group.storage}),
          group.least);
    }
    for (const ir::Term& term : group.moves.terms()) {
      if (term.var >= kFirstNumber) {
        addScaled(group.reg,
                  input(tree_.numbers[static_cast<std::size_t>(term.var - kFirstNumber)]),
                  term.coef);
      } else if (term.var < tree_.depth) {
        addScaled(group.reg, input(Number{ir::Index(ir::Affine::variable(term.var)), 0}),
                  term.coef);
      }
    }
  }
}

std::size_t Addresses::groupOf(ir::BufferId storage, const ir::Affine& bytes) const {
  const ir::Affine moves = moving(bytes);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Group& group = groups_[i];
    if (group.storage == storage && group.moves == moves && bytes.constant() >= group.least &&
        bytes.constant() <= group.most) {
      return i;
    }
  }
  DOJO_CHECK(false, "an address without a register");
  return 0;
}

Reached Addresses::reach(ir::BufferId storage, const ir::Affine& bytes) {
  Group& group = groups_[groupOf(storage, bytes)];
  if (!fits(bytes.constant() - group.least - group.ahead)) {
    add(group.reg, group.reg, -group.ahead);
    group.ahead = 0;
  }
  return {group.reg, bytes.constant() - group.least - group.ahead};
}

std::string Addresses::exact(ir::BufferId storage, const ir::Affine& bytes,
                             const std::string& scratch) {
  const Reached place = reach(storage, bytes);
  if (place.offset == 0) return place.reg;
  emit_(fmt::format("addi {}, {}, {}", scratch, place.reg, place.offset));
  return scratch;
}

void Addresses::groupsIn(const Items& items, std::vector<std::size_t>& found) const {
  const auto look = [&](ir::BufferId storage, const ir::Affine& bytes) {
    const std::size_t group = groupOf(storage, bytes);
    if (std::find(found.begin(), found.end(), group) == found.end()) found.push_back(group);
  };
  for (const Item& item : items) {
    if (const auto* instruction = item.get<Instruction>()) {
      for (const Operand& operand : {instruction->out, instruction->in[0]}) {
        if (operand.kind != Operand::Kind::site) continue;
        const Site& site = tree_.sites[static_cast<std::size_t>(operand.index)];
        look(site.storage, site.bytes);
      }
      if (instruction->site >= 0) {
        const Site& site = tree_.sites[static_cast<std::size_t>(instruction->site)];
        look(site.storage, site.bytes);
      }
    } else if (const auto* start = item.get<Start>()) {
      look(start->storage, start->sequence.start);
    } else if (const auto* guarded = item.get<Guarded>()) {
      look(-1, guarded->term.expr - ir::Affine(guarded->term.lo));
    }
    if (item.body() != nullptr) groupsIn(*item.body(), found);
  }
}

Addresses::Mark Addresses::mark(const Items& body) const {
  std::vector<std::size_t> found;
  groupsIn(body, found);
  Mark out;
  for (const std::size_t group : found) out[group] = groups_[group].ahead;
  return out;
}

void Addresses::advance(const Loop& loop, const Mark& mark) {
  for (const auto& [id, ahead] : mark) {
    Group& group = groups_[id];
    add(group.reg, group.reg, group.moves.coef(loop.depth) + ahead - group.ahead);
  }
}

void Addresses::leave(const Loop& loop, const Mark& mark) {
  for (const auto& [id, ahead] : mark) {
    Group& group = groups_[id];
    group.ahead = ahead + loop.count * group.moves.coef(loop.depth);
  }
}

void Addresses::restore(const Mark& mark) {
  for (const auto& [id, ahead] : mark) {
    Group& group = groups_[id];
    add(group.reg, group.reg, ahead - group.ahead);
    group.ahead = ahead;
  }
}

}  // namespace dojo::region
