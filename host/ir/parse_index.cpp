// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <charconv>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/affine.h"
#include "ir/parse_internal.h"

namespace dojo::ir {

namespace {

std::int64_t floorDivide(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

}  // namespace

std::int64_t Parser::whole(std::string_view what) {
  const std::size_t offset = lexer_.peek().offset;
  const Affine value = affine();
  if (!value.isConstant()) {
    lexer_.fail("parse.variable", offset,
                fmt::format("{} must be a constant, without iteration variables", what));
  }
  return value.constant();
}

std::int64_t Parser::extent() {
  const std::size_t offset = lexer_.peek().offset;
  const std::int64_t value = whole("an extent");
  if (value < 1) {
    lexer_.fail("parse.extent", offset,
                fmt::format("the extent is {}; it must be at least 1", value));
  }
  if (value > kMaxElements) {
    lexer_.fail("parse.overflow", offset,
                fmt::format("the extent {} is too large (more than 2^40)", value));
  }
  return value;
}

Affine Parser::bounded(std::optional<Affine> expr, std::size_t offset) const {
  if (!expr) lexer_.fail("parse.overflow", offset, "this number is too large");
  return *std::move(expr);
}

Affine Parser::affine() {
  const Nesting nesting(*this);
  Affine sum = affineProduct();
  for (;;) {
    const std::size_t offset = lexer_.peek().offset;
    if (lexer_.accept("+")) {
      sum = bounded(checkedAdd(sum, affineProduct()), offset);
    } else if (lexer_.accept("-")) {
      sum = bounded(checkedSubtract(sum, affineProduct()), offset);
    } else {
      return sum;
    }
  }
}

Affine Parser::affineProduct() {
  Affine product = affineAtom();
  for (;;) {
    const std::size_t offset = lexer_.peek().offset;
    if (lexer_.accept("*")) {
      Affine factor = affineAtom();
      if (product.isConstant()) std::swap(product, factor);
      if (!factor.isConstant()) {
        lexer_.fail("parse.affine", offset,
                    "a product of iteration variables is not affine; multiply by a constant");
      }
      product = bounded(checkedMultiply(product, factor.constant()), offset);
    } else if (lexer_.accept("/")) {
      const Affine divisor = affineAtom();
      if (!product.isConstant() || !divisor.isConstant()) {
        lexer_.fail("parse.affine", offset, "only constants can be divided in an index expression");
      }
      if (divisor.constant() == 0) lexer_.fail("parse.division", offset, "division by zero");
      product = floorDivide(product.constant(), divisor.constant());
    } else {
      return product;
    }
  }
}

Affine Parser::affineAtom() {
  bool negative = false;
  const std::size_t offset = lexer_.peek().offset;
  while (lexer_.accept("-")) negative = !negative;
  const Token token = lexer_.peek();
  Affine value;
  if (token.kind == Token::Kind::number) {
    std::int64_t number = 0;
    const char* end = token.text.data() + token.text.size();
    const auto read = std::from_chars(token.text.data(), end, number);
    if (read.ec != std::errc{} || number > kMaxAffine) {
      lexer_.fail("parse.overflow", token.offset, "this number is too large");
    }
    if (read.ptr != end) {
      lexer_.fail("parse.syntax", token.offset,
                  fmt::format("expected a whole number, not '{}'", token.text));
    }
    lexer_.take();
    value = number;
  } else if (token.is("{")) {
    value = Affine::variable(variable());
  } else if (token.is("(")) {
    lexer_.take();
    value = affine();
    lexer_.expect(")", "')'");
  } else if (token.kind == Token::Kind::word) {
    const std::string name(token.text);
    const auto param = paramValues_.find(name);
    if (param == paramValues_.end()) {
      if (bufferIds_.contains(name)) {
        lexer_.fail("parse.gather", token.offset,
                    fmt::format("the element of buffer '{}' can't be part of a larger index or a "
                                "constant; a gather stands alone",
                                name));
      }
      if (constants_.contains(name)) {
        lexer_.fail("parse.unknown-name", token.offset,
                    fmt::format("'{}' is a typed constant; a whole number is needed here", name));
      }
      failUnknownName(token);
    }
    lexer_.take();
    sawParam_ = true;
    value = param->second;
  } else {
    lexer_.failExpected("a whole number, a parameter or an iteration variable");
  }
  return negative ? bounded(checkedMultiply(value, -1), offset) : value;
}

int Parser::variable() {
  const Token brace = lexer_.take();
  const Token token = lexer_.peek();
  if (token.kind != Token::Kind::number) lexer_.failExpected("the depth of a scope, as in {0}");
  int depthOfScope = 0;
  const char* end = token.text.data() + token.text.size();
  const auto read = std::from_chars(token.text.data(), end, depthOfScope);
  if (read.ptr != end || read.ec != std::errc{} ||
      static_cast<std::size_t>(depthOfScope) >= depth()) {
    lexer_.fail(
        "parse.variable", brace.offset,
        depth() == 0
            ? fmt::format("{{{}}} is bound by no scope: this stands outside all scopes", token.text)
            : fmt::format("{{{}}} is bound by no scope: inside {} scope{} there is {{0}}{}",
                          token.text, depth(), depth() == 1 ? "" : "s",
                          depth() == 1 ? "" : fmt::format(" to {{{}}}", depth() - 1)));
  }
  lexer_.take();
  lexer_.expect("}", "'}'");
  return depthOfScope;
}

std::optional<BufferId> Parser::bufferAtToken() const {
  if (lexer_.peek().kind != Token::Kind::word) return std::nullopt;
  const auto found = bufferIds_.find(std::string(lexer_.peek().text));
  return found == bufferIds_.end() ? std::nullopt : std::optional(found->second);
}

Access Parser::access() {
  const Token name = lexer_.peek();
  Access access;
  access.buffer = bufferAtToken().value();
  lexer_.take();
  if (lexer_.accept("[") && !lexer_.accept("]")) {
    do {
      access.indices.push_back(index());
    } while (lexer_.accept(","));
    lexer_.expect("]", "',' or ']'");
  }
  const int rank = program_.buffer(access.buffer).rank();
  if (static_cast<int>(access.indices.size()) != rank) {
    lexer_.fail("parse.rank", name.offset,
                fmt::format("'{}' has {} dim{}, and {} {} given", name.text, rank,
                            rank == 1 ? "" : "s", access.indices.size(),
                            access.indices.size() == 1 ? "index is" : "indices are"));
  }
  return access;
}

Access Parser::affineAccess(std::string_view what) {
  const Token name = lexer_.peek();
  Access element = access();
  requireIndexBuffer(element.buffer, name.offset);
  for (const Index& index : element.indices) {
    if (index.isGather()) {
      lexer_.fail("parse.gather", name.offset, fmt::format("{} can't be a gather itself", what));
    }
  }
  return element;
}

Index Parser::index() {
  const Nesting nesting(*this);
  const Token first = lexer_.peek();
  if (bufferAtToken()) {
    const Access element = affineAccess("the index of a gather");
    if (!lexer_.peek().is(",") && !lexer_.peek().is("]")) {
      lexer_.fail("parse.gather", first.offset,
                  "a gather stands alone as an index; it can't be part of a larger one");
    }
    Index gather;
    gather.gather = element.buffer;
    for (const Index& inner : element.indices) gather.gatherIndices.push_back(inner.affine);
    return gather;
  }
  Affine expr = affine();
  if (!staysInRange(expr, ranges_)) {
    lexer_.fail("parse.overflow", first.offset, "this index takes values that are too large");
  }
  return expr;
}

void Parser::requireIndexBuffer(BufferId id, std::size_t offset) const {
  const Buffer& buffer = program_.buffer(id);
  if (buffer.values) return;
  lexer_.fail("parse.gather", offset,
              fmt::format("'{}' is used as an index, so it must be an integer 'in' buffer that "
                          "declares its values, as in 'in {} i32 [N] in [0, M)'",
                          buffer.name, buffer.name));
}

void Parser::failUnknownName(const Token& name) const {
  std::vector<std::string> known;
  for (const auto& [param, value] : params_) known.push_back(param);
  for (const auto& [constant, literal] : constants_) known.push_back(constant);
  for (const Buffer& buffer : program_.buffers) known.push_back(buffer.name);
  lexer_.fail("parse.unknown-name", name.offset,
              fmt::format("unknown name '{}'{}", name.text, didYouMean(name.text, known)));
}

}  // namespace dojo::ir
