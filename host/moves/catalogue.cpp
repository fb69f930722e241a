// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include "moves/rule.h"

/// Registering a move is a line here; rules/NAME.cpp defines `const Rule& rules::NAME()`.
#define DOJO_RULES(RULE)  \
  RULE(splitScope)        \
  RULE(collapseScopes)    \
  RULE(peelScope)         \
  RULE(mergePeeled)       \
  RULE(swapScopes)        \
  RULE(joinScopes)        \
  RULE(fissionScope)      \
  RULE(swapSiblings)      \
  RULE(addScope)          \
  RULE(dropScope)         \
  RULE(hoist)             \
  RULE(sink)              \
  RULE(liftGuard)         \
  RULE(pushGuard)         \
  RULE(dropGuard)         \
  RULE(addGuard)          \
  RULE(reuseDim)          \
  RULE(materializeDim)    \
  RULE(reorderDims)       \
  RULE(splitDim)          \
  RULE(joinDims)          \
  RULE(padDim)            \
  RULE(dropDim)           \
  RULE(addDim)            \
  RULE(splitBuffer)       \
  RULE(joinBuffers)       \
  RULE(setLocation)       \
  RULE(shareStorage)      \
  RULE(separateStorage)   \
  RULE(cacheRead)         \
  RULE(cacheWrite)        \
  RULE(forwardCopy)       \
  RULE(padCache)          \
  RULE(unpadCache)        \
  RULE(privatize)         \
  RULE(combine)           \
  RULE(contractFma)       \
  RULE(expandFma)         \
  RULE(openUpdate)        \
  RULE(closeUpdate)       \
  RULE(foldInit)          \
  RULE(unfoldInit)        \
  RULE(foldCopy)          \
  RULE(unfoldCopy)        \
  RULE(reciprocal)        \
  RULE(divide)            \
  RULE(factorOut)         \
  RULE(factorIn)          \
  RULE(onlineRescale)     \
  RULE(twoPass)           \
  RULE(recompute)         \
  RULE(reuse)             \
  RULE(biasOperand)       \
  RULE(unbiasOperand)     \
  RULE(useInstruction)    \
  RULE(expandInstruction) \
  RULE(unroll)            \
  RULE(vectorize)         \
  RULE(parallelize)       \
  RULE(stream)            \
  RULE(frep)              \
  RULE(dma)               \
  RULE(unmap)             \
  RULE(pipeline)          \
  RULE(unpipeline)

namespace dojo::moves {

namespace rules {
#define DOJO_DECLARE(name) const Rule& name();
DOJO_RULES(DOJO_DECLARE)
#undef DOJO_DECLARE
}  // namespace rules

const std::vector<const Rule*>& catalogue() {
#define DOJO_LIST(name) &rules::name(),
  static const std::vector<const Rule*> all = {DOJO_RULES(DOJO_LIST)};
#undef DOJO_LIST
  return all;
}

const Rule* findRule(std::string_view name) {
  const auto& all = catalogue();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const Rule* rule) { return rule->info().name == name; });
  return found == all.end() ? nullptr : *found;
}

std::string signature(const RuleInfo& info) {
  std::string out(info.name);
  for (const Parameter& parameter : info.parameters) {
    const std::string name(parameter.name);
    out += parameter.optional ? " [" + name + "]" : " " + name;
  }
  return out;
}

std::string describe(const Rule& rule) {
  const RuleInfo& info = rule.info();
  const auto indented = [](std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (end != 0) out += "      " + std::string(text.substr(0, end));
      out += '\n';
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  };
  std::string out = signature(info) + "\n";
  out += "  " + std::string(info.effect) + "\n";
  out += "  Needs: " + std::string(info.needs) + "\n";
  out += "  Back: " + std::string(info.inverse) + "\n";
  out += "  Example:\n" + indented(info.before);
  out += "    " + std::string(info.move) + "\n" + indented(info.after);
  return out;
}

}  // namespace dojo::moves
