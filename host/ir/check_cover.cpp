// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/check_cover.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace dojo::ir {

namespace {

constexpr std::size_t kMostConditions = 64;

/// The write's own variables are placeholders in sums: numbers below 0.
int placeholder(std::size_t depth) { return -1 - static_cast<int>(depth); }
std::size_t depthOf(int placeholder) { return static_cast<std::size_t>(-1 - placeholder); }
bool isPlaceholder(int variable) { return variable < 0; }

std::int64_t coefOf(const Sum& sum, int variable) {
  std::int64_t out = 0;
  for (const System::Coef& term : sum.terms) {
    if (term.var == variable) out += term.coef;
  }
  return out;
}

/// One term a variable, none with 0.
void tidy(Sum& sum) {
  std::sort(sum.terms.begin(), sum.terms.end(),
            [](const System::Coef& a, const System::Coef& b) { return a.var < b.var; });
  std::size_t out = 0;
  for (std::size_t i = 0; i < sum.terms.size();) {
    System::Coef term = sum.terms[i++];
    while (i < sum.terms.size() && sum.terms[i].var == term.var) term.coef += sum.terms[i++].coef;
    if (term.coef != 0) sum.terms[out++] = term;
  }
  sum.terms.resize(out);
}

/// sum >= 0 for integers, with coefficients that have no divisor in common.
void tighten(Sum& sum) {
  tidy(sum);
  std::int64_t divisor = 0;
  for (const System::Coef& term : sum.terms) divisor = std::gcd(divisor, term.coef);
  if (divisor < 2) return;
  for (System::Coef& term : sum.terms) term.coef /= divisor;
  const bool below = sum.constant % divisor < 0;
  sum.constant = sum.constant / divisor - (below ? 1 : 0);
}

void substitute(Sum& sum, int variable, const Sum& value) {
  const std::int64_t coef = coefOf(sum, variable);
  if (coef == 0) return;
  std::erase_if(sum.terms, [&](const System::Coef& term) { return term.var == variable; });
  sum.add(value, coef);
  tidy(sum);
}

Sum scaled(const Sum& sum, std::int64_t factor) {
  Sum out;
  out.add(sum, factor);
  return out;
}

class Solver {
 public:
  Solver(System& system, const Program& program, const Reading& reading,
         const EarlierWrites& writes)
      : system_(system), program_(program), reading_(reading), writes_(writes) {
    write_.site = writes.write;
    const std::size_t depth = writes.write->enclosing.size();
    for (std::size_t k = 0; k < depth; ++k) {
      const bool own = k >= static_cast<std::size_t>(writes.shared);
      write_.variables[k] = own ? placeholder(k) : reading.instance.variable(static_cast<int>(k));
    }
    range_.resize(depth);
  }

  Cover solve() {
    ranges();
    equate();
    carriedOrder();
    afterOrder();
    guards();
    matchDataDependent();
    if (out_.kind != Cover::Kind::unknown && !out_.never) solveEquations();
    if (out_.kind != Cover::Kind::unknown && !out_.never) eliminate();
    if (out_.kind != Cover::Kind::unknown && !out_.never) conclude();
    return std::move(out_);
  }

 private:
  void giveUp() { out_.kind = Cover::Kind::unknown; }
  void weaken() {
    if (out_.kind == Cover::Kind::exact) out_.kind = Cover::Kind::sufficient;
  }

  void ranges() {
    for (std::size_t k = static_cast<std::size_t>(writes_.shared); k < range_.size(); ++k) {
      const Interval range = variableRange(program_, write_.site->enclosing[k]->scope());
      range_[k] = {range.lo, range.hi - 1};
    }
  }

  void equate() {
    const Access& access = write_.site->access;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      Sum& equation = equations_.emplace_back();
      equation.add(access.indices[d].affine, write_);
      equation.add(reading_.element[d], -1);
      tidy(equation);
    }
  }

  void carriedOrder() {
    if (!writes_.carried) return;
    const auto depth = static_cast<std::size_t>(writes_.shared);
    Sum& earlier = inequalities_.emplace_back();  // {k} of the read - 1 - {k} of the write >= 0
    earlier.constant = -1;
    earlier.add(reading_.instance.variable(writes_.shared), 1);
    earlier.add(placeholder(depth), -1);
    // Which iteration of a data-dependent scope is its first isn't known.
    if (!write_.site->enclosing[depth]->scope().extent.isConstant()) giveUp();
  }

  void afterOrder() {
    if (writes_.after == nullptr) return;
    const auto difference = [&](std::vector<Sum>& out, int depth) -> Sum& {
      Sum& sum = out.emplace_back();
      sum.add(write_.variable(depth), 1);
      sum.add(writes_.after->variable(depth), -1);
      tidy(sum);
      return sum;
    };
    for (int k = 0; k < writes_.afterShared; ++k) difference(equations_, k);
    if (writes_.afterCarried) difference(inequalities_, writes_.afterShared).constant -= 1;
  }

  void guards() {
    const auto addOf = [&](const Node& node) {
      for (const GuardTerm& term : node.guard) {
        Sum& above = inequalities_.emplace_back();
        above.constant = -term.lo;
        above.add(term.expr, write_);
        tidy(above);
        Sum& below = inequalities_.emplace_back();
        below.constant = term.hi - 1;
        below.add(term.expr, write_, -1);
        tidy(below);
      }
    };
    // Shared scopes are executing; so is the one whose iterations are compared.
    const std::size_t from = static_cast<std::size_t>(writes_.shared) + (writes_.carried ? 1 : 0);
    const auto& scopes = write_.site->enclosing;
    for (std::size_t k = from; k < scopes.size(); ++k) addOf(*scopes[k]);
    addOf(*write_.site->node);
  }

  /// A write in a data-dependent scope counts where the read stands in one with the same range,
  /// in the same iteration of it.
  void matchDataDependent() {
    const auto& scopes = write_.site->enclosing;
    const std::size_t from = static_cast<std::size_t>(writes_.shared) + (writes_.carried ? 1 : 0);
    for (std::size_t k = from; k < scopes.size(); ++k) {
      const auto& range = scopes[k]->scope().extent.range;
      if (!range) continue;
      weaken();
      const int found = sameRange(*range);
      if (found < 0) return giveUp();
      const auto& other = reading_.site->enclosing[static_cast<std::size_t>(found)]->scope();
      equateIndices(range->first, other.extent.range->first);
      equateIndices(range->last, other.extent.range->last);
      Sum value;
      value.add(reading_.instance.variable(found), 1);
      settle(placeholder(k), value);
    }
  }

  [[nodiscard]] int sameRange(const Extent::Range& range) const {
    if (reading_.site == nullptr) return -1;
    const auto& scopes = reading_.site->enclosing;
    for (std::size_t k = scopes.size(); k-- > 0;) {
      const auto& other = scopes[k]->scope().extent.range;
      if (other && other->first.buffer == range.first.buffer &&
          other->last.buffer == range.last.buffer) {
        return static_cast<int>(k);
      }
    }
    return -1;
  }

  void equateIndices(const Access& write, const Access& read) {
    for (std::size_t d = 0; d < write.indices.size(); ++d) {
      Sum& equation = equations_.emplace_back();
      equation.add(write.indices[d].affine, write_);
      equation.add(read.indices[d].affine, reading_.instance, -1);
      tidy(equation);
    }
  }

  /// The value of a placeholder is known.
  void settle(int variable, const Sum& value) {
    for (Sum& equation : equations_) substitute(equation, variable, value);
    for (Sum& inequality : inequalities_) substitute(inequality, variable, value);
    auto& range = range_[depthOf(variable)];
    if (range) {
      Sum& above = inequalities_.emplace_back(value);
      above.constant -= range->first;
      Sum& below = inequalities_.emplace_back(scaled(value, -1));
      below.constant += range->second;
      range.reset();
    }
  }

  void solveEquations() {
    while (!equations_.empty() && out_.kind != Cover::Kind::unknown && !out_.never) {
      std::size_t best = 0;
      std::size_t fewest = SIZE_MAX;
      for (std::size_t i = 0; i < equations_.size(); ++i) {
        const auto count = static_cast<std::size_t>(
            std::count_if(equations_[i].terms.begin(), equations_[i].terms.end(),
                          [](const System::Coef& term) { return isPlaceholder(term.var); }));
        if (count < fewest) {
          fewest = count;
          best = i;
        }
      }
      const Sum equation = std::move(equations_[best]);
      equations_.erase(equations_.begin() + static_cast<std::ptrdiff_t>(best));
      solveOne(equation);
    }
  }

  struct Digit {
    int variable;
    std::int64_t coef;  ///< Positive.
    int sign;
    std::int64_t span;  ///< Values 0..span, after the lowest has been taken off.
  };
  /// Digits that stand for one number.
  struct Group {
    std::int64_t coef;
    std::int64_t span;
    std::vector<Digit> digits;
  };

  /// sum of placeholders + rest == 0.
  void solveOne(const Sum& equation) {
    Sum rest;  // == sum of coef * (value - lowest) over digits
    rest.constant = -equation.constant;
    std::vector<Digit> digits;
    for (const System::Coef& term : equation.terms) {
      if (!isPlaceholder(term.var)) {
        rest.add(term.var, -term.coef);
        continue;
      }
      const auto& range = range_[depthOf(term.var)];
      if (!range) return giveUp();
      const int sign = term.coef > 0 ? 1 : -1;
      rest.constant -= term.coef * (sign > 0 ? range->first : range->second);
      digits.push_back({term.var, std::abs(term.coef), sign, range->second - range->first});
    }
    if (digits.empty()) return isZero(rest);
    std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) {
      return a.coef != b.coef ? a.coef < b.coef : a.variable < b.variable;
    });
    std::vector<Group> groups;
    if (!group(digits, groups)) return giveUp();
    divide(rest, groups);
  }

  void isZero(const Sum& sum) {
    if (sum.terms.empty()) {
      out_.never = out_.never || sum.constant != 0;
      return;
    }
    inequalities_.push_back(sum);
    inequalities_.push_back(scaled(sum, -1));
  }

  [[nodiscard]] bool isNeeded(int variable) const {
    const auto mentions = [&](const Sum& sum) { return coefOf(sum, variable) != 0; };
    return std::any_of(equations_.begin(), equations_.end(), mentions) ||
           std::any_of(inequalities_.begin(), inequalities_.end(), mentions);
  }

  /// Splits digits into numbers that a division tells apart. False: it can't be done.
  [[nodiscard]] bool group(const std::vector<Digit>& digits, std::vector<Group>& groups) const {
    std::int64_t reach = 0;  // of all groups so far
    bool mergeable = false;  // the last group's digits are needed nowhere else
    for (const Digit& digit : digits) {
      const bool needed = isNeeded(digit.variable);
      if (!groups.empty()) {
        Group& last = groups.back();
        const bool dense = digit.coef % last.coef == 0 && digit.coef / last.coef <= last.span + 1;
        if (mergeable && !needed && dense) {
          last.span += digit.coef / last.coef * digit.span;
          last.digits.push_back(digit);
          reach += digit.coef * digit.span;
          continue;
        }
        if (digit.coef <= reach) return false;
      }
      groups.push_back({digit.coef, digit.span, {digit}});
      mergeable = !needed;
      reach += digit.coef * digit.span;
    }
    return true;
  }

  /// rest == sum of group.coef * number, with 0 <= number <= group.span.
  void divide(Sum rest, const std::vector<Group>& groups) {
    tidy(rest);
    for (std::size_t i = groups.size(); i-- > 0;) {
      const Group& group = groups[i];
      Sum number;
      if (group.coef == 1) {
        number = rest;
        rest.clear();
      } else {
        const auto [lo, hi] = rest.bounds(system_);
        const std::int64_t c = group.coef;
        const int quotient = system_.variable(lo / c - 1, hi / c + 1);
        const int remainder = system_.variable(0, c - 1);
        Sum division = rest;
        division.add(quotient, -c);
        division.add(remainder, -1);
        division.equals(system_, 0);
        number.add(quotient, 1);
        rest.clear();
        rest.add(remainder, 1);
      }
      inequalities_.push_back(number);
      Sum& below = inequalities_.emplace_back(scaled(number, -1));
      below.constant += group.span;
      for (const Digit& digit : group.digits) {
        auto& range = range_[depthOf(digit.variable)];
        const auto [first, last] = *range;
        range.reset();
        if (group.digits.size() > 1) continue;
        Sum value = scaled(number, digit.sign);
        value.constant += digit.sign > 0 ? first : last;
        settle(digit.variable, value);
      }
    }
    isZero(rest);
  }

  /// Removes the placeholders that no equation has settled, those with small coefficients first.
  void eliminate() {
    std::vector<int> left;
    for (std::size_t k = 0; k < range_.size(); ++k) {
      const int variable = placeholder(k);
      if (!range_[k] || !isNeeded(variable)) continue;
      Sum& above = inequalities_.emplace_back();
      above.add(variable, 1);
      above.constant = -range_[k]->first;
      Sum& below = inequalities_.emplace_back();
      below.add(variable, -1);
      below.constant = range_[k]->second;
      left.push_back(variable);
    }
    while (!left.empty() && out_.kind != Cover::Kind::unknown) {
      for (Sum& sum : inequalities_) tighten(sum);
      const auto next = std::min_element(
          left.begin(), left.end(), [&](int a, int b) { return largestCoef(a) < largestCoef(b); });
      const int variable = *next;
      left.erase(next);
      eliminateOne(variable);
    }
  }

  [[nodiscard]] std::int64_t largestCoef(int variable) const {
    std::int64_t out = 0;
    for (const Sum& sum : inequalities_) out = std::max(out, std::abs(coefOf(sum, variable)));
    return out;
  }

  /// Every lower bound is at most every upper bound; exact where one of the two has coefficient 1.
  void eliminateOne(int variable) {
    std::vector<Sum> kept, lower, upper;
    for (Sum& sum : inequalities_) {
      const std::int64_t coef = coefOf(sum, variable);
      (coef == 0 ? kept : (coef > 0 ? lower : upper)).push_back(std::move(sum));
    }
    for (const Sum& a : lower) {
      for (const Sum& b : upper) {
        const std::int64_t x = coefOf(a, variable);
        const std::int64_t y = -coefOf(b, variable);
        if (x != 1 && y != 1) return giveUp();
        Sum& both = kept.emplace_back(scaled(a, y));
        both.add(b, x);
        tidy(both);
      }
    }
    if (kept.size() > kMostConditions) return giveUp();
    inequalities_ = std::move(kept);
  }

  void conclude() {
    for (Sum& sum : inequalities_) {
      tidy(sum);
      if (std::any_of(sum.terms.begin(), sum.terms.end(),
                      [](const System::Coef& term) { return isPlaceholder(term.var); })) {
        return giveUp();
      }
      const auto [lo, hi] = sum.bounds(system_);
      if (lo >= 0) continue;
      if (hi < 0) {
        out_.never = true;
        return;
      }
      out_.conditions.push_back(std::move(sum));
    }
  }

  System& system_;
  const Program& program_;
  const Reading& reading_;
  const EarlierWrites& writes_;
  Instance write_;
  Cover out_;
  /// First and last value of the write's own variables; none once they are settled.
  std::vector<std::optional<std::pair<std::int64_t, std::int64_t>>> range_;
  std::vector<Sum> equations_;     ///< == 0
  std::vector<Sum> inequalities_;  ///< >= 0
};

}  // namespace

Cover coverOf(System& system, const Program& program, const Reading& reading,
              const EarlierWrites& writes) {
  return Solver(system, program, reading, writes).solve();
}

}  // namespace dojo::ir
