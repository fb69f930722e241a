// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/edits.h"

#include <algorithm>
#include <sstream>

#include "base/text.h"
#include "ir/parse.h"
#include "ir/print.h"

namespace dojo::moves {

std::optional<std::string> optionalText(const std::vector<Arg>& args, std::size_t i) {
  if (i >= args.size()) return std::nullopt;
  return std::get<std::string>(args[i]);
}

ir::BufferId bufferArg(const ir::Program& program, const std::vector<Arg>& args, std::size_t i) {
  const std::optional<ir::BufferId> id = program.find(std::get<std::string>(args[i]));
  DOJO_CHECK(id.has_value(), "a buffer argument that doesn't exist");
  return *id;
}

Result<std::string> newName(const ir::Program& program, const std::vector<Arg>& args,
                            std::size_t i) {
  const std::optional<std::string> given = optionalText(args, i);
  if (!given) return program.freshName();
  if (!ir::parse("kernel k\nout " + *given + " f32 []\n\n" + *given + "[] = 0\n")) {
    return refuse("move.name", "'" + *given + "' is not a name for a buffer");
  }
  if (program.find(*given)) {
    return refuse("move.name", "the program already has a buffer '" + *given + "'");
  }
  return *given;
}

Move makeMove(std::string_view name, std::vector<Arg> args) {
  return Move{std::string(name), std::move(args)};
}

Status needsTmpDim(const ir::Buffer& buffer, std::int64_t d) {
  if (buffer.isArgument()) {
    return refuse("move.role", "'" + buffer.name + "' is an argument: its layout isn't ours");
  }
  if (d < 0 || d >= buffer.rank()) {
    return refuse("move.dim", "'" + buffer.name + "' has " + std::to_string(buffer.rank()) +
                                  " dims, numbered from 0");
  }
  return {};
}

Status offered(const target::Target& target, const std::string& location) {
  if (target.offersLocation(location)) return {};
  return refuse("move.location", "the target '" + target.name + "' has no location '" + location +
                                     "'" + didYouMean(location, target.locations));
}

ir::BufferId addTmp(ir::Program& program, std::string name, ir::DType dtype,
                    const std::vector<std::int64_t>& dims, std::string location) {
  ir::Buffer buffer;
  buffer.name = std::move(name);
  buffer.dtype = dtype;
  buffer.location = std::move(location);
  for (const std::int64_t extent : dims) buffer.dims.push_back({extent, 0, 0});
  program.buffers.push_back(std::move(buffer));
  return static_cast<ir::BufferId>(program.buffers.size()) - 1;
}

std::vector<ir::Dim> innerDims(const ir::Program& program,
                               const std::vector<const ir::Node*>& enclosing) {
  std::vector<ir::Dim> out;
  for (const ir::Node* node : enclosing) {
    out.push_back({ir::variableRange(program, node->scope()).hi, 1, 0});
  }
  return out;
}

ir::Access element(ir::BufferId buffer, const std::vector<ir::Affine>& indices) {
  ir::Access out;
  out.buffer = buffer;
  for (const ir::Affine& index : indices) out.indices.emplace_back(index);
  return out;
}

ir::Access innerElement(ir::BufferId buffer, int depth) {
  std::vector<ir::Affine> indices;
  for (int k = 0; k < depth; ++k) indices.push_back(ir::Affine::variable(k));
  return element(buffer, indices);
}

ir::Node nest(const std::vector<std::int64_t>& extents, ir::Node inner) {
  for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
    ir::Scope scope;
    scope.extent = *extent;
    scope.body.push_back(std::move(inner));
    inner = std::move(scope);
  }
  return inner;
}

std::vector<const ir::Node*> scopesAround(const ir::Program& program, const ir::Path& path) {
  std::vector<const ir::Node*> out;
  const std::vector<ir::Node>* level = &program.body;
  for (const int position : path) {
    out.push_back(&(*level)[static_cast<std::size_t>(position)]);
    level = &out.back()->scope().body;
  }
  return out;
}

std::vector<ir::Node>& bodyOf(ir::Program& program, const ir::Path& path) {
  return path.empty() ? program.body : ir::find(program, path)->scope().body;
}

const std::vector<ir::Node>& bodyOf(const ir::Program& program, const ir::Path& path) {
  return path.empty() ? program.body : ir::find(program, path)->scope().body;
}

namespace {

bool gathersWith(const ir::Access& access, ir::BufferId buffer) {
  return std::any_of(access.indices.begin(), access.indices.end(), [&](const ir::Index& index) {
    return index.isGather() && index.gather == buffer;
  });
}

}  // namespace

bool indexesWith(const ir::Node& node, ir::BufferId buffer) {
  if (node.isLeaf()) {
    return std::any_of(node.leaf().operands.begin(), node.leaf().operands.end(),
                       [&](const ir::Operand& operand) {
                         const auto* access = std::get_if<ir::Access>(&operand);
                         return access != nullptr && gathersWith(*access, buffer);
                       });
  }
  const ir::Scope& scope = node.scope();
  if (scope.extent.range &&
      (scope.extent.range->first.buffer == buffer || scope.extent.range->last.buffer == buffer)) {
    return true;
  }
  return std::any_of(scope.body.begin(), scope.body.end(),
                     [&](const ir::Node& inner) { return indexesWith(inner, buffer); });
}

Result<ir::Program> withLine(const ir::Program& program, const ir::Path& path,
                             const std::string& line, const std::string& declaration) {
  std::string bars;
  for (std::size_t i = 1; i < path.size(); ++i) bars += "| ";
  const int first = ir::lineOf(program, {0});
  const int place = ir::lineOf(program, path);
  std::istringstream in(ir::print(program));
  std::string out;
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (number == first && !declaration.empty()) out += declaration + "\n";
    if (number == place) {
      out += bars + line + text.substr(std::min(text.find(" if "), text.size())) + "\n";
    }
    out += text + "\n";
  }
  Result<ir::Parsed> parsed = ir::parse(out, {});
  if (!parsed) return parsed.error();
  return std::move(parsed->program);
}

ir::Affine substituteAll(const ir::Affine& expr, int first, const std::vector<ir::Affine>& values) {
  ir::Affine out = expr.constant();
  for (const ir::Term& term : expr.terms()) {
    const auto i = static_cast<std::size_t>(term.var - first);
    out += term.var >= first && i < values.size() ? values[i] * term.coef
                                                  : ir::Affine::variable(term.var, term.coef);
  }
  return out;
}

}  // namespace dojo::moves
