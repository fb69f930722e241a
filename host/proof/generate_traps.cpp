// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/generate_traps.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <sstream>
#include <vector>

#include "base/check.h"
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

struct Trap {
  std::vector<std::string> moves;
  std::string text;
};

/// "for move move" in the first line, or nothing.
Trap read(const std::string& text) {
  if (!text.starts_with("for ")) return {{}, text};
  const std::size_t end = text.find('\n');
  std::istringstream words(text.substr(4, end - 4));
  return {{std::istream_iterator<std::string>(words), {}}, text.substr(end + 1)};
}

const std::vector<Trap>& allTraps() {
  static const std::vector<Trap> all = [] {
    std::vector<Trap> out;
    for (const auto* some : {&trapsOfValues(), &trapsOfNumbers(), &trapsOfFactors(),
                             &trapsOfPadding(), &trapsOfStreams(), &trapsOfInstructions()}) {
      for (const std::string& text : *some) out.push_back(read(text));
    }
    return out;
  }();
  return all;
}

const Trap& trapAt(int trap) {
  DOJO_CHECK(trap < trapCount(), "there is no such trap");
  return allTraps()[static_cast<std::size_t>(trap)];
}

}  // namespace

int trapCount() { return static_cast<int>(allTraps().size()); }

const std::vector<std::string>& trapFor(int trap) { return trapAt(trap).moves; }

std::string trapText(Random& random, int trap) {
  static const std::vector<std::string> types = {"f32", "f32", "f64", "f16"};
  static const std::vector<std::string> places = {"heap", "stack", "register"};
  static const std::vector<std::string> comparisons = {"<", "<=", ">"};
  std::vector<std::string> operators = {"+=", "*=", "max=", "min="};
  random.shuffle(operators);
  const std::int64_t n = random(2, 5), m = random(2, 5);
  const bool wide = random.oneIn(2);
  return "kernel trap\n" +
         replaced(trapAt(trap).text, {{'N', std::to_string(n)},
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
