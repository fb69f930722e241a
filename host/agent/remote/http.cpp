// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/remote/http.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include <curl/curl.h>
#include <fmt/format.h>

#include "base/check.h"

namespace dojo::agent {
namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string part(CURLU* url, CURLUPart which) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, 0) != CURLUE_OK) return "";
  std::string out = text;
  curl_free(text);
  return out;
}

struct Reception {
  const HttpLimits* limits;
  std::string body;
  bool tooLong = false;
};

std::size_t receive(char* data, std::size_t /*one*/, std::size_t size, void* to) {
  auto& reception = *static_cast<Reception*>(to);
  if (reception.body.size() + size > reception.limits->bytes) {
    reception.tooLong = true;
    return 0;
  }
  reception.body.append(data, size);
  return size;
}

int goesOn(void* of, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto* interrupted = static_cast<Reception*>(of)->limits->interrupted;
  return interrupted != nullptr && *interrupted ? 1 : 0;
}

bool initialised() {
  static const bool done = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  return done;
}

}  // namespace

Result<std::string> endpointOf(const std::string& text) {
  const auto wrong = [&](const std::string& why) {
    return Error{"embedder.url", why + "; expected one like http://localhost:8080", text, ""};
  };
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return wrong("this isn't a URL");
  }
  const std::string scheme = part(url.get(), CURLUPART_SCHEME);
  if (scheme != "http" && scheme != "https") {
    return wrong("an embedder is reached by http or https, not by '" + scheme + "'");
  }
  std::string path = part(url.get(), CURLUPART_PATH);
  while (path.ends_with('/')) path.pop_back();
  if (!path.ends_with("/embeddings"))
    path += path.ends_with("/v1") ? "/embeddings" : "/v1/embeddings";
  if (curl_url_set(url.get(), CURLUPART_PATH, path.c_str(), 0) != CURLUE_OK) {
    return wrong("this isn't a URL");
  }
  return part(url.get(), CURLUPART_URL);
}

std::string shownUrl(const std::string& endpoint) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, endpoint.c_str(), 0) != CURLUE_OK) return "?";
  curl_url_set(url.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_PASSWORD, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_QUERY, nullptr, 0);
  return part(url.get(), CURLUPART_URL);
}

struct Http::State {
  std::string endpoint;
  CURL* curl = nullptr;
  curl_slist* headers = nullptr;
};

Http::Http(std::string endpoint, const std::string& key) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.endpoint = std::move(endpoint);
  s.curl = initialised() ? curl_easy_init() : nullptr;
  s.headers = curl_slist_append(s.headers, "Content-Type: application/json");
  // Without a question of whether it may be sent: a server that doesn't know that waits a second.
  s.headers = curl_slist_append(s.headers, "Expect:");
  if (!key.empty()) {
    s.headers = curl_slist_append(s.headers, ("Authorization: Bearer " + key).c_str());
  }
}

Http::~Http() {
  curl_slist_free_all(state_->headers);
  curl_easy_cleanup(state_->curl);
}

Result<HttpReply> Http::post(const std::string& json, const HttpLimits& limits) {
  CURL* curl = state_->curl;
  const std::string where = shownUrl(state_->endpoint);
  if (curl == nullptr) return Error{"embedder.option", "libcurl can't be used here", where, ""};
  Reception reception{&limits, {}, false};
  char words[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, state_->endpoint.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, state_->headers);
  curl_easy_setopt(curl, CURLOPT_POST, 1L);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(json.size()));
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json.c_str());
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reception);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, goesOn);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &reception);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   std::max(1L, static_cast<long>(limits.connectSeconds * 1e3)));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max(1L, static_cast<long>(limits.seconds * 1e3)));
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  const std::string why = words[0] != 0 ? words : curl_easy_strerror(code);
  switch (code) {
    case CURLE_OK:
      break;
    case CURLE_ABORTED_BY_CALLBACK:
      return Error{"embedder.stopped", "the embedder isn't waited for any more", where, ""};
    case CURLE_OPERATION_TIMEDOUT: {
      double connected = 0;
      curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME, &connected);
      if (connected <= 0) {
        return Error{
            "embedder.gone",
            fmt::format("the embedder couldn't be reached in {:g} s", limits.connectSeconds), where,
            why};
      }
      return Error{"embedder.slow",
                   fmt::format("the embedder gave no whole reply in {:g} s", limits.seconds), where,
                   why};
    }
    case CURLE_WRITE_ERROR:
      return Error{
          "embedder.reply",
          fmt::format("the reply of the embedder is longer than {} MiB", limits.bytes >> 20U),
          where, ""};
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
      return Error{"embedder.option", "the embedder can't be asked: " + why, where, ""};
    default:
      return Error{"embedder.gone", "the embedder couldn't be asked, or ended meanwhile: " + why,
                   where, ""};
  }
  HttpReply reply;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply.status);
  curl_off_t wait = 0;
  if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait) == CURLE_OK) {
    reply.retryAfter = static_cast<double>(wait);
  }
  reply.body = std::move(reception.body);
  return reply;
}

}  // namespace dojo::agent
