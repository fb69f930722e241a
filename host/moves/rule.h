// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What one move is: one file in rules/ defines one Rule and one line in catalogue.cpp lists it.
#pragma once

#include <memory>
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

 private:
  ir::Program program_;
  const target::Target* target_;
  mutable std::unique_ptr<ir::Accesses> accesses_;
  mutable std::vector<ir::Visit> nodes_;
};

/// The kind of each argument, for checking before a rule sees it. Optional ones come last.
enum class ArgKind : std::uint8_t { place, number, buffer, name, text };
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
  /// Places and parameters worth asking about, in a fixed order; a superset of what check()
  /// accepts among sensible parameters, cheap to make.
  virtual void choices(const State& state, std::vector<std::vector<Arg>>& out) const = 0;
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

/// Every rule, in catalogue order.
[[nodiscard]] const std::vector<const Rule*>& catalogue();
[[nodiscard]] const Rule* findRule(std::string_view name);

}  // namespace dojo::moves
