// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A server of embeddings for tests: speaks `POST /v1/embeddings` on a port of this machine that it
// prints, well or in one of the ways that go wrong. A vector is made of its text's bytes.
//
//   embedding_server MODE [LOG]    one line a request in LOG: texts, model, key
//
// Modes: ok; slow (replies after 3 s); gone (ends at the second request); cut (ends within each
// reply); busy (503 twice, then ok); refuse (400 with OpenAI's words); broken (500 with plain
// words); text, object, few, twice, index, null, huge, string, empty (replies that aren't what was
// asked for); wide (other widths from the second request on); other (another model then); key
// (wants "secret").
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/socket.h>
#include <unistd.h>

namespace {

using Json = nlohmann::json;

struct Question {
  std::string path, key, body;
};

struct Answer {
  int status = 200;
  std::string body;
  std::string headers;
  std::size_t kept = 0;  ///< Bytes of the body that aren't sent.
};

/// One request of a connection; nullopt at its end.
std::optional<Question> receive(int connection, std::string& buffer) {
  const auto more = [&] {
    char chunk[4096];
    const ssize_t n = read(connection, chunk, sizeof chunk);
    if (n > 0) buffer.append(chunk, static_cast<std::size_t>(n));
    return n > 0;
  };
  std::size_t head = 0;
  while ((head = buffer.find("\r\n\r\n")) == std::string::npos) {
    if (!more()) return std::nullopt;
  }
  const std::string lines = buffer.substr(0, head + 2);
  const auto header = [&](std::string name) {
    std::string lower = lines;
    std::transform(lower.begin(), lower.end(), lower.begin(), ::tolower);
    name = "\r\n" + name + ": ";
    const std::size_t at = lower.find(name);
    if (at == std::string::npos) return std::string();
    const std::size_t from = at + name.size();
    return lines.substr(from, lines.find("\r\n", from) - from);
  };
  Question out;
  const std::size_t space = lines.find(' ');
  out.path = lines.substr(0, lines.find(' ', space + 1));
  out.key = header("authorization");
  const std::size_t length = std::strtoul(header("content-length").c_str(), nullptr, 10);
  while (buffer.size() < head + 4 + length) {
    if (!more()) return std::nullopt;
  }
  out.body = buffer.substr(head + 4, length);
  buffer.erase(0, head + 4 + length);
  return out;
}

std::vector<double> vectorOf(const std::string& text, std::size_t width) {
  std::vector<double> out(width);
  for (std::size_t k = 0; k < text.size(); ++k) {
    out[k % width] += static_cast<double>(static_cast<unsigned char>(text[k])) / 64 *
                      (1 + static_cast<double>(k / width) / 16);
  }
  return out;
}

class Server {
 public:
  Server(std::string mode, std::FILE* log) : mode_(std::move(mode)), log_(log) {}

  Answer answer(const Question& question) {
    if (mode_ == "slow") sleep(3);
    const std::lock_guard lock(mutex_);
    ++requests_;
    if (question.path != "POST /v1/embeddings") return {404, R"({"error":"no such page"})", "", 0};
    const Json asked = Json::parse(question.body, nullptr, false);
    if (!asked.is_object() || !asked.contains("input") || !asked["input"].is_array()) {
      return {400, R"({"error":{"message":"'input' is missing"}})", "", 0};
    }
    if (log_ != nullptr) {
      fmt::print(log_, "{} {} {}\n", asked["input"].size(), asked.value("model", "-"),
                 question.key);
      std::fflush(log_);
    }
    if (mode_ == "refuse") {
      return {400, R"({"error":{"message":"the input is longer than 512 tokens","code":400}})", "",
              0};
    }
    if (mode_ == "broken") return {500, "out of memory\n", "", 0};
    if (mode_ == "busy" && requests_ <= 2) return {503, "loading", "Retry-After: 1\r\n", 0};
    if (mode_ == "key" && question.key != "Bearer secret") {
      return {401, R"({"error":{"message":"no such key"}})", "", 0};
    }
    if (mode_ == "gone" && requests_ > 1) std::exit(0);
    if (mode_ == "text") return {200, "<html>welcome</html>", "", 0};
    if (mode_ == "object") return {200, R"({"data":{"embedding":[1]}})", "", 0};
    const std::size_t width = mode_ == "wide" && requests_ > 1 ? 9 : 8;
    Json data = Json::array();
    for (const Json& text : asked["input"]) {
      data.push_back({{"object", "embedding"},
                      {"index", data.size()},
                      {"embedding", vectorOf(text.get<std::string>(), width)}});
    }
    spoil(data);
    Json out;
    out["object"] = "list";
    out["model"] = asked.value("model", "test-model");
    if (mode_ == "other" && requests_ > 1) out["model"] = "other-model";
    // Their order isn't promised.
    std::reverse(data.begin(), data.end());
    out["data"] = data;
    std::string body = out.dump();
    if (mode_ == "huge") body.replace(body.find("12345"), 5, "1e39");
    const std::size_t kept = mode_ == "cut" ? body.size() / 2 : 0;
    return {200, std::move(body), "", kept};
  }

 private:
  void spoil(Json& data) const {
    Json& first = data[0];
    if (mode_ == "few") data.erase(data.size() - 1);
    if (mode_ == "index") first["index"] = 7000;
    if (mode_ == "null") first["embedding"][2] = nullptr;
    if (mode_ == "huge") first["embedding"][2] = 12345;
    if (mode_ == "string") first["embedding"] = "AAAAAAAA";
    if (mode_ == "empty") first["embedding"] = Json::array();
    if (mode_ == "twice" && data.size() > 1) data[1] = first;
  }

  std::string mode_;
  std::FILE* log_;
  std::mutex mutex_;
  int requests_ = 0;
};

void send(int connection, const Answer& answer) {
  const std::string all =
      fmt::format("HTTP/1.1 {} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\r\n",
                  answer.status, answer.body.size(), answer.headers) +
      answer.body.substr(0, answer.body.size() - answer.kept);
  std::size_t done = 0;
  while (done < all.size()) {
    // Who doesn't wait any more is no reason to end.
    const ssize_t n = ::send(connection, all.data() + done, all.size() - done, MSG_NOSIGNAL);
    if (n <= 0) return;
    done += static_cast<std::size_t>(n);
  }
}

void serve(Server& server, int connection) {
  std::string buffer;
  while (const std::optional<Question> question = receive(connection, buffer)) {
    const Answer answer = server.answer(*question);
    send(connection, answer);
    if (answer.kept > 0) break;
  }
  close(connection);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      listen(listener, 16) != 0 ||
      getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    std::perror("embedding_server");
    return 1;
  }
  fmt::print("{}\n", ntohs(address.sin_port));
  std::fflush(stdout);
  std::FILE* log = argc > 2 ? std::fopen(argv[2], "a") : nullptr;
  Server server(argv[1], log);
  while (true) {
    const int connection = accept(listener, nullptr, nullptr);
    if (connection >= 0) std::thread([&server, connection] { serve(server, connection); }).detach();
  }
}
