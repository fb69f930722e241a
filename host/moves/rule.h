// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What one move is: one file in rules/ defines one Rule and one line in catalogue.cpp lists it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dependence.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/move.h"
#include "target/target.h"

namespace dojo::moves {

/// A program under a target with what rules need to know about it, computed once when first asked.
/// Immutable; holds its own copy of the program.
class State {
 public:
  State(ir::Program program, const target::Target& target);
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();

  [[nodiscard]] const ir::Program& program() const { return program_; }
  [[nodiscard]] const target::Target& target() const { return *target_; }
  [[nodiscard]] const ir::Accesses& accesses() const;
  /// Every node in program order.
  [[nodiscard]] const std::vector<ir::Visit>& nodes() const;
  /// The node at `path`, or nullptr.
  [[nodiscard]] const ir::Visit* visit(const ir::Path& path) const;
  /// The buffers whose place is the leaf at `visit`: those that it is the first to write (for
  /// buffers that are never written: to read).
  [[nodiscard]] std::vector<ir::BufferId> buffersAt(const ir::Visit& visit) const;
  /// True where a value of the buffer may reach a comparison or a conversion to integers, so that
  /// not even a rounding error may change it.
  [[nodiscard]] bool reachesDecision(ir::BufferId buffer) const;

 private:
  ir::Program program_;
  const target::Target* target_;
  mutable std::unique_ptr<ir::Accesses> accesses_;
  mutable std::vector<ir::Visit> nodes_;
  mutable std::vector<ir::Path> homes_;  ///< For each buffer, the place of its leaf.
  mutable std::vector<bool> decisions_;
  mutable bool homesKnown_ = false, decisionsKnown_ = false;
};

/// The kind of each argument, for checking before a rule sees it. Optional ones come last. `body`
/// is a place or the empty path `@`, the whole program.
enum class ArgKind : std::uint8_t { place, body, number, buffer, name, text };
struct Parameter {
  std::string_view name;  ///< "P", "f", "B"
  ArgKind kind;
  bool optional = false;
};

/// All of a rule that people read; `dojo moves` and the documentation print it.
struct RuleInfo {
  std::string_view name;   ///< "split_scope"
  std::string_view group;  ///< "structure", "buffers", "computation", "mapping"
  std::vector<Parameter> parameters;
  std::string_view effect;   ///< One or two sentences.
  std::string_view needs;    ///< The precondition in words.
  std::string_view inverse;  ///< Name(s) of the way back.
  /// A documented example that a test runs: program texts and the move between them.
  std::string_view before, move, after;
};

class Rule {
 public:
  virtual ~Rule() = default;
  [[nodiscard]] virtual const RuleInfo& info() const = 0;
  /// Arguments worth asking about at one place, in a fixed order: with those of all places a
  /// superset of what check() accepts among sensible parameters; cheap to make. Moves on a buffer
  /// belong to the place that State::buffersAt names.
  virtual void choices(const State& state, const ir::Visit& place,
                       std::vector<std::vector<Arg>>& out) const = 0;
  /// The precondition, proved on this program. `args` have the declared kinds, places exist and
  /// buffers are known.
  [[nodiscard]] virtual Status check(const State& state, const std::vector<Arg>& args) const = 0;
  /// The effect; called only after check() passed. The caller canonicalizes the result.
  [[nodiscard]] virtual ir::Program rewrite(const State& state,
                                            const std::vector<Arg>& args) const = 0;
  /// The way back from `after` (canonical).
  [[nodiscard]] virtual Trace inverse(const State& before, const std::vector<Arg>& args,
                                      const ir::Program& after) const = 0;
};

/// What people read of a rule: `dojo moves` and the generated documentation.
[[nodiscard]] std::string describe(const Rule& rule);
/// "split_scope P f", optional parameters in brackets.
[[nodiscard]] std::string signature(const RuleInfo& info);

/// Every rule, in catalogue order.
[[nodiscard]] const std::vector<const Rule*>& catalogue();
[[nodiscard]] const Rule* findRule(std::string_view name);

}  // namespace dojo::moves
