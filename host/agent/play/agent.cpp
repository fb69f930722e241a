// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/play/agent.h"

namespace dojo::agent {
namespace {

constexpr const char* kKind = "agent";

LearnerOptions fitted(LearnerOptions options, const Embedder& embedder) {
  options.network.width = embedder.width();
  return options;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

Agent::Agent(std::unique_ptr<Embedder> embedder, LearnerOptions options)
    : embedder_(std::move(embedder)), learner_(fitted(options, *embedder_)) {}

Status Agent::know(const std::vector<std::string>& texts) {
  std::vector<std::string> fresh;
  for (const std::string& text : texts) {
    if (!learner_.shelf().has(keyOf(text))) fresh.push_back(text);
  }
  if (fresh.empty()) return {};
  const Result<Matrix> rows = embedder_->embed(fresh);
  if (!rows.ok()) return rows.error();
  for (std::size_t k = 0; k < fresh.size(); ++k) {
    learner_.shelf().put(keyOf(fresh[k]), rows->row(k));
  }
  return {};
}

Status Agent::save(const std::string& path, const std::map<std::string, std::string>& extra) const {
  Archive archive(kKind);
  archive.put("embedder", embedder_->identity());
  for (const auto& [name, bytes] : extra) archive.put(name, bytes);
  learner_.save(archive);
  repertoire_.save(archive);
  return archive.save(path);
}

Status Agent::saveForPlay(const std::string& path, const std::string& madeBy) const {
  Archive archive(kKind);
  archive.put("embedder", embedder_->identity());
  archive.put("made-by", madeBy);
  learner_.saveForPlay(archive);
  repertoire_.save(archive);
  return archive.save(path);
}

Result<std::vector<std::string>> Agent::load(const std::string& path,
                                             std::map<std::string, std::string>* extra) {
  const Result<Archive> archive = Archive::load(path, kKind);
  if (!archive.ok()) return archive.error();
  const std::string* embedder = archive->bytes("embedder");
  if (embedder == nullptr || *embedder != embedder_->identity()) {
    return Error{"agent.embedder",
                 "the checkpoint was trained on embeddings of '" +
                     (embedder == nullptr ? "?" : *embedder) + "', and these are '" +
                     embedder_->identity() + "'; train again or use the same weights",
                 path, ""};
  }
  if (Status status = learner_.load(*archive); !status.ok()) {
    Error error = status.error();
    error.where = path;
    return error;
  }
  if (Status status = repertoire_.load(*archive); !status.ok()) {
    Error error = status.error();
    error.where = path;
    return error;
  }
  if (extra != nullptr) {
    for (auto& [name, bytes] : *extra) {
      if (const std::string* found = archive->bytes(name)) bytes = *found;
    }
  }
  std::vector<std::string> notes;
  if (const auto added = archive->newMoves(); !added.empty()) {
    notes.push_back("moves that are new since the agent was trained, and that it will learn: " +
                    listed(added));
  }
  if (const auto lost = archive->lostMoves(); !lost.empty()) {
    notes.push_back("moves that the agent was trained with and that are gone: " + listed(lost));
  }
  return notes;
}

}  // namespace dojo::agent
