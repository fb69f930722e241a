// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/affine.h"
#include "ir/parse_internal.h"

namespace dojo::ir {

void Parser::tree() {
  open_.push_back({&program_.body, lexer_.peek().offset, 1});
  for (skipEmptyLines(); lexer_.peek().kind != Token::Kind::end; skipEmptyLines()) line();
  closeTo(0);
  if (program_.body.empty()) {
    lexer_.fail(
        "parse.empty", lexer_.peek().offset,
        fmt::format("kernel {} has no tree: expected scopes and operations", program_.name));
  }
}

void Parser::line() {
  const std::size_t start = lexer_.peek().offset;
  std::size_t bars = 0;
  while (lexer_.accept("|")) ++bars;
  if (bars > depth()) {
    lexer_.fail("parse.depth", start,
                fmt::format("this line has {} bar{}, but it can stand inside {} scope{} at most",
                            bars, bars == 1 ? "" : "s", depth(), depth() == 1 ? "" : "s"));
  }
  closeTo(bars);

  const Token first = lexer_.peek();
  if (first.is("!")) {
    instructionLine();
  } else if (bufferAtToken()) {
    Access element = access();
    if (lexer_.accept("..")) {
      for (const Index& index : element.indices) {
        if (index.isGather()) {
          lexer_.fail("parse.gather", first.offset, "an extent can't be a gather");
        }
      }
      requireIndexBuffer(element.buffer, first.offset);
      if (!bufferAtToken()) lexer_.failExpected("the element with the end of the range");
      Extent extent;
      extent.range = {std::move(element), affineAccess("an extent")};
      scopeLine(std::move(extent), first.offset);
    } else {
      leafLine(std::move(element));
    }
  } else if (first.kind == Token::Kind::number || first.is("(") || first.is("-") ||
             paramValues_.contains(std::string(first.text))) {
    scopeLine(extent(), first.offset);
  } else if (first.kind == Token::Kind::word) {
    if (first.is("kernel") || first.is("param") || first.is("in") || first.is("out") ||
        first.is("inout") || first.is("tmp") || first.is("instruction")) {
      lexer_.fail("parse.syntax", first.offset,
                  fmt::format("'{}' declarations stand before the tree", first.text));
    }
    failUnknownName(first);
  } else {
    lexer_.failExpected("a scope (N, 16:vector) or an operation (y[{0}] = ...)");
  }
  endOfLine();
}

void Parser::closeTo(std::size_t depth) {
  while (open_.size() > depth + 1) {
    if (open_.back().body->empty()) {
      lexer_.fail("parse.empty", open_.back().offset,
                  "this scope has no body: expected a line below it with one bar more");
    }
    open_.pop_back();
    ranges_.pop_back();
  }
}

void Parser::scopeLine(Extent extent, std::size_t offset) {
  if (depth() == static_cast<std::size_t>(kMaxDepth)) {
    lexer_.fail("parse.depth", offset, fmt::format("scopes nest more than {} deep", kMaxDepth));
  }
  Scope scope;
  scope.extent = std::move(extent);
  if (lexer_.accept(":")) scope.mapping = mapping();
  Node node(std::move(scope));
  node.guard = guard();

  const Interval range = variableRange(program_, node.scope());
  std::int64_t iterations = open_.back().iterations;
  if (node.scope().extent.isConstant() &&
      (__builtin_mul_overflow(iterations, range.hi, &iterations) || iterations > kMaxElements)) {
    lexer_.fail("parse.overflow", offset, "this scope would run more than 2^40 times in all");
  }
  std::vector<Node>& body = *open_.back().body;
  body.push_back(std::move(node));
  open_.push_back({&body.back().scope().body, offset, iterations});
  ranges_.push_back(range);
}

Mapping Parser::mapping() {
  Mapping mapping;
  do {
    mappingWord(mapping);
  } while (lexer_.accept("+"));
  return mapping;
}

void Parser::mappingWord(Mapping& mapping) {
  const Token word = lexer_.peek();
  if (word.kind != Token::Kind::word) lexer_.failExpected("a mapping, as in 16:vector");
  const auto& kinds = allMapKinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(),
                                 [&](MapKind candidate) { return word.is(name(candidate)); });
  if (kind == kinds.end()) {
    std::vector<std::string> names;
    for (const MapKind known : kinds) names.emplace_back(name(known));
    lexer_.fail("parse.mapping", word.offset,
                fmt::format("unknown mapping '{}' (there are {}){}", word.text,
                            fmt::join(names, ", "), didYouMean(word.text, names)));
  }
  if (mapping.has(*kind)) {
    lexer_.fail("parse.duplicate", word.offset,
                fmt::format("the mapping '{}' is written twice", word.text));
  }
  lexer_.take();
  mapping.bits = static_cast<std::uint16_t>(mapping.bits | static_cast<unsigned>(*kind));
  if (*kind != MapKind::stream) return;
  lexer_.expect("(", "'(' and the names of the streamed buffers");
  do {
    if (const auto id = bufferAtToken()) {
      mapping.streams.push_back(*id);
      lexer_.take();
    } else if (lexer_.peek().kind == Token::Kind::word) {
      failUnknownName(lexer_.peek());
    } else {
      lexer_.failExpected("a buffer's name");
    }
  } while (lexer_.accept(","));
  lexer_.expect(")", "',' or ')'");
}

Guard Parser::guard() {
  Guard guard;
  if (!lexer_.accept("if")) return guard;
  do {
    guard.push_back(guardTerm());
  } while (lexer_.accept("and"));
  return guard;
}

GuardTerm Parser::guardTerm() {
  GuardTerm term;
  const std::size_t offset = lexer_.peek().offset;
  term.expr = affine();
  if (!staysInRange(term.expr, ranges_)) {
    lexer_.fail("parse.overflow", offset, "this guard takes values that are too large");
  }
  lexer_.expect("in", "'in [LO, HI)'");
  lexer_.expect("[", "'[LO, HI)'");
  term.lo = whole("the lower bound");
  lexer_.expect(",", "',' and the upper bound");
  term.hi = whole("the upper bound");
  lexer_.expect(")", "')'");
  return term;
}

GuardTerm Parser::guardTermAlone(const std::vector<Interval>& ranges) {
  ranges_ = ranges;
  GuardTerm term = guardTerm();
  if (lexer_.peek().kind != Token::Kind::end) lexer_.failExpected("the end of the text");
  return term;
}

Assign Parser::assign() {
  for (const Assign plain : {Assign::set, Assign::add, Assign::mul}) {
    if (lexer_.accept(spelling(plain))) return plain;
  }
  for (const Assign named : {Assign::max, Assign::min, Assign::fma}) {
    // "max=" is a word and a symbol.
    const std::string_view text = spelling(named);
    const std::size_t symbol = text.find_first_of("+=");
    if (!lexer_.accept(text.substr(0, symbol))) continue;
    lexer_.expect(text.substr(symbol), fmt::format("'{}'", text));
    return named;
  }
  lexer_.failExpected("'=', '+=', '*=', 'max=', 'min=' or 'fma+='");
}

void Parser::leafLine(Access dst) {
  const Assign how = assign();
  exprs_.clear();
  const int right = binary(0);
  const Guard condition = guard();
  Leaf made = leaf(program_.buffer(dst.buffer).dtype, how, right, condition);
  made.dst = std::move(dst);
  append(std::move(made), condition);
}

}  // namespace dojo::ir
