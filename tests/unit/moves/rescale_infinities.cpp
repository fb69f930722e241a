// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Running maxima and what isn't finite: online_rescale gives what two passes give.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "ir/interpret.h"
#include "ir/parse.h"
#include "moves/move.h"
#include "support/some_target.h"

namespace dojo {

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNaN = std::nanf("");

const std::string kTwoPasses = R"(kernel k
in x f32 [6]
in v f32 [6, 2]
out s f32 []
out y f32 [2]
tmp m f32 []
tmp e f32 [6]

m[] = -inf
s[] = 0
2
| y[{0}] = 0
2
| 3
| | m[] max= x[{0}*3 + {1}]
2
| 3
| | e[{0}*3 + {1}] = x[{0}*3 + {1}] - m[]
| | e[{0}*3 + {1}] = exp(e[{0}*3 + {1}])
| | s[] += e[{0}*3 + {1}]
| | 2
| | | y[{2}] += e[{0}*3 + {1}] * v[{0}*3 + {1}, {2}]
)";

ir::Tensor floats(const std::vector<float>& values) {
  ir::Tensor out{ir::DType::f32, std::vector<std::byte>(values.size() * sizeof(float))};
  std::memcpy(out.bytes.data(), values.data(), out.bytes.size());
  return out;
}

/// s, y[0], y[1].
std::vector<double> sums(const ir::Program& program, const std::vector<float>& x) {
  std::vector<ir::Tensor> arguments;
  arguments.push_back(floats(x));
  arguments.push_back(floats({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  arguments.push_back(floats({0}));
  arguments.push_back(floats({0, 0}));
  const auto result = ir::interpret(program, arguments);
  REQUIRE(result.ok());
  const auto& s = (*result)[2];
  const auto& y = (*result)[3];
  return {ir::loadAsDouble(s, 0), ir::loadAsDouble(y, 0), ir::loadAsDouble(y, 1)};
}

}  // namespace

TEST_CASE("a running maximum treats infinities and NaN as two passes do") {
  const auto parsed = ir::parse(kTwoPasses);
  REQUIRE(parsed.ok());
  const ir::Program& plain = parsed->program;
  const auto streamed =
      moves::apply(plain, test::someTarget(), moves::Move{"online_rescale", {ir::Path{3}}});
  REQUIRE((streamed.ok() ? "" : streamed.error().text()) == std::string());
  const std::vector<std::vector<float>> rows = {
      {1, 2, 3, 4, 5, 6},
      {6, 5, 4, 3, 2, 1},
      {-kInf, -kInf, -kInf, 1, 2, -kInf},
      {-kInf, -kInf, -kInf, -1000, -1001, -1002},
      {-1000, -kInf, -1001, -kInf, -kInf, -kInf},
      {-kInf, -kInf, -kInf, -kInf, -kInf, -kInf},
      {1, 2, 3, kInf, 4, 5},
      {kInf, 2, 3, 1, 4, 5},
      {-kInf, kInf, -kInf, -kInf, -kInf, -kInf},
      {1, kNaN, 3, 4, 5, 6},
      {-kInf, kNaN, -kInf, 4, 5, 6},
      {-kInf, -kInf, -kInf, -kInf, kNaN, -kInf},
      {3e38F, -3e38F, 0, 3.3e38F, 1, 2},
  };
  for (const std::vector<float>& row : rows) {
    const std::vector<double> want = sums(plain, row);
    const std::vector<double> got = sums(*streamed, row);
    for (std::size_t i = 0; i < want.size(); ++i) {
      INFO(row[0] << " " << row[1] << " " << row[2] << " " << row[3] << ": " << want[i] << " "
                  << got[i]);
      CHECK(std::isnan(want[i]) == std::isnan(got[i]));
      if (std::isnan(want[i])) continue;
      CHECK(got[i] == Approx(want[i]).epsilon(1e-6));
    }
  }
}

}  // namespace dojo
