// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The program's own checks, as a user starts them.
#include "unit/cli/run_dojo.h"

namespace dojo::test {

TEST_CASE("the math functions stay within what the references allow") {
  const Ran ran = runDojo({"selfcheck", "--math", "--json"});
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  const std::vector<nlohmann::json> rows = jsonLines(ran.out);
  CHECK(rows.size() == 7 * 4);
  for (const nlohmann::json& row : rows) {
    INFO(row.dump());
    REQUIRE(row["worst_ulp"].is_number());
    CHECK(row["worst_ulp"] > 0);
    CHECK(row["worst_ulp"] <= row["allowed_ulp"]);
    CHECK(row["arguments"] >= 65536);
  }
}

TEST_CASE("random moves are counted and judged") {
  const Ran ran = runDojo({"selfcheck", "--moves", "300", "--seed", "5", "--json"});
  INFO(ran.out << ran.err);
  CHECK(ran.code == 0);
  const std::vector<nlohmann::json> rows = jsonLines(ran.out);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["moves"] >= 300);
  CHECK(rows[0]["failures"].empty());
}

}  // namespace dojo::test
