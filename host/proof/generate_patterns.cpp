// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/generate_patterns.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

namespace dojo::proof {

namespace {

/// Lines of declarations and of the tree.
class Page {
 public:
  void declare(const std::string& role, const std::string& rest) {
    for (std::size_t i = 0; i < kRoles.size(); ++i) {
      if (kRoles[i] == role) declarations_[i] += role + " " + rest + "\n";
    }
  }
  void line(const std::string& text) {
    for (int i = 0; i < depth_; ++i) body_ += "| ";
    body_ += text + "\n";
  }
  void open(std::int64_t extent) {
    line(std::to_string(extent));
    ++depth_;
  }
  void close() { --depth_; }
  [[nodiscard]] std::string text() const {
    std::string out = "kernel random\n";
    for (const std::string& declaration : declarations_) out += declaration;
    return out + "\n" + body_;
  }

 private:
  inline static const std::vector<std::string> kRoles = {"in", "out", "inout", "tmp"};
  std::vector<std::string> declarations_ = std::vector<std::string>(kRoles.size());
  std::string body_;
  int depth_ = 0;
};

std::int64_t extent(Random& random) {
  static const std::vector<std::int64_t> extents = {1, 2, 2, 3, 4, 4, 6};
  return random.of(extents);
}

std::string floatType(Random& random) {
  static const std::vector<std::string> types = {"f32", "f32", "f64", "f64", "f16"};
  return random.of(types);
}

/// A row's sums of terms with a common factor, or the sums times the factor: what factor_out and
/// factor_in turn into each other.
class ScaledSum {
 public:
  explicit ScaledSum(Random& random) : random_(random) {}

  std::string text() {
    dtype_ = floatType(random_);
    narrow_ = dtype_ == "f64" && random_.oneIn(3) ? "f32" : dtype_;
    rows_ = extent(random_);
    terms_ = extent(random_);
    width_ = random_.oneIn(2) ? 1 : extent(random_);
    factored_ = random_.oneIn(3);
    quotient_ = random_.oneIn(2);
    flaw_ = random_.oneIn(3) ? 0 : random_(1, 10);
    if (flaw_ == 10) {
      tooLarge();
    } else {
      page_.declare("in", fmt::format("e {} [{}, {}]", narrow_, rows_, terms_));
      chooseFactor();
    }
    page_.declare("in", fmt::format("v {} [{}, {}]", dtype_, terms_, width_));
    page_.declare("out", fmt::format("y {} [{}, {}]", dtype_, rows_, width_));
    switch (flaw_ == 8 ? 3 : random_(0, 2)) {
      case 0:
        direct();
        break;
      case 1:
        inside();
        break;
      case 2:
        apart();
        break;
      default:
        stale();
    }
    return page_.text();
  }

 private:
  void chooseFactor() {
    if (flaw_ == 5 && !random_.oneIn(3)) quotient_ = true;
    switch (flaw_ == 5 && quotient_ ? 0 : random_(0, 4)) {
      case 0:
        factor_ = flaw_ == 5 || random_.oneIn(3) ? "0" : "0.25";
        break;
      case 1:
        page_.declare("in", fmt::format("a {} []", narrow_));
        factor_ = "a[]";
        break;
      case 2: {
        page_.declare("tmp", fmt::format("a {} [{}]", narrow_, rows_));
        page_.open(rows_);
        page_.line("a[{0}] = 0");
        page_.open(terms_);
        page_.line("a[{0}] += e[{0}, {1}]");
        page_.close();
        page_.close();
        factor_ = "a[{0}]";
        break;
      }
      default:
        page_.declare("inout", fmt::format("a {} [{}]", narrow_, rows_));
        factor_ = "a[{0}]";
    }
  }

  /// Terms that only their factor keeps in the range of f16.
  void tooLarge() {
    dtype_ = narrow_ = "f16";
    factored_ = quotient_ = false;
    terms_ = 6;
    factor_ = "0.125";
    page_.declare("in", fmt::format("f {} [{}, {}]", dtype_, rows_, terms_));
    page_.declare("tmp", fmt::format("e {} [{}, {}]", dtype_, rows_, terms_));
    page_.open(rows_);
    page_.open(terms_);
    page_.line("e[{0}, {1}] = f[{0}, {1}] * 30000");
    page_.close();
    page_.close();
  }

  std::string scaled(const std::string& value) const {
    return value + (quotient_ ? " / " : " * ") + factor_;
  }
  std::string term(const std::string& value) const { return factored_ ? value : scaled(value); }

  void start(const std::string& column) {
    page_.line(fmt::format("y[{{0}}, {}] = {}", column, flaw_ == 1 ? "1" : "0"));
  }
  /// What else may be added or read while the sum isn't complete.
  void beside(const std::string& column, const std::string& at) {
    if (flaw_ == 2) page_.line(fmt::format("y[{{0}}, {}] += e[{{0}}, {}]", column, at));
    if (flaw_ == 3) {
      page_.declare("out", fmt::format("o {} [{}]", dtype_, rows_));
      page_.line(fmt::format("o[{{0}}] = y[{{0}}, {}]", column));
    }
    if (flaw_ == 4 && factor_ == "a[{0}]") page_.line("a[{0}] = a[{0}] + 1");
  }
  std::string guard(const std::string& at) {
    const std::int64_t from = random_.oneIn(2) ? 2 : terms_;
    return flaw_ == 5 ? fmt::format(" if {} in [{}, {})", at, from, from + 3) : "";
  }
  void finish(const std::string& column) {
    if (!factored_) return;
    page_.line(fmt::format("y[{{0}}, {0}] = {1}", column, scaled("y[{0}, " + column + "]")));
  }

  /// The factor in the very leaf of the sum.
  void direct() {
    page_.open(rows_);
    page_.open(width_);
    start("{1}");
    page_.open(terms_);
    const bool contracted = !quotient_ && !factored_ && random_.oneIn(2);
    page_.line(fmt::format("y[{{0}}, {{1}}] {} {}{}",
                           contracted ? "fma+=" : "+=", term("e[{0}, {2}]"), guard("{2}")));
    beside("{1}", "{2}");
    page_.close();
    finish("{1}");
    page_.close();
    page_.close();
  }

  /// The terms' values in a tmp beside the sums.
  void inside() {
    page_.declare("tmp", fmt::format("t {} [{}, {}]", narrow_, rows_, terms_));
    page_.open(rows_);
    page_.open(width_);
    start("{1}");
    page_.close();
    page_.open(terms_);
    page_.line("t[{0}, {1}] = " + term("e[{0}, {1}]"));
    if (flaw_ == 9) page_.line("t[{0}, {1}] = t[{0}, {1}] + 1");
    if (flaw_ == 7 && random_.oneIn(2)) {
      flaw_ = 0;
      page_.declare("out", fmt::format("o {} [{}]", dtype_, rows_));
      page_.line(std::string("o[{0}] = t[{0}, {1}]") + (random_.oneIn(2) ? " + 1" : ""));
    }
    page_.open(width_);
    page_.line("y[{0}, {2}] += " + product("t[{0}, {1}]", "v[{1}, {2}]") + guard("{1}"));
    beside("{2}", "{1}");
    page_.close();
    page_.close();
    page_.open(width_);
    finish("{1}");
    if (!factored_) page_.line("y[{0}, {1}] = y[{0}, {1}] + 1");
    page_.close();
    page_.close();
    otherUse("t[{0}, {1}]");
  }

  /// The terms' values in a tmp before the sums.
  void apart() {
    page_.declare("tmp", fmt::format("t {} [{}, {}]", narrow_, rows_, terms_));
    page_.open(rows_);
    page_.open(terms_);
    page_.line("t[{0}, {1}] = " + term("e[{0}, {1}]"));
    page_.close();
    page_.open(width_);
    start("{1}");
    page_.open(terms_);
    page_.line("y[{0}, {1}] += " + product("t[{0}, {2}]", "v[{2}, {1}]") + guard("{2}"));
    beside("{1}", "{2}");
    page_.close();
    finish("{1}");
    page_.close();
    page_.close();
    otherUse("t[{0}, {1}]");
  }

  /// A value that was made when the factor was another.
  void stale() {
    page_.declare("tmp", fmt::format("t {} []", narrow_));
    page_.open(rows_);
    page_.line("t[] = " + term("e[{0}, 0]") + " if {0} in [0, 1)");
    page_.open(width_);
    start("{1}");
    page_.open(terms_);
    page_.line("y[{0}, {1}] += " + product("t[]", "v[{2}, {1}]"));
    page_.close();
    finish("{1}");
    page_.close();
    page_.close();
  }

  std::string product(const std::string& value, const std::string& other) {
    if (flaw_ == 6) return value + " * " + value;
    return random_.oneIn(3) ? value : value + " * " + other;
  }

  void otherUse(const std::string& value) {
    if (flaw_ != 7) return;
    page_.declare("out", fmt::format("z {} [{}, {}]", dtype_, rows_, terms_));
    page_.open(rows_);
    page_.open(terms_);
    page_.line("z[{0}, {1}] = " + value + (random_.oneIn(2) ? " + 1" : ""));
    page_.close();
    page_.close();
  }

  Random& random_;
  Page page_;
  std::string dtype_, narrow_, factor_;
  std::int64_t rows_ = 1, terms_ = 1, width_ = 1, flaw_ = 0;
  bool factored_ = false, quotient_ = false;
};

/// Sums of exponentials of the distance to a maximum: what online_rescale makes one scope of.
class Streaming {
 public:
  explicit Streaming(Random& random) : random_(random) {}

  std::string text() {
    dtype_ = floatType(random_);
    rows_ = extent(random_);
    blocks_ = extent(random_);
    size_ = random_.oneIn(2) ? 1 : extent(random_);
    width_ = random_.oneIn(2) ? 0 : extent(random_);
    flaw_ = random_.oneIn(3) ? 0 : random_(1, 18);
    if (flaw_ > 17) flaw_ = 8;
    const std::int64_t terms = blocks_ * size_;
    page_.declare("in", fmt::format("x {} [{}, {}]", dtype_, rows_, terms));
    page_.declare("out", fmt::format("s {} [{}]", dtype_, rows_));
    page_.declare("tmp", fmt::format("m {} [{}]", dtype_, rows_));
    page_.declare("tmp", fmt::format("e {} [{}, {}]", dtype_, rows_, terms));
    if (width_ > 0) {
      page_.declare("in", fmt::format("v {} [{}, {}]", dtype_, terms, width_));
      page_.declare("out", fmt::format("y {} [{}, {}]", dtype_, rows_, width_));
    }
    scores_ = random_.oneIn(3);
    if (scores_) page_.declare("tmp", fmt::format("p {} [{}, {}]", dtype_, rows_, terms));
    page_.open(rows_);
    starts();
    page_.open(blocks_);
    maxima();
    page_.close();
    page_.open(blocks_);
    exponentials();
    page_.close();
    ends();
    page_.close();
    return page_.text();
  }

 private:
  [[nodiscard]] std::string at() const {
    return size_ == 1 ? "{0}, {1}" : fmt::format("{{0}}, {{1}}*{} + {{2}}", size_);
  }
  [[nodiscard]] std::string score() const { return (scores_ ? "p[" : "x[") + at() + "]"; }
  [[nodiscard]] std::string value() const { return "e[" + at() + "]"; }
  void openBlock() {
    if (size_ > 1) page_.open(size_);
  }
  void closeBlock() {
    if (size_ > 1) page_.close();
  }

  void starts() {
    page_.line(random_.oneIn(3) ? "m[{0}] = 0.5" : "m[{0}] = -inf");
    page_.line(flaw_ == 1 ? "s[{0}] = 1" : "s[{0}] = 0");
    if (width_ == 0) return;
    page_.open(width_);
    page_.line("y[{0}, {1}] = 0");
    page_.close();
  }

  void maxima() {
    if (flaw_ == 3) {
      page_.declare("out", fmt::format("o {} [{}]", dtype_, rows_));
      page_.line("o[{0}] = s[{0}]");
    }
    if (flaw_ == 17) {
      page_.declare("out", fmt::format("u {} [{}, {}]", dtype_, rows_, blocks_));
      page_.line("u[{0}, {1}] = 0");
    }
    openBlock();
    if (scores_) page_.line(score() + " = x[" + at() + "] * 4");
    page_.line("m[{0}] max= " + score() + (flaw_ == 4 ? " if {1} in [1, 9)" : ""));
    if (flaw_ == 5 && scores_) page_.line(score() + " = " + score() + " + 8");
    closeBlock();
    if (flaw_ == 2) {
      page_.line(fmt::format("m[{{0}}] = m[{{0}}] - 1000 if {{1}} in [0, {})", blocks_ - 1));
    }
  }

  void exponentials() {
    openBlock();
    difference();
    if (flaw_ == 7) page_.line("s[{0}] += 1");
    if (flaw_ == 15) {
      page_.declare("tmp", fmt::format("g {} []", dtype_));
      if (random_.oneIn(2)) {
        page_.line("g[] = neg(" + value() + ")");
      } else {
        page_.line("g[] = " + score() + " - m[{0}]");
        page_.line("g[] = exp(g[])");
      }
      page_.line("s[{0}] += g[] * " + value());
    }
    if (flaw_ == 17) page_.line("u[{0}, {1}] += " + value());
    if (flaw_ == 16) {
      page_.declare("out", fmt::format("o {} [{}, {}]", dtype_, rows_, blocks_ * size_));
      page_.line("o[" + at() + "] = " + value() + (random_.oneIn(2) ? " + 1" : ""));
    }
    if (width_ > 0) {
      const bool same = random_.oneIn(2);
      if (!same) {
        closeBlock();
        openBlock();
      }
      page_.open(width_);
      const std::string j = size_ == 1 ? "{2}" : "{3}";
      const std::string k = size_ == 1 ? "{1}" : fmt::format("{{1}}*{} + {{2}}", size_);
      page_.line(fmt::format("y[{{0}}, {}] {} {} * v[{}, {}]", j,
                             random_.oneIn(2) ? "+=" : "fma+=", value(), k, j));
      page_.close();
    }
    if (flaw_ == 8) {
      page_.declare("out", fmt::format("w {} [{}, {}]", dtype_, rows_, blocks_));
      page_.line("w[{0}, {1}] = m[{0}]");
    }
    closeBlock();
  }

  void difference() {
    const std::string subtracted = flaw_ == 9 ? "m[0]" : "m[{0}]";
    std::string from = score();
    if (flaw_ == 10) {
      page_.declare("in", fmt::format("z {} [{}, {}]", dtype_, rows_, blocks_ * size_));
      from = "z[" + at() + "]";
    }
    const std::string guard = flaw_ == 11 ? " if {1} in [1, 9)" : "";
    const std::int64_t form = random_(0, 2);
    if (form == 0) {
      page_.line(value() + " = " + from + " - " + subtracted);
      page_.line(value() + " = exp(" + value() + ")");
      page_.line("s[{0}] += " + value() + guard);
      return;
    }
    page_.declare("tmp", fmt::format("d {} [{}, {}]", dtype_, rows_, blocks_ * size_));
    const std::string d = "d[" + at() + "]";
    page_.line(d + " = " + from + " - " + subtracted);
    if (form == 2 && width_ == 0 && flaw_ < 12) {
      if (flaw_ == 6) page_.line(d + " = 0.5");
      page_.line("s[{0}] += exp(" + d + ")" + guard);
      return;
    }
    if (flaw_ == 6) page_.line(d + (random_.oneIn(3) ? " = " + d + " * 0.5" : " = 0.5"));
    if (flaw_ == 12) {
      page_.declare("out", fmt::format("u {} [{}, {}]", dtype_, rows_, blocks_ * size_));
      page_.line("u[" + at() + "] = " + d);
    }
    page_.line(value() + " = exp(" + d + ")");
    page_.line("s[{0}] += " + value() + guard);
  }

  void ends() {
    if (flaw_ == 13) {
      page_.declare("out", fmt::format("q {} [{}]", dtype_, rows_));
      page_.line("q[{0}] = e[{0}, 0]");
    }
    if (flaw_ == 14 || width_ == 0) return;
    page_.open(width_);
    page_.line("y[{0}, {1}] = y[{0}, {1}] / s[{0}]");
    page_.close();
  }

  Random& random_;
  Page page_;
  std::string dtype_;
  std::int64_t rows_ = 1, blocks_ = 1, size_ = 1, width_ = 0, flaw_ = 0;
  bool scores_ = false;
};

/// Values that are made in one place and used in another, or made again there.
class Recomputed {
 public:
  explicit Recomputed(Random& random) : random_(random) {}

  std::string text() {
    dtype_ = floatType(random_);
    rows_ = extent(random_);
    terms_ = extent(random_);
    flaw_ = random_.oneIn(3) ? 0 : random_(1, 11);
    const std::string full = fmt::format("{} [{}, {}]", dtype_, rows_, terms_);
    page_.declare("inout", "x " + full);
    page_.declare("inout", fmt::format("m {} [{}]", dtype_, rows_));
    page_.declare("out", "y " + full);
    page_.declare("tmp", "e " + full);
    const bool outside = random_.oneIn(2);
    if (outside) page_.open(rows_);
    if (!outside) page_.open(rows_);
    make();
    if (!outside) {
      page_.close();
      page_.open(rows_);
    }
    if (flaw_ == 1) between("x[{0}, {1}] = x[{0}, {1}] + 1");
    if (flaw_ == 2) page_.line("m[{0}] = m[{0}] * 2");
    if (flaw_ == 3) between("e[{0}, {1}] = e[{0}, {1}] + 1 if {1} in [1, 4)");
    use();
    page_.close();
    return page_.text();
  }

 private:
  void between(const std::string& line) {
    page_.open(terms_);
    page_.line(line);
    page_.close();
  }

  void make() {
    page_.open(terms_);
    const std::string guard = flaw_ == 4 ? " if {1} in [0, 3)" : "";
    if (flaw_ == 4) page_.line("e[{0}, {1}] = x[{0}, {1}]");
    form_ = random_(0, 3);
    const std::string from = flaw_ == 5 ? "x[{0}, 0]" : "x[{0}, {1}]";
    const std::string to = flaw_ == 6 ? "e[{0}, 0]" : "e[{0}, {1}]";
    if (flaw_ == 6 && terms_ > 1) page_.line("e[{0}, {1}] = 0");
    if (form_ == 0) {
      page_.line(to + " = " + from + " - m[{0}]" + guard);
      page_.line(to + " = exp(" + to + ")" + guard);
    } else if (form_ == 1) {
      page_.line(to + " = " + from + " * m[{0}]" + guard);
    } else {
      const std::string mark = random_.oneIn(2) ? "~" : "";
      page_.declare("tmp", fmt::format("d {} [{}{}, {}{}]", dtype_, mark, rows_, mark, terms_));
      page_.line("d[{0}, {1}] = " + from + " - m[{0}]" + guard);
      if (form_ == 3) page_.line("d[{0}, {1}] = tanh(d[{0}, {1}])" + guard);
      page_.line(to + " = exp(d[{0}, {1}])" + guard);
      if (flaw_ == 7) page_.line("d[{0}, {1}] = 2");
    }
    if (flaw_ == 8) page_.line("m[{0}] = m[{0}] + 1");
    if (flaw_ == 9) page_.line("x[{0}, 0] = x[{0}, {1}] * 3");
    if (flaw_ == 10) page_.line("e[{0}, {1}] += 1");
    page_.close();
  }

  void use() {
    const bool backwards = random_.oneIn(3);
    const std::string j = backwards ? fmt::format("-{{1}} + {}", terms_ - 1) : "{1}";
    page_.open(terms_);
    const std::string other = flaw_ == 11 ? "y[{0}, 0]" : "3";
    if (flaw_ == 11) page_.line("y[{0}, 0] = 3");
    if (form_ < 2 && random_.oneIn(3)) {
      page_.declare("tmp", fmt::format("t0 {} [~{}, ~{}] @register", dtype_, rows_, terms_));
      const std::string op = form_ == 0 ? "-" : "*";
      page_.line(fmt::format("t0[{{0}}, {{1}}] = x[{{0}}, {}] {} m[{{0}}]", j, op));
      if (form_ == 0) page_.line("t0[{0}, {1}] = exp(t0[{0}, {1}])");
      page_.line("y[{0}, {1}] = t0[{0}, {1}] * " + other);
    } else {
      page_.line("y[{0}, {1}] = e[{0}, " + j + "] * " + other);
    }
    page_.close();
  }

  Random& random_;
  Page page_;
  std::string dtype_;
  std::int64_t rows_ = 1, terms_ = 1, flaw_ = 0, form_ = 0;
};

}  // namespace

const std::vector<std::string>& patternFor(int pattern) {
  static const std::vector<std::vector<std::string>> moves = {
      {"factor_out", "factor_in"}, {"recompute", "reuse"}, {"online_rescale", "two_pass"}};
  return moves[static_cast<std::size_t>(pattern)];
}

std::string patternText(Random& random, int pattern) {
  switch (pattern) {
    case 0:
      return ScaledSum(random).text();
    case 1:
      return Recomputed(random).text();
    default:
      return Streaming(random).text();
  }
}

}  // namespace dojo::proof
