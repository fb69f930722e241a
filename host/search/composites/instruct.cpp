// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <set>
#include <tuple>

#include "search/composites/all.h"
#include "search/loop_nest.h"
#include "target/registers.h"

namespace dojo::search::composite {
namespace {

using ir::Path;
using moves::Arg;

/// Loops over elements of a result, in whose body one nest sums up products, with leaves before and
/// after.
struct Sum {
  std::vector<std::string> loops;    ///< Of the result, outermost first: "s0", "s1", ...
  std::vector<std::string> reduces;  ///< Of the nest inside.
  int keep = 0;                      ///< Its place among its siblings.
  int children = 1;
  Path leaf;
};

std::optional<Sum> match(const ir::Program& program, const Path& place) {
  Sum sum;
  Path at = place;
  const ir::Scope* scope = scopeAt(program, at);
  std::size_t depth = 0;
  while (freeExtent(program, at) > 0) {
    scope = scopeAt(program, at);
    sum.loops.push_back("s" + std::to_string(depth++));
    if (scope->body.size() != 1 || !scope->body[0].isScope()) break;
    at = child(at, 0);
  }
  if (sum.loops.empty() || scope->body.size() < 2 || freeExtent(program, at) == 0) {
    return std::nullopt;
  }
  int scopes = 0;
  for (std::size_t k = 0; k < scope->body.size(); ++k) {
    if (!scope->body[k].isScope()) continue;
    ++scopes;
    sum.keep = static_cast<int>(k);
  }
  if (scopes != 1) return std::nullopt;
  sum.children = static_cast<int>(scope->body.size());
  at = child(at, sum.keep);
  while (freeExtent(program, at) > 0 && scopeAt(program, at)->body.size() == 1) {
    sum.reduces.push_back("s" + std::to_string(depth++));
    at = child(at, 0);
  }
  const ir::Node* node = ir::find(program, at);
  if (sum.reduces.empty() || node == nullptr || !node->isLeaf() || !node->guard.empty()) {
    return std::nullopt;
  }
  const ir::Leaf& leaf = node->leaf();
  if (leaf.assign != ir::Assign::add || leaf.op != ir::Op::mul) return std::nullopt;
  // The result's loops are outside, the others inside.
  const auto first = variableOf(place);
  for (std::size_t k = 0; k < depth; ++k) {
    if (uses(leaf.dst, first + static_cast<int>(k)) != (k < sum.loops.size())) return std::nullopt;
  }
  sum.leaf = at;
  return sum;
}

/// How the loops of an instruction's fragment are parts of those of a sum.
struct Fit {
  const target::VendorInstruction* vendor = nullptr;
  std::vector<int> vars;              ///< For each loop of the fragment, the variable of the sum's.
  std::vector<std::int64_t> extents;  ///< Of the fragment's loops.
  /// For each operand but the result: its access in the sum, and the loops of its dims.
  std::vector<std::pair<ir::Access, std::vector<int>>> operands;
};

/// The loops of a fragment that is one nest around one leaf; none where it isn't.
const ir::Leaf* nestLeaf(const ir::Instruction& fragment, std::vector<std::int64_t>& extents) {
  const ir::Node* at = fragment.body.data();
  while (at->isScope()) {
    if (at->scope().body.size() != 1) return nullptr;
    extents.push_back(at->scope().extent.count);
    at = at->scope().body.data();
  }
  return &at->leaf();
}

/// `type`: the operands' types must agree; else the first of the sum's may be i8 where u8 is asked.
std::optional<Fit> fit(const ir::Program& program, const Path& place, const Sum& sum,
                       const target::VendorInstruction& vendor, bool swapped, bool biased) {
  Fit out;
  out.vendor = &vendor;
  const ir::Leaf* theirs = nestLeaf(vendor.fragment, out.extents);
  const ir::Leaf& ours = ir::find(program, sum.leaf)->leaf();
  if (theirs == nullptr || theirs->assign != ours.assign || theirs->op != ours.op) {
    return std::nullopt;
  }
  std::vector<std::pair<const ir::Access*, const ir::Access*>> pairs = {{&theirs->dst, &ours.dst}};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto* a = std::get_if<ir::Access>(&theirs->operands[i]);
    const auto* b = std::get_if<ir::Access>(&ours.operands[swapped ? 1 - i : i]);
    if (a == nullptr || b == nullptr) return std::nullopt;
    pairs.emplace_back(a, b);
  }
  bool differs = false;
  for (const auto& [a, b] : pairs) {
    const ir::DType wanted = vendor.fragment.operands[static_cast<std::size_t>(a->buffer)].dtype;
    const ir::DType given = program.buffer(b->buffer).dtype;
    if (wanted == given) continue;
    if (!biased || differs || wanted != ir::DType::u8 || given != ir::DType::i8) {
      return std::nullopt;
    }
    differs = true;
  }
  if (differs != biased) return std::nullopt;
  const auto first = variableOf(place);
  const auto loops = static_cast<int>(sum.loops.size() + sum.reduces.size());
  for (std::size_t f = 0; f < out.extents.size(); ++f) {
    const auto var = static_cast<int>(f);
    int best = -1;
    for (int p = first; p < first + loops; ++p) {
      if (std::find(out.vars.begin(), out.vars.end(), p) != out.vars.end()) continue;
      if (uses(*pairs[0].first, var) != uses(*pairs[0].second, p)) continue;
      bool fits = true;
      bool shared = false;
      for (std::size_t i = 1; i < pairs.size(); ++i) {
        fits = fits && (uses(*pairs[i].first, var) || !uses(*pairs[i].second, p));
        shared = shared || (uses(*pairs[i].first, var) && uses(*pairs[i].second, p));
      }
      Path at = place;
      // Children of the chain stand at `keep` once, at 0 else.
      for (int k = first; k < p; ++k) {
        at.push_back(k - first + 1 == static_cast<int>(sum.loops.size()) ? sum.keep : 0);
      }
      const std::int64_t extent = freeExtent(program, at);
      if (!fits || !shared || extent % out.extents[f] != 0) continue;
      // The innermost: where results lie side by side.
      best = p;
    }
    if (best < 0) return std::nullopt;
    out.vars.push_back(best);
  }
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    std::vector<int> dims;
    for (const ir::Index& index : pairs[i].first->indices) {
      dims.push_back(index.affine.terms()[0].var);
    }
    out.operands.emplace_back(*pairs[i].second, std::move(dims));
  }
  return out;
}

/// Dims of an operand's buffer along which the instruction's box runs, in the box's order.
struct Dim {
  int dim;
  std::int64_t extent;
  bool result;  ///< Along a loop of the result.
};
std::optional<std::vector<Dim>> boxDims(const Fit& fit, std::size_t operand, int firstReduce) {
  std::vector<Dim> out;
  const auto& [access, loops] = fit.operands[operand];
  for (const int f : loops) {
    const int var = fit.vars[static_cast<std::size_t>(f)];
    if (!uses(access, var)) continue;
    int dim = -1;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      if (access.indices[d].isGather()) return std::nullopt;
      const std::int64_t coef = access.indices[d].affine.coef(var);
      if (coef == 0) continue;
      if (coef != 1 || dim >= 0) return std::nullopt;
      dim = static_cast<int>(d);
    }
    out.push_back({dim, fit.extents[static_cast<std::size_t>(f)], var < firstReduce});
  }
  return out;
}

/// A loop that runs along all of the dim of `buffer`, one element a step.
std::optional<Path> wholeLoop(const ir::Program& program, const std::string& buffer,
                              const Dim& dim) {
  const ir::BufferId id = *program.find(buffer);
  std::optional<Path> out;
  for (const Path& leaf : leavesBelow(program, {})) {
    ir::forEachAccess(*ir::find(program, leaf), [&](const ir::Access& access, ir::Touch) {
      if (access.buffer != id) return;
      const ir::Affine& index = access.indices[static_cast<std::size_t>(dim.dim)].affine;
      if (index.terms().size() != 1 || index.terms()[0].coef != 1) return;
      const Path loop(leaf.begin(), leaf.begin() + index.terms()[0].var + 1);
      if (freeExtent(program, loop) > dim.extent) out = loop;
    });
  }
  return out;
}

/// Registers of the kind that holds results.
std::int64_t registersOf(const target::VendorInstruction& vendor, const target::Target& target) {
  const std::string& kind = vendor.constraints.front();
  if (kind == "r") return target::scalarRegisters(target, false);
  return target.vector.bits != 0 ? target.vector.registers : target::scalarRegisters(target, true);
}

class Instruct final : public Composite {
 public:
  const CompositeInfo& info() const override {
    static const CompositeInfo info{
        "instruct",
        "P",
        {{"which", {0, 1, 2, 3}},
         {"rows", {1, 2, 3, 4, 6, 8, 12}},
         {"columns", {1, 2, 3, 4}},
         {"k_unroll", {1, 2, 4}}},
        "Does the sums of products at P by one of the target's instructions, counted from 0: its "
        "loops become innermost, operands are laid out as it reads them (and biased where it "
        "multiplies unsigned with signed bytes), and rows by columns of its results stay in "
        "registers.",
        4};
    return info;
  }

  std::vector<Arg> places(const moves::State& state) const override {
    std::vector<Arg> out;
    if (state.target().instructions.empty()) return out;
    for (const ir::Visit& visit : state.nodes()) {
      if (visit.node->isScope() && match(state.program(), visit.path)) out.emplace_back(visit.path);
    }
    return out;
  }

  bool expand(Script& script, const Arg& place,
              const std::vector<std::int64_t>& knobs) const override {
    const auto& instructions = script.target().instructions;
    const auto which = static_cast<std::size_t>(knobs[0]);
    if (which >= instructions.size()) return script.refuse("the target has no such instruction");
    Path root = std::get<Path>(place);
    for (const bool biased : {false, true}) {
      const std::optional<Sum> sum = match(script.program(), root);
      if (!sum) return script.refuse("no nest that sums up products is here");
      for (const bool swapped : {false, true}) {
        auto found = fit(script.program(), root, *sum, instructions[which], swapped, biased);
        if (!found) continue;
        if (!biased) return use(script, root, *sum, *found, knobs);
        if (!bias(script, root, *sum, *found)) return false;
        const std::optional<Sum> again = match(script.program(), root);
        for (const bool other : {false, true}) {
          if (!again) break;
          found = fit(script.program(), root, *again, instructions[which], other, false);
          if (found) return use(script, root, *again, *found, knobs);
        }
        return script.refuse("biasing the operand made something else of the nest");
      }
    }
    return script.refuse("the instruction doesn't fit the loops");
  }

 private:
  /// Biases the operand that is i8 where the instruction asks for u8; `root` moves along.
  static bool bias(Script& script, Path& root, const Sum& sum, const Fit& fit) {
    const ir::Leaf& leaf = ir::find(script.program(), sum.leaf)->leaf();
    std::vector<std::int64_t> extents;
    const ir::Leaf* theirs = nestLeaf(fit.vendor->fragment, extents);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& operand = std::get<ir::Access>(theirs->operands[i]);
      const auto id = static_cast<std::size_t>(operand.buffer);
      if (fit.vendor->fragment.operands[id].dtype != ir::DType::u8) continue;
      const bool first = std::get<ir::Access>(leaf.operands[0]) == fit.operands[i].first;
      const std::size_t before = script.program().body.size();
      if (!script.apply("bias_operand", {sum.leaf, std::int64_t{first ? 0 : 1}})) return false;
      root.front() += static_cast<int>(script.program().body.size() - before);
      return true;
    }
    return false;
  }

  /// Copies what doesn't lie as the instruction reads it; `root` moves along. The copies' names, in
  /// the place of those that are copied.
  static bool copyOperands(Script& script, Path& root, const Fit& fit, int firstReduce,
                           std::vector<std::string>& names, std::set<std::string>& copies) {
    for (const auto& [access, loops] : fit.operands) {
      names.push_back(script.program().buffer(access.buffer).name);
    }
    for (std::size_t i = 0; i < fit.operands.size(); ++i) {
      const ir::Buffer& buffer = script.program().buffer(*script.program().find(names[i]));
      const auto dims = boxDims(fit, i, firstReduce);
      if (!dims) return script.refuse("an operand's index isn't the loops' own");
      const bool fine =
          dims->empty() || (dims->size() == 1 && dims->front().dim + 1 == buffer.rank());
      if (fine) continue;
      if (!buffer.isArgument()) return script.refuse("an operand would have to be laid out anew");
      std::vector<std::string> before;
      for (const ir::Buffer& each : script.program().buffers) before.push_back(each.name);
      const std::size_t nodes = script.program().body.size();
      if (!script.apply("cache_read", {Path{}, buffer.name, std::string("heap")})) return false;
      const auto added = static_cast<int>(script.program().body.size() - nodes);
      root.front() += added;
      for (const ir::Buffer& each : script.program().buffers) {
        if (std::find(before.begin(), before.end(), each.name) == before.end()) {
          names[i] = each.name;
        }
      }
      copies.insert(names[i]);
    }
    return true;
  }

  /// Splits the dims of a copy that the box runs along, and brings their inner parts innermost.
  static bool layOutCopy(Script& script, const std::string& name, const std::vector<Dim>& dims) {
    const auto rank = [&] { return script.program().buffer(*script.program().find(name)).rank(); };
    if (dims.size() == 1) {
      for (int d = dims.front().dim; d + 1 < rank(); ++d) {
        if (!script.apply("reorder_dims", {name, std::int64_t{d}, std::int64_t{d + 1}}))
          return false;
      }
      return true;
    }
    for (const Dim& dim : dims) {
      while (const std::optional<Path> loop = wholeLoop(script.program(), name, dim)) {
        if (!script.apply("split_scope", {*loop, dim.extent})) return false;
      }
    }
    for (const Dim& dim : dims) {
      // Inner parts of earlier ones stand at the end.
      if (!script.apply("split_dim", {name, std::int64_t{dim.dim}, dim.extent})) return false;
      for (int at = dim.dim + 1; at + 1 < rank(); ++at) {
        if (!script.apply("reorder_dims", {name, std::int64_t{at}, std::int64_t{at + 1}}))
          return false;
      }
    }
    // Blocks of the result outermost: each is read from its beginning to its end.
    for (const Dim& dim : dims) {
      if (!dim.result) continue;
      for (int at = dim.dim; at > 0; --at) {
        if (!script.apply("reorder_dims", {name, std::int64_t{at - 1}, std::int64_t{at}}))
          return false;
      }
      break;
    }
    return true;
  }

  static bool use(Script& script, Path root, const Sum& sum, const Fit& fit,
                  const std::vector<std::int64_t>& knobs) {
    const std::int64_t rows = knobs[1], columns = knobs[2], kUnroll = knobs[3];
    if (rows < 1 || columns < 1 || kUnroll < 1 ||
        rows * columns + std::min(rows, columns) + 1 > registersOf(*fit.vendor, script.target())) {
      return script.refuse("the block doesn't fit the registers");
    }
    const int first = variableOf(root);
    const auto spatial = static_cast<int>(sum.loops.size());
    const auto nameOf = [&](int var) { return "s" + std::to_string(var - first); };
    const std::string result =
        script.program().buffer(ir::find(script.program(), sum.leaf)->leaf().dst.buffer).name;

    std::vector<std::string> operands;
    std::set<std::string> copies;
    std::vector<std::vector<Dim>> dims;
    for (std::size_t i = 0; i < fit.operands.size(); ++i) {
      const auto box = boxDims(fit, i, first + spatial);
      if (!box) return script.refuse("an operand's index isn't the loops' own");
      dims.push_back(*box);
    }
    if (!copyOperands(script, root, fit, first + spatial, operands, copies)) return false;

    // The result's loops: those of the instruction, columns along its own or the innermost, rows.
    LoopNest nest(script, root, sum.loops);
    std::vector<std::string> inner;
    std::string column;
    for (std::size_t f = 0; f < fit.vars.size(); ++f) {
      if (fit.vars[f] >= first + spatial) continue;
      inner.push_back("f" + std::to_string(f));
      column = nameOf(fit.vars[f]);
      if (!nest.split(column, fit.extents[f], inner.back())) return false;
    }
    if (column.empty()) column = sum.loops.back();
    std::string row;
    for (const std::string& loop : sum.loops) {
      if (loop != column) row = loop;
    }
    std::vector<std::string> sequence;
    for (const std::string& loop : sum.loops) {
      if (loop != row && loop != column) sequence.push_back(loop);
    }
    sequence.push_back(column);
    if (!row.empty()) sequence.push_back(row);
    std::vector<std::string> block;
    if (rows > 1 && row.empty()) return script.refuse("the result has no other loop for rows");
    for (const auto& [loop, times, name] :
         {std::tuple(row, rows, "row"), std::tuple(column, columns, "column")}) {
      if (times == 1) continue;
      if (nest.extent(loop) % times != 0)
        return script.refuse("the block doesn't divide the result");
      if (!nest.split(loop, times, name)) return false;
      block.emplace_back(name);
    }
    const auto outer = static_cast<int>(sequence.size());
    block.insert(block.end(), inner.begin(), inner.end());
    if (block.empty()) return script.refuse("a block of one element");
    sequence.insert(sequence.end(), block.begin(), block.end());
    if (!nest.reorder(sequence)) return false;
    const Path body = nest.path(outer - 1);
    const std::optional<Path> main = nest.isolate(outer, sum.keep, sum.children);
    if (!main) return false;

    // The sum: its loops outside, then the block, then the instruction's own in their order.
    std::vector<std::string> coreLoops = block;
    coreLoops.insert(coreLoops.end(), sum.reduces.begin(), sum.reduces.end());
    LoopNest core(script, *main, coreLoops);
    for (std::size_t f = 0; f < fit.vars.size(); ++f) {
      if (fit.vars[f] < first + spatial) continue;
      if (!core.split(nameOf(fit.vars[f]), fit.extents[f], "f" + std::to_string(f))) return false;
    }
    std::vector<std::string> order = sum.reduces;
    if (kUnroll > 1) {
      if (core.extent(order.back()) % kUnroll != 0) return script.refuse("the sum isn't so long");
      if (!core.split(order.back(), kUnroll, "unroll")) return false;
      order.emplace_back("unroll");
    }
    const auto around = static_cast<int>(sum.reduces.size());
    for (const std::string& loop : block) {
      if (loop.front() != 'f') order.push_back(loop);
    }
    const auto unrolled = static_cast<int>(order.size());
    for (std::size_t f = 0; f < fit.vars.size(); ++f) order.push_back("f" + std::to_string(f));
    if (!core.reorder(order)) return false;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!copies.contains(operands[i])) continue;
      if (!layOutCopy(script, operands[i], dims[i])) return false;
    }
    if (!script.apply("cache_write", {body, result, std::string("register")})) return false;
    return finish(script, body, fit,
                  {around, unrolled, static_cast<int>(block.size()), !inner.empty()});
  }

  /// Scopes of the sum's part down to what is unrolled and to the instruction, and of the others;
  /// whether these end in lanes.
  struct Shape {
    int around, unrolled, block;
    bool lanes;
  };

  /// The parts of the block: the instruction in one of them, results in vectors or in a row in the
  /// others.
  static bool finish(Script& script, const Path& body, const Fit& fit, const Shape& shape) {
    const auto [around, unrolled, block, lanes] = shape;
    bool used = false;
    const auto parts = static_cast<int>(scopeAt(script.program(), body)->body.size());
    for (int part = 0; part < parts; ++part) {
      const Path top = child(body, part);
      if (scopeAt(script.program(), top) == nullptr) continue;
      const ir::Node* leaf = ir::find(script.program(), leavesBelow(script.program(), top).front());
      const ir::Leaf& first = leaf->leaf();
      const bool sums = first.assign == ir::Assign::add && first.op == ir::Op::mul &&
                        leavesBelow(script.program(), top).front().size() ==
                            top.size() + static_cast<std::size_t>(unrolled) + fit.vars.size();
      // A copy of the results may have fewer loops than the block.
      int depth = 0;
      Path at = top;
      while (scopeAt(script.program(), at) != nullptr && depth < unrolled + block) {
        ++depth;
        at = child(at, 0);
      }
      if (sums) {
        at = top;
        at.insert(at.end(), static_cast<std::size_t>(unrolled), 0);
        if (!script.apply("use_instruction", {at, fit.vendor->name})) return false;
        used = true;
        depth = unrolled;
      } else if (lanes) {
        at.pop_back();
        if (!script.apply("vectorize", {at})) return false;
        --depth;
      }
      for (int k = depth; k-- > (sums ? around : 0);) {
        at = top;
        at.insert(at.end(), static_cast<std::size_t>(k), 0);
        if (!script.apply("unroll", {at})) return false;
      }
    }
    return used || script.refuse("no part of the block is the instruction's");
  }
};

}  // namespace

const Composite* instruct() {
  static const Instruct composite;
  return &composite;
}

}  // namespace dojo::search::composite
