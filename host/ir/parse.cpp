// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/parse.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "ir/affine.h"
#include "ir/canonical.h"
#include "ir/parse_internal.h"

namespace dojo::ir {

namespace {

constexpr std::array<std::string_view, 15> kKeywords = {
    "kernel", "param",    "in",  "out", "inout", "tmp", "packed",     "finite",
    "shares", "monotone", "pad", "if",  "and",   "inf", "instruction"};

bool isReserved(std::string_view word) {
  const auto& ops = allOps();
  return std::find(kKeywords.begin(), kKeywords.end(), word) != kKeywords.end() ||
         dtypeFromName(word).has_value() ||
         std::any_of(ops.begin(), ops.end(),
                     [word](const OpInfo& op) { return !op.infix && op.spelling == word; });
}

}  // namespace

std::optional<Role> Parser::roleAtToken() const {
  for (const Role role : {Role::in, Role::out, Role::inout, Role::tmp}) {
    if (lexer_.peek().is(name(role))) return role;
  }
  return std::nullopt;
}

void Parser::skipEmptyLines() {
  while (lexer_.peek().kind == Token::Kind::newline) lexer_.take();
}

void Parser::endOfLine() {
  const Token::Kind kind = lexer_.peek().kind;
  if (kind == Token::Kind::end) return;
  if (kind != Token::Kind::newline) lexer_.failExpected("the end of the line");
  lexer_.take();
}

void Parser::header() {
  skipEmptyLines();
  lexer_.expect("kernel", "'kernel NAME' as the first line");
  if (lexer_.peek().kind != Token::Kind::word) lexer_.failExpected("the kernel's name");
  program_.name = lexer_.take().text;
  endOfLine();
  for (skipEmptyLines();; skipEmptyLines()) {
    if (lexer_.accept("param")) {
      paramLine();
    } else if (const auto role = roleAtToken()) {
      lexer_.take();
      bufferLine(*role);
    } else if (lexer_.accept("instruction")) {
      instructionBlock();
      continue;
    } else {
      break;
    }
    endOfLine();
  }
  refuseUnknownParams();
  substituteMainType();
}

void Parser::paramLine() {
  do {
    param();
  } while (lexer_.accept(","));
}

void Parser::param() {
  const std::size_t offset = lexer_.peek().offset;
  const std::string name = newName("the parameter's name");
  const auto given = options_.params.find(name);
  if (lexer_.peek().kind == Token::Kind::word) {
    Literal literal;
    literal.declared = dtype();
    lexer_.expect("=", "'=' and a value");
    literal.negative = lexer_.accept("-");
    literal.offset = lexer_.peek().offset;
    if (lexer_.peek().kind != Token::Kind::number && !lexer_.peek().is("inf")) {
      lexer_.failExpected("a number");
    }
    literal.digits = lexer_.take().text;
    if (given != options_.params.end()) {
      lexer_.fail("parse.unknown-param", offset,
                  fmt::format("'{}' is a constant, not a parameter that can be given", name));
    }
    static_cast<void>(constant(literal, *literal.declared));
    constants_.emplace(name, std::move(literal));
    return;
  }
  lexer_.expect("=", "'=' and a value");
  sawParam_ = false;
  std::int64_t value = whole("the parameter's value");
  if (given != options_.params.end()) value = given->second;
  if (value > kMaxAffine || value < -kMaxAffine) {
    lexer_.fail("parse.overflow", offset, fmt::format("{} = {} is too large", name, value));
  }
  params_.emplace_back(name, value);
  if (!sawParam_) freeParams_.emplace_back(name, value);
  paramValues_.emplace(name, value);
}

void Parser::bufferLine(Role role) {
  Buffer buffer;
  buffer.role = role;
  const std::size_t offset = lexer_.peek().offset;
  buffer.name = newName("the buffer's name");
  buffer.dtype = dtype();
  lexer_.expect("[", "the dims, as in [N, M] ([] for a scalar)");
  if (!lexer_.accept("]")) {
    do {
      if (buffer.rank() == kMaxRank) {
        lexer_.fail("parse.extent", lexer_.peek().offset,
                    fmt::format("a buffer has at most {} dims", kMaxRank));
      }
      buffer.dims.push_back(dim());
    } while (lexer_.accept(","));
    lexer_.expect("]", "',' or ']'");
  }
  if (!sizeFits(buffer)) failSize(buffer, offset);
  if (lexer_.accept("@")) {
    if (lexer_.peek().kind != Token::Kind::word) lexer_.failExpected("a location, as in @register");
    buffer.location = lexer_.take().text;
  }
  if (const Token& word = lexer_.peek(); word.is("packed")) {
    if (role == Role::tmp) {
      lexer_.fail("parse.role", word.offset, "only arguments are packed: a tmp's layout is free");
    }
    buffer.packed = true;
    lexer_.take();
    packing(buffer);
  }
  if (const Token word = lexer_.peek(); word.is("finite")) {
    if ((role != Role::in && role != Role::inout) || !isFloat(buffer.dtype)) {
      lexer_.fail("parse.role", word.offset,
                  "only arguments of floats that come with values are promised to be finite");
    }
    buffer.finite = true;
    lexer_.take();
  }
  if (const Token word = lexer_.peek(); word.is("in") || word.is("monotone")) {
    buffer.values = valueRangeSuffix();
    if (role != Role::in || !isInteger(buffer.dtype)) {
      lexer_.fail("parse.role", word.offset, "only an 'in' buffer of integers declares its values");
    }
  }
  if (lexer_.accept("shares")) shares(buffer);
  bufferIds_.emplace(buffer.name, static_cast<BufferId>(program_.buffers.size()));
  program_.buffers.push_back(std::move(buffer));
}

void Parser::packing(Buffer& buffer) {
  const std::size_t offset = lexer_.peek().offset;
  if (!lexer_.accept("[")) return;
  do {
    buffer.packing.push_back(whole("the distance of neighbours in the caller's array"));
  } while (lexer_.accept(","));
  lexer_.expect("]", "',' or ']'");
  if (packs(buffer)) return;
  lexer_.fail("parse.extent", offset,
              fmt::format("these distances, one a dim, don't make the dims of '{}' one array "
                          "without gaps",
                          buffer.name));
}

void Parser::shares(Buffer& buffer) {
  const Token token = lexer_.peek();
  const auto fail = [&](const std::string& why) { lexer_.fail("parse.shares", token.offset, why); };
  if (token.kind != Token::Kind::word) lexer_.failExpected("the tmp whose storage is shared");
  const auto found = bufferIds_.find(std::string(token.text));
  if (found == bufferIds_.end()) {
    fail(fmt::format("there is no buffer '{}' above, whose storage '{}' could share", token.text,
                     buffer.name));
  }
  const Buffer& other = program_.buffer(found->second);
  if (buffer.isArgument() || other.isArgument()) {
    fail(fmt::format("only tmps share storage, and '{}' is an argument",
                     buffer.isArgument() ? buffer.name : other.name));
  }
  if (buffer.dtype != other.dtype) {
    fail(fmt::format("'{}' is {} and '{}' {}: only tmps of one dtype share storage", buffer.name,
                     name(buffer.dtype), other.name, name(other.dtype)));
  }
  if (buffer.location != other.location) {
    fail(fmt::format("'{}' is in {} and '{}' in {}: only tmps in one memory share storage",
                     buffer.name, buffer.location, other.name, other.location));
  }
  if (buffer.location == "register") fail("registers are no storage that two tmps could share");
  buffer.shares = program_.storageOf(found->second);
  lexer_.take();
}

Dim Parser::dim() {
  Dim dim;
  if (lexer_.accept("~")) {
    dim.fold = 1;
    dim.extent = extent();
  } else {
    dim.extent = extent();
    if (lexer_.accept("~")) dim.fold = extent();
  }
  const std::size_t offset = lexer_.peek().offset;
  if (lexer_.accept("pad")) {
    dim.pad = whole("the number of unused elements");
    if (dim.pad < 0 || dim.pad > kMaxElements) {
      lexer_.fail("parse.extent", offset, fmt::format("a pad of {} is not possible", dim.pad));
    }
  }
  return dim;
}

std::optional<ValueRange> Parser::valueRangeSuffix() {
  ValueRange range;
  range.monotone = lexer_.accept("monotone");
  lexer_.expect("in", "'in [LO, HI)'");
  const std::size_t offset = lexer_.peek().offset;
  lexer_.expect("[", "'[LO, HI)'");
  range.lo = whole("the smallest value");
  lexer_.expect(",", "',' and the largest value");
  range.hi = whole("the largest value");
  if (lexer_.accept("]")) {
    range.hi += 1;
  } else {
    lexer_.expect(")", "')' or ']'");
  }
  if (range.hi <= range.lo || range.lo < -kMaxElements || range.hi > kMaxElements) {
    lexer_.fail("parse.extent", offset,
                fmt::format("no values are in [{}, {})", range.lo, range.hi));
  }
  return range;
}

std::string Parser::newName(std::string_view what) {
  const Token token = lexer_.peek();
  if (token.kind != Token::Kind::word) lexer_.failExpected(what);
  if (isReserved(token.text)) {
    lexer_.fail("parse.reserved", token.offset,
                fmt::format("'{}' is a word of the language; take another name", token.text));
  }
  std::string name(token.text);
  if (isDeclared(name)) {
    lexer_.fail("parse.duplicate", token.offset, fmt::format("'{}' is already declared", name));
  }
  lexer_.take();
  return name;
}

bool Parser::isDeclared(const std::string& name) const {
  return paramValues_.contains(name) || constants_.contains(name) || bufferIds_.contains(name);
}

DType Parser::dtype() {
  const Token token = lexer_.peek();
  if (token.kind != Token::Kind::word) lexer_.failExpected("a dtype, as f32");
  const std::optional<DType> type = dtypeFromName(token.text);
  if (!type) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(DType::boolean); ++i) {
      names.emplace_back(name(static_cast<DType>(i)));
    }
    lexer_.fail("parse.dtype", token.offset,
                fmt::format("'{}' is no dtype{} There are {}", token.text,
                            nearest(token.text, names) ? didYouMean(token.text, names) : ".",
                            fmt::join(names, " ")));
  }
  lexer_.take();
  return *type;
}

bool Parser::sizeFits(const Buffer& buffer) {
  std::int64_t logical = 1;
  std::int64_t bytes = sizeBytes(buffer.dtype);
  return std::all_of(buffer.dims.begin(), buffer.dims.end(), [&](const Dim& dim) {
    return !__builtin_mul_overflow(logical, dim.extent, &logical) &&
           !__builtin_mul_overflow(bytes, dim.stored() + dim.pad, &bytes) &&
           logical <= kMaxElements && bytes <= kMaxElements;
  });
}

void Parser::failSize(const Buffer& buffer, std::size_t offset) const {
  lexer_.fail("parse.overflow", offset,
              fmt::format("'{}' is too large: more than 2^40 elements or bytes", buffer.name));
}

void Parser::substituteMainType() {
  const Buffer* main = nullptr;
  for (const Role role : {Role::in, Role::out, Role::inout}) {
    for (const Buffer& buffer : program_.buffers) {
      if (buffer.role != role) continue;
      if (main == nullptr || (isFloat(buffer.dtype) && !isFloat(main->dtype))) main = &buffer;
    }
  }
  if (main != nullptr) mainType_ = main->dtype;
  if (!options_.dtype || *options_.dtype == mainType_) return;
  for (Buffer& buffer : program_.buffers) {
    if (buffer.dtype != mainType_) continue;
    if (buffer.values && !isInteger(*options_.dtype)) {
      throw ParseFailure{
          {"parse.dtype",
           fmt::format("'{}' holds indices and can't be {}", buffer.name, name(*options_.dtype)),
           options_.file, ""}};
    }
    buffer.dtype = *options_.dtype;
    buffer.finite = buffer.finite && isFloat(buffer.dtype);  // No integer is anything else.
    if (!sizeFits(buffer)) failSize(buffer, 0);
  }
  for (auto& [name, literal] : constants_) {
    if (literal.declared == mainType_) literal.declared = options_.dtype;
  }
  mainType_ = *options_.dtype;
}

void Parser::refuseUnknownParams() const {
  for (const auto& [given, value] : options_.params) {
    if (paramValues_.contains(given)) continue;
    std::vector<std::string> names;
    for (const auto& [known, unused] : params_) names.push_back(known);
    throw ParseFailure{
        {"parse.unknown-param",
         fmt::format("kernel {} has no parameter '{}' (it has {}){}", program_.name, given,
                     names.empty() ? "none" : fmt::to_string(fmt::join(names, ", ")),
                     didYouMean(given, names)),
         options_.file, ""}};
  }
}

Parser::Nesting::Nesting(Parser& parser) : parser_(parser) {
  constexpr int kMaxNesting = 100;
  if (++parser_.nesting_ > kMaxNesting) {
    const std::size_t offset = parser_.lexer_.peek().offset;
    --parser_.nesting_;  // the destructor of an object whose constructor throws does not run
    parser_.lexer_.fail("parse.depth", offset,
                        fmt::format("brackets nest more than {} deep", kMaxNesting));
  }
}

Parsed Parser::result() {
  canonicalize(program_);
  return {std::move(program_), std::move(params_), mainType_};
}

Result<Parsed> parse(std::string_view text, const ParseOptions& options) {
  try {
    Parser parser(text, options);
    parser.header();
    parser.tree();
    return parser.result();
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

Result<GuardTerm> parseGuardTerm(std::string_view text, const std::vector<Interval>& ranges) {
  const ParseOptions options;
  try {
    return Parser(text, options).guardTermAlone(ranges);
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

Result<std::vector<std::pair<std::string, std::int64_t>>> declaredParams(std::string_view text,
                                                                         const std::string& file) {
  ParseOptions options;
  options.file = file;
  try {
    Parser parser(text, options);
    parser.header();
    return parser.freeParams();
  } catch (const ParseFailure& failure) {
    return failure.error;
  }
}

}  // namespace dojo::ir
