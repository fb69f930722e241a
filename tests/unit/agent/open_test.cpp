// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/open.h"

#include <filesystem>

#include <catch2/catch.hpp>

using namespace dojo::agent;

TEST_CASE("agent: what ships opens, is small, and is pinned by all that decides how it plays") {
  const std::string encoder = shippedFile("encoder"), agent = shippedFile("agent");
  REQUIRE_FALSE(encoder.empty());
  REQUIRE_FALSE(agent.empty());
  CHECK(std::filesystem::file_size(encoder) + std::filesystem::file_size(agent) <= 8U << 20);
  const auto opened = openAgent({});
  REQUIRE(opened.ok());
  CHECK(opened->agent->learner().replay().size() == 0);
  CHECK_FALSE(opened->agent->repertoire().openings().empty());
  CHECK(openAgent({})->hash == opened->hash);
  AgentSettings other;
  other.play.successors += 1;
  CHECK(openAgent(other)->hash != opened->hash);
  other = {};
  other.checkpoint = kUntrained;
  CHECK(openAgent(other)->hash != opened->hash);
}

TEST_CASE("agent: files that aren't there, or aren't an agent's, are told") {
  AgentSettings settings;
  settings.checkpoint = "nowhere/agent";
  CHECK(openAgent(settings).error().code == "file.missing");
  settings.checkpoint = shippedFile("encoder");
  CHECK(openAgent(settings).error().code == "agent.kind");
  settings = {};
  settings.weights = shippedFile("agent");
  CHECK(openAgent(settings).error().code == "agent.kind");
}
