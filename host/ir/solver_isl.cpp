// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/solver_isl.h"

#include <memory>

#include <isl/constraint.h>
#include <isl/ctx.h>
#include <isl/local_space.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

namespace dojo::ir {

namespace {

constexpr unsigned long kOperations = 200000;

struct FreeContext {
  void operator()(isl_ctx* context) const { isl_ctx_free(context); }
};

isl_ctx* context() {
  thread_local const std::unique_ptr<isl_ctx, FreeContext> held = [] {
    isl_ctx* made = isl_ctx_alloc();
    isl_options_set_on_error(made, ISL_ON_ERROR_CONTINUE);
    return std::unique_ptr<isl_ctx, FreeContext>(made);
  }();
  return held.get();
}

/// sum coef*var >= lo (sign 1) or -sum coef*var >= -hi (sign -1).
isl_basic_set* addBound(isl_basic_set* set, const System& system, const System::Constraint& row,
                        int sign) {
  isl_ctx* ctx = isl_basic_set_get_ctx(set);
  isl_constraint* bound = isl_constraint_alloc_inequality(isl_basic_set_get_local_space(set));
  for (std::uint32_t i = row.begin; i < row.end; ++i) {
    const System::Coef& term = system.terms()[i];
    bound = isl_constraint_set_coefficient_val(bound, isl_dim_set, term.var,
                                               isl_val_int_from_si(ctx, sign * term.coef));
  }
  const std::int64_t constant = sign > 0 ? -row.lo : row.hi;
  bound = isl_constraint_set_constant_val(bound, isl_val_int_from_si(ctx, constant));
  return isl_basic_set_add_constraint(set, bound);
}

}  // namespace

Answer feasibleByIsl(const System& system) {
  isl_ctx* ctx = context();
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(ctx, kOperations);
  const auto count = static_cast<unsigned>(system.variables().size());
  isl_basic_set* set = isl_basic_set_universe(isl_space_set_alloc(ctx, 0, count));
  for (unsigned v = 0; v < count; ++v) {
    const System::Variable& var = system.variables()[v];
    set = isl_basic_set_lower_bound_val(set, isl_dim_set, v, isl_val_int_from_si(ctx, var.lo));
    set = isl_basic_set_upper_bound_val(set, isl_dim_set, v, isl_val_int_from_si(ctx, var.hi));
  }
  for (const System::Constraint& row : system.constraints()) {
    if (row.lo > -System::kInfinity) set = addBound(set, system, row, 1);
    if (row.hi < System::kInfinity) set = addBound(set, system, row, -1);
  }
  const isl_bool empty = isl_basic_set_is_empty(set);
  isl_basic_set_free(set);
  isl_ctx_set_max_operations(ctx, 0);
  isl_ctx_reset_error(ctx);
  if (empty == isl_bool_error) return Answer::unknown;
  return empty == isl_bool_true ? Answer::no : Answer::yes;
}

}  // namespace dojo::ir
