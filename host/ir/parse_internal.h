// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The recursive-descent parser. Internal to parse*.cpp; use parse.h.
///
/// Fails by throwing ParseFailure at the first error. Each part of the grammar is a method that
/// starts at its first token and ends behind its last:
///   parse.cpp        text, header, declarations
///   parse_index.cpp  whole-number and index expressions, elements, names
///   parse_tree.cpp   lines, scopes, mappings, guards
///   parse_right.cpp  right sides, and splitting them into single operations
///   parse_instruction.cpp  vendors' instructions: declarations and leaves
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/lexer.h"
#include "ir/parse.h"
#include "ir/program.h"
#include "ir/tree.h"

namespace dojo::ir {

/// A number as written; its type is that of the leaf that uses it.
struct Literal {
  std::string digits;  ///< "64", "1e-5", "inf"
  bool negative = false;
  std::optional<DType> declared;  ///< A typed constant has this type first.
  std::size_t offset = 0;
};

/// A right side, as a tree in Parser::exprs_ (positions; -1: none).
struct Expr {
  enum class Kind : std::uint8_t { element, literal, variable, operation };
  Kind kind = Kind::literal;
  std::size_t offset = 0;
  Access element;
  Literal literal;
  Op op = Op::copy;
  std::array<int, 3> operands = {-1, -1, -1};
  std::optional<DType> castTo;  ///< Of `cast(x, f32)`.
  /// The value, where all of the expression is one index value or a whole number.
  std::optional<Affine> index;
  /// The type that it has by itself; none for numbers, which take the type of their surroundings.
  std::optional<DType> natural;

  [[nodiscard]] bool isIndexValue() const { return index && kind != Kind::literal; }
};

class Parser {
 public:
  Parser(std::string_view text, const ParseOptions& options)
      : options_(options), lexer_(text, options.file) {}

  /// The kernel line and all declarations.
  void header();
  /// The tree, after header().
  void tree();
  /// Nothing but one term of a guard.
  GuardTerm guardTermAlone(const std::vector<Interval>& ranges);
  [[nodiscard]] Parsed result();
  /// Parameters that don't follow from others.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& freeParams() const {
    return freeParams_;
  }

 private:
  // parse.cpp
  void skipEmptyLines();
  void endOfLine();
  void paramLine();
  void param();
  void bufferLine(Role role);
  void packing(Buffer& buffer);
  void shares(Buffer& buffer);
  Dim dim();
  std::optional<ValueRange> valueRangeSuffix();
  std::string newName(std::string_view what);
  [[nodiscard]] bool isDeclared(const std::string& name) const;
  DType dtype();
  /// Elements and bytes stay within kMaxElements.
  [[nodiscard]] static bool sizeFits(const Buffer& buffer);
  [[noreturn]] void failSize(const Buffer& buffer, std::size_t offset) const;
  void substituteMainType();
  void refuseUnknownParams() const;

  // parse_index.cpp
  std::int64_t whole(std::string_view what);
  std::int64_t extent();
  Affine affine();
  Affine affineProduct();
  Affine affineAtom();
  Affine bounded(std::optional<Affine> expr, std::size_t offset) const;
  int variable();
  Access access();
  Access affineAccess(std::string_view what);
  Index index();
  [[nodiscard]] std::optional<BufferId> bufferAtToken() const;
  void requireIndexBuffer(BufferId id, std::size_t offset) const;
  [[noreturn]] void failUnknownName(const Token& name) const;

  // parse_tree.cpp
  void line();
  void closeTo(std::size_t depth);
  void scopeLine(Extent extent, std::size_t offset);
  Mapping mapping();
  void mappingWord(Mapping& mapping);
  Guard guard();
  GuardTerm guardTerm();
  void leafLine(Access dst);
  Assign assign();

  // parse_instruction.cpp
  void instructionBlock();
  void instructionLine();
  Access box(const Buffer& operand, const std::string& instruction);
  [[nodiscard]] std::optional<Role> roleAtToken() const;

  // parse_right.cpp
  int binary(int level);
  int unary();
  int atom();
  int call();
  int castCall(Op op, const Token& name);
  int operation(Op op, std::array<int, 3> operands, std::size_t offset);
  int number(Literal literal);
  int negated(int expr, std::size_t offset);
  void foldIndex(Expr& expr) const;
  [[nodiscard]] std::optional<Affine> wholeValue(const Literal& literal) const;
  [[nodiscard]] Constant constant(const Literal& literal, DType type) const;
  [[nodiscard]] Constant floatConstant(const Literal& literal, DType type) const;
  [[nodiscard]] Constant wholeConstant(const Literal& literal, DType type) const;
  /// The leaf that computes `expr` in `type`, its dst still to be set; the operations below it are
  /// appended to the open scope.
  Leaf leaf(DType type, Assign assign, int expr, const Guard& guard);
  Operand operand(int expr, DType type, const Guard& guard);
  Access temporary(DType type, std::size_t offset);
  void append(Leaf leaf, const Guard& guard);

  [[nodiscard]] std::size_t depth() const { return ranges_.size(); }
  [[nodiscard]] Expr& at(int expr) { return exprs_[static_cast<std::size_t>(expr)]; }
  [[nodiscard]] const Expr& at(int expr) const { return exprs_[static_cast<std::size_t>(expr)]; }

  /// Guards against nesting that would exhaust the stack.
  class Nesting {
   public:
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    Parser& parser_;
  };

  const ParseOptions& options_;
  Lexer lexer_;
  Program program_;
  DType mainType_ = DType::f32;
  std::vector<std::pair<std::string, std::int64_t>> params_, freeParams_;
  bool sawParam_ = false;  ///< Since it was last cleared, an expression has mentioned a parameter.
  std::unordered_map<std::string, std::int64_t> paramValues_;
  std::map<std::string, Literal> constants_;
  std::unordered_map<std::string, BufferId> bufferIds_;
  int nesting_ = 0;

  /// An open scope: its children, where its line starts, and the iterations down to it.
  struct Open {
    std::vector<Node>* body;
    std::size_t offset;
    std::int64_t iterations;
  };
  std::vector<Open> open_;        ///< The whole program first.
  std::vector<Interval> ranges_;  ///< Of the variables of the open scopes.
  std::vector<Expr> exprs_;       ///< Of the current line.
  int fresh_ = 0;                 ///< Every tN below is taken.
};

}  // namespace dojo::ir
