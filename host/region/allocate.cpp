// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Floating-point registers. What a register buffer's element holds from one assignment to the
/// last use before the next is a value of its own (a web where loops carry it); a linear scan over
/// the text gives each value a register for as long as it lives.
#include <algorithm>
#include <deque>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "region/tree.h"

namespace dojo::region {
namespace {

class Allocator {
 public:
  Allocator(const Tree& tree, const target::Target& target) : tree_(tree), target_(target) {
    states_.resize(tree.cells.size());
  }

  Result<Registers> run() {
    for (std::size_t cell = 0; cell < tree_.cells.size(); ++cell) {
      if (tree_.cells[cell].constant) write(static_cast<int>(cell), -1, false);
    }
    walk(tree_.items, false);
    if (failure_) return *failure_;
    scan();
    if (failure_) return *failure_;
    for (std::size_t i = 0; i < webOf_.size(); ++i) {
      auto& registers = out_.ofInstruction.emplace_back();
      for (std::size_t k = 0; k < 4; ++k) {
        const int web = webOf_[i][k];
        registers[k] = web < 0 ? -1 : register_[static_cast<std::size_t>(root(web))];
      }
    }
    for (const auto& [cell, web] : constants_) {
      const int reg = register_[static_cast<std::size_t>(root(web))];
      if (reg >= 0) out_.constants[cell] = reg;
    }
    return out_;
  }

 private:
  struct Occurrence {
    int position;
    int web;
    bool reads;
  };
  struct State {
    int web = -1;
    std::vector<Occurrence> occurrences;
  };
  struct Web {
    int parent;
    int from, to;  ///< Twice the position of the instruction, and one more after it.
    bool used = false;
  };

  int root(int web) {
    Web& one = webs_[static_cast<std::size_t>(web)];
    return one.parent == web ? web : one.parent = root(one.parent);
  }
  void extend(int web, int point) {
    Web& one = webs_[static_cast<std::size_t>(root(web))];
    one.from = std::min(one.from, point);
    one.to = std::max(one.to, point);
  }
  void join(int a, int b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    Web& first = webs_[static_cast<std::size_t>(a)];
    Web& second = webs_[static_cast<std::size_t>(b)];
    second.parent = a;
    first.from = std::min(first.from, second.from);
    first.to = std::max(first.to, second.to);
    first.used = first.used || second.used;
  }

  int write(int cell, int position, bool guarded) {
    State& state = states_[static_cast<std::size_t>(cell)];
    if (!guarded || state.web < 0) {
      state.web = static_cast<int>(webs_.size());
      webs_.push_back({state.web, 2 * position + 1, 2 * position + 1});
    }
    extend(state.web, 2 * position + 1);
    if (position < 0) constants_[cell] = state.web;
    if (position >= 0) state.occurrences.push_back({position, state.web, guarded});
    return state.web;
  }
  int read(int cell, int position) {
    State& state = states_[static_cast<std::size_t>(cell)];
    if (state.web < 0) {
      const std::string& name = tree_.cells[static_cast<std::size_t>(cell)].name;
      if (!failure_) {
        failure_ = refusal("lower.register",
                           fmt::format("{} is in registers and carries a value into the scope that "
                                       "is mapped stream, frep or vector",
                                       name),
                           tree_.line);
      }
      return -1;
    }
    extend(state.web, 2 * position);
    webs_[static_cast<std::size_t>(root(state.web))].used = true;
    state.occurrences.push_back({position, state.web, true});
    return state.web;
  }

  void walk(const Items& items, bool guarded) {
    for (const Item& item : items) {
      if (failure_) return;
      if (const auto* instruction = item.get<Instruction>()) {
        look(*instruction, guarded);
      } else if (const auto* loop = item.get<Loop>()) {
        const int begin = position_;
        walk(loop->body, guarded);
        carry(begin, position_);
      } else if (item.body() != nullptr) {
        walk(*item.body(), guarded || item.get<Guarded>() != nullptr);
      }
    }
  }

  void look(const Instruction& instruction, bool guarded) {
    auto& webs = webOf_.emplace_back();
    webs.fill(-1);
    for (std::size_t i = 0; i < 3; ++i) {
      if (instruction.in[i].kind != Operand::Kind::cell) continue;
      webs[i + 1] = read(instruction.in[i].index, position_);
    }
    if (instruction.out.kind == Operand::Kind::cell) {
      // What adds up in its destination keeps the register.
      const bool kept =
          instruction.out == instruction.in[2] &&
          (instruction.form == Form::pair || instruction.operation == Operation::sum ||
           instruction.operation == Operation::patch);
      webs[0] = write(instruction.out.index, position_, guarded || kept);
    }
    ++position_;
  }

  /// Values that one iteration of a loop leaves to the next, or that all of them read.
  void carry(int begin, int end) {
    for (State& state : states_) {
      const auto first =
          std::lower_bound(state.occurrences.begin(), state.occurrences.end(), begin,
                           [](const Occurrence& one, int at) { return one.position < at; });
      if (first == state.occurrences.end() || !first->reads) continue;
      join(first->web, state.web);
      extend(first->web, 2 * begin);
      extend(first->web, 2 * end);
    }
  }

  void scan() {
    register_.assign(webs_.size(), -1);
    std::vector<int> order;
    for (int web = 0; web < static_cast<int>(webs_.size()); ++web) {
      const Web& one = webs_[static_cast<std::size_t>(web)];
      if (root(web) == web && (one.used || one.from >= 0)) order.push_back(web);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return webs_[static_cast<std::size_t>(a)].from < webs_[static_cast<std::size_t>(b)].from;
    });
    std::deque<int> cheap = {3, 4, 5, 6, 7, 28, 29, 30, 31, 10, 11, 12, 13, 14, 15, 16, 17};
    std::deque<int> saved = {8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27};
    if (!streams(tree_.items)) cheap.insert(cheap.begin(), {0, 1, 2});
    const std::size_t all = cheap.size() + saved.size();
    std::vector<int> live;
    for (const int web : order) {
      const int from = webs_[static_cast<std::size_t>(web)].from;
      // A value that nothing reads still takes its register for a moment.
      std::stable_sort(live.begin(), live.end(), [&](int a, int b) {
        return webs_[static_cast<std::size_t>(a)].to < webs_[static_cast<std::size_t>(b)].to;
      });
      std::erase_if(live, [&](int other) {
        if (webs_[static_cast<std::size_t>(other)].to >= from) return false;
        const int reg = register_[static_cast<std::size_t>(other)];
        (isSaved(reg) ? saved : cheap).push_back(reg);
        return true;
      });
      std::deque<int>& pool = cheap.empty() ? saved : cheap;
      if (pool.empty()) {
        failure_ = refusal("lower.register",
                           fmt::format("more than the {} floating-point registers of target {} "
                                       "are needed at once",
                                       all, target_.name),
                           tree_.line);
        return;
      }
      const int reg = pool.front();
      pool.pop_front();
      register_[static_cast<std::size_t>(web)] = reg;
      if (std::find(out_.used.begin(), out_.used.end(), reg) == out_.used.end()) {
        out_.used.push_back(reg);
      }
      live.push_back(web);
    }
    for (std::deque<int>* pool : {&cheap, &saved}) {
      for (const int reg : *pool) {
        const bool used = std::find(out_.used.begin(), out_.used.end(), reg) != out_.used.end();
        if (!used && out_.free < 0) out_.free = reg;
      }
    }
  }

  static bool isSaved(int reg) { return reg == 8 || reg == 9 || (reg >= 18 && reg <= 27); }

  static bool streams(const Items& items) {
    return std::any_of(items.begin(), items.end(), [](const Item& item) {
      return item.get<Streams>() != nullptr || (item.body() != nullptr && streams(*item.body()));
    });
  }

  const Tree& tree_;
  const target::Target& target_;
  std::vector<State> states_;  ///< By cell.
  std::vector<Web> webs_;
  std::vector<std::array<int, 4>> webOf_;
  std::map<int, int> constants_;  ///< Webs, by cell.
  std::vector<int> register_;     ///< By web.
  int position_ = 0;
  Registers out_;
  std::optional<Error> failure_;
};

}  // namespace

Result<Registers> allocate(const Tree& tree, const target::Target& target) {
  return Allocator(tree, target).run();
}

}  // namespace dojo::region
