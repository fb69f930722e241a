// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A learner to a file's sections and back.
#include <algorithm>

#include "agent/learn/learner.h"
#include "agent/store/bytes.h"

namespace dojo::agent {
namespace {

constexpr std::size_t kMostChoices = 4096;

void put(std::string& out, const Situation& situation) {
  putNumber(out, situation.program);
  for (const float feature : situation.target) {
    putNumber(out, std::bit_cast<std::uint32_t>(feature));
  }
  putNumber(out, static_cast<std::uint32_t>(situation.choices.size()));
  for (const Choice& choice : situation.choices) {
    putNumber(out, choice.program);
    putNumber(out, static_cast<std::uint8_t>(choice.stop ? 1 : 0));
  }
}

void put(std::string& out, const Experience& experience) {
  put(out, experience.from);
  putNumber(out, static_cast<std::uint32_t>(experience.chosen));
  putNumber(out, static_cast<std::uint32_t>(experience.rewards.size()));
  for (const std::optional<double>& reward : experience.rewards) {
    putNumber(out, static_cast<std::uint8_t>(reward ? 1 : 0));
    putReal(out, reward.value_or(0));
  }
  put(out, experience.next);
}

/// False where the bytes end too soon, or name programs that aren't on the shelf.
bool take(ByteReader& in, const Shelf& shelf, Situation& situation) {
  const auto program = in.number<ProgramKey>();
  if (!program) return false;
  situation.program = *program;
  for (float& feature : situation.target) {
    const auto bits = in.number<std::uint32_t>();
    if (!bits) return false;
    feature = std::bit_cast<float>(*bits);
  }
  const auto count = in.number<std::uint32_t>();
  if (!count || *count > kMostChoices) return false;
  for (std::uint32_t k = 0; k < *count; ++k) {
    const auto key = in.number<ProgramKey>();
    const auto stop = in.number<std::uint8_t>();
    if (!key || !stop || !shelf.has(*key)) return false;
    situation.choices.push_back({*key, *stop != 0});
  }
  return *count == 0 || shelf.has(*program);
}

bool take(ByteReader& in, const Shelf& shelf, Experience& experience) {
  if (!take(in, shelf, experience.from)) return false;
  const auto chosen = in.number<std::uint32_t>();
  const auto rewards = in.number<std::uint32_t>();
  if (!chosen || !rewards || *chosen >= experience.from.choices.size() || *rewards > kMostChoices) {
    return false;
  }
  experience.chosen = *chosen;
  for (std::uint32_t k = 0; k < *rewards; ++k) {
    const auto there = in.number<std::uint8_t>();
    const auto value = in.real();
    if (!there || !value) return false;
    experience.rewards.push_back(*there != 0 ? value : std::nullopt);
  }
  return take(in, shelf, experience.next);
}

/// The programs of all that is remembered, ascending.
std::vector<ProgramKey> spokenOf(const Replay& replay) {
  std::vector<ProgramKey> keys;
  for (std::size_t k = 0; k < replay.size(); ++k) {
    for (const Situation* situation : {&replay.at(k).from, &replay.at(k).next}) {
      if (!situation->choices.empty()) keys.push_back(situation->program);
      for (const Choice& choice : situation->choices) keys.push_back(choice.program);
    }
  }
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

}  // namespace

void Learner::tidy() { shelf_.keep(spokenOf(replay_)); }

void Learner::save(Archive& archive) const {
  archive.put("online", online_.parameters(), Stored::single);
  archive.put("slow", slow_.parameters(), Stored::single);
  agent::put(archive, "adam", online_.parameters(), adam_);
  std::string counters;
  putNumber(counters, static_cast<std::uint64_t>(fresh_));
  putNumber(counters, static_cast<std::uint64_t>(choices_));
  archive.put("counters", counters);

  std::string replay;
  putNumber(replay, static_cast<std::uint64_t>(replay_.draws()));
  putNumber(replay, static_cast<std::uint64_t>(replay_.oldest()));
  putReal(replay, replay_.highest());
  putNumber(replay, static_cast<std::uint64_t>(replay_.size()));
  for (std::size_t k = 0; k < replay_.size(); ++k) {
    const Experience& one = replay_.at(k);
    put(replay, one);
    putReal(replay, replay_.priority(k));
  }
  archive.put("replay", std::move(replay));
  const std::vector<ProgramKey> keys = spokenOf(replay_);
  Matrix rows = Matrix::unset(keys.size(), shelf_.width());
  std::string names;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    putNumber(names, keys[k]);
    std::copy_n(shelf_.get(keys[k]), shelf_.width(), rows.row(k));
  }
  archive.put("shelf-keys", std::move(names));
  archive.put("shelf", rows, Stored::single);
}

void Learner::saveForPlay(Archive& archive) const {
  archive.put("online", online_.parameters(), Stored::half);
  archive.put("slow", slow_.parameters(), Stored::half);
  archive.put("for-play", "");
}

Status Learner::load(const Archive& archive) {
  if (Status s = archive.get("online", online_.parameters()); !s.ok()) return s;
  if (archive.bytes("for-play") != nullptr) return archive.get("slow", slow_.parameters());
  if (Status s = archive.get("slow", slow_.parameters()); !s.ok()) return s;
  if (Status s = get(archive, "adam", online_.parameters(), adam_); !s.ok()) return s;
  const Error damaged{"agent.damaged", "the checkpoint isn't complete", "", ""};
  const std::string* counters = archive.bytes("counters");
  const std::string* replay = archive.bytes("replay");
  const std::string* names = archive.bytes("shelf-keys");
  const Matrix* rows = archive.matrix("shelf");
  if (counters == nullptr || replay == nullptr || names == nullptr || rows == nullptr) {
    return damaged;
  }
  if (rows->cols() != shelf_.width() || names->size() != rows->rows() * sizeof(ProgramKey)) {
    return Error{"agent.shape", "the checkpoint's embeddings have another width", "", ""};
  }
  shelf_ = Shelf(shelf_.width());
  ByteReader keys(*names);
  for (std::size_t k = 0; k < rows->rows(); ++k) {
    shelf_.put(*keys.number<ProgramKey>(), rows->row(k));
  }
  ByteReader in(*replay);
  const auto draws = in.number<std::uint64_t>();
  const auto oldest = in.number<std::uint64_t>();
  const auto highest = in.real();
  const auto count = in.number<std::uint64_t>();
  if (!draws || !oldest || !highest || !count || *count > options_.replay.capacity ||
      *oldest >= options_.replay.capacity) {
    return damaged;
  }
  std::vector<Experience> all;
  std::vector<double> priorities;
  for (std::uint64_t k = 0; k < *count; ++k) {
    Experience one;
    if (!take(in, shelf_, one)) return damaged;
    const auto priority = in.real();
    if (!priority || !(*priority >= 0)) return damaged;
    all.push_back(std::move(one));
    priorities.push_back(*priority);
  }
  ByteReader numbers(*counters);
  const auto fresh = numbers.number<std::uint64_t>();
  const auto choices = numbers.number<std::uint64_t>();
  if (!fresh || !choices) return damaged;
  fresh_ = static_cast<std::int64_t>(*fresh);
  choices_ = static_cast<std::int64_t>(*choices);
  replay_.restore(std::move(all), priorities, *highest, static_cast<std::int64_t>(*draws), *oldest);
  return {};
}

}  // namespace dojo::agent
