// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/check.h"
#include "ir/instruction.h"
#include "ir/numeric.h"

namespace dojo::ir {

namespace {

std::size_t countNodes(const std::vector<Node>& body) {
  std::size_t count = body.size();
  for (const Node& node : body) {
    if (node.isScope() && node.instruction < 0) count += countNodes(node.scope().body);
  }
  return count;
}

/// Declarations, before the blank line and the tree.
std::size_t headerLines(const Program& program) {
  std::size_t lines = 1 + program.buffers.size();
  for (const Instruction& instruction : program.instructions) {
    lines += 1 + instruction.operands.size() + countNodes(instruction.body);
  }
  return lines;
}

template <class T>
std::string shortest(T value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

/// "1e-05" is spelled 1e-5, "1e+20" 1e20.
std::string plainExponent(std::string text) {
  const std::size_t e = text.find('e');
  if (e == std::string::npos) return text;
  const bool negative = text[e + 1] == '-';
  std::size_t digits = e + 2;
  while (digits + 1 < text.size() && text[digits] == '0') ++digits;
  return text.substr(0, e + 1) + (negative ? "-" : "") + text.substr(digits);
}

/// The shortest decimal that rounds to `value` in `type`; the nearest of equally long ones.
std::string shortestDecimal(double value, DType type) {
  std::string exact = plainExponent(shortest(value));
  if (type == DType::f64) return exact;
  for (int digits = 0; digits < 17; ++digits) {
    char text[40];
    const auto end =
        std::to_chars(text, text + sizeof text, value, std::chars_format::scientific, digits).ptr;
    double decimal = 0;
    std::from_chars(text, end, decimal);
    if (roundTo(type, decimal) != value) continue;
    std::string candidate = plainExponent(shortest(decimal));
    return candidate.size() < exact.size() ? candidate : exact;
  }
  return exact;
}

void appendList(std::string& out, const auto& items, const auto& append) {
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ", ";
    first = false;
    append(item);
  }
}

void append(std::string& out, const Affine& expr) {
  bool first = true;
  for (const Term& term : expr.terms()) {
    const bool negative = term.coef < 0;
    if (first) {
      if (negative) out += '-';
    } else {
      out += negative ? " - " : " + ";
    }
    first = false;
    out += '{' + std::to_string(term.var) + '}';
    if (term.coef != 1 && term.coef != -1) {
      out += '*' + std::to_string(negative ? -term.coef : term.coef);
    }
  }
  const std::int64_t constant = expr.constant();
  if (first) {
    out += std::to_string(constant);
  } else if (constant != 0) {
    out += constant < 0 ? " - " : " + ";
    out += std::to_string(constant < 0 ? -constant : constant);
  }
}

void append(std::string& out, const Program& program, const Access& access) {
  out += program.buffer(access.buffer).name;
  out += '[';
  appendList(out, access.indices, [&](const Index& index) {
    if (!index.isGather()) {
      append(out, index.affine);
      return;
    }
    out += program.buffer(index.gather).name;
    out += '[';
    appendList(out, index.gatherIndices, [&](const Affine& inner) { append(out, inner); });
    out += ']';
  });
  out += ']';
}

/// `inside`: beside an infix operator, where an index value of several parts needs brackets.
void append(std::string& out, const Program& program, const Operand& operand, DType type,
            bool inside) {
  if (const auto* access = std::get_if<Access>(&operand)) {
    append(out, program, *access);
  } else if (const auto* value = std::get_if<Affine>(&operand)) {
    const bool single =
        value->terms().size() == 1 && value->terms()[0].coef == 1 && value->constant() == 0;
    const bool brackets = inside && !single;
    if (brackets) out += '(';
    append(out, *value);
    if (brackets) out += ')';
  } else {
    out += printConstant(std::get<Constant>(operand), type);
  }
}

void append(std::string& out, const Program& program, const Leaf& leaf) {
  append(out, program, leaf.dst);
  out += ' ';
  out += spelling(leaf.assign);
  out += ' ';
  const OpInfo& op = info(leaf.op);
  const DType type = computeType(program, leaf);
  if (op.infix) {
    append(out, program, leaf.operands[0], type, true);
    out += ' ';
    out += op.spelling;
    out += ' ';
    append(out, program, leaf.operands[1], type, true);
  } else if (leaf.op == Op::copy) {
    append(out, program, leaf.operands[0], type, false);
  } else {
    out += op.spelling;
    out += '(';
    appendList(out, leaf.operands,
               [&](const Operand& operand) { append(out, program, operand, type, false); });
    out += ')';
  }
}

void append(std::string& out, const Program& program, const Scope& scope) {
  if (scope.extent.range) {
    append(out, program, scope.extent.range->first);
    out += "..";
    append(out, program, scope.extent.range->last);
  } else {
    out += std::to_string(scope.extent.count);
  }
  char separator = ':';
  for (const MapKind kind : allMapKinds()) {
    if (!scope.mapping.has(kind)) continue;
    out += separator;
    separator = '+';
    out += name(kind);
    if (kind != MapKind::stream) continue;
    out += '(';
    appendList(out, scope.mapping.streams, [&](BufferId id) { out += program.buffer(id).name; });
    out += ')';
  }
}

void appendInstruction(std::string& out, const Program& program, const Node& node, int depth) {
  const Instruction& instruction = program.instructions[static_cast<std::size_t>(node.instruction)];
  out += '!' + instruction.name + '(';
  if (const auto boxes = boxesOf(program, instruction, node, depth)) {
    appendList(out, *boxes, [&](const Access& box) { append(out, program, box); });
  }
  out += ')';
}

void appendLine(std::string& out, const Program& program, const Node& node, int depth) {
  if (node.instruction >= 0) {
    appendInstruction(out, program, node, depth);
  } else if (node.isLeaf()) {
    append(out, program, node.leaf());
  } else {
    append(out, program, node.scope());
  }
  std::string_view joint = " if ";
  for (const GuardTerm& term : node.guard) {
    out += joint;
    joint = " and ";
    out += printGuardTerm(term);
  }
}

void appendTree(std::string& out, const Program& program, const std::vector<Node>& body,
                int depth) {
  for (const Node& node : body) {
    for (int i = 0; i < depth; ++i) out += "| ";
    appendLine(out, program, node, depth);
    out += '\n';
    if (node.isScope() && node.instruction < 0) {
      appendTree(out, program, node.scope().body, depth + 1);
    }
  }
}

/// The program that consists of an instruction's fragment.
Program fragmentOf(const Instruction& instruction) {
  Program out;
  out.buffers = instruction.operands;
  out.body = instruction.body;
  return out;
}

}  // namespace

std::string printConstant(const Constant& constant, DType type) {
  if (const auto* whole = std::get_if<std::int64_t>(&constant)) return std::to_string(*whole);
  const double value = std::get<double>(constant);
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  if (std::isnan(value)) return "nan";
  return shortestDecimal(value, isFloat(type) ? type : DType::f64);
}

std::string printAffine(const Affine& expr) {
  std::string out;
  append(out, expr);
  return out;
}

std::string printGuardTerm(const GuardTerm& term) {
  return printAffine(term.expr) + " in [" + std::to_string(term.lo) + ", " +
         std::to_string(term.hi) + ')';
}

std::string printAccess(const Program& program, const Access& access) {
  std::string out;
  append(out, program, access);
  return out;
}

std::string printDeclaration(const Buffer& buffer) {
  std::string out;
  out += name(buffer.role);
  out += ' ' + buffer.name + ' ';
  out += name(buffer.dtype);
  out += " [";
  appendList(out, buffer.dims, [&](const Dim& dim) {
    if (dim.fold == 1) out += '~';
    out += std::to_string(dim.extent);
    if (dim.fold > 1) out += '~' + std::to_string(dim.fold);
    if (dim.pad != 0) out += " pad " + std::to_string(dim.pad);
  });
  out += ']';
  if (buffer.location != "heap") out += " @" + buffer.location;
  if (buffer.packed) out += " packed";
  if (!buffer.packing.empty()) {
    out += " [";
    appendList(out, buffer.packing,
               [&](std::int64_t distance) { out += std::to_string(distance); });
    out += ']';
  }
  if (buffer.finite) out += " finite";
  if (const auto& values = buffer.values) {
    if (values->monotone) out += " monotone";
    out += " in [" + std::to_string(values->lo) + ", ";
    out +=
        values->monotone ? std::to_string(values->hi - 1) + ']' : std::to_string(values->hi) + ')';
  }
  return out;
}

std::string printDeclaration(const Program& program, BufferId id) {
  const Buffer& buffer = program.buffer(id);
  std::string out = printDeclaration(buffer);
  if (buffer.shares >= 0) out += " shares " + program.buffer(buffer.shares).name;
  return out;
}

std::string printLine(const Program& program, const Node& node) {
  std::string out;
  int depth = 0;
  if (node.instruction >= 0) {
    // The first at which it is one: at others its own variables don't fit.
    const Instruction& instruction =
        program.instructions[static_cast<std::size_t>(node.instruction)];
    while (depth < kMaxDepth && !boxesOf(program, instruction, node, depth)) ++depth;
  }
  appendLine(out, program, node, depth);
  return out;
}

std::string print(const Program& program) {
  std::string out = "kernel " + program.name + '\n';
  for (std::size_t id = 0; id < program.buffers.size(); ++id) {
    out += printDeclaration(program, static_cast<BufferId>(id)) + '\n';
  }
  for (const Instruction& instruction : program.instructions) {
    out += printDeclaration(instruction);
  }
  out += '\n';
  appendTree(out, program, program.body, 0);
  return out;
}

std::string printDeclaration(const Instruction& instruction) {
  std::string out = "instruction " + instruction.name + '\n';
  for (const Buffer& operand : instruction.operands) {
    out += "| " + printDeclaration(operand) + '\n';
  }
  std::string tree;
  appendTree(tree, fragmentOf(instruction), instruction.body, 1);
  return out + tree;
}

std::string printWithPlaces(const Program& program) {
  struct Line {
    std::string place, text;
  };
  std::vector<Line> lines;
  std::size_t width = 0;
  walk(program, [&](const Visit& at) {
    Line line{toString(at.path), ""};
    for (std::size_t i = 0; i < at.enclosing.size(); ++i) line.text += "| ";
    appendLine(line.text, program, *at.node, static_cast<int>(at.enclosing.size()));
    width = std::max(width, line.place.size());
    lines.push_back(std::move(line));
    return at.node->instruction < 0;
  });
  std::string out;
  for (const Line& line : lines) {
    out += line.place + std::string(width - line.place.size() + 2, ' ') + line.text + '\n';
  }
  return out;
}

int lineOf(const Program& program, const Path& path) {
  std::size_t line = headerLines(program) + 1;
  const std::vector<Node>* body = &program.body;
  for (const int position : path) {
    DOJO_CHECK(body != nullptr && static_cast<std::size_t>(position) < body->size(),
               "lineOf a place that does not exist: " + toString(path));
    for (int i = 0; i < position; ++i) {
      const Node& before = (*body)[static_cast<std::size_t>(i)];
      const bool inside = before.isScope() && before.instruction < 0;
      line += 1 + (inside ? countNodes(before.scope().body) : 0);
    }
    const Node& at = (*body)[static_cast<std::size_t>(position)];
    line += 1;
    if (at.instruction >= 0) break;
    body = at.isScope() ? &at.scope().body : nullptr;
  }
  return static_cast<int>(line);
}

}  // namespace dojo::ir
