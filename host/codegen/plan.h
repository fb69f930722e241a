// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Lowering decisions, taken before any instruction is emitted: where each buffer lives, how its
/// elements are addressed, and how lanes are cut into vectors.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "ir/program.h"
#include "moves/placement.h"
#include "region/region.h"
#include "target/target.h"

namespace dojo::codegen {

/// A run of lanes that one vector value holds. The last of a scope may have unused lanes.
struct Chunk {
  std::int64_t first = 0;  ///< Lane number of element 0.
  unsigned width = 1;      ///< Elements of the vector type, a power of two.
  unsigned active = 1;     ///< Elements that are iterations.
  /// A strip: `width` times what the device's registers hold more than the least (LLVM's vscale);
  /// the only chunk of its scope, of as many lanes as are left. `first` and `active` mean nothing.
  bool scalable = false;
};
/// Full registers, then a tail in the narrowest power of two that holds it.
[[nodiscard]] std::vector<Chunk> cutLanes(std::int64_t extent, std::int64_t registerLanes);

/// One SSA variable of a register buffer: a scalar (width 0) or neighbouring elements.
struct Slot {
  unsigned width = 0;
  unsigned active = 0;    ///< Elements that hold storage.
  bool scalable = false;  ///< As of a Chunk: the lanes of a strip.
};
struct ElementPlace {
  int slot = 0;
  int lane = 0;
};

struct BufferPlan {
  enum class Kind : std::uint8_t { passed, stack, registers };
  Kind kind = Kind::passed;
  int argument = -1;          ///< passed: position in what the caller hands over; -1: not passed.
  ir::BufferId storage = -1;  ///< The buffer whose address is its own too.
  /// Elements between neighbours in each dim. A buffer with a copy for each lane has the lane as a
  /// further, innermost dim.
  std::vector<std::int64_t> strides;
  std::int64_t elements = 1;
  moves::Home home;
  /// registers: each slot holds the copies of all lanes of a strip.
  bool byStrip = false;
  std::vector<Slot> slots;           ///< registers
  std::vector<ElementPlace> places;  ///< registers: by storage element
};

struct Plan {
  std::vector<BufferPlan> buffers;
  std::map<const ir::Node*, std::vector<Chunk>> chunks;  ///< By vector scope.
  std::map<const ir::Node*, region::Code> regions;       ///< By the scope that is one.
  /// The target's description of each of the program's instructions.
  std::vector<const target::VendorInstruction*> instructions;
};

/// For programs that passed moves::lowerable.
[[nodiscard]] Plan makePlan(const ir::Program& program, const target::Target& target);

}  // namespace dojo::codegen
