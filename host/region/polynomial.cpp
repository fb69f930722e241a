// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Polynomials by Horner's rule. A hardware loop does a step of all of them in each iteration, with
/// the coefficient from a data mover: the integer core is free meanwhile.
#include <algorithm>
#include <optional>

#include "region/tree.h"

namespace dojo::region {
namespace {

/// Of a hardware loop, which no address depends on.
constexpr int kNoVariable = kFirstNumber - 1;

class Expander {
 public:
  Expander(Tree& tree, const target::Target& target) : tree_(tree), target_(target) {}

  void run() {
    visit(tree_.items, -1);
    tree_.items.insert(tree_.items.begin(), tree_.before.begin(), tree_.before.end());
    tree_.before.clear();
  }

 private:
  /// Coefficients in memory. A mover that steps through others needs to be told more.
  struct Table {
    std::vector<double> coefficients;
    std::size_t repeat = 0;
    std::int64_t at = 0;
  };

  void visit(Items& items, int mover) {
    Items out;
    for (Item& item : items) {
      if (const auto* polynomial = item.get<Polynomial>()) {
        expand(*polynomial, mover, out);
        continue;
      }
      if (const auto* streams = item.get<Streams>()) {
        visit(*item.body(), unused(*streams));
      } else if (item.body() != nullptr) {
        visit(*item.body(), mover);
      }
      out.push_back(std::move(item));
    }
    items = std::move(out);
  }

  [[nodiscard]] int unused(const Streams& streams) const {
    for (int mover = 0; mover < target_.streams.movers; ++mover) {
      const auto& used = streams.movers;
      if (std::find(used.begin(), used.end(), mover) == used.end()) return mover;
    }
    return -1;
  }

  void step(const Polynomial& polynomial, Operand add, bool first, Items& out) {
    const auto& c = polynomial.coefficients;
    for (const Polynomial::One& one : polynomial.all) {
      const Operand top = cellOperand(tree_.constant(c.back(), Form::f64));
      out.push_back({Instruction{
          Operation::fmadd, Form::f64, one.out, {first ? top : one.out, one.at, add}}});
    }
  }

  void expand(const Polynomial& polynomial, int mover, Items& out) {
    const auto& c = polynomial.coefficients;
    const auto constant = [&](std::size_t i) {
      return cellOperand(tree_.constant(c[i], Form::f64));
    };
    step(polynomial, constant(c.size() - 2), true, out);
    if (c.size() == 2) return;
    const Table* table = mover < 0 ? nullptr : tableOf(polynomial);
    if (table == nullptr) {
      for (std::size_t i = c.size() - 2; i-- > 0;) step(polynomial, constant(i), false, out);
      return;
    }
    const auto count = static_cast<std::int64_t>(c.size()) - 2;
    Start start;
    start.mover = mover;
    start.repeat = static_cast<std::int64_t>(polynomial.all.size());
    start.storage = kScratch;
    start.sequence.start = table->at;
    start.sequence.dims = {{count, 8}};
    out.push_back({std::move(start)});
    Loop loop;
    loop.count = count;
    loop.depth = kNoVariable;
    loop.hardware = true;
    loop.line = tree_.line;
    step(polynomial, moverOperand(mover), false, loop.body);
    out.push_back({std::move(loop)});
  }

  /// nullptr: the polynomial isn't the one that has the mover, or hardware loops are too small.
  const Table* tableOf(const Polynomial& polynomial) {
    const auto& c = polynomial.coefficients;
    const auto repeat = static_cast<std::int64_t>(polynomial.all.size());
    if (repeat > target_.streams.repeat || repeat > target_.hardwareLoop.instructions) {
      return nullptr;
    }
    if (!table_) {
      table_ = {c, polynomial.all.size(), tree_.reserve(8 * static_cast<std::int64_t>(c.size()))};
      for (std::size_t i = c.size() - 2; i-- > 0;) {
        const auto place = table_->at + 8 * static_cast<std::int64_t>(c.size() - 3 - i);
        const Operand at = siteOperand(tree_.scratchSite(place, Form::f64, true));
        const Operand value = cellOperand(tree_.constant(c[i], Form::f64));
        tree_.before.push_back({Instruction{Operation::move, Form::f64, at, {value}}});
      }
    }
    return table_->coefficients == c && table_->repeat == polynomial.all.size() ? &*table_
                                                                                : nullptr;
  }

  Tree& tree_;
  const target::Target& target_;
  std::optional<Table> table_;
};

}  // namespace

void expandPolynomials(Tree& tree, const target::Target& target) { Expander(tree, target).run(); }

}  // namespace dojo::region
