// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/rules/producer.h"

#include <algorithm>

#include "ir/order.h"
#include "ir/print.h"
#include "moves/clause.h"
#include "moves/rules/edits.h"
#include "moves/rules/flow.h"

namespace dojo::moves {

namespace {

/// Proves that no read but those of the leaf at `consumer` sees what the leaf before it writes.
bool seenBy(const State& state, const ir::Path& producer, const ir::Path& consumer,
            ir::BufferId buffer) {
  const auto& sites = state.accesses().of(buffer);
  const auto made = std::find_if(sites.begin(), sites.end(), [&](const ir::Site* site) {
    return site->touch == ir::Touch::write && site->path == producer;
  });
  return std::all_of(sites.begin(), sites.end(), [&](const ir::Site* site) {
    if (site->touch == ir::Touch::write || site->path == consumer) return true;
    const std::optional<Definition> from = definitionOf(state.accesses(), *site);
    if (!from) return false;
    // The value comes from children of a shared body; the producer must not be among them.
    const auto depth = static_cast<std::size_t>(from->fixed);
    const bool shared =
        producer.size() > depth &&
        std::equal(producer.begin(), producer.begin() + from->fixed, site->path.begin());
    if (!shared || producer[depth] < from->firstChild) return true;
    // A leaf reads before it writes.
    if (producer[depth] >= site->path[depth] + (depth + 1 == producer.size() ? 0 : 1)) return true;
    return ir::meetsLater(state.accesses(), **made, *site, from->fixed) == ir::Answer::no;
  });
}

}  // namespace

std::optional<Producer> producerFor(const State& state, const ir::Path& consumer) {
  if (consumer.empty() || consumer.back() == 0) return std::nullopt;
  const ir::Program& program = state.program();
  const ir::Node& user = *ir::find(program, consumer);
  const ir::Path place = sibling(consumer, -1);
  const ir::Node& maker = *ir::find(program, place);
  if (!user.isLeaf() || !maker.isLeaf()) return std::nullopt;
  if (!DOJO_CLAUSE(user.guard == maker.guard)) return std::nullopt;
  const ir::Leaf& leaf = maker.leaf();
  const ir::Buffer& buffer = program.buffer(leaf.dst.buffer);
  if (!DOJO_CLAUSE(!leaf.isReduction()) || !DOJO_CLAUSE(!buffer.isArgument())) {
    return std::nullopt;
  }
  if (!DOJO_CLAUSE(buffer.dtype == program.buffer(user.leaf().dst.buffer).dtype)) {
    return std::nullopt;
  }
  if (!DOJO_CLAUSE(user.leaf().dst.buffer != leaf.dst.buffer)) return std::nullopt;
  Producer out{place, &leaf, 0, false};
  int uses = 0;
  for (std::size_t i = 0; i < user.leaf().operands.size(); ++i) {
    const auto* access = std::get_if<ir::Access>(&user.leaf().operands[i]);
    if (access == nullptr || access->buffer != leaf.dst.buffer) continue;
    if (!DOJO_CLAUSE(*access == leaf.dst)) return std::nullopt;
    out.operand = i;
    ++uses;
  }
  if (!DOJO_CLAUSE(uses == 1)) return std::nullopt;
  out.remains = state.accesses().of(leaf.dst.buffer).size() > 2;
  if (out.remains && !DOJO_CLAUSE(seenBy(state, place, consumer, leaf.dst.buffer))) {
    return std::nullopt;
  }
  return out;
}

std::vector<Arg> describeValue(const State& state, const Producer& producer) {
  const ir::Program& program = state.program();
  const ir::Access& value = producer.leaf->dst;
  return {producer.remains ? std::string() : ir::printDeclaration(program.buffer(value.buffer)),
          ir::printAccess(program, value)};
}

Result<Room> makeRoom(const State& state, const ir::Path& place, const std::vector<Arg>& args,
                      std::size_t from) {
  const ir::Program& program = state.program();
  const ir::Visit& visit = *state.visit(place);
  const ir::DType type = program.buffer(visit.node->leaf().dst.buffer).dtype;
  Room out;
  if (args.size() <= from) {
    out.program = program;
    const ir::BufferId id = addTmp(out.program, program.freshName(), type, {}, "register");
    out.program.buffer(id).dims = innerDims(program, visit.enclosing);
    out.value = innerElement(id, static_cast<int>(visit.enclosing.size()));
    ir::Leaf leaf;
    leaf.dst = out.value;
    leaf.operands = {out.value};
    ir::Node node = std::move(leaf);
    node.guard = visit.node->guard;
    insert(out.program, place, std::move(node));
    return out;
  }
  const std::string declaration = textArg(args, from);
  const std::string access = optionalText(args, from + 1).value_or("");
  Result<ir::Program> parsed = withLine(program, place, access + " = " + access, declaration);
  if (!parsed) {
    return refuse(
        "move.text",
        "the declaration and access of the value don't fit here: " + parsed.error().message, place);
  }
  out.program = std::move(*parsed);
  const ir::Node* node = ir::find(out.program, place);
  const bool fits = node != nullptr && node->isLeaf() && node->leaf().op == ir::Op::copy &&
                    !node->leaf().isReduction() &&
                    node->leaf().operands[0] == ir::Operand(node->leaf().dst) &&
                    out.program.buffer(node->leaf().dst.buffer).dtype == type &&
                    ir::find(out.program, sibling(place, 1)) != nullptr;
  if (!fits) {
    return refuse("move.text", "the text describes no element of the leaf's dtype", place);
  }
  out.value = node->leaf().dst;
  const std::vector<const ir::Node*> around = scopesAround(out.program, parent(place));
  for (std::size_t d = 0; d < out.value.indices.size(); ++d) {
    const std::int64_t extent = out.program.buffer(out.value.buffer).dims[d].extent;
    if (!alwaysWithin(out.program, around, node->guard, out.value.indices[d].affine, 0, extent)) {
      return refuse("move.text", "the element that the text describes is outside its buffer",
                    place);
    }
  }
  return out;
}

}  // namespace dojo::moves
