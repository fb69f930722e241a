// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/generate_traps.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "proof/traps.h"

namespace dojo::proof {

namespace {

std::string replaced(std::string text, const std::map<char, std::string>& values) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '$' && i + 1 < text.size()) {
      out += values.at(text[++i]);
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::string trapText(Random& random) {
  static const std::vector<std::string> types = {"f32", "f32", "f64", "f16"};
  static const std::vector<std::string> places = {"heap", "stack", "register"};
  static const std::vector<std::string> comparisons = {"<", "<=", ">"};
  std::vector<std::string> operators = {"+=", "*=", "max=", "min="};
  random.shuffle(operators);
  const std::int64_t n = random(2, 5), m = random(2, 5);
  const bool wide = random.oneIn(2);
  return "kernel trap\n" + replaced(random.of(random.oneIn(2) ? trapsOfValues() : trapsOfNumbers()),
                                    {{'N', std::to_string(n)},
                                     {'M', std::to_string(m)},
                                     {'S', std::to_string(random(1, std::min(n, m) - 1))},
                                     {'T', random.of(types)},
                                     {'W', wide ? "f64" : "f32"},
                                     {'L', wide ? "f32" : "f16"},
                                     {'P', random.of(places)},
                                     {'A', operators[0]},
                                     {'B', operators[1]},
                                     {'C', random.of(comparisons)}});
}

}  // namespace dojo::proof
