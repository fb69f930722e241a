// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What lowering has to know about buffers and lanes; the test before compiling (lowerable.h) and
/// the code generator read the same answers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/program.h"
#include "target/target.h"

namespace dojo::moves {

/// The mapped scopes to whose iterations a local buffer is private: each iteration has its own
/// copy.
struct Home {
  bool used = false;
  const ir::Node* vector = nullptr;    ///< A copy for each lane.
  const ir::Node* parallel = nullptr;  ///< A copy for each iteration.
  int vectorDepth = -1;
};
/// One for each buffer; passed buffers have neither scope. Buffers that share storage have one
/// home.
[[nodiscard]] std::vector<Home> homes(const ir::Program& program);

/// Lanes of one register for a vector scope, set by the widest dtype accessed inside.
[[nodiscard]] int registerLanes(const ir::Program& program, const ir::Node& vectorScope,
                                const target::Target& target);

/// Lanes of the scope that code holds in one value of fixed length: those of a register, or of a
/// group of registers where instructions work on groups.
[[nodiscard]] int valueLanes(const ir::Program& program, const ir::Node& vectorScope,
                             const target::Target& target);

/// A float dtype accessed inside the scope that the target's vector unit doesn't compute with (as
/// IEEE 754 asks); f16 and bf16 are computed as f32.
[[nodiscard]] std::optional<ir::DType> notInVectors(const ir::Program& program,
                                                    const ir::Node& vectorScope,
                                                    const target::Target& target);

/// Why a vector scope's iterations can't be worked off in strips of as many lanes as the device has
/// (scalable targets; no matter how many iterations there are, and where their number is read at
/// run time); empty: they can.
[[nodiscard]] std::string notInStrips(const ir::Program& program, const ir::Node& vectorScope,
                                      int depth, const target::Target& target,
                                      const std::vector<Home>& homes);
/// Whether they are: where one value doesn't hold them all.
[[nodiscard]] bool inStrips(const ir::Program& program, const ir::Node& vectorScope, int depth,
                            const target::Target& target, const std::vector<Home>& homes);

/// How the lanes of a vector scope fall on the storage of an access.
enum class LaneRelation {
  none,         ///< All lanes on one element.
  distinct,     ///< No two lanes on one element.
  conflicting,  ///< Some lanes share an element (`512~2`), or a gather decides.
};
[[nodiscard]] LaneRelation laneRelation(const ir::Program& program, const ir::Access& access,
                                        int laneDepth, std::int64_t lanes);

}  // namespace dojo::moves
