// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The page that dojo report writes.
#include <cctype>

#include "log/log.h"
#include "unit/cli/run_dojo.h"

using namespace dojo;
using dojo::test::Folder;
using dojo::test::jsonLines;
using dojo::test::runDojo;

namespace {

/// What is wrong with the page as XML: elements that aren't closed, attributes without quotes, bare
/// '<', unknown entities. Empty: nothing.
std::string malformed(const std::string& page) {
  static const std::string kDoctype = "<!DOCTYPE html>\n";
  if (page.rfind(kDoctype, 0) != 0) return "no doctype";
  std::vector<std::string> open;
  for (std::size_t at = kDoctype.size(); at < page.size();) {
    if (page[at] == '&') {
      const std::string entity = page.substr(at, page.find(';', at) + 1 - at);
      static const std::vector<std::string> known = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
      if (std::find(known.begin(), known.end(), entity) == known.end()) return "entity " + entity;
      at += entity.size();
      continue;
    }
    if (page[at] != '<') {
      ++at;
      continue;
    }
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    std::string tag = page.substr(at + 1, end - at - 1);
    at = end + 1;
    if (tag.find('<') != std::string::npos) return "'<' in " + tag;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "misplaced </" + tag.substr(1);
      open.pop_back();
      continue;
    }
    const bool closed = tag.back() == '/';
    if (closed) tag.pop_back();
    const std::size_t space = tag.find(' ');
    for (std::size_t k = space; k < tag.size();) {
      const std::size_t equals = tag.find("=\"", k);
      if (equals == std::string::npos) return "attributes of " + tag;
      k = tag.find('"', equals + 2);
      if (k == std::string::npos) return "an attribute without an end in " + tag;
      ++k;
    }
    if (!closed) open.push_back(tag.substr(0, space));
  }
  return open.empty() ? "" : "open at the end: " + open.back();
}

std::string reportOf(const Folder& folder, const std::string& log) {
  const auto ran = runDojo({"report", "--log", log, "--out", folder / "r.html"});
  INFO(ran.err);
  REQUIRE(ran.code == 0);
  std::string page = test::slurp(folder / "r.html");
  CHECK(malformed(page) == "");
  for (const char* word : {"http:", "https:", "src=", "@import", "url(", "<script", "<link"}) {
    INFO(word);
    CHECK(page.find(word) == std::string::npos);
  }
  return page;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) {
    ++out;
  }
  return out;
}

}  // namespace

TEST_CASE("a report of real tunings: curves, roofline, trees, and the row of each figure") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  const auto tuned = runDojo({"tune", "--suite", "--kernels", "softmax:N=16,M=64,add:N=32,M=32",
                              "--trials", "15", "--log", log, "--json"});
  REQUIRE(tuned.code == 0);
  const std::string page = reportOf(folder, log);
  CHECK(page.size() < 100000);
  CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
  CHECK(count(page, "aria-label=\"roofline\"") == 1);
  CHECK(count(page, "aria-label=\"best so far by trials\"") == 2);
  CHECK(count(page, "The winning tree") == 2);
  CHECK(page.find("<p>None.</p>") != std::string::npos);
  for (const auto& one : jsonLines(tuned.out)[0]["kernels"]) {
    // The best of those measured at last; the winner where none ties with it.
    const std::size_t at = page.find(">" + one["kernel"].get<std::string>() + " <span");
    REQUIRE(at != std::string::npos);
    const std::size_t replay = page.find("dojo replay ", at);
    const std::string row = page.substr(replay + 12, page.find(' ', replay + 12) - replay - 12);
    const auto shown = jsonLines(runDojo({"log", "show", row, "--log", log, "--json"}).out)[0];
    CHECK(shown["kernel"] == one["kernel"]);
    CHECK(shown["kind"] == "final");
    CHECK(shown["cycles"].get<double>() <= one["best_cycles"].get<double>());
    std::string line = shown["program"].get<std::string>();
    line = line.substr(0, line.find('\n'));
    CHECK(page.find("<pre>" + line, at) != std::string::npos);
  }
}

TEST_CASE("a report of an empty log says so, one that isn't there is an error") {
  Folder folder;
  const std::string log = folder / "a.sqlite";
  REQUIRE(log::Log::open(log, log::Log::Mode::write).ok());
  CHECK(reportOf(folder, log).find("The log has no trials.") != std::string::npos);
  CHECK(runDojo({"report", "--log", folder / "none", "--out", folder / "x.html"}).code == 1);
  CHECK_FALSE(test::fs::exists(folder / "x.html"));
  CHECK(runDojo({"report", "--log", log, "--out", log}).code == 2);
  CHECK(runDojo({"report", "--log", log, "--out", "/dev/full"}).code == 1);
}

TEST_CASE("what a log says is text, and devices stay apart") {
  Folder folder;
  const std::string path = folder / "a.sqlite";
  const std::string evil = "</pre><script>alert('1 & 2')</script>\"\x01\xff\xed\xa0\x80";
  {
    auto log = log::Log::open(path, log::Log::Mode::write);
    REQUIRE(log.ok());
    for (const std::string isa : {"one", "two"}) {
      log::RunSettings s;
      s.kernel = s.source = s.shape = s.dtype = s.target = s.strategy = evil;
      s.fingerprint = {evil, isa + evil, evil, evil};
      const auto run = log->resume(s);
      REQUIRE(run.ok());
      log::Trial good, bad;
      good.run = bad.run = run->id;
      good.program = good.trace = evil;
      Measurement m;
      m.cycles = isa == "one" ? 1000 : 1e-300;
      good.outcome.result = m;
      bad.index = 1;
      bad.outcome.result = Failure{Stage::run, evil, evil};
      REQUIRE(log->append({good, bad}).ok());
    }
  }
  const std::string page = reportOf(folder, path);
  CHECK(page.find("&lt;script&gt;") != std::string::npos);
  CHECK(page.find('\x01') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
  CHECK(count(page, "<h2>") == 2);
  CHECK(page.find("1.00 k ticks (row 1") != std::string::npos);
}
