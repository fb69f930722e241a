// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <csignal>
#include <filesystem>

#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/learn/learner.h"
#include "base/text.h"

using namespace dojo;
using namespace dojo::agent;

namespace {

constexpr std::size_t kWidth = 8;

LearnerOptions options() {
  LearnerOptions out;
  out.network = {.width = kWidth, .hidden = 16};
  out.replay = {.capacity = 32};
  out.batch = 8;
  return out;
}

/// Some plays and steps of learning.
void live(Learner& learner, int rounds) {
  for (int k = 0; k < rounds; ++k) {
    Situation here{static_cast<ProgramKey>(1 + k % 5), {}, {}};
    for (ProgramKey key = 1; key <= 6; ++key) here.choices.push_back({key, false});
    here.choices.push_back({here.program, true});
    const std::size_t chosen = learner.explore(here);
    Experience made{here, chosen, {0.1 * static_cast<double>(chosen), std::nullopt}, {}};
    if (k % 2 == 0) made.next = here;
    learner.remember(made);
    REQUIRE(learner.learn().ok());
  }
}

void fillShelf(Shelf& shelf) {
  search::Random random(9);
  for (ProgramKey key = 1; key <= 6; ++key) {
    std::vector<float> row(kWidth);
    for (float& x : row) x = static_cast<float>(normal(random));
    shelf.put(key, row.data());
  }
}

std::string saved(const Learner& learner) {
  Archive archive("test");
  learner.save(archive);
  return archive.write();
}

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("agent-checkpoint-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("agent: a learner that was saved goes on as if nothing had been") {
  Learner through(options());
  fillShelf(through.shelf());
  live(through, 50);  // The replay is full by then and has begun anew.
  const std::string middle = saved(through);
  live(through, 20);

  Learner resumed(options());
  REQUIRE(resumed.load(*Archive::read(middle, "test", "")).ok());
  CHECK(saved(resumed) == middle);
  live(resumed, 20);
  CHECK(saved(resumed) == saved(through));
}

TEST_CASE("agent: checkpoints of another learner are refused") {
  Learner learner(options());
  fillShelf(learner.shelf());
  live(learner, 10);
  const Result<Archive> archive = Archive::read(saved(learner), "test", "");
  LearnerOptions other = options();
  other.network.hidden = 24;
  CHECK(Learner(other).load(*archive).error().code == "agent.shape");
  other = options();
  other.network.width = 16;
  CHECK(Learner(other).load(*archive).error().code == "agent.shape");
  other = options();
  other.replay.capacity = 4;
  CHECK(Learner(other).load(*archive).error().code == "agent.damaged");
}

TEST_CASE("agent: a process killed while it saves leaves a whole checkpoint") {
  const Folder folder;
  const std::string path = (folder.path / "checkpoint").string();
  {
    Learner learner(options());
    fillShelf(learner.shelf());
    live(learner, 10);
    Archive archive("test");
    learner.save(archive);
    REQUIRE(archive.save(path).ok());
  }
  search::Random random(1);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      // Nothing of the test is to run on in the child.
      Learner learner(options());
      Result<Archive> before = Archive::load(path, "test");
      if (!before.ok() || !learner.load(*before).ok()) _exit(1);
      while (true) {
        Archive archive("test");
        learner.save(archive);
        if (!archive.save(path).ok()) _exit(2);
      }
    }
    usleep(static_cast<useconds_t>(2000 + random.below(20000)));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    const Result<Archive> after = Archive::load(path, "test");
    REQUIRE(after.ok());
    CHECK(Learner(options()).load(*after).ok());
  }
}
