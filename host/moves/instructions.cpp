// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "moves/instructions.h"

#include <algorithm>
#include <numeric>
#include <variant>

#include <fmt/format.h>

#include "ir/instruction.h"
#include "ir/print.h"

namespace dojo::moves {
namespace {

/// Every buffer starts at a multiple of so many bytes.
constexpr std::int64_t kBufferAlign = 64;

Error refuse(std::string message) { return Error{"move.instruction", std::move(message), "", ""}; }

/// Bytes of which the first element's address is known to be a multiple.
std::int64_t alignmentOf(const ir::Buffer& buffer, const ir::Access& box, int depth) {
  const std::int64_t size = ir::sizeBytes(buffer.dtype);
  const std::vector<std::int64_t> strides = buffer.strides();
  std::int64_t out = kBufferAlign;
  for (std::size_t d = 0; d < box.indices.size(); ++d) {
    const ir::Affine& index = box.indices[d].affine;
    if (strides[d] == 0) continue;
    // Of an index modulo n nothing but the distance of its storage is known.
    if (buffer.dims[d].fold > 0) {
      out = std::gcd(out, strides[d] * size);
      continue;
    }
    out = std::gcd(out, index.constant() * strides[d] * size);
    for (const ir::Term& term : index.terms()) {
      if (term.var < depth) out = std::gcd(out, term.coef * strides[d] * size);
    }
  }
  return out;
}

int countInstructions(const std::vector<ir::Node>& body) {
  int out = 0;
  for (const ir::Node& node : body) {
    if (node.instruction >= 0) {
      ++out;
    } else if (node.isScope()) {
      out += countInstructions(node.scope().body);
    }
  }
  return out;
}

bool marked(const ir::Program& program, const ir::Path& path) {
  const ir::Node* node = ir::find(program, path);
  return node != nullptr && node->instruction >= 0;
}

}  // namespace

Result<BoxLayout> layoutOf(const ir::Program& program, const ir::Buffer& operand,
                           const ir::Access& box, int depth) {
  const ir::Buffer& buffer = program.buffer(box.buffer);
  const std::vector<std::int64_t> strides = buffer.strides();
  BoxLayout out;
  out.strides.resize(operand.dims.size());
  for (std::size_t k = 0; k < operand.dims.size(); ++k) {
    if (operand.dims[k].extent == 1) continue;
    for (std::size_t d = 0; d < box.indices.size(); ++d) {
      const std::int64_t coef = box.indices[d].affine.coef(depth + static_cast<int>(k));
      const std::int64_t fold = buffer.dims[d].fold;
      if (coef == 0 || fold == 1) continue;
      if (fold > 1) {
        return refuse(fmt::format("operand {} runs along dim {} of {}, which has storage for {}",
                                  operand.name, d, buffer.name, fold));
      }
      out.strides[k] += coef * strides[d];
    }
  }
  for (std::size_t k = operand.dims.size(); k-- > 0;) {
    if (out.strides[k] == 0) continue;
    if (out.strides[k] != out.run) {
      return refuse(
          fmt::format("elements of operand {} must be neighbours in {}, and along its "
                      "dim {} they are {} apart instead of {}",
                      operand.name, buffer.name, k, out.strides[k], out.run));
    }
    out.run *= operand.dims[k].extent;
  }
  return out;
}

bool isWord(const ir::Buffer& operand, const std::string& constraint) {
  return operand.logicalElements() > 1 && (constraint == "r" || constraint == "f");
}

Status usable(const ir::Program& program, const ir::Instruction& instruction,
              const target::Target& target, const ir::Node& node,
              const std::vector<const ir::Node*>& enclosing) {
  const target::VendorInstruction* vendor = target.instruction(instruction.name);
  if (vendor == nullptr || !(vendor->fragment == instruction)) {
    return refuse(
        fmt::format("target {} has no such instruction {}", target.name, instruction.name));
  }
  constexpr auto kAround =
      static_cast<unsigned>(ir::MapKind::unroll) | static_cast<unsigned>(ir::MapKind::parallel);
  for (const ir::Node* outer : enclosing) {
    if ((outer->scope().mapping.bits & ~kAround) != 0) {
      return refuse(fmt::format("instruction {} can't stand inside {}", instruction.name,
                                ir::printLine(program, *outer)));
    }
  }
  const auto depth = static_cast<int>(enclosing.size());
  const auto boxes = ir::boxesOf(program, instruction, node, depth);
  if (!boxes) {
    return refuse(fmt::format("this isn't what instruction {} does", instruction.name));
  }
  if (const std::string problem = ir::boxesProblem(program, instruction, *boxes, depth);
      !problem.empty()) {
    return refuse(problem);
  }
  for (std::size_t i = 0; i < boxes->size(); ++i) {
    const ir::Buffer& operand = instruction.operands[i];
    const ir::Access& box = (*boxes)[i];
    const ir::Buffer& buffer = program.buffer(box.buffer);
    const std::string& constraint = vendor->constraints[i];
    if (buffer.location == "register") {
      if (constraint == "m") {
        return refuse(fmt::format("operand {} must be in memory, and {} is in registers",
                                  operand.name, buffer.name));
      }
      continue;
    }
    const Result<BoxLayout> layout = layoutOf(program, operand, box, depth);
    if (!layout) return layout.error();
    if (constraint == "m" && layout->run != operand.logicalElements()) {
      return refuse(
          fmt::format("operand {} must lie in memory as it is, and in {} some of it is "
                      "one element",
                      operand.name, buffer.name));
    }
    const std::int64_t bytes = layout->run * ir::sizeBytes(operand.dtype);
    if (isWord(operand, constraint) && alignmentOf(buffer, box, depth) % bytes != 0) {
      return refuse(
          fmt::format("operand {} is a word of {} bytes, and in {} it isn't known to "
                      "start at a multiple of that",
                      operand.name, bytes, buffer.name));
    }
  }
  return {};
}

Status proveInstructions(const ir::Program& before, const Move& move, const ir::Program& after,
                         const target::Target& target) {
  if (before.instructions.empty() && after.instructions.empty()) return {};
  // Two equal ones may become one; else the way back wouldn't know of what is gone.
  const auto isMarked = [&](const Arg& arg) {
    const auto* path = std::get_if<ir::Path>(&arg);
    if (path == nullptr || path->empty()) return false;
    ir::Path next = *path;
    ++next.back();
    return marked(before, *path) || marked(before, next);
  };
  const bool merges = (move.name == "merge_peeled" || move.name == "unpipeline") &&
                      std::none_of(move.args.begin(), move.args.end(), isMarked);
  if (!merges && move.name != "expand_instruction" &&
      countInstructions(after.body) < countInstructions(before.body)) {
    return refuse(
        "this works on what an instruction is made of: expand_instruction takes it apart");
  }
  // Whatever the target has: what is marked is the fragment still.
  if (Status whole = ir::checkInstructions(after); !whole) return refuse(whole.error().message);
  Status out;
  ir::walk(after, [&](const ir::Visit& at) {
    if (at.node->instruction < 0 || !out) return out.ok();
    const ir::Instruction& instruction =
        after.instructions[static_cast<std::size_t>(at.node->instruction)];
    // Elsewhere a program may hold what this target doesn't have.
    if (target.instruction(instruction.name) != nullptr) {
      out = usable(after, instruction, target, *at.node, at.enclosing);
    }
    return false;
  });
  return out;
}

bool insideInstruction(const ir::Program& program, const ir::Path& path) {
  if (program.instructions.empty()) return false;
  ir::Path outer;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    outer.push_back(path[i]);
    if (marked(program, outer)) return true;
  }
  return false;
}

}  // namespace dojo::moves
