// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The integer side of a region: which registers hold addresses, and how they move with loops.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "region/tree.h"

namespace dojo::region {

/// An address (or the number that a guard looks at) as register and distance.
struct Reached {
  std::string reg;
  std::int64_t offset = 0;
};

/// One register steps through everything of one storage whose address moves alike, within the reach
/// of an instruction's offset. Its value is kept right lazily: what a loop has added is known and
/// taken into offsets.
class Addresses {
 public:
  /// `emit` writes a line of assembly.
  Addresses(const Tree& tree, const std::function<void(const std::string&)>& emit);

  /// Takes registers for inputs, addresses and loops; false: there are not enough.
  [[nodiscard]] bool plan();
  /// Writes what sets the registers up.
  void begin();
  [[nodiscard]] Reached reach(ir::BufferId storage, const ir::Affine& bytes);
  /// For something that must be in a register: with `scratch` as room.
  [[nodiscard]] std::string exact(ir::BufferId storage, const ir::Affine& bytes,
                                  const std::string& scratch);

  /// How far each register was from its value at the begin of a loop or a guard.
  using Mark = std::map<std::size_t, std::int64_t>;
  [[nodiscard]] Mark mark(const Items& body) const;
  /// At the end of a loop's body, then behind the loop.
  void advance(const Loop& loop, const Mark& mark);
  void leave(const Loop& loop, const Mark& mark);
  /// At the end of what may be jumped over.
  void restore(const Mark& mark);

  [[nodiscard]] const std::vector<Input>& inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<std::string>& used() const { return used_; }
  [[nodiscard]] const std::string& scratch(int which) const { return scratch_[which]; }
  /// Of the n-th loop around.
  [[nodiscard]] const std::string& counter(std::size_t nesting) const { return counters_[nesting]; }
  /// The integer core's part in a routine.
  void write(const Instruction& instruction);
  /// The start of a branch that is taken where a patch is out of its bounds; it changes scratch(1).
  [[nodiscard]] std::string outside(const Instruction& instruction);
  [[nodiscard]] const std::string& slot(int number) const {
    return slots_[static_cast<std::size_t>(number)];
  }
  void set(const std::string& reg, std::int64_t value);
  void add(const std::string& to, const std::string& from, std::int64_t value);

 private:
  struct Group {
    ir::BufferId storage;
    ir::Affine moves;  ///< Without its constant.
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::string reg;
    std::int64_t ahead = 0;  ///< What the register holds beyond its value.
  };

  void collect(const Items& items, std::size_t loops);
  void need(ir::BufferId storage, const ir::Affine& bytes);
  void cluster();
  [[nodiscard]] std::size_t groupOf(ir::BufferId storage, const ir::Affine& bytes) const;
  void groupsIn(const Items& items, std::vector<std::size_t>& found) const;
  [[nodiscard]] std::string take();
  [[nodiscard]] std::string input(decltype(Input::what) what);
  void wordsOf(const Instruction& instruction);
  void addScaled(const std::string& to, const std::string& number, std::int64_t factor);

  const Tree& tree_;
  std::function<void(const std::string&)> emit_;
  std::vector<std::pair<ir::BufferId, ir::Affine>> needs_;
  std::vector<Group> groups_;
  std::size_t loops_ = 0;
  std::size_t next_ = 0;
  bool enough_ = true;
  std::vector<Input> inputs_;
  std::vector<std::string> used_, counters_, slots_;
  std::map<std::int64_t, std::string> words_;  ///< Constants that instructions use.
  std::string scratch_[2];
};

}  // namespace dojo::region
