// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Loads and stores for what no data mover takes, and instructions in the forms that there are.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "region/tree.h"

namespace dojo::region {
namespace {

std::int64_t bytesOf(const Site& site) { return site.form == Form::f32 || site.splat ? 4 : 8; }

class Resolver {
 public:
  explicit Resolver(Tree& tree) : tree_(tree) {}

  Status run() {
    Items items = body(tree_.items);
    tree_.items = Items();
    into_ = &tree_.items;
    pairConstants();
    std::move(items.begin(), items.end(), std::back_inserter(tree_.items));
    return failure_ ? Status(*failure_) : Status();
  }

 private:
  using Kind = Operand::Kind;

  /// An element of memory that a hardware loop keeps in a register.
  struct Kept {
    int site;
    Operand cell;
    bool read = false, written = false;
  };

  void refuse(std::string code, std::string message) {
    if (!failure_) failure_ = refusal(std::move(code), std::move(message), line_);
  }
  [[nodiscard]] const Site& site(int id) const { return tree_.sites[static_cast<std::size_t>(id)]; }
  Operand temporary(Form form) { return cellOperand(tree_.addCell(form, "")); }
  void emit(Operation operation, Form form, Operand out, Operand a, Operand b = {},
            Operand c = {}) {
    into_->push_back({Instruction{operation, form, out, {a, b, c}}});
  }

  void pairConstants() {
    for (std::size_t i = 0; i < tree_.cells.size(); ++i) {
      if (tree_.cells[i].form != Form::pair || !tree_.cells[i].constant) continue;
      const Operand one = cellOperand(tree_.constant(tree_.cells[i].constant->value, Form::f32));
      tree_.cells[i].constant.reset();
      emit(Operation::pack, Form::pair, cellOperand(static_cast<int>(i)), one, one);
    }
  }

  Items body(Items& items) {
    Items out;
    for (Item& item : items) {
      if (failure_) break;
      into_ = &out;
      if (const auto* instruction = item.get<Instruction>()) {
        outside(*instruction);
      } else if (auto* loop = item.get<Loop>(); loop != nullptr && loop->hardware) {
        hardware(*loop, out);
      } else if (item.body() != nullptr) {
        *item.body() = body(*item.body());
        out.push_back(std::move(item));
      } else {
        out.push_back(std::move(item));
      }
    }
    return out;
  }

  void load(int id, Operand cell) {
    const Site one = site(id);
    if (one.form != Form::pair || (!one.splat && !one.apart)) {
      return emit(Operation::load, one.form, cell, siteOperand(id));
    }
    const auto single = [&](std::int64_t offset) {
      Site part = one;
      part.form = Form::f32;
      part.splat = false;
      part.apart.reset();
      part.bytes += offset;
      tree_.sites.push_back(part);
      const Operand value = temporary(Form::f32);
      emit(Operation::load, Form::f32, value,
           siteOperand(static_cast<int>(tree_.sites.size()) - 1));
      return value;
    };
    const Operand first = single(0);
    emit(Operation::pack, Form::pair, cell, first, one.splat ? first : single(*one.apart));
  }
  void store(int id, Operand value) {
    emit(Operation::store, site(id).form, siteOperand(id), value);
  }

  void outside(Instruction instruction) {
    const bool moves = instruction.operation == Operation::move;
    if (moves && instruction.in[0].kind == Kind::site && instruction.out.kind == Kind::cell) {
      return load(instruction.in[0].index, instruction.out);
    }
    if (moves && instruction.in[0].kind == Kind::cell && instruction.out.kind == Kind::site) {
      return store(instruction.out.index, instruction.in[0]);
    }
    std::array<int, 3> loaded = {-1, -1, -1};
    for (std::size_t i = 0; i < 3; ++i) {
      Operand& operand = instruction.in[i];
      if (operand.kind != Kind::site) continue;
      loaded[i] = operand.index;
      for (std::size_t k = 0; k < i; ++k) {
        if (loaded[k] >= 0 && same(loaded[k], loaded[i])) operand = instruction.in[k];
      }
      if (operand.kind != Kind::site) continue;
      const Operand cell = temporary(site(operand.index).form);
      load(operand.index, cell);
      operand = cell;
    }
    if (instruction.out.kind != Kind::site) return legal(instruction);
    const int to = instruction.out.index;
    if (moves && instruction.in[0].kind == Kind::cell) return store(to, instruction.in[0]);
    instruction.out = temporary(site(to).form);
    legal(instruction);
    store(to, instruction.out);
  }

  [[nodiscard]] bool same(int a, int b) const {
    return site(a).storage == site(b).storage && site(a).bytes == site(b).bytes &&
           site(a).form == site(b).form && site(a).splat == site(b).splat &&
           site(a).apart == site(b).apart;
  }

  void hardware(Loop& loop, Items& out) {
    line_ = loop.line;
    std::vector<Kept> kept;
    std::set<int> depths;
    keep(loop, kept, depths);
    checkKept(kept);
    if (failure_) return;
    for (const Kept& one : kept) {
      if (one.read) load(one.site, one.cell);
    }
    Loop done = loop;
    into_ = nullptr;
    done.body = inside(loop.body);
    out.push_back({std::move(done)});
    into_ = &out;
    for (const Kept& one : kept) {
      if (one.written) store(one.site, one.cell);
    }
  }

  Items inside(Items& items) {
    Items out;
    for (Item& item : items) {
      if (auto* loop = item.get<Loop>()) {
        Loop inner = *loop;
        inner.body = inside(loop->body);
        out.push_back({std::move(inner)});
        continue;
      }
      into_ = &out;
      legal(*item.get<Instruction>());
    }
    return out;
  }

  /// Elements of memory become registers.
  void keep(Loop& loop, std::vector<Kept>& kept, std::set<int>& depths) {
    depths.insert(loop.depth);
    for (Item& item : loop.body) {
      if (failure_) return;
      if (auto* inner = item.get<Loop>()) {
        if (!inner->hardware) {
          line_ = inner->line;
          return refuse("lower.frep",
                        "a loop that is neither unrolled nor frep inside a hardware loop");
        }
        keep(*inner, kept, depths);
        continue;
      }
      auto* instruction = item.get<Instruction>();
      if (instruction == nullptr) {
        return refuse("lower.frep", "a guard or a stream's start inside a hardware loop");
      }
      for (Operand& operand : instruction->in) keep(operand, false, kept, depths);
      keep(instruction->out, true, kept, depths);
    }
    depths.erase(loop.depth);
  }

  void keep(Operand& operand, bool write, std::vector<Kept>& kept, const std::set<int>& depths) {
    if (operand.kind != Kind::site || failure_) return;
    const Site& one = site(operand.index);
    if (one.storage == kScratch) {
      return refuse("lower.frep", "lanes are combined through memory inside a hardware loop");
    }
    for (const ir::Term& term : one.bytes.terms()) {
      if (!depths.contains(term.var)) continue;
      return refuse("lower.frep",
                    fmt::format("the body of a hardware loop has an element of memory that changes "
                                "with {{{}}} and isn't streamed",
                                term.var));
    }
    auto found = std::find_if(kept.begin(), kept.end(),
                              [&](const Kept& each) { return same(each.site, operand.index); });
    if (found == kept.end()) {
      kept.push_back({operand.index, temporary(one.form)});
      found = kept.end() - 1;
    }
    if (write && !found->written) {
      found->written = true;
      tree_.sites[static_cast<std::size_t>(found->site)].write = true;
    } else if (!write && !found->written) {
      found->read = true;
    }
    operand = found->cell;
  }

  void checkKept(const std::vector<Kept>& kept) {
    for (const Kept& a : kept) {
      const Site& first = site(a.site);
      if (a.written && (first.splat || first.apart)) {
        return refuse("lower.frep", "an element of memory is written both alone and by lanes");
      }
      for (const Kept& b : kept) {
        const Site& second = site(b.site);
        if (&a == &b || !a.written || first.storage != second.storage) continue;
        const ir::Affine gap = second.bytes - first.bytes;
        const bool apart = gap.isConstant() && !second.apart &&
                           (gap.constant() >= bytesOf(first) || -gap.constant() >= bytesOf(second));
        if (apart) continue;
        return refuse("lower.frep",
                      "a hardware loop keeps two elements of one buffer that may be the same");
      }
    }
  }

  /// Packed operations that add up do so in their destination.
  void legal(const Instruction& from) {
    Instruction to = from;
    const bool pairs = from.form == Form::pair;
    const bool fused = from.operation == Operation::fmadd || from.operation == Operation::fmsub ||
                       from.operation == Operation::fnmsub || from.operation == Operation::fnmadd;
    if (from.operation != Operation::sum && !(pairs && fused)) {
      into_->push_back({to});
      return;
    }
    const bool negated = from.operation == Operation::fmsub || from.operation == Operation::fnmadd;
    if (fused) {
      const bool minus = from.operation == Operation::fnmsub || from.operation == Operation::fnmadd;
      to.operation = minus ? Operation::fnmsub : Operation::fmadd;
    }
    if (!negated && from.out == from.in[2] && from.out.kind == Kind::cell) {
      into_->push_back({to});
      return;
    }
    // An element that comes from a mover comes once.
    if (from.in[2].kind == Kind::mover) {
      const Operand once = temporary(from.form);
      emit(Operation::move, from.form, once, from.in[2]);
      for (Operand& operand : to.in) {
        if (operand == from.in[2]) operand = once;
      }
    }
    const bool direct = from.out.kind == Kind::cell && to.in[0] != from.out && to.in[1] != from.out;
    const Operand sum = direct ? from.out : temporary(from.form);
    emit(negated ? Operation::neg : Operation::move, from.form, sum, to.in[2]);
    to.in[2] = sum;
    to.out = sum;
    into_->push_back({to});
    if (!direct) emit(Operation::move, from.form, from.out, sum);
  }

  Tree& tree_;
  Items* into_ = nullptr;
  int line_ = 0;
  std::optional<Error> failure_;
};

}  // namespace

Status resolve(Tree& tree) { return Resolver(tree).run(); }

}  // namespace dojo::region
