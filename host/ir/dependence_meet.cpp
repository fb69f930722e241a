// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "base/check.h"
#include "ir/dependence.h"
#include "ir/dependence_system.h"

namespace dojo::ir {

namespace {

constexpr std::int64_t kInfinity = System::kInfinity;

/// The question of meet() once no relation is `different`.
class Question {
 public:
  Question(const Accesses& accesses, const Site& a, const Site& b, System& system)
      : program_(&accesses.program()), system_(&system) {
    a_.site = &a;
    b_.site = &b;
  }

  [[nodiscard]] Answer ask(const std::vector<Relation>& relations) {
    system_->clear();
    relate(relations);
    if (system_->refuted() || !addSameStorage(*system_, *program_, a_, b_)) return Answer::no;
    addGuards(*system_, a_);
    if (a_.site != b_.site || !sameVariables()) addGuards(*system_, b_);
    if (system_->refuted()) return Answer::no;
    orderDataDependent();
    return system_->feasible();
  }

 private:
  [[nodiscard]] std::size_t depthOf(const Instance& instance) const {
    return instance.site->enclosing.size();
  }

  void relate(const std::vector<Relation>& relations) {
    const std::size_t deepest = std::max(depthOf(a_), depthOf(b_));
    for (std::size_t k = 0; k < deepest; ++k) {
      const bool both = k < depthOf(a_) && k < depthOf(b_);
      const Relation relation = both && k < relations.size() ? relations[k] : Relation::any;
      if (relation == Relation::equal) {
        const Interval x = rangeOf(a_, k);
        const Interval y = rangeOf(b_, k);
        a_.variables[k] = b_.variables[k] =
            system_->variable(std::max(x.lo, y.lo), std::min(x.hi, y.hi) - 1);
        continue;
      }
      if (k < depthOf(a_)) a_.variables[k] = fresh(rangeOf(a_, k));
      if (k < depthOf(b_)) b_.variables[k] = fresh(rangeOf(b_, k));
      if (relation == Relation::less) {
        system_->constrain({{a_.variables[k], 1}, {b_.variables[k], -1}}, -kInfinity, -1);
      } else if (relation == Relation::greater) {
        system_->constrain({{a_.variables[k], 1}, {b_.variables[k], -1}}, 1, kInfinity);
      }
    }
  }

  [[nodiscard]] Interval rangeOf(const Instance& instance, std::size_t depth) const {
    return variableRange(*program_, instance.site->enclosing[depth]->scope());
  }
  [[nodiscard]] int fresh(const Interval& range) {
    return system_->variable(range.lo, range.hi - 1);
  }

  [[nodiscard]] bool sameVariables() const {
    const auto count = static_cast<std::ptrdiff_t>(depthOf(a_));
    return depthOf(a_) == depthOf(b_) &&
           std::equal(a_.variables.begin(), a_.variables.begin() + count, b_.variables.begin());
  }

  /// Ranges `row[e]..row[e + 1]` over a monotone buffer don't overlap for different e: the order of
  /// e is the order of the variables.
  void orderDataDependent() {
    const std::size_t common = std::min(depthOf(a_), depthOf(b_));
    for (std::size_t k = 0; k < common; ++k) {
      const auto& x = a_.site->enclosing[k]->scope().extent.range;
      const auto& y = b_.site->enclosing[k]->scope().extent.range;
      if (!x || !y || !(*x == *y) ||
          a_.variable(static_cast<int>(k)) == b_.variable(static_cast<int>(k))) {
        continue;
      }
      if (x->first.buffer != x->last.buffer || x->first.indices.size() != 1) continue;
      const auto& values = program_->buffer(x->first.buffer).values;
      if (!values || !values->monotone) continue;
      const Affine step = x->last.indices[0].affine - x->first.indices[0].affine;
      if (!step.isConstant() || step.constant() > 1) continue;
      difference_.clear();
      difference_.add(x->first.indices[0].affine, a_);
      difference_.add(x->first.indices[0].affine, b_, -1);
      const int va = a_.variables[k];
      const int vb = b_.variables[k];
      if (!possible(0, kInfinity)) system_->constrain({{va, 1}, {vb, -1}}, -kInfinity, -1);
      if (!possible(-kInfinity, 0)) system_->constrain({{va, 1}, {vb, -1}}, 1, kInfinity);
    }
  }

  [[nodiscard]] bool possible(std::int64_t lo, std::int64_t hi) {
    const System::Mark mark = system_->mark();
    difference_.constrain(*system_, lo, hi);
    const Answer answer = system_->feasible();
    system_->rewind(mark);
    return answer != Answer::no;
  }

  const Program* program_;
  System* system_;
  Instance a_, b_;
  Sum difference_;
};

/// Splits the first `different` into less and greater until none is left.
Answer askBothWays(Question& question, std::vector<Relation>& relations, std::size_t from) {
  for (std::size_t k = from; k < relations.size(); ++k) {
    if (relations[k] != Relation::different) continue;
    Answer answer = Answer::no;
    for (const Relation way : {Relation::less, Relation::greater}) {
      relations[k] = way;
      const Answer one = askBothWays(question, relations, k + 1);
      if (one == Answer::yes) answer = one;
      if (one == Answer::unknown && answer == Answer::no) answer = one;
      if (answer == Answer::yes) break;
    }
    relations[k] = Relation::different;
    return answer;
  }
  return question.ask(relations);
}

}  // namespace

Answer meet(const Accesses& accesses, const Site& a, const Site& b,
            const std::vector<Relation>& relations) {
  const Program& program = accesses.program();
  if (program.storageOf(a.access.buffer) != program.storageOf(b.access.buffer)) return Answer::no;
  return meetIfShared(accesses, a, b, relations);
}

Answer meetIfShared(const Accesses& accesses, const Site& a, const Site& b,
                    const std::vector<Relation>& relations) {
  thread_local System system;
  thread_local std::vector<Relation> actual;
  actual = relations;
  const std::size_t common = std::min(a.enclosing.size(), b.enclosing.size());
  if (actual.size() > common) actual.resize(common);
  // Private storage is new in every iteration: only executions within one can meet.
  const std::vector<int>& depths = accesses.privateDepths(a.access.buffer);
  if (!depths.empty()) {
    const auto inside = static_cast<std::size_t>(depths.back()) + 1;
    if (actual.size() < inside) actual.resize(inside, Relation::any);
    for (std::size_t k = 0; k < inside; ++k) {
      if (actual[k] != Relation::equal && actual[k] != Relation::any) return Answer::no;
      actual[k] = Relation::equal;
    }
  }
  Question question(accesses, a, b, system);
  return askBothWays(question, actual, 0);
}

}  // namespace dojo::ir
