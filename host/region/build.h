// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// From the scopes and leaves of a program to loops and instructions. build.cpp has the scopes,
/// leaf.cpp the leaves.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "ir/tree.h"
#include "region/inverse.h"
#include "region/tree.h"

namespace dojo::region {

class Builder {
 public:
  Builder(const ir::Program& program, const ir::Path& path, const target::Target& target);
  [[nodiscard]] Result<Tree> run();

 private:
  /// What an iteration variable is here.
  struct Variable {
    enum class Kind : std::uint8_t { outside, constant, loop, lane } kind = Kind::outside;
    std::int64_t value = 0;
    ir::Interval range;
  };
  /// Where an access falls.
  struct Place {
    ir::Affine elements;    ///< Of storage, without the lane.
    std::int64_t lane = 0;  ///< Elements from lane to lane.
    bool known = true;      ///< Otherwise it was refused.
  };

  // build.cpp
  void nodes(const std::vector<ir::Node>& body);
  void node(const ir::Node& node);
  void guarded(const ir::Node& node, std::size_t term);
  void scope(const ir::Node& node);
  void streams(const ir::Node& node);
  void iterations(const ir::Node& node);
  void vector(const ir::Node& node);
  void body(const ir::Node& node, Variable variable);
  /// Whether all uses of the storage are inside this scope.
  [[nodiscard]] bool within(ir::BufferId storage, const ir::Node* scope) const;
  void refuse(std::string code, std::string message);
  [[nodiscard]] ir::Affine substituted(const ir::Affine& expr) const;
  [[nodiscard]] std::vector<ir::Interval> ranges() const;
  [[nodiscard]] int number(Number number);

  // place.cpp
  [[nodiscard]] Place placeOf(const ir::Access& access);
  [[nodiscard]] ir::Affine folded(const ir::Affine& expr, const ir::Dim& dim,
                                  const ir::Buffer& buffer);
  [[nodiscard]] ir::Affine gathered(const ir::Index& index, const ir::Dim& dim,
                                    const ir::Buffer& buffer);
  [[nodiscard]] bool isOutside(const ir::Affine& expr) const;
  /// `position` as of Site.
  [[nodiscard]] Operand access(const ir::Access& access, Form form, int position);
  [[nodiscard]] Operand cellOf(const ir::Access& access, const Place& place, Form form);
  [[nodiscard]] Operand memory(const ir::Access& access, const Place& place, Form form,
                               int position);

  // leaf.cpp
  void leaf(const ir::Leaf& leaf);
  void reduction(const ir::Leaf& leaf, Form form, bool acrossLanes);
  void sumLanes(const ir::Leaf& leaf);
  void combineLanes(const ir::Leaf& leaf, Operand values);
  void divide(Form form, Operand out, Operand a, const Inverse& by);
  void compute(const ir::Leaf& leaf, Form form, Operand out);
  [[nodiscard]] Operand operand(const ir::Leaf& leaf, std::size_t position, Form form);
  void emit(Operation operation, Form form, Operand out, Operand a, Operand b = {}, Operand c = {});
  [[nodiscard]] Operand temporary(Form form);
  [[nodiscard]] bool inLanes() const { return lane_ >= 0; }
  /// Lanes of the vector scope fall on one element of the access.
  [[nodiscard]] bool uniform(const ir::Access& access);

  // routine.cpp
  /// A copy of a leaf that takes more than one instruction, in f64.
  struct Copy {
    std::vector<Operand> in;  ///< Cells.
    Operand value;            ///< What it is computed in.
    int slot = 0;
  };
  [[nodiscard]] bool isRoutine(const ir::Leaf& leaf) const;
  /// Copies for so many values of one more variable; with 0, the leaf alone.
  void routine(const ir::Leaf& leaf, std::int64_t count);
  struct Access;
  [[nodiscard]] Access gather(const ir::Leaf& leaf);
  void together(const ir::Leaf& leaf, std::span<Access> copies);
  void exponential(std::vector<Copy>& copies, bool wide);
  void sigmoid(std::vector<Copy>& copies, bool wide);
  void quotient(std::vector<Copy>& copies);
  void inverseRoot(const ir::Leaf& leaf, std::vector<Copy>& copies);
  [[nodiscard]] std::vector<Operand> powers(std::vector<Copy>& copies, bool negative, bool wide,
                                            std::vector<Operand>& scales);
  [[nodiscard]] std::vector<Operand> guesses(const std::vector<Operand>& of, int slot,
                                             std::optional<Operation> operation);
  [[nodiscard]] std::vector<Operand> inverses(const std::vector<Operand>& of, int slot);
  void patch(const Copy& copy, Operand value, ir::Op op, int slot, const Bounds& bounds);
  [[nodiscard]] Operand patchable(const Copy& copy);
  void settle(const Copy& copy, Operand value);
  [[nodiscard]] Operand real(double value) { return cellOperand(tree_.constant(value, Form::f64)); }
  /// Of 8 bytes each, whose lower words are 0 where `zero`.
  [[nodiscard]] std::int64_t memoryFor(std::size_t index, bool zero);

  const ir::Program& program_;
  const target::Target& target_;
  ir::Path path_;
  Tree tree_;
  Items* into_ = nullptr;
  std::vector<Variable> variables_;
  int lane_ = -1;
  const ir::Node* laneScope_ = nullptr;
  const ir::Leaf* leaf_ = nullptr;
  /// Of register buffers: storage and element; the pair's first or second element.
  std::map<std::pair<ir::BufferId, std::int64_t>, std::pair<int, int>> cells_;
  /// By storage: the scopes around all of its uses.
  std::vector<std::vector<const ir::Node*>> common_;
  /// By storage: whether something outside of all regions uses it.
  std::vector<bool> outside_;
  std::int64_t instructions_ = 0;
  std::vector<std::int64_t> powers_, numbers_;  ///< Places in the region's memory.
  std::optional<Error> failure_;
};

}  // namespace dojo::region
