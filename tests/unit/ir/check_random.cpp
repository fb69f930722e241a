// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "check_random.h"

#include <algorithm>

#include "ir/canonical.h"
#include "ir/tree.h"

namespace dojo::test {

using namespace dojo::ir;

namespace {

class Generator {
 public:
  Generator(Random& random, const Shape& shape) : random_(random), shape_(shape) {}

  Program program() {
    program_ = {};
    program_.name = "random";
    add("x", Role::in, 2);
    add("y", Role::out, static_cast<int>(random_(0, 2)));
    Buffer& index = add("idx", Role::in, 1);
    index.dtype = DType::i32;
    index.values = ValueRange{0, random_(1, 4), false};
    Buffer& row = add("row", Role::in, 1);
    row.dtype = DType::i32;
    row.dims[0].extent = 5;
    row.values = ValueRange{0, random_(2, 5), !random_.oneIn(3)};
    const std::int64_t count = random_(1, 3);
    for (std::int64_t i = 0; i < count; ++i) {
      Buffer& buffer = add("t" + std::to_string(i), Role::tmp, static_cast<int>(random_(0, 2)));
      for (Dim& dim : buffer.dims) {
        if (random_.oneIn(5)) dim.fold = random_(1, 3);
        if (random_.oneIn(8)) dim.pad = 1;
      }
      if (random_.oneIn(3)) buffer.location = random_.oneIn(2) ? "register" : "stack";
    }
    while (true) {
      leaves_ = 0;
      program_.body = body(0);
      if (leaves_ > 0) break;
    }
    if (shape_.initialised) initialise();
    for (Buffer& buffer : program_.buffers) {
      for (Dim& dim : buffer.dims) {
        if (dim.fold > 1 && dim.fold >= dim.extent) dim.fold = 0;
      }
    }
    if (shape_.sharing) share();
    Program out = program_;
    canonicalize(out);
    return out;
  }

 private:
  Buffer& add(const std::string& name, Role role, int rank) {
    Buffer& buffer = program_.buffers.emplace_back();
    buffer.name = name;
    buffer.role = role;
    for (int d = 0; d < rank; ++d) buffer.dims.push_back({random_(1, 6), 0, 0});
    return buffer;
  }

  void share() {
    for (std::size_t b = 0; b < program_.buffers.size(); ++b) {
      Buffer& buffer = program_.buffers[b];
      if (buffer.isArgument() || buffer.location == "register") continue;
      for (std::size_t a = 0; a < b; ++a) {
        const Buffer& other = program_.buffers[a];
        if (other.isArgument() || other.location != buffer.location || random_.oneIn(3)) continue;
        buffer.shares = program_.storageOf(static_cast<BufferId>(a));
      }
    }
  }

  std::vector<Node> body(int depth) {
    std::vector<Node> out;
    const std::int64_t count = random_(1, depth == 0 ? 3 : 2);
    for (std::int64_t i = 0; i < count; ++i) {
      Node node = depth == 3 || (depth > 0 && random_.oneIn(3)) ? leaf() : scope(depth);
      if (depth > 0 && random_.oneIn(4)) node.guard.push_back(guard());
      out.push_back(std::move(node));
    }
    return out;
  }

  Node scope(int depth) {
    Scope out;
    out.extent = random_(1, 4);
    Interval range{0, out.extent.count};
    if (shape_.dataDependent && random_.oneIn(3)) {
      Extent::Range read;
      read.first.buffer = read.last.buffer = 3;
      Affine at = ranges_.empty() ? Affine(random_(0, 3)) : Affine::variable(anyVariable());
      read.first.indices.emplace_back(at);
      read.last.indices.emplace_back(at + Affine(1));
      out.extent.range = read;
      range = variableRange(program_, out);
    } else if (shape_.concurrent && random_.oneIn(3)) {
      out.mapping.bits =
          static_cast<std::uint16_t>(random_.oneIn(2) ? MapKind::parallel : MapKind::vector);
    }
    ranges_.push_back(range);
    out.body = body(depth + 1);
    ranges_.pop_back();
    return out;
  }

  int anyVariable() {
    return static_cast<int>(random_(0, static_cast<std::int64_t>(ranges_.size()) - 1));
  }

  Affine affine() {
    Affine out(random_(-1, 2));
    for (std::size_t k = 0; k < ranges_.size(); ++k) {
      if (random_.oneIn(2)) continue;
      const std::int64_t choices[] = {1, 1, 1, 2, 3, 4, -1, -2};
      out += Affine::variable(static_cast<int>(k), choices[random_(0, 7)]);
    }
    return out;
  }

  GuardTerm guard() {
    GuardTerm term;
    term.expr = affine();
    term.lo = random_(-2, 2);
    term.hi = term.lo + random_(1, 5);
    return term;
  }

  /// In bounds where asked for: the dim grows to hold the index.
  Affine index(Dim& dim) {
    Affine out = random_.oneIn(3) && !ranges_.empty() ? Affine::variable(anyVariable()) : affine();
    if (!shape_.inBounds) return out;
    const Interval values = valueRange(out, ranges_);
    if (values.hi <= values.lo) return Affine(0);
    if (values.lo < 0) out += Affine(-values.lo);
    dim.extent = std::max(dim.extent, values.hi - std::min<std::int64_t>(values.lo, 0));
    return out;
  }

  Access access(BufferId id, bool gathers) {
    Access out;
    out.buffer = id;
    for (Dim& dim : program_.buffer(id).dims) {
      if (gathers && random_.oneIn(6)) {
        Index gather;
        gather.gather = 2;
        gather.gatherIndices.push_back(index(program_.buffer(2).dims[0]));
        if (shape_.inBounds) dim.extent = std::max(dim.extent, program_.buffer(2).values->hi);
        out.indices.push_back(gather);
      } else {
        out.indices.emplace_back(index(dim));
      }
    }
    return out;
  }

  BufferId anyData(bool writable) {
    const auto last = static_cast<std::int64_t>(program_.buffers.size()) - 1;
    while (true) {
      const auto id = static_cast<BufferId>(random_(0, last));
      if (id == 2 || id == 3 || (writable && id == 0)) continue;
      return id;
    }
  }

  Node leaf() {
    ++leaves_;
    Leaf out;
    out.dst = access(anyData(true), false);
    if (random_.oneIn(3)) out.assign = random_.oneIn(2) ? Assign::add : Assign::max;
    if (random_.oneIn(3)) {
      out.operands.emplace_back(Constant(1.0));
    } else if (random_.oneIn(3)) {
      out.op = Op::mul;
      out.operands.emplace_back(access(anyData(false), true));
      out.operands.emplace_back(access(anyData(false), true));
    } else {
      out.operands.emplace_back(access(anyData(false), true));
    }
    return out;
  }

  /// Puts writes of whole buffers, in one of several styles, before everything.
  void initialise() {
    std::vector<Node> inits;
    for (std::size_t id = 1; id < program_.buffers.size(); ++id) {
      if (id == 2 || id == 3 || random_.oneIn(6)) continue;
      const auto buffer = static_cast<BufferId>(id);
      std::vector<Affine> indices;
      const std::int64_t parts = random_(1, 2);
      for (std::int64_t part = 0; part < parts; ++part) {
        inits.push_back(write(buffer, indices, 0, part, parts, random_(0, 2)));
      }
    }
    program_.body.insert(program_.body.begin(), inits.begin(), inits.end());
  }

  /// `buffer[indices..., ...] = 1` over the dims that `indices` lacks. With two parts the first dim
  /// is shared between them in `style` 0 by halves, else by even and odd.
  Node write(BufferId buffer, std::vector<Affine> indices, int depth, std::int64_t part,
             std::int64_t parts, std::int64_t style) {
    const auto& dims = program_.buffer(buffer).dims;
    if (indices.size() == dims.size()) {
      Leaf leaf;
      leaf.dst.buffer = buffer;
      leaf.dst.indices.assign(indices.begin(), indices.end());
      leaf.operands.emplace_back(Constant(1.0));
      Node node(std::move(leaf));
      if (depth > 0 && random_.oneIn(12)) {
        node.guard.push_back({Affine::variable(depth - 1), 0, random_(1, 4)});
      }
      return node;
    }
    const std::int64_t extent = dims[indices.size()].extent;
    const bool first = indices.empty() && parts == 2 && extent > 1;
    const Affine here = Affine::variable(depth);
    if (!first && extent % 2 == 0 && random_.oneIn(3)) {
      // Blocked, perhaps the other way round.
      const bool inner = random_.oneIn(2);
      Scope a;
      Scope b;
      a.extent = inner ? 2 : extent / 2;
      b.extent = inner ? extent / 2 : 2;
      const Affine next = Affine::variable(depth + 1);
      indices.push_back(inner ? next * 2 + here : here * 2 + next);
      b.body.push_back(write(buffer, indices, depth + 2, part, parts, style));
      a.body.push_back(std::move(b));
      return Node(std::move(a));
    }
    Scope scope;
    if (!first) {
      scope.extent = extent;
      indices.push_back(random_.oneIn(4) ? Affine(extent - 1) - here : here);
    } else if (style == 0) {
      const std::int64_t cut = random_(1, extent - 1);
      scope.extent = part == 0 ? extent / 2 : extent - extent / 2;
      if (random_.oneIn(8)) scope.extent = std::min(scope.extent.count, cut);
      indices.push_back(part == 0 ? here : here + Affine(extent / 2));
    } else {
      scope.extent = (extent + 1 - part) / 2;
      indices.push_back(here * 2 + Affine(part));
    }
    scope.body.push_back(write(buffer, indices, depth + 1, part, parts, style));
    return Node(std::move(scope));
  }

  Random& random_;
  Shape shape_;
  Program program_;
  std::vector<Interval> ranges_;
  int leaves_ = 0;
};

class Enumerator {
 public:
  Enumerator(const Accesses& accesses, const std::vector<std::vector<std::int64_t>>& contents)
      : accesses_(accesses), contents_(contents) {
    nodes(accesses.program().body);
  }
  std::vector<Event> events;

 private:
  void nodes(const std::vector<Node>& body) {
    for (const Node& node : body) {
      const bool on = std::all_of(node.guard.begin(), node.guard.end(), [&](const GuardTerm& term) {
        const std::int64_t value = term.expr.evaluate(variables_);
        return value >= term.lo && value < term.hi;
      });
      if (on) execute(node);
    }
  }

  std::int64_t valueOf(const Access& access) const {
    const auto at = access.indices[0].affine.evaluate(variables_);
    return contents_[static_cast<std::size_t>(access.buffer)][static_cast<std::size_t>(at)];
  }

  void execute(const Node& node) {
    for (const Site& site : accesses_.all()) {
      if (site.node == &node) events.push_back(event(site));
    }
    if (node.isLeaf()) return;
    const Extent& extent = node.scope().extent;
    const std::int64_t from = extent.range ? valueOf(extent.range->first) : 0;
    const std::int64_t to = extent.range ? valueOf(extent.range->last) : extent.count;
    for (std::int64_t i = from; i < to; ++i) {
      variables_.push_back(i);
      nodes(node.scope().body);
      variables_.pop_back();
    }
  }

  Event event(const Site& site) const {
    const Program& program = accesses_.program();
    Event out{&site, variables_, {}, {}, {}};
    const Buffer& buffer = program.buffer(site.access.buffer);
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      const Index& index = site.access.indices[d];
      std::set<std::int64_t>& logical = out.logical.emplace_back();
      if (index.isGather()) {
        const ValueRange& range = *program.buffer(index.gather).values;
        for (std::int64_t v = range.lo; v < range.hi; ++v) logical.insert(v);
      } else {
        logical.insert(index.affine.evaluate(variables_));
      }
      std::set<std::int64_t>& storage = out.storage.emplace_back();
      const std::int64_t fold = buffer.dims[d].fold;
      for (const std::int64_t v : logical) {
        storage.insert(fold == 0 ? v : (v % fold + fold) % fold);
      }
    }
    const std::vector<std::int64_t> strides = buffer.strides();
    out.offsets.insert(0);
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      std::set<std::int64_t> longer;
      for (const std::int64_t offset : out.offsets) {
        for (const std::int64_t v : out.storage[d]) longer.insert(offset + v * strides[d]);
      }
      out.offsets = std::move(longer);
    }
    return out;
  }

  const Accesses& accesses_;
  const std::vector<std::vector<std::int64_t>>& contents_;
  std::vector<std::int64_t> variables_;
};

}  // namespace

Program randomProgram(Random& random, const Shape& shape) {
  return Generator(random, shape).program();
}

std::vector<Event> execute(const Accesses& accesses,
                           const std::vector<std::vector<std::int64_t>>& contents) {
  return Enumerator(accesses, contents).events;
}

std::vector<std::vector<std::int64_t>> randomContents(Random& random, const Program& program) {
  std::vector<std::vector<std::int64_t>> out(program.buffers.size());
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    const Buffer& buffer = program.buffers[id];
    if (!buffer.values) continue;
    for (std::int64_t i = 0; i < buffer.logicalElements(); ++i) {
      out[id].push_back(random(buffer.values->lo, buffer.values->hi - 1));
    }
    if (buffer.values->monotone) std::sort(out[id].begin(), out[id].end());
  }
  return out;
}

bool touchSame(const Accesses& accesses, const Event& a, const Event& b) {
  const Program& program = accesses.program();
  const bool same = a.site->access.buffer == b.site->access.buffer;
  if (program.storageOf(a.site->access.buffer) != program.storageOf(b.site->access.buffer)) {
    return false;
  }
  const std::vector<int>& depths = accesses.privateDepths(a.site->access.buffer);
  if (!depths.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(depths.back()) + 1;
    if (!std::equal(a.variables.begin(), a.variables.begin() + count, b.variables.begin())) {
      return false;
    }
  }
  if (!same) {
    return std::any_of(a.offsets.begin(), a.offsets.end(),
                       [&](std::int64_t offset) { return b.offsets.count(offset) != 0; });
  }
  for (std::size_t d = 0; d < a.storage.size(); ++d) {
    const auto shared = [&](std::int64_t v) { return b.storage[d].count(v) != 0; };
    if (std::none_of(a.storage[d].begin(), a.storage[d].end(), shared)) return false;
  }
  return true;
}

}  // namespace dojo::test
