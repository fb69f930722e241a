// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What hardware loops can be.
#include <algorithm>

#include <fmt/format.h>

#include "region/tree.h"

namespace dojo::region {
namespace {

class Fitter {
 public:
  Fitter(Tree& tree, const target::Target& target) : tree_(tree), loop_(target.hardwareLoop) {}

  Status run() {
    visit(tree_.items);
    return failure_ ? Status(*failure_) : Status();
  }

 private:
  void refuse(std::string message, int line) {
    if (!failure_) failure_ = refusal("lower.frep", std::move(message), line);
  }

  void visit(Items& items) {
    for (Item& item : items) {
      auto* loop = item.get<Loop>();
      if (loop != nullptr && loop->hardware) {
        fit(*loop);
      } else if (item.body() != nullptr) {
        visit(*item.body());
      }
    }
  }

  void fit(Loop& loop) {
    merge(loop);
    if (loop.count > loop_.iterations) {
      return refuse(fmt::format("{} iterations of a hardware loop, more than the {} that there are",
                                loop.count, loop_.iterations),
                    loop.line);
    }
    const int depth = depthOf(loop);
    if (depth > loop_.nesting) {
      return refuse(
          fmt::format("hardware loops {} deep in one another, more than {}", depth, loop_.nesting),
          loop.line);
    }
    const auto inner = std::count_if(loop.body.begin(), loop.body.end(),
                                     [](const Item& item) { return item.get<Loop>() != nullptr; });
    if (inner > 1) {
      return refuse(fmt::format("{} hardware loops beside one another in one", inner), loop.line);
    }
    // The loop inside doesn't begin with the outer's first instruction.
    if (loop.body.front().get<Loop>() != nullptr) {
      const Operand same = someCell(loop);
      loop.body.insert(loop.body.begin(), {Instruction{Operation::move, Form::f64, same, {same}}});
    }
    const std::int64_t size = sizeOf(loop);
    if (size > loop_.instructions) {
      return refuse(fmt::format("the body of a hardware loop takes {} instructions, more than the "
                                "{} that it holds",
                                size, loop_.instructions),
                    loop.line);
    }
  }

  /// A loop that is the whole body of another.
  void merge(Loop& loop) {
    for (Item& item : loop.body) {
      if (auto* inner = item.get<Loop>()) merge(*inner);
    }
    if (loop.body.size() != 1 || loop.body.front().get<Loop>() == nullptr) return;
    Loop& inner = *loop.body.front().get<Loop>();
    if (loop.count * inner.count > loop_.iterations) return;
    loop.count *= inner.count;
    Items body = std::move(inner.body);
    loop.body = std::move(body);
  }

  static int depthOf(const Loop& loop) {
    int deepest = 0;
    for (const Item& item : loop.body) {
      if (const auto* inner = item.get<Loop>()) deepest = std::max(deepest, depthOf(*inner));
    }
    return deepest + 1;
  }

  static std::int64_t sizeOf(const Loop& loop) {
    std::int64_t size = 0;
    for (const Item& item : loop.body) {
      const auto* inner = item.get<Loop>();
      size += inner != nullptr ? sizeOf(*inner) : 1;
    }
    return size;
  }

  /// A register for a move onto itself: one of a new value that is there before the loop.
  Operand someCell(const Loop&) { return cellOperand(tree_.constant(0, Form::f64)); }

  Tree& tree_;
  const target::HardwareLoop& loop_;
  std::optional<Error> failure_;
};

}  // namespace

Status fitLoops(Tree& tree, const target::Target& target) { return Fitter(tree, target).run(); }

}  // namespace dojo::region
