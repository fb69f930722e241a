// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "ir/instruction.h"
#include "search/expert_block.h"
#include "search/script.h"

namespace dojo::search {
namespace {

/// Sizes of blocks that are tried, of a size that most results divide by.
constexpr std::int64_t kSizes[] = {1, 2, 3, 4, 5, 6, 7, 8};
constexpr std::int64_t kUnroll = 2;
/// What a block loads, in instructions: the loop's own cost is shared by what is done in it.
constexpr double kStep = 2;

/// True where products of the type that the instruction sums up are summed up at or below `place`.
bool sums(const ir::Program& program, const ir::Path& place,
          const target::VendorInstruction& instruction) {
  const ir::DType type = instruction.fragment.operands.front().dtype;
  const std::vector<ir::Path> leaves = leavesBelow(program, place);
  return std::any_of(leaves.begin(), leaves.end(), [&](const ir::Path& path) {
    const ir::Leaf& leaf = ir::find(program, path)->leaf();
    return leaf.assign == ir::Assign::add && leaf.op == ir::Op::mul &&
           program.buffer(leaf.dst.buffer).dtype == type;
  });
}

}  // namespace

std::vector<moves::Move> instructCalls(const ir::Program& program, const ir::Path& place,
                                       const target::Target& target) {
  std::vector<moves::Move> out;
  for (std::size_t which = 0; which < target.instructions.size(); ++which) {
    const target::VendorInstruction& instruction = target.instructions[which];
    // Vectors do more at once than what works on words.
    if (ir::executionsOf(instruction.fragment) < lanesFor(program, place, target)) continue;
    if (!sums(program, place, instruction)) continue;
    std::vector<std::pair<double, moves::Move>> ranked;
    for (const std::int64_t rows : kSizes) {
      for (const std::int64_t columns : kSizes) {
        const auto r = static_cast<double>(rows), c = static_cast<double>(columns);
        for (const std::int64_t unroll : {std::int64_t{1}, kUnroll}) {
          const double cost = (r + c + kStep / static_cast<double>(unroll)) / (r * c);
          ranked.emplace_back(
              cost, moves::Move{"instruct",
                                {place, static_cast<std::int64_t>(which), rows, columns, unroll}});
        }
      }
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [cost, call] : ranked) out.push_back(std::move(call));
  }
  return out;
}

}  // namespace dojo::search
