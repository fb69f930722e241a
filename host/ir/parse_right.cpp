// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/affine.h"
#include "ir/numeric.h"
#include "ir/parse_internal.h"

namespace dojo::ir {

namespace {

/// Operators of one precedence, loosest first; those of a line bind alike, from the left.
const std::vector<std::vector<Op>> kLevels = {
    {Op::bitOr},
    {Op::bitXor},
    {Op::bitAnd},
    {Op::eq, Op::ne},
    {Op::lt, Op::le, Op::gt, Op::ge},
    {Op::shl, Op::shr},
    {Op::add, Op::sub},
    {Op::mul, Op::div},
};
constexpr int kComparisons = 3;  ///< The two levels from here don't chain.
constexpr std::size_t kMaxOperations = 1000;

std::optional<DType> common(std::optional<DType> a, std::optional<DType> b) {
  if (!a || !b) return a ? a : b;
  return commonType(*a, *b);
}

bool isWholeNumber(const std::string& digits) {
  return std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

int Parser::binary(int level) {
  if (static_cast<std::size_t>(level) == kLevels.size()) return unary();
  int left = binary(level + 1);
  for (bool compared = false;;) {
    const Token token = lexer_.peek();
    const auto& ops = kLevels[static_cast<std::size_t>(level)];
    const auto op = std::find_if(ops.begin(), ops.end(),
                                 [&](Op candidate) { return token.is(info(candidate).spelling); });
    if (op == ops.end()) return left;
    if (compared)
      lexer_.fail("parse.syntax", token.offset, "comparisons don't chain; use brackets");
    compared = level == kComparisons || level == kComparisons + 1;
    lexer_.take();
    const int right = binary(level + 1);
    left = operation(*op, {left, right, -1}, token.offset);
  }
}

int Parser::unary() {
  const Token token = lexer_.peek();
  if (token.is("-")) {
    const Nesting nesting(*this);
    lexer_.take();
    return negated(unary(), token.offset);
  }
  if (token.is("~")) {
    const Nesting nesting(*this);
    lexer_.take();
    return operation(Op::bitNot, {unary(), -1, -1}, token.offset);
  }
  return atom();
}

int Parser::negated(int expr, std::size_t offset) {
  if (at(expr).kind != Expr::Kind::literal) return operation(Op::neg, {expr, -1, -1}, offset);
  Literal literal = at(expr).literal;
  literal.negative = !literal.negative;
  return number(std::move(literal));
}

int Parser::atom() {
  const Token token = lexer_.peek();
  if (token.kind == Token::Kind::number || token.is("inf")) {
    lexer_.take();
    return number({std::string(token.text), false, std::nullopt, token.offset});
  }
  if (token.is("{")) {
    Expr expr;
    expr.kind = Expr::Kind::variable;
    expr.offset = token.offset;
    expr.index = Affine::variable(variable());
    expr.natural = DType::i64;
    exprs_.push_back(std::move(expr));
    return static_cast<int>(exprs_.size()) - 1;
  }
  if (token.is("(")) {
    const Nesting nesting(*this);
    lexer_.take();
    const int inner = binary(0);
    lexer_.expect(")", "')'");
    return inner;
  }
  if (const auto id = bufferAtToken()) {
    Expr expr;
    expr.kind = Expr::Kind::element;
    expr.offset = token.offset;
    expr.element = access();
    expr.natural = program_.buffer(*id).dtype;
    exprs_.push_back(std::move(expr));
    return static_cast<int>(exprs_.size()) - 1;
  }
  if (token.kind != Token::Kind::word) {
    lexer_.failExpected("an element, a number, an iteration variable or a function");
  }
  const std::string name(token.text);
  if (const auto param = paramValues_.find(name); param != paramValues_.end()) {
    lexer_.take();
    const std::int64_t value = param->second;
    return number({std::to_string(std::abs(value)), value < 0, std::nullopt, token.offset});
  }
  if (const auto named = constants_.find(name); named != constants_.end()) {
    lexer_.take();
    Literal literal = named->second;
    literal.offset = token.offset;
    return number(std::move(literal));
  }
  return call();
}

int Parser::call() {
  const Nesting nesting(*this);
  const Token name = lexer_.peek();
  const auto& ops = allOps();
  const auto op = std::find_if(ops.begin(), ops.end(), [&](const OpInfo& candidate) {
    return !candidate.infix && name.is(candidate.spelling);
  });
  if (op == ops.end()) {
    lexer_.take();
    if (!lexer_.peek().is("(")) failUnknownName(name);
    std::vector<std::string> names;
    for (const OpInfo& known : ops) {
      if (!known.infix && known.op != Op::copy) names.emplace_back(known.spelling);
    }
    lexer_.fail("parse.unknown-name", name.offset,
                fmt::format("unknown function '{}'{}", name.text, didYouMean(name.text, names)));
  }
  lexer_.take();
  lexer_.expect("(", fmt::format("'(' after {}", op->spelling));
  if (op->op == Op::cast || op->op == Op::satCast) return castCall(op->op, name);
  std::array<int, 3> operands = {-1, -1, -1};
  int count = 0;
  do {
    const int operand = binary(0);
    if (count < op->arity) operands[static_cast<std::size_t>(count)] = operand;
    ++count;
  } while (lexer_.accept(","));
  lexer_.expect(")", "',' or ')'");
  if (count != op->arity) {
    lexer_.fail("parse.syntax", name.offset,
                fmt::format("{} takes {} operand{}, not {}", op->spelling, op->arity,
                            op->arity == 1 ? "" : "s", count));
  }
  return operation(op->op, operands, name.offset);
}

int Parser::castCall(Op op, const Token& name) {
  const int inner = binary(0);
  std::optional<DType> type;
  if (lexer_.accept(",")) type = dtype();
  lexer_.expect(")", "')' or ', DTYPE)'");
  const int made = operation(op, {inner, -1, -1}, name.offset);
  at(made).castTo = type;
  at(made).natural = type;
  return made;
}

int Parser::number(Literal literal) {
  Expr expr;
  expr.offset = literal.offset;
  expr.index = wholeValue(literal);
  expr.literal = std::move(literal);
  exprs_.push_back(std::move(expr));
  return static_cast<int>(exprs_.size()) - 1;
}

int Parser::operation(Op op, std::array<int, 3> operands, std::size_t offset) {
  if (exprs_.size() > kMaxOperations) {
    lexer_.fail("parse.too-long", offset,
                fmt::format("a line has at most {} operations and operands", kMaxOperations));
  }
  Expr expr;
  expr.kind = Expr::Kind::operation;
  expr.offset = offset;
  expr.op = op;
  expr.operands = operands;
  if (info(op).comparison) {
    expr.natural = DType::boolean;
  } else if (op != Op::cast && op != Op::satCast) {
    for (std::size_t i = op == Op::select ? 1 : 0; i < 3 && operands[i] >= 0; ++i) {
      expr.natural = common(expr.natural, at(operands[i]).natural);
    }
  }
  foldIndex(expr);
  exprs_.push_back(std::move(expr));
  return static_cast<int>(exprs_.size()) - 1;
}

/// `{0}*16 + {1}` is one index value. Whole numbers alone, and what would be too large for an
/// index, stay operations in the leaf's dtype.
void Parser::foldIndex(Expr& expr) const {
  const auto value = [&](std::size_t i) -> std::optional<Affine> {
    return expr.operands[i] < 0 ? std::nullopt : at(expr.operands[i]).index;
  };
  const std::optional<Affine> a = value(0);
  if (!a) return;
  if (expr.op == Op::neg) {
    if (!a->isConstant()) expr.index = checkedMultiply(*a, -1);
    return;
  }
  const std::optional<Affine> b = value(1);
  if (!b || (a->isConstant() && b->isConstant())) return;
  if (expr.op == Op::add) {
    expr.index = checkedAdd(*a, *b);
  } else if (expr.op == Op::sub) {
    expr.index = checkedSubtract(*a, *b);
  } else if (expr.op == Op::mul && a->isConstant()) {
    expr.index = checkedMultiply(*b, a->constant());
  } else if (expr.op == Op::mul && b->isConstant()) {
    expr.index = checkedMultiply(*a, b->constant());
  }
}

std::optional<Affine> Parser::wholeValue(const Literal& literal) const {
  if (literal.declared || !isWholeNumber(literal.digits)) return std::nullopt;
  std::int64_t value = 0;
  const char* end = literal.digits.data() + literal.digits.size();
  if (std::from_chars(literal.digits.data(), end, value).ec != std::errc{} || value > kMaxAffine) {
    return std::nullopt;
  }
  return Affine(literal.negative ? -value : value);
}

Constant Parser::constant(const Literal& literal, DType type) const {
  if (literal.declared && *literal.declared != type) {
    Literal plain = literal;
    plain.declared.reset();
    const Constant value = constant(plain, *literal.declared);
    if (const auto* real = std::get_if<double>(&value); real != nullptr && isFloat(type)) {
      return roundTo(type, *real);
    }
    return constant(plain, type);
  }
  return isFloat(type) ? floatConstant(literal, type) : wholeConstant(literal, type);
}

Constant Parser::floatConstant(const Literal& literal, DType type) const {
  double value = std::numeric_limits<double>::infinity();
  if (literal.digits != "inf") {
    const char* begin = literal.digits.c_str();
    const char* end = begin + literal.digits.size();
    if (std::from_chars(begin, end, value).ec == std::errc::result_out_of_range) {
      // Too large or too small: strtod tells which, and gives 0 or the nearest subnormal.
      value = std::strtod(begin, nullptr);
    }
    float narrow = 0;
    if (type == DType::f32 && std::from_chars(begin, end, narrow).ec == std::errc{}) {
      value = static_cast<double>(narrow);  // rounded once
    }
    value = roundTo(type, value);
    if (std::isinf(value)) {
      lexer_.fail("parse.constant", literal.offset,
                  fmt::format("{} is too large for {}", literal.digits, name(type)));
    }
  }
  return literal.negative ? -value : value;
}

Constant Parser::wholeConstant(const Literal& literal, DType type) const {
  const char* begin = literal.digits.data();
  const char* end = begin + literal.digits.size();
  const auto refuse = [&]() {
    lexer_.fail("parse.constant", literal.offset,
                fmt::format("{}{} is no {} value", literal.negative ? "-" : "", literal.digits,
                            name(type)));
  };
  std::uint64_t magnitude = 0;
  if (isWholeNumber(literal.digits)) {
    if (std::from_chars(begin, end, magnitude).ec != std::errc{}) refuse();
  } else {
    double value = 0;
    const bool read =
        literal.digits != "inf" && std::from_chars(begin, end, value).ec == std::errc{};
    if (!read || value >= 0x1p53 || value != std::trunc(value)) refuse();
    magnitude = static_cast<std::uint64_t>(value);
  }
  constexpr auto kHighest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (magnitude > kHighest + (literal.negative ? 1 : 0)) refuse();
  const auto value = static_cast<std::int64_t>(literal.negative ? 0 - magnitude : magnitude);
  if (value < lowest(type) || value > highest(type)) refuse();
  return value;
}

Leaf Parser::leaf(DType type, Assign assign, int expr, const Guard& guard) {
  Leaf made;
  made.assign = assign;
  const Expr& top = at(expr);
  if (assign == Assign::fma) {
    if (top.kind != Expr::Kind::operation || top.op != Op::mul) {
      lexer_.fail("parse.syntax", top.offset, "'fma+=' takes a product, as in c[] fma+= a[] * b[]");
    }
  } else if (top.kind != Expr::Kind::operation || top.isIndexValue() ||
             (top.castTo && *top.castTo != type)) {
    made.operands.push_back(operand(expr, type, guard));
    return made;
  }
  made.op = top.op;
  DType operandType = type;
  const std::array<int, 3> operands = top.operands;
  if (info(made.op).comparison) {
    operandType = common(at(operands[0]).natural, at(operands[1]).natural).value_or(DType::f64);
  } else if (made.op == Op::cast || made.op == Op::satCast) {
    operandType = at(operands[0]).natural.value_or(type);
  }
  for (int i = 0; i < info(made.op).arity; ++i) {
    const bool condition = made.op == Op::select && i == 0;
    made.operands.push_back(operand(operands[static_cast<std::size_t>(i)],
                                    condition ? DType::boolean : operandType, guard));
  }
  return made;
}

Operand Parser::operand(int expr, DType type, const Guard& guard) {
  const Expr& from = at(expr);
  if (from.isIndexValue()) {
    if (!staysInRange(*from.index, ranges_)) {
      lexer_.fail("parse.overflow", from.offset, "this index value is too large");
    }
    return *from.index;
  }
  switch (from.kind) {
    case Expr::Kind::element:
      return from.element;
    case Expr::Kind::literal:
      return constant(from.literal, type);
    default:
      break;
  }
  const DType made = info(from.op).comparison ? DType::boolean : from.castTo.value_or(type);
  Leaf single = leaf(made, Assign::set, expr, guard);
  single.dst = temporary(made, from.offset);
  Access place = single.dst;
  append(std::move(single), guard);
  return place;
}

Access Parser::temporary(DType type, std::size_t offset) {
  Buffer buffer;
  do {
    buffer.name = fmt::format("t{}", fresh_++);
  } while (isDeclared(buffer.name));
  buffer.dtype = type;
  buffer.location = "register";
  Access access;
  access.buffer = static_cast<BufferId>(program_.buffers.size());
  for (std::size_t k = 0; k < depth(); ++k) {
    buffer.dims.push_back({std::max<std::int64_t>(1, ranges_[k].hi), 1, 0});
    access.indices.emplace_back(Affine::variable(static_cast<int>(k)));
  }
  if (!sizeFits(buffer)) {
    lexer_.fail("parse.overflow", offset,
                "this line needs a temporary for each of more than 2^40 iterations");
  }
  program_.buffers.push_back(std::move(buffer));  // without a name in the text
  return access;
}

void Parser::append(Leaf leaf, const Guard& guard) {
  Node node(std::move(leaf));
  node.guard = guard;
  open_.back().body->push_back(std::move(node));
}

}  // namespace dojo::ir
