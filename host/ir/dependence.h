// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Which executions touch the same storage: the questions that moves and the checker ask.
///
/// Storage means after `~`, `512~2`, `pad` and `shares`. Moves ask about one buffer at a time, as
/// though each had an array of its own; that buffers which share one don't lose values to each
/// other is proved on what comes out (checkMappings, checkSharing of check.h). A register or stack
/// buffer whose uses all lie inside one concurrent scope is private to each iteration of that
/// scope, so two iterations never meet in it, nor do executions in different iterations of the
/// scopes around that one. A gather may fall on any element of its dim (within the declared values
/// of the index buffer).
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ir/program.h"
#include "ir/solver.h"
#include "ir/tree.h"

namespace dojo::ir {

/// One access of one leaf (or of a data-dependent extent), with all that bounds it.
struct Site {
  const Node* node = nullptr;  ///< The leaf, or the scope whose extent reads.
  Path path;
  std::vector<const Node*> enclosing;  ///< Scopes around it, outermost first.
  Access access;
  Touch touch = Touch::read;
  /// The access is the destination of a reduction, whose read and write are two sites.
  bool reduction = false;
};

/// All sites of a program in program order, and facts about its buffers. Valid as long as the
/// program is neither changed nor moved.
class Accesses {
 public:
  explicit Accesses(const Program& program);
  Accesses(const Accesses&) = delete;
  Accesses& operator=(const Accesses&) = delete;

  [[nodiscard]] const Program& program() const { return *program_; }
  [[nodiscard]] const std::vector<Site>& all() const { return sites_; }
  /// Sites at or below `path` (the empty path: all), a contiguous run of all().
  [[nodiscard]] std::vector<const Site*> below(const Path& path) const;
  [[nodiscard]] const std::vector<const Site*>& of(BufferId buffer) const;
  /// Depths of the concurrent scopes to whose iterations the buffer's storage is private: those
  /// that contain all uses of all buffers in it. Empty for storage that iterations share.
  [[nodiscard]] const std::vector<int>& privateDepths(BufferId buffer) const;

 private:
  const Program* program_;
  std::vector<Site> sites_;
  std::vector<std::vector<const Site*>> byBuffer_;
  std::vector<std::vector<int>> privateDepths_;
};

/// How the iteration of the first site relates to that of the second at one depth.
enum class Relation : std::uint8_t { equal, less, greater, different, any };

/// Can an execution of `a` and an execution of `b` touch the same storage element, where their
/// iteration variables at depth k are related by relations[k]? Depths past relations.size() are
/// unrelated. The scopes at related depths need not be the same node (fusing siblings compares the
/// variables of two scopes). Guards are honoured. Two reads conflict like anything else here:
/// callers choose the pairs.
[[nodiscard]] Answer meet(const Accesses& accesses, const Site& a, const Site& b,
                          const std::vector<Relation>& relations);

/// Pairs of sites that matter to moves: the same buffer, and at least one writes.
[[nodiscard]] bool mayConflict(const Site& a, const Site& b);

/// True where some pair (one site of `first`, one of `second`, at least one writing) may meet
/// under `relations`. `exempt(a, b)` may excuse pairs (self-updates of one reduction, say).
[[nodiscard]] bool anyConflict(const Accesses& accesses, const std::vector<const Site*>& first,
                               const std::vector<const Site*>& second,
                               const std::vector<Relation>& relations,
                               const std::function<bool(const Site&, const Site&)>& exempt = {});

/// Relations that hold the first `depth` levels equal, then add `last`.
[[nodiscard]] std::vector<Relation> equalThen(int depth, std::vector<Relation> last);

/// The storage elements that sites of a subtree touch, as a box over the buffer's logical
/// dims when the scopes at depths < `fixed` are held: each dim from an affine expression in the
/// fixed variables, `size` long. nullopt where the region is no such box (gathers, unequal
/// coefficients of fixed variables).
struct BoxDim {
  Affine start;
  std::int64_t size = 1;
  bool operator==(const BoxDim&) const = default;
};
[[nodiscard]] std::optional<std::vector<BoxDim>> boundingBox(const Program& program,
                                                             const std::vector<const Site*>& sites,
                                                             int fixed);

}  // namespace dojo::ir
