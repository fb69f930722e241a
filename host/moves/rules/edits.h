// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Small steps that buffer and computation moves are written with.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "moves/arguments.h"
#include "moves/move.h"
#include "moves/rule.h"

namespace dojo::moves {

/// A refusal without a place.
[[nodiscard]] inline Error refuse(std::string code, std::string message) {
  return Error{std::move(code), std::move(message), "", ""};
}

/// Argument `i` as text, or nullopt where it was not given.
[[nodiscard]] std::optional<std::string> optionalText(const std::vector<Arg>& args, std::size_t i);
/// The buffer that argument `i` names; it must exist.
[[nodiscard]] ir::BufferId bufferArg(const ir::Program& program, const std::vector<Arg>& args,
                                     std::size_t i);
/// The name given for a new buffer as argument `i`, else the lowest free tN; refused where taken or
/// where it isn't a name.
[[nodiscard]] Result<std::string> newName(const ir::Program& program, const std::vector<Arg>& args,
                                          std::size_t i);
[[nodiscard]] Move makeMove(std::string_view name, std::vector<Arg> args);

/// Refuses ("move.role", "move.dim") unless the buffer is a tmp that has a dim `d`.
[[nodiscard]] Status needsTmpDim(const ir::Buffer& buffer, std::int64_t d);

/// Refuses a location that the target doesn't offer, by name.
[[nodiscard]] Status offered(const target::Target& target, const std::string& location);

ir::BufferId addTmp(ir::Program& program, std::string name, ir::DType dtype,
                    const std::vector<std::int64_t>& dims, std::string location);
/// The dims and indices of a tmp of a compound line inside `enclosing`: no storage in any dim.
[[nodiscard]] std::vector<ir::Dim> innerDims(const ir::Program& program,
                                             const std::vector<const ir::Node*>& enclosing);
/// An access by these affine indices.
[[nodiscard]] ir::Access element(ir::BufferId buffer, const std::vector<ir::Affine>& indices);
/// An access at {0}, {1}, ... {depth - 1}.
[[nodiscard]] ir::Access innerElement(ir::BufferId buffer, int depth);
/// The node inside one plain scope for each extent, outermost first.
[[nodiscard]] ir::Node nest(const std::vector<std::int64_t>& extents, ir::Node inner);

/// The scopes that a child of `path` stands in, outermost first.
[[nodiscard]] std::vector<const ir::Node*> scopesAround(const ir::Program& program,
                                                        const ir::Path& path);
/// The children of the node at `path` (of the program for the empty path); it must be a scope.
[[nodiscard]] std::vector<ir::Node>& bodyOf(ir::Program& program, const ir::Path& path);
[[nodiscard]] const std::vector<ir::Node>& bodyOf(const ir::Program& program, const ir::Path& path);

/// True where a gather index or a data-dependent extent of node or body reads `buffer`.
[[nodiscard]] bool indexesWith(const ir::Node& node, ir::BufferId buffer);

/// The program's text with `line` (without bars) put before the leaf at `path`, under the leaf's
/// guard, and with `declaration` added where it isn't empty; parsed again.
[[nodiscard]] Result<ir::Program> withLine(const ir::Program& program, const ir::Path& path,
                                           const std::string& line, const std::string& declaration);

/// The affine expression with each variable `first + i` replaced by `values[i]`, all at once.
[[nodiscard]] ir::Affine substituteAll(const ir::Affine& expr, int first,
                                       const std::vector<ir::Affine>& values);

}  // namespace dojo::moves
