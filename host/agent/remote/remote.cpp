// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/remote/remote.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "agent/remote/http.h"
#include "agent/remote/vector_file.h"
#include "base/clock.h"
#include "base/text.h"

namespace dojo::agent {
namespace {

using Json = nlohmann::json;

/// What is asked for when only the width is to be known.
constexpr const char* kProbe = "8\n| y[{0}] = x[{0}]\n";
constexpr double kLongestWait = 30;
/// Vectors kept in memory: some hundred megabytes.
constexpr std::size_t kMostNumbers = std::size_t{1} << 26;

bool mayHelpLater(const HttpReply& reply) {
  return reply.status == 408 || reply.status == 425 || reply.status == 429 || reply.status >= 500;
}

/// What a server says of its refusal: in OpenAI's form, in those of others, or as it stands.
std::string wordsOf(const HttpReply& reply) {
  const Json json = Json::parse(reply.body, nullptr, false);
  if (json.is_object()) {
    for (const char* key : {"error", "message", "detail"}) {
      const auto at = json.find(key);
      if (at == json.end()) continue;
      if (at->is_string()) return printable(at->get<std::string>(), 400);
      if (at->is_object() && at->contains("message") && (*at)["message"].is_string()) {
        return printable((*at)["message"].get<std::string>(), 400);
      }
    }
  }
  std::string text = printable(reply.body, 200);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0)
    text.pop_back();
  return text;
}

class RemoteEmbedder final : public Embedder {
 public:
  RemoteEmbedder(RemoteOptions options, std::string endpoint, const std::string& key)
      : options_(std::move(options)),
        shown_(shownUrl(endpoint)),
        http_(std::move(endpoint), key),
        file_(options_.cacheFolder.empty()
                  ? ""
                  : options_.cacheFolder + "/" + hex(contentHash(shown_ + "\n" + options_.model)) +
                        ".vectors") {}

  /// Learns the width from the cache, or from the server.
  Status open() {
    if (!options_.cacheFolder.empty()) {
      Result<VectorSpace> space = file_.load(known_);
      if (!space.ok()) return space.error();
      if (space->width > 0 && (space->url != shown_ || space->asked != options_.model)) {
        return Error{"embedder.cache", "the file of embeddings is another server's; remove it",
                     options_.cacheFolder, ""};
      }
      space_ = std::move(space).value();
    }
    if (space_.width > 0) return {};
    space_.url = shown_;
    space_.asked = options_.model;
    return ask({kProbe});
  }

  [[nodiscard]] std::size_t width() const override { return space_.width; }
  [[nodiscard]] std::string identity() const override {
    return fmt::format("model '{}' of width {}", space_.model, space_.width);
  }

  [[nodiscard]] Result<Matrix> embed(const std::vector<std::string>& texts) override {
    if (known_.size() * space_.width > kMostNumbers) known_.clear();
    std::vector<std::string> fresh;
    for (const std::string& text : texts) {
      if (!known_.contains(text)) fresh.push_back(text);
    }
    std::sort(fresh.begin(), fresh.end());
    fresh.erase(std::unique(fresh.begin(), fresh.end()), fresh.end());
    for (std::size_t at = 0; at < fresh.size(); at += options_.batch) {
      const std::size_t end = std::min(fresh.size(), at + options_.batch);
      const std::vector<std::string> batch(fresh.begin() + static_cast<std::ptrdiff_t>(at),
                                           fresh.begin() + static_cast<std::ptrdiff_t>(end));
      if (Status s = ask(batch); !s.ok()) return s.error();
    }
    Matrix out = Matrix::unset(texts.size(), space_.width);
    for (std::size_t k = 0; k < texts.size(); ++k) {
      std::copy_n(known_.at(texts[k]).data(), space_.width, out.row(k));
    }
    return out;
  }

 private:
  [[nodiscard]] Error wrong(const char* code, std::string what) const {
    return {code, std::move(what), shown_, ""};
  }
  [[nodiscard]] bool interrupted() const {
    return options_.interrupted != nullptr && *options_.interrupted;
  }

  /// Waits, but not past an interruption. False where there was one.
  [[nodiscard]] bool wait(double seconds) const {
    Stopwatch watch;
    while (!interrupted() && watch.seconds() < seconds) {
      systemClock().sleep(std::clamp(seconds - watch.seconds(), 0.0, 0.1));
    }
    return !interrupted();
  }

  /// The server's good reply, asked for several times if need be.
  Result<std::string> request(const std::string& json) {
    HttpLimits limits;
    limits.connectSeconds = options_.connectSeconds;
    limits.seconds = options_.seconds;
    limits.interrupted = options_.interrupted;
    double pause = options_.backOff;
    for (int attempt = 1;; ++attempt, pause *= 2) {
      const Result<HttpReply> reply = http_.post(json, limits);
      if (reply.ok() && reply->status >= 200 && reply->status < 300) return reply->body;
      double wanted = pause;
      Error error;
      bool again = false;
      if (reply.ok()) {
        const std::string words = wordsOf(*reply);
        error =
            wrong("embedder.http", fmt::format("the embedder refused with status {}{}{}",
                                               reply->status, words.empty() ? "" : ": ", words));
        again = mayHelpLater(*reply);
        wanted = std::max(wanted, reply->retryAfter);
      } else {
        error = reply.error();
        again = error.code == "embedder.gone" || error.code == "embedder.slow";
      }
      if (!again) return error;
      if (attempt >= options_.attempts) {
        if (attempt > 1) error.message += fmt::format(" (asked {} times)", attempt);
        return error;
      }
      if (!wait(std::min(wanted, kLongestWait))) {
        return wrong("embedder.stopped", "the embedder isn't waited for any more");
      }
    }
  }

  Status ask(const std::vector<std::string>& texts) {
    Json question;
    question["input"] = texts;
    question["encoding_format"] = "float";
    if (!options_.model.empty()) question["model"] = options_.model;
    // What isn't UTF-8 can't be said in JSON.
    const Result<std::string> body =
        request(question.dump(-1, ' ', false, Json::error_handler_t::replace));
    if (!body.ok()) return body.error();
    VectorsByText fresh;
    if (Status s = understand(*body, texts, fresh); !s.ok()) return s;
    if (!options_.cacheFolder.empty()) {
      if (Status s = file_.append(space_, fresh); !s.ok()) return s;
    }
    known_.merge(fresh);
    return {};
  }

  /// Takes the vectors out of a reply, all or none.
  Status understand(const std::string& body, const std::vector<std::string>& texts,
                    VectorsByText& out) {
    const Json json = Json::parse(body, nullptr, false);
    if (json.is_discarded()) {
      return wrong("embedder.reply", "the embedder's reply isn't JSON: " + printable(body, 120));
    }
    if (!json.is_object() || !json.contains("data") || !json["data"].is_array()) {
      return wrong("embedder.reply",
                   "the embedder's reply has no array 'data': " + printable(body, 120));
    }
    const std::string model = json.contains("model") && json["model"].is_string()
                                  ? json["model"].get<std::string>()
                                  : options_.model;
    if (space_.width > 0 && model != space_.model) {
      return wrong("embedder.model",
                   fmt::format("the embedder replies by model '{}', and before it was '{}': their "
                               "embeddings can't be mixed",
                               printable(model, 100), printable(space_.model, 100)));
    }
    const Json& data = json["data"];
    if (data.size() != texts.size()) {
      return wrong("embedder.reply", fmt::format("the embedder gave {} embeddings for {} texts",
                                                 data.size(), texts.size()));
    }
    std::vector<std::vector<float>> rows(texts.size());
    std::size_t width = space_.width;
    for (std::size_t k = 0; k < data.size(); ++k) {
      Result<std::size_t> index = indexOf(data[k], k, rows);
      if (!index.ok()) return index.error();
      Result<std::vector<float>> row = rowOf(data[k], *index);
      if (!row.ok()) return row.error();
      if (width == 0) width = row->size();
      if (row->size() != width) {
        return wrong("embedder.width",
                     fmt::format("the embedder gave {} numbers for a text, and {} before",
                                 row->size(), width));
      }
      rows[*index] = std::move(row).value();
    }
    space_.width = width;
    space_.model = model;
    for (std::size_t k = 0; k < texts.size(); ++k) out.try_emplace(texts[k], std::move(rows[k]));
    return {};
  }

  /// Which text an element is of: as it says, else by its place.
  [[nodiscard]] Result<std::size_t> indexOf(const Json& element, std::size_t place,
                                            const std::vector<std::vector<float>>& rows) const {
    std::size_t index = place;
    if (element.is_object() && element.contains("index")) {
      const Json& told = element["index"];
      if (!told.is_number_unsigned() || told.get<std::uint64_t>() >= rows.size()) {
        return wrong("embedder.reply",
                     "the embedder's reply speaks of a text that it wasn't given: index " +
                         printable(told.dump(-1, ' ', true, Json::error_handler_t::replace), 40));
      }
      index = told.get<std::size_t>();
    }
    if (!rows[index].empty()) {
      return wrong("embedder.reply", fmt::format("the embedder's reply has text {} twice", index));
    }
    return index;
  }

  [[nodiscard]] Result<std::vector<float>> rowOf(const Json& element, std::size_t index) const {
    if (!element.is_object() || !element.contains("embedding") ||
        !element["embedding"].is_array() || element["embedding"].empty()) {
      return wrong("embedder.reply",
                   fmt::format("the embedder gave no array of numbers for text {}", index));
    }
    std::vector<float> row;
    row.reserve(element["embedding"].size());
    for (const Json& number : element["embedding"]) {
      const float value = number.is_number() ? number.get<float>() : std::nanf("");
      if (!std::isfinite(value)) {
        return wrong(
            "embedder.reply",
            fmt::format("the embedder gave {} as number {} of text {}",
                        printable(number.dump(-1, ' ', true, Json::error_handler_t::replace), 40),
                        row.size(), index));
      }
      row.push_back(value);
    }
    return row;
  }

  RemoteOptions options_;
  std::string shown_;
  Http http_;
  VectorFile file_;
  VectorSpace space_;
  VectorsByText known_;
};

}  // namespace

Result<std::unique_ptr<Embedder>> openRemoteEmbedder(const RemoteOptions& options) {
  if (options.batch == 0 || options.attempts < 1 || !(options.seconds > 0) ||
      !(options.connectSeconds > 0) || !(options.backOff >= 0)) {
    return Error{"embedder.option",
                 "an embedder needs batches and attempts of at least one, and times above 0",
                 options.url, ""};
  }
  Result<std::string> endpoint = endpointOf(options.url);
  if (!endpoint.ok()) return endpoint.error();
  std::string key;
  if (const char* value = std::getenv(options.keyVariable.c_str())) key = value;
  if (std::any_of(key.begin(), key.end(), [](unsigned char c) { return c <= ' ' || c > '~'; })) {
    return Error{"embedder.option",
                 fmt::format("the key in ${} has characters that no key has", options.keyVariable),
                 "", ""};
  }
  auto out = std::make_unique<RemoteEmbedder>(options, std::move(endpoint).value(), key);
  if (Status s = out->open(); !s.ok()) return s.error();
  return std::unique_ptr<Embedder>(std::move(out));
}

}  // namespace dojo::agent
