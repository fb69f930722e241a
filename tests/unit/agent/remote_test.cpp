// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An embedder behind HTTP: a server that does what it should, and those that don't.
#include "agent/remote/remote.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "agent/play/agent.h"
#include "agent/remote/http.h"
#include "base/clock.h"
#include "embedder/process.h"

using namespace dojo;
using namespace dojo::agent;
using dojo::test::EmbeddingServer;

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path = fs::temp_directory_path() / ("agent-remote-" + std::to_string(getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
};

RemoteOptions optionsFor(const EmbeddingServer& server) {
  RemoteOptions out;
  out.url = server.url();
  out.backOff = 0.01;
  return out;
}

/// What is wrong when three texts are asked for.
Error errorOf(const RemoteOptions& options) {
  auto embedder = openRemoteEmbedder(options);
  if (!embedder.ok()) return embedder.error();
  const Result<Matrix> rows = (*embedder)->embed({"one", "two", "three"});
  return rows.ok() ? Error{} : rows.error();
}

Error errorOf(const std::string& mode) {
  const EmbeddingServer server(mode);
  return errorOf(optionsFor(server));
}

std::unique_ptr<Embedder> must(Result<std::unique_ptr<Embedder>> embedder) {
  REQUIRE(embedder.ok());
  return std::move(embedder).value();
}

const std::vector<std::string> kTexts = {"8\n| y[{0}] = 0\n", "b", "c", "b", "d", ""};

}  // namespace

TEST_CASE("remote: vectors come in the order of the texts, each text asked for once") {
  const EmbeddingServer server("ok");
  RemoteOptions options = optionsFor(server);
  options.batch = 2;
  options.model = "some-model";
  auto embedder = openRemoteEmbedder(options);
  REQUIRE(embedder.ok());
  CHECK((*embedder)->width() == 8);
  CHECK((*embedder)->identity() == "model 'some-model' of width 8");
  const Result<Matrix> rows = (*embedder)->embed(kTexts);
  REQUIRE(rows.ok());
  REQUIRE(rows->rows() == 6);
  CHECK((*rows)(1, 0) == Approx('b' / 64.0));
  CHECK((*rows)(2, 0) == Approx('c' / 64.0));
  CHECK((*rows)(3, 0) == (*rows)(1, 0));
  CHECK((*rows)(5, 0) == 0);
  const Result<Matrix> again = (*embedder)->embed({"d", "c"});
  REQUIRE(again.ok());
  CHECK((*again)(0, 0) == Approx('d' / 64.0));
  // One to learn the width, then five texts two by two.
  CHECK(server.requests() == std::vector<std::string>{"1 some-model ", "2 some-model ",
                                                      "2 some-model ", "1 some-model "});
}

TEST_CASE("remote: what a cache has isn't asked for again, with or without the server") {
  const Folder folder;
  EmbeddingServer server("ok");
  RemoteOptions options = optionsFor(server);
  options.cacheFolder = folder.path.string();
  auto first = openRemoteEmbedder(options);
  REQUIRE(first.ok());
  const Result<Matrix> rows = (*first)->embed(kTexts);
  REQUIRE(rows.ok());
  CHECK(server.requests().size() == 2);
  server.end();
  options.attempts = 1;
  auto second = openRemoteEmbedder(options);
  REQUIRE(second.ok());
  CHECK((*second)->identity() == (*first)->identity());
  const Result<Matrix> again = (*second)->embed(kTexts);
  REQUIRE(again.ok());
  CHECK(*again == *rows);
  const Result<Matrix> fresh = (*second)->embed({"never asked for"});
  REQUIRE_FALSE(fresh.ok());
  CHECK(fresh.error().code == "embedder.gone");
}

TEST_CASE(
    "remote: a cache that was cut anywhere gives what is whole, one of something else nothing") {
  const Folder folder;
  const EmbeddingServer server("ok");
  RemoteOptions options = optionsFor(server);
  options.cacheFolder = folder.path.string();
  {
    auto first = openRemoteEmbedder(options);
    REQUIRE(first.ok());
    REQUIRE((*first)->embed({"one"}).ok());
  }
  const fs::path file = *begin(fs::directory_iterator(folder.path));
  std::ifstream in(file, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t size = 0; size < whole.size(); size += 5) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, size);
    auto embedder = openRemoteEmbedder(options);
    REQUIRE(embedder.ok());
    const Result<Matrix> rows = (*embedder)->embed({"one"});
    REQUIRE(rows.ok());
    CHECK((*rows)(0, 0) == Approx('o' / 64.0));
  }
  // What the last of them added is there.
  const std::size_t asked = server.requests().size();
  REQUIRE((*openRemoteEmbedder(options))->embed({"one"}).ok());
  CHECK(server.requests().size() == asked);

  std::string spoiled = whole;
  spoiled[whole.size() - 12] = static_cast<char>(spoiled[whole.size() - 12] ^ 1);
  std::ofstream(file, std::ios::binary) << spoiled;
  REQUIRE((*openRemoteEmbedder(options))->embed({"one"}).ok());
  CHECK(server.requests().size() == asked + 1);
  std::ofstream(file, std::ios::binary) << "something else altogether";
  CHECK(errorOf(options).code == "embedder.cache");
  std::ofstream(file, std::ios::binary) << whole;
  fs::permissions(file, fs::perms::none);
  if (geteuid() != 0) CHECK(errorOf(options).code == "embedder.cache");
  fs::permissions(file, fs::perms::owner_all);
  options.cacheFolder = file.string();  // A file where a folder should be.
  CHECK(errorOf(options).code == "embedder.cache");
}

TEST_CASE("remote: replies that aren't what was asked for") {
  for (const char* mode :
       {"text", "object", "few", "twice", "index", "null", "huge", "string", "empty"}) {
    INFO(mode);
    const Error error = errorOf(mode);
    CHECK(error.code == "embedder.reply");
    CHECK_FALSE(error.message.empty());
  }
  CHECK(errorOf("null").message == "the embedder gave null as number 2 of text 0");
  CHECK(errorOf("few").message == "the embedder gave 0 embeddings for 1 texts");
  CHECK(errorOf("wide").code == "embedder.width");
  CHECK(errorOf("other").code == "embedder.model");
}

TEST_CASE("remote: refusals are told in the server's words, and tried again where that may help") {
  const Error refused = errorOf("refuse");
  CHECK(refused.code == "embedder.http");
  CHECK(refused.message ==
        "the embedder refused with status 400: the input is longer than 512 tokens");
  const Error broken = errorOf("broken");
  CHECK(broken.message == "the embedder refused with status 500: out of memory (asked 4 times)");
  const EmbeddingServer busy("busy");
  const Stopwatch watch;
  CHECK(errorOf(optionsFor(busy)).code.empty());
  CHECK(watch.seconds() > 1.9);  // It asked to be left alone for a second, twice.
  CHECK(busy.requests().size() == 4);
}

TEST_CASE("remote: servers that are slow, end, or aren't there") {
  {
    const EmbeddingServer server("slow");
    RemoteOptions options = optionsFor(server);
    options.seconds = 0.2;
    options.attempts = 2;
    const Error error = errorOf(options);
    CHECK(error.code == "embedder.slow");
    CHECK(error.message == "the embedder gave no whole reply in 0.2 s (asked 2 times)");
    std::atomic<bool> stop = true;
    options.interrupted = &stop;
    options.seconds = 60;
    CHECK(errorOf(options).code == "embedder.stopped");
  }
  CHECK(errorOf("gone").code == "embedder.gone");
  CHECK(errorOf("cut").code == "embedder.gone");
  EmbeddingServer server("ok");
  server.end();
  CHECK(errorOf(optionsFor(server)).code == "embedder.gone");
}

TEST_CASE("remote: a key comes from the environment and is told to nobody else") {
  const EmbeddingServer server("key");
  RemoteOptions options = optionsFor(server);
  options.keyVariable = "DOJO_TEST_EMBEDDER_KEY";
  CHECK(errorOf(options).message == "the embedder refused with status 401: no such key");
  setenv("DOJO_TEST_EMBEDDER_KEY", "secret", 1);
  CHECK(errorOf(options).code.empty());
  setenv("DOJO_TEST_EMBEDDER_KEY", "secret\r\nX: y", 1);
  const Error error = errorOf(options);
  CHECK(error.code == "embedder.option");
  CHECK(error.text().find("secret") == std::string::npos);
  unsetenv("DOJO_TEST_EMBEDDER_KEY");
}

TEST_CASE("remote: addresses") {
  CHECK(*endpointOf("http://here:80") == "http://here:80/v1/embeddings");
  CHECK(*endpointOf("http://here/v1/") == "http://here/v1/embeddings");
  CHECK(*endpointOf("https://here/a/v1/embeddings") == "https://here/a/v1/embeddings");
  for (const char* url :
       {"", "here:8080", "ftp://here", "http://", "file:///etc/passwd", "http://a b"}) {
    INFO(url);
    const Result<std::string> endpoint = endpointOf(url);
    REQUIRE_FALSE(endpoint.ok());
    CHECK(endpoint.error().code == "embedder.url");
  }
  CHECK(shownUrl("http://me:word@here/v1/embeddings") == "http://here/v1/embeddings");
}

TEST_CASE(
    "remote: a learner has the width of the server's vectors, and refuses another's checkpoint") {
  const Folder folder;
  fs::create_directories(folder.path);
  const std::string path = (folder.path / "agent").string();
  const EmbeddingServer server("ok");
  RemoteOptions options = optionsFor(server);
  LearnerOptions learner;
  learner.network.hidden = 16;
  {
    Agent agent(must(openRemoteEmbedder(options)), learner);
    CHECK(agent.learner().options().network.width == 8);
    REQUIRE(agent.know(kTexts).ok());
    REQUIRE(agent.save(path).ok());
  }
  Agent same(must(openRemoteEmbedder(options)), learner);
  CHECK(same.load(path).ok());
  options.model = "another";
  Agent other(must(openRemoteEmbedder(options)), learner);
  const auto loaded = other.load(path);
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().code == "agent.embedder");
}
