// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/generate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "ir/canonical.h"
#include "ir/check.h"
#include "ir/parse.h"
#include "ir/tree.h"
#include "proof/generate_patterns.h"
#include "proof/generate_traps.h"

namespace dojo::proof {

namespace {

constexpr std::int64_t kMostLeafExecutions = 1500;

/// Writes the text of one program, stage by stage. Most are valid; the caller checks.
class Author {
 public:
  explicit Author(Random& random) : random_(random) {}

  std::string text() {
    static const std::vector<std::string> floats = {"f32", "f32", "f64", "f64", "f16"};
    static const std::vector<std::string> integers = {"i32", "i64"};
    floating_ = !random_.oneIn(5);
    dtype_ = random_.of(floating_ ? floats : integers);
    const std::int64_t sizes = random_(2, 3);
    for (std::int64_t i = 0; i < sizes; ++i) pool_.push_back(random_.of(kExtents));
    const std::int64_t inputs = random_(1, 3);
    for (std::int64_t i = 0; i < inputs; ++i) input("x" + std::to_string(i));
    if (random_.oneIn(3)) indexBuffer();
    if (random_.oneIn(6)) rowBuffers();
    if (random_.oneIn(5)) inPlace();
    const std::int64_t stages = random_(1, 4);
    for (std::int64_t i = 0; i < stages; ++i) stage(i + 1 == stages);
    std::string out = "kernel random\n";
    for (const char* role : {"in", "out", "inout", "tmp"}) {
      for (const Declared& buffer : buffers_) {
        if (buffer.role == role) out += declaration(buffer);
      }
    }
    return out + "\n" + body_;
  }

 private:
  struct Declared {
    std::string role, name, dtype;
    std::vector<std::int64_t> dims;
    std::string values;              ///< ` in [0, 4)`
    std::int64_t valueExtent = 0;    ///< One past the largest value of an index buffer.
    std::vector<std::string> marks;  ///< What stands before each extent: "", "~"; or after: "~2".
    std::string location;
    bool packed = false;  ///< Arguments only.
  };
  /// A variable in scope, which runs over [0, extent).
  struct Loop {
    std::int64_t extent;
    bool usable = true;
  };
  /// An index value over the loops and how many values it takes from 0 on.
  struct Value {
    std::string text;
    std::int64_t extent;
  };

  inline static const std::vector<std::int64_t> kExtents = {1, 2, 2, 3, 4, 4, 4, 5, 6, 6};

  std::string declaration(const Declared& buffer) const {
    std::string dims;
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      if (d != 0) dims += ", ";
      const std::string mark = d < buffer.marks.size() ? buffer.marks[d] : "";
      dims += mark == "~" ? "~" + std::to_string(buffer.dims[d])
                          : std::to_string(buffer.dims[d]) + mark;
    }
    return fmt::format("{} {} {} [{}]{}{}{}\n", buffer.role, buffer.name, buffer.dtype, dims,
                       buffer.location.empty() ? "" : " @" + buffer.location,
                       buffer.packed ? " packed" : "", buffer.values);
  }

  std::vector<std::int64_t> shape(std::int64_t least, std::int64_t most) {
    std::vector<std::int64_t> out;
    const std::int64_t rank = random_(least, most);
    for (std::int64_t d = 0; d < rank; ++d) out.push_back(random_.of(pool_));
    return out;
  }

  void input(const std::string& name) {
    std::string type = dtype_;
    if (random_.oneIn(6)) type = floating_ ? (random_.oneIn(2) ? "f16" : "i8") : "i8";
    readable_.push_back(buffers_.size());
    const bool finite = type.front() == 'f' && !random_.oneIn(8);
    buffers_.push_back(
        {"in", name, type, shape(0, 3), finite ? " finite" : "", 0, {}, "", random_.oneIn(4)});
    if (random_.oneIn(4)) {
      // Room for shifted and strided reads.
      for (std::int64_t& dim : buffers_.back().dims) dim = dim * random_(1, 2) + random_(0, 2);
    }
  }

  void indexBuffer() {
    const std::int64_t hi = random_.of(pool_);
    buffers_.push_back(
        {"in", "idx", "i32", {random_.of(pool_)}, fmt::format(" in [0, {})", hi), hi, {}, ""});
    index_ = static_cast<int>(buffers_.size()) - 1;
  }

  void rowBuffers() {
    const std::int64_t rows = random_.of(pool_);
    const std::int64_t entries = random_(1, 8);
    buffers_.push_back({"in",
                        "row",
                        "i32",
                        {rows + 1},
                        fmt::format(" monotone in [0, {}]", entries),
                        entries,
                        {},
                        ""});
    row_ = static_cast<int>(buffers_.size()) - 1;
    readable_.push_back(buffers_.size());
    buffers_.push_back({"in", "v", dtype_, {entries}, "", 0, {}, ""});
  }

  void inPlace() {
    readable_.push_back(buffers_.size());
    buffers_.push_back({"inout", "z", dtype_, shape(0, 2), "", 0, {}, "", random_.oneIn(4)});
    inout_ = static_cast<int>(buffers_.size()) - 1;
  }

  // Lines and scopes.

  void line(const std::string& text) {
    for (std::size_t i = 0; i < loops_.size(); ++i) body_ += "| ";
    body_ += text + "\n";
  }
  void open(std::int64_t extent, const std::string& condition = "") {
    line(std::to_string(extent) + condition);
    loops_.push_back({extent});
  }
  void close(std::size_t depth) { loops_.resize(depth); }

  /// Opens the loops for an index over [0, extent): one, or two of which it is a blocked index.
  std::string loopsFor(std::int64_t extent) {
    const std::size_t depth = loops_.size();
    if (extent % 2 == 0 && extent > 2 && random_.oneIn(5)) {
      const std::int64_t block = random_.oneIn(2) ? 2 : extent / 2;
      open(extent / block);
      open(block);
      return fmt::format("{{{}}}*{} + {{{}}}", depth, block, depth + 1);
    }
    open(extent);
    return fmt::format("{{{}}}", depth);
  }

  // Operands.

  std::string variable(std::size_t depth) const { return fmt::format("{{{}}}", depth); }

  /// An affine index that stays within [0, extent).
  std::string affineIndex(std::int64_t extent) {
    for (int attempt = 0; attempt < 6 && !loops_.empty(); ++attempt) {
      const auto k =
          static_cast<std::size_t>(random_(0, static_cast<std::int64_t>(loops_.size()) - 1));
      const Loop& loop = loops_[k];
      if (loop.extent > extent || !loop.usable) continue;
      const std::int64_t room = extent - loop.extent;
      switch (random_(0, 9)) {
        case 0:
          return fmt::format("-{} + {}", variable(k), loop.extent - 1 + random_(0, room));
        case 1:
          if ((loop.extent - 1) * 2 < extent) return variable(k) + "*2";
          break;
        case 2: {
          const auto l =
              static_cast<std::size_t>(random_(0, static_cast<std::int64_t>(loops_.size()) - 1));
          if (l != k && loops_[l].usable && loop.extent + loops_[l].extent - 1 <= extent) {
            return variable(k) + " + " + variable(l);
          }
          if (l != k && loops_[l].usable && loop.extent * loops_[l].extent <= extent) {
            return fmt::format("{}*{} + {}", variable(l), loop.extent, variable(k));
          }
          break;
        }
        case 3:
          return fmt::format("{} + {}", variable(k), random_(0, room));
        default:
          return variable(k);
      }
    }
    return std::to_string(random_(0, extent - 1));
  }

  std::string index(std::int64_t extent) {
    if (index_ >= 0 && random_.oneIn(6)) {
      const Declared& idx = buffers_[static_cast<std::size_t>(index_)];
      if (idx.valueExtent <= extent) return fmt::format("idx[{}]", affineIndex(idx.dims[0]));
    }
    return affineIndex(extent);
  }

  std::string element(const Declared& buffer) {
    std::string out = buffer.name + "[";
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      out += (d == 0 ? "" : ", ") + index(buffer.dims[d]);
    }
    return out + "]";
  }

  std::string operand() {
    const std::int64_t kind = random_(0, 11);
    if (kind == 0) return floating_ ? random_.of(kRealConstants) : random_.of(kWholeConstants);
    if (kind == 1 && !loops_.empty() && loops_.back().usable) {
      return fmt::format("cast({}, {})", variable(loops_.size() - 1), dtype_);
    }
    const auto pick = readable_[static_cast<std::size_t>(
        random_(0, static_cast<std::int64_t>(readable_.size()) - 1))];
    return element(buffers_[pick]);
  }

  inline static const std::vector<std::string> kRealConstants = {"1", "0.5", "-2", "3", "0"};
  inline static const std::vector<std::string> kWholeConstants = {"1", "2", "-2", "3", "0"};

  std::string expression() {
    std::string a = operand();
    switch (random_(0, 15)) {
      case 0:
      case 1:
        return a;
      case 2:
        return fmt::format("{} - {}", a, operand());
      case 3:
      case 4:
        return fmt::format("{} + {}", a, operand());
      case 5:
        return fmt::format("max({}, {})", a, operand());
      case 6:
        return floating_ ? fmt::format("{} / {}", a, operand()) : fmt::format("{} * 3", a);
      case 7:
        return floating_ ? fmt::format("exp({})", a) : fmt::format("abs({})", a);
      case 8:
        return floating_ ? fmt::format("tanh({})", a) : fmt::format("{} & 7", a);
      case 9:
        return fmt::format("select({} < {}, {}, {})", a, operand(), operand(), operand());
      case 10:
        return fmt::format("fma({}, {}, {})", a, operand(), operand());
      case 11:
        return fmt::format("{} * {} + {}", a, operand(), operand());
      case 12:
        return fmt::format("neg({})", a);
      default:
        return fmt::format("{} * {}", a, operand());
    }
  }

  /// A guard over the loops, now and then.
  std::string guard(std::int64_t rarity) {
    if (loops_.empty() || !random_.oneIn(rarity)) return "";
    const auto k =
        static_cast<std::size_t>(random_(0, static_cast<std::int64_t>(loops_.size()) - 1));
    std::string expr = variable(k);
    const auto l =
        static_cast<std::size_t>(random_(0, static_cast<std::int64_t>(loops_.size()) - 1));
    if (l != k && random_.oneIn(2)) {
      expr += fmt::format(" {} {}", random_.oneIn(2) ? "+" : "-", variable(l));
    }
    const std::int64_t lo = random_(-1, 2);
    return fmt::format(" if {} in [{}, {})", expr, lo, lo + random_(1, 5));
  }

  // Stages.

  /// A new buffer, of which `last` says that it must be an out.
  std::size_t fresh(bool last, std::int64_t leastRank = 0) {
    Declared buffer;
    buffer.role = last || random_.oneIn(4) ? "out" : "tmp";
    buffer.name = (buffer.role == "out" ? "y" : "b") + std::to_string(buffers_.size());
    buffer.dtype = dtype_;
    buffer.dims = shape(leastRank, 3);
    buffer.packed = buffer.role == "out" && random_.oneIn(4);
    if (buffer.role == "tmp") {
      if (random_.oneIn(3)) buffer.location = random_.oneIn(2) ? "stack" : "register";
      if (random_.oneIn(6) && !buffer.dims.empty()) buffer.marks.assign(1, " pad 1");
    }
    buffers_.push_back(std::move(buffer));
    return buffers_.size() - 1;
  }

  void stage(bool last) {
    const std::size_t first = body_.size();
    std::size_t made = buffers_.size();
    switch (random_(0, 13)) {
      case 0:
      case 1:
        elementwise(made = fresh(last));
        break;
      case 2:
        scan(made = fresh(last, 1));
        break;
      case 3:
        blockwise(made = fresh(last, 1));
        break;
      case 4:
        border(made = fresh(last));
        break;
      case 5:
        if (row_ >= 0) {
          rows(made = fresh(last));
        } else {
          halves(made = fresh(last, 1));
        }
        break;
      case 6:
        halves(made = fresh(last, 1));
        break;
      case 7:
        doubleBuffer(made = fresh(last, 1));
        break;
      case 8:
        if (inout_ >= 0) {
          update();
          if (last) elementwise(made = fresh(last));
        } else {
          copy(made = fresh(last));
        }
        break;
      default:
        reduction(made = fresh(last));
    }
    if (made < buffers_.size()) readable_.push_back(made);
    DOJO_CHECK(body_.size() > first, "a stage writes lines");
  }

  /// Opens loops over all dims in some order; the element that they run over.
  std::string overAll(const Declared& buffer) {
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) order.push_back(d);
    if (random_.oneIn(3)) random_.shuffle(order);
    std::vector<std::string> indices(buffer.dims.size());
    for (const std::size_t d : order) {
      indices[d] = loopsFor(buffer.dims[d]);
      if (random_.oneIn(12) && !buffer.dims.empty()) {
        indices[d] = fmt::format("{} - ({})", buffer.dims[d] - 1, indices[d]);
      }
    }
    return fmt::format("{}[{}]", buffer.name, fmt::join(indices, ", "));
  }

  void elementwise(std::size_t id) {
    const std::string dst = overAll(buffers_[id]);
    if (random_.oneIn(3)) {
      // By way of an element without storage of its own.
      Declared local;
      local.role = "tmp";
      local.name = "l" + std::to_string(id);
      local.dtype = dtype_;
      std::string indices;
      for (std::size_t k = 0; k < loops_.size(); ++k) {
        local.dims.push_back(loops_[k].extent);
        local.marks.emplace_back(random_.oneIn(6) ? "" : "~");
        indices += (k == 0 ? "" : ", ") + variable(k);
      }
      if (random_.oneIn(2)) local.location = "register";
      const std::string place = fmt::format("{}[{}]", local.name, indices);
      line(place + " = " + expression());
      buffers_.push_back(std::move(local));
      if (random_.oneIn(2)) line(place + " = " + place + " * " + operand());
      line(dst + " = " + (random_.oneIn(2) ? place : place + " + " + operand()));
    } else {
      line(dst + " = " + expression());
      if (random_.oneIn(5)) line(dst + " += " + expression() + guard(2));
    }
    close(0);
    if (random_.oneIn(6)) again(id);
  }

  /// Some of the elements once more, under a guard that a scope or the line carries.
  void again(std::size_t id) {
    const Declared buffer = buffers_[id];
    std::string indices;
    for (std::size_t d = 0; d < buffer.dims.size(); ++d) {
      open(buffer.dims[d], guard(2));
      indices += (d == 0 ? "" : ", ") + variable(d);
    }
    const std::string dst = fmt::format("{}[{}]", buffer.name, indices);
    if (random_.oneIn(2)) {
      line(fmt::format("{0} = {0} * {1}{2}", dst, operand(), guard(3)));
    } else {
      line(dst + " += " + expression() + guard(3));
    }
    close(0);
  }

  void copy(std::size_t id) {
    const std::string dst = overAll(buffers_[id]);
    line(dst + " = " +
         element(buffers_[readable_[static_cast<std::size_t>(
             random_(0, static_cast<std::int64_t>(readable_.size()) - 1))]]));
    close(0);
  }

  void reduction(std::size_t id) {
    struct Kind {
      std::string assign, identity;
    };
    std::vector<Kind> kinds = {{"+=", "0"}, {"+=", "0"}, {"+=", "0"}, {"*=", "1"}};
    if (floating_) {
      kinds.push_back({"max=", "-inf"});
      kinds.push_back({"min=", "inf"});
      kinds.push_back({"fma+=", "0"});
    } else {
      kinds.push_back({"max=", "-100"});
    }
    const Kind kind = random_.of(kinds);
    const std::string start = random_.oneIn(4) ? random_.of(kWholeConstants) : kind.identity;
    const bool before = random_.oneIn(4);
    if (before) {
      line(overAll(buffers_[id]) + " = " + start);
      close(0);
    }
    // With the initialisation before, the reduced loops may be outside.
    const std::int64_t reduced = random_(1, 2);
    std::int64_t outside = before ? random_(0, reduced) : 0;
    for (std::int64_t i = 0; i < outside; ++i) open(random_.of(pool_));
    const std::string dst = overAll(buffers_[id]);
    if (!before) line(dst + " = " + start);
    const std::size_t depth = loops_.size();
    for (std::int64_t i = outside; i < reduced; ++i) {
      if (random_.oneIn(6)) {
        loopsFor(random_.of(pool_));
      } else {
        open(random_.of(pool_), guard(6));
      }
    }
    accumulate(id, dst, kind.assign);
    close(depth);
    if (random_.oneIn(5)) line(dst + " = " + dst + " * 2");
    if (floating_ && random_.oneIn(6)) line(dst + " = " + dst + " / " + operand());
    close(0);
  }

  void accumulate(std::size_t id, const std::string& dst, const std::string& assign) {
    if (assign == "fma+=" || (assign == "+=" && random_.oneIn(3))) {
      const std::string product = fmt::format("{} * {}", operand(), operand());
      if (assign == "+=" && random_.oneIn(2)) {
        Declared local{"tmp", "p" + std::to_string(id), dtype_, {}, "", 0, {}, "register"};
        line(local.name + "[] = " + product);
        line(fmt::format("{} += {}[]", dst, local.name));
        buffers_.push_back(std::move(local));
      } else {
        line(fmt::format("{} {} {}", dst, assign, product + guard(5)));
      }
    } else {
      line(fmt::format("{} {} {}{}", dst, assign, expression(), guard(4)));
    }
    if (!random_.oneIn(8)) return;
    // The accumulator is read on the way.
    Declared trail{"out", "w" + std::to_string(id), dtype_, {}, "", 0, {}, ""};
    std::string indices;
    for (std::size_t k = 0; k < loops_.size(); ++k) {
      trail.dims.push_back(loops_[k].extent);
      indices += (k == 0 ? "" : ", ") + variable(k);
    }
    line(fmt::format("{}[{}] = {}", trail.name, indices, dst));
    buffers_.push_back(std::move(trail));
  }

  /// t[0] = ...; t[i + 1] = t[i] op ...
  void scan(std::size_t id) {
    const Declared buffer = buffers_[id];
    const std::int64_t extent = buffer.dims[0];
    std::string rest;
    const auto others = [&] {
      rest.clear();
      for (std::size_t d = 1; d < buffer.dims.size(); ++d) rest += ", " + loopsFor(buffer.dims[d]);
    };
    others();
    line(fmt::format("{}[0{}] = {}", buffer.name, rest, expression()));
    close(0);
    if (extent == 1) return;
    const bool inside = random_.oneIn(2);
    if (inside) others();
    const std::string i = variable(loops_.size());
    open(extent - 1);
    if (!inside) others();
    line(fmt::format("{0}[{1} + 1{2}] = {0}[{1}{2}] {3} {4}", buffer.name, i, rest,
                     random_.oneIn(3) ? "*" : "+", operand()));
    close(0);
  }

  /// Two stages in one nest: a row is computed into a temporary and used.
  void blockwise(std::size_t id) {
    const Declared buffer = buffers_[id];
    const std::int64_t extent = buffer.dims.back();
    Declared row{"tmp", "r" + std::to_string(id),       dtype_, {extent}, "", 0,
                 {},    random_.oneIn(2) ? "" : "stack"};
    std::string front;
    for (std::size_t d = 0; d + 1 < buffer.dims.size(); ++d) {
      front += loopsFor(buffer.dims[d]) + ", ";
    }
    const std::size_t depth = loops_.size();
    const std::string i = variable(depth);
    open(extent);
    line(fmt::format("{}[{}] = {}", row.name, i, expression()));
    close(depth);
    const std::string name = row.name;
    buffers_.push_back(std::move(row));
    open(extent);
    const std::string from = random_.oneIn(2) ? i : fmt::format("-{} + {}", i, extent - 1);
    line(fmt::format("{}[{}{}] = {}[{}] * {}", buffer.name, front, i, name, from, operand()));
    close(0);
  }

  /// All elements by default, some of them again under a guard; neighbours at borders.
  void border(std::size_t id) {
    const std::string dst = overAll(buffers_[id]);
    line(dst + " = " + random_.of(kWholeConstants));
    const std::size_t depth = loops_.size();
    const Declared& from = buffers_[readable_[static_cast<std::size_t>(
        random_(0, static_cast<std::int64_t>(readable_.size()) - 1))]];
    if (from.dims.empty() || depth == 0) {
      line(dst + " += " + expression() + guard(1));
    } else {
      open(3);
      const std::string at = fmt::format(
          "{} + {} - 1",
          variable(static_cast<std::size_t>(random_(0, static_cast<std::int64_t>(depth) - 1))),
          variable(depth));
      std::string indices = at;
      for (std::size_t d = 1; d < from.dims.size(); ++d)
        indices += ", " + affineIndex(from.dims[d]);
      line(fmt::format("{} += {}[{}] * {} if {} in [0, {})", dst, from.name, indices, operand(), at,
                       from.dims[0]));
    }
    close(0);
  }

  void rows(std::size_t id) {
    Declared& buffer = buffers_[id];
    const Declared& row = buffers_[static_cast<std::size_t>(row_)];
    buffer.dims = {row.dims[0] - 1};
    buffer.marks.clear();
    open(buffer.dims[0]);
    line(fmt::format("{}[{{0}}] = 0", buffer.name));
    line("row[{0}]..row[{0} + 1]");
    loops_.push_back({row.valueExtent});
    std::string factor = operand();
    line(fmt::format("{}[{{0}}] += v[{{1}}] * {}", buffer.name, factor));
    close(0);
  }

  /// The first dim in two scopes, one after the other.
  void halves(std::size_t id) {
    const Declared buffer = buffers_[id];
    const std::int64_t extent = buffer.dims[0];
    const std::int64_t cut = extent == 1 ? 1 : random_(1, extent - 1);
    const std::string expr = random_.oneIn(2) ? expression() : "";
    for (const auto& [from, count] : {std::pair{std::int64_t{0}, cut}, {cut, extent - cut}}) {
      if (count == 0) continue;
      open(count);
      std::string indices = from == 0 ? "{0}" : fmt::format("{{0}} + {}", from);
      for (std::size_t d = 1; d < buffer.dims.size(); ++d)
        indices += ", " + loopsFor(buffer.dims[d]);
      line(fmt::format("{}[{}] = {}", buffer.name, indices, expr.empty() ? expression() : expr));
      close(0);
    }
  }

  /// A `~2` buffer that is filled one iteration ahead.
  void doubleBuffer(std::size_t id) {
    const Declared buffer = buffers_[id];
    const std::int64_t extent = buffer.dims[0];
    Declared two{"tmp", "d" + std::to_string(id), dtype_, {extent + 1}, "", 0, {"~2"}, ""};
    const std::string name = two.name;
    buffers_.push_back(std::move(two));
    line(fmt::format("{}[0] = {}", name, operand()));
    open(extent);
    line(fmt::format("{}[{{0}} + 1] = {}", name, operand()));
    std::string indices = "{0}";
    for (std::size_t d = 1; d < buffer.dims.size(); ++d) indices += ", " + loopsFor(buffer.dims[d]);
    line(fmt::format("{}[{}] = {}[{{0}}] + {}", buffer.name, indices, name, operand()));
    close(0);
  }

  void update() {
    const std::string dst = overAll(buffers_[static_cast<std::size_t>(inout_)]);
    switch (random_(0, 2)) {
      case 0:
        line(dst + " = " + dst + " * " + operand() + guard(3));
        break;
      case 1:
        line(dst + " += " + expression() + guard(3));
        break;
      default:
        line(dst + " = " + expression() + guard(3));
    }
    close(0);
  }

  Random& random_;
  bool floating_ = true;
  std::string dtype_;
  std::vector<std::int64_t> pool_;
  std::vector<Declared> buffers_;
  std::vector<std::size_t> readable_;
  int index_ = -1, row_ = -1, inout_ = -1;
  std::vector<Loop> loops_;
  std::string body_;
};

std::int64_t leafExecutions(const std::vector<ir::Node>& body, std::int64_t times) {
  std::int64_t out = 0;
  for (const ir::Node& node : body) {
    if (node.isLeaf()) {
      out += times;
    } else {
      const auto& extent = node.scope().extent;
      out += leafExecutions(node.scope().body, times * (extent.isConstant() ? extent.count : 4));
    }
  }
  return out;
}

/// Puts some tmps into one array, where the program stays valid.
void shareStorage(ir::Program& program, Random& random) {
  std::vector<std::pair<ir::BufferId, ir::BufferId>> pairs;
  for (std::size_t b = 0; b < program.buffers.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      const ir::Buffer& first = program.buffers[a];
      const ir::Buffer& second = program.buffers[b];
      if (first.isArgument() || first.location == "register" || first.dtype != second.dtype ||
          first.location != second.location) {
        continue;
      }
      pairs.emplace_back(static_cast<ir::BufferId>(a), static_cast<ir::BufferId>(b));
    }
  }
  random.shuffle(pairs);
  for (const auto& [a, b] : pairs) {
    ir::Program shared = program;
    shared.buffer(b).shares = program.storageOf(a);
    ir::canonicalize(shared);
    if (ir::check(shared)) program = std::move(shared);
  }
}

}  // namespace

int randomRecipe(Random& random) {
  // Chains on traps are short.
  if (!random.oneIn(5)) return 1 + kPatterns + static_cast<int>(random(0, trapCount() - 1));
  return random.oneIn(2) ? 1 + static_cast<int>(random(0, kPatterns - 1)) : 0;
}

bool isTrap(int recipe) { return recipe > kPatterns; }

const std::vector<std::string>& movesFor(int recipe) {
  static const std::vector<std::string> none;
  if (recipe == 0) return none;
  return isTrap(recipe) ? trapFor(recipe - 1 - kPatterns) : patternFor(recipe - 1);
}

ir::Program randomProgram(Random& random, int recipe) {
  constexpr int kTries = 100;
  for (int i = 0; true; ++i) {
    if (i % kTries == kTries - 1) recipe = randomRecipe(random);
    const auto parsed = ir::parse(isTrap(recipe) ? trapText(random, recipe - 1 - kPatterns)
                                  : recipe > 0   ? patternText(random, recipe - 1)
                                                 : Author(random).text());
    if (!parsed || leafExecutions(parsed->program.body, 1) > kMostLeafExecutions) continue;
    if (!ir::check(parsed->program)) continue;
    ir::Program program = parsed->program;
    if (random.oneIn(3)) shareStorage(program, random);
    return program;
  }
}

ir::Program randomProgram(Random& random) { return randomProgram(random, randomRecipe(random)); }

}  // namespace dojo::proof
