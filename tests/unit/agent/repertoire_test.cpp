// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/repertoire.h"

#include <cmath>

#include <catch2/catch.hpp>

#include "agent/play/cost_model.h"
#include "search/random.h"

using namespace dojo;
using namespace dojo::agent;

TEST_CASE("agent: calls of a kind are worth what they brought, shrunk to those of their name") {
  Repertoire repertoire;
  const double before = repertoire.worth("host", "tile 4");
  for (int k = 0; k < 40; ++k) repertoire.saw("host", "tile 8", 1.0);
  for (int k = 0; k < 40; ++k) repertoire.saw("host", "turn", -1.0);
  CHECK(repertoire.worth("host", "tile 8") > 0.85);
  CHECK(repertoire.worth("host", "tile 8") > repertoire.worth("host", "tile 4"));
  CHECK(repertoire.worth("host", "tile 4") > repertoire.worth("host", "fuse"));
  CHECK(repertoire.worth("host", "turn") < before);
  CHECK(repertoire.worth("other", "tile 8") < repertoire.worth("host", "tile 8"));
  CHECK(repertoire.kinds("host", "tile") == std::vector<std::string>{"tile 8"});
}

TEST_CASE("agent: the best openings of each game stay, and those of games alike come first") {
  Repertoire repertoire;
  for (const double reward : {1.0, 3.0, 2.0}) {
    repertoire.keep({"host", "a", {1, 0}, {"tile @0 " + std::to_string(int(reward))}, reward});
  }
  repertoire.keep({"host", "b", {0, 1}, {"fuse @0"}, 0.5});
  repertoire.keep({"other", "a", {1, 0}, {"turn @0"}, 9});
  REQUIRE(repertoire.openings().size() == 4);
  const auto found = repertoire.openings("host", {0.1F, 1});
  REQUIRE(found.size() == 3);
  CHECK(found[0]->game == "b");
  CHECK(found[1]->reward >= 2);

  Archive archive("test");
  repertoire.save(archive);
  Repertoire loaded;
  REQUIRE(loaded.load(*Archive::read(archive.write(), "test", "")).ok());
  CHECK(loaded.openings() == repertoire.openings());
  // Whatever is cut off is noticed.
  const std::string bytes = *archive.bytes("repertoire");
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Archive cut("test");
    cut.put("repertoire", bytes.substr(0, size));
    CHECK(Repertoire().load(cut).error().code == "agent.damaged");
  }
}

TEST_CASE("agent: the model of costs comes near what it learned, and knows what it doesn't know") {
  constexpr std::size_t width = 8;
  search::Random random(1);
  const auto draw = [&] {
    std::vector<float> out;
    for (std::size_t k = 0; k < width; ++k) out.push_back(static_cast<float>(random.real() - 0.5));
    return out;
  };
  const auto truth = [](const std::vector<float>& x) {
    return std::sin(3 * static_cast<double>(x[0])) + static_cast<double>(x[1]);
  };
  CostModel model(width);
  std::vector<std::vector<float>> seen;
  for (int k = 0; k < 150; ++k) {
    seen.push_back(draw());
    // Only directions count: the model normalises what it is given.
    float mean = 0, square = 0;
    for (const float v : seen.back()) mean += v / width;
    for (float& v : seen.back()) v -= mean;
    for (const float v : seen.back()) square += v * v;
    for (float& v : seen.back()) v /= std::sqrt(square);
    CHECK((model.size() >= 8 || model.guess(seen.back().data()).deviation == 0));
    model.add(seen.back().data(), truth(seen.back()));
  }
  double error = 0, spread = 0;
  for (int k = 0; k < 50; ++k) {
    std::vector<float> x = draw();
    float mean = 0, square = 0;
    for (const float v : x) mean += v / width;
    for (float& v : x) v -= mean;
    for (const float v : x) square += v * v;
    for (float& v : x) v /= std::sqrt(square);
    error += std::pow(model.guess(x.data()).mean - truth(x), 2);
    spread += std::pow(truth(x), 2);
  }
  CHECK(error < 0.1 * spread);
  const CostModel::Guess known = model.guess(seen[3].data());
  CHECK(std::abs(known.mean - truth(seen[3])) < 0.15);
  CHECK(known.deviation < model.guess(draw().data()).deviation);
}
