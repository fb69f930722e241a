// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/pretrain/pretrain.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "agent/pretrain/facts.h"
#include "agent/store/archive.h"
#include "base/check.h"
#include "ir/print.h"

namespace dojo::agent {
namespace {

constexpr const char* kKind = "pretraining";
constexpr float kSharpness = 10;  ///< Of the choice among programs.
constexpr float kBend = 0.5F;     ///< Beyond it a wrong fact counts in proportion.

/// A token that was hidden, and what it was.
struct Hidden {
  std::size_t line, token;
  TokenId was;
};

/// The places of different lines, each once.
class LineTable {
 public:
  std::size_t add(const std::vector<Token>& line) {
    std::vector<std::pair<TokenId, std::int64_t>> key;
    key.reserve(line.size());
    for (const Token& token : line) key.emplace_back(token.id, token.value);
    const auto [at, added] = known_.try_emplace(std::move(key), lines_.size());
    if (added) lines_.push_back(&line);
    return at->second;
  }
  [[nodiscard]] const std::vector<const std::vector<Token>*>& lines() const { return lines_; }

 private:
  std::map<std::vector<std::pair<TokenId, std::int64_t>>, std::size_t> known_;
  std::vector<const std::vector<Token>*> lines_;
};

std::vector<Hidden> hide(TokenText& text, std::size_t lines, double share, search::Random& random) {
  std::vector<Hidden> out;
  for (std::size_t k = 0; k < lines; ++k) {
    std::vector<Token>& tokens = text.lines[k].tokens;
    for (std::size_t t = 0; t < std::min(tokens.size(), kMostTokens); ++t) {
      if (!random.chance(share)) continue;
      out.push_back({k, t, tokens[t].id});
      // Some are left as they are, so that plain tokens are read with care, too.
      if (!random.chance(0.1)) tokens[t] = {maskToken(), 0};
    }
  }
  return out;
}

}  // namespace

/// The states of all chains as they are, then all of them with hidden tokens.
struct Pretraining::Batch {
  std::vector<TokenText> texts;
  std::vector<Layout> layouts;
  std::vector<Facts> facts;                 ///< Of the first half.
  std::vector<std::vector<Hidden>> hidden;  ///< Of the second half.
};

Pretraining::Pretraining(const EncoderConfig& config, const PretrainOptions& options,
                         const Corpus& corpus)
    : options_(options),
      corpus_(corpus),
      random_(options.seed),
      encoder_(config, random_),
      fill_(addHead("fill", 2 * config.width, config.width, vocabularySize())),
      lineFacts_(addHead("line", config.width, config.width, kLineFacts)),
      programFacts_(addHead("program", config.width, config.width, kProgramFacts)),
      adam_(encoder_.parameters(), options.adam),
      headsAdam_(heads_, options.adam) {}

Pretraining::Head Pretraining::addHead(const std::string& name, std::size_t in, std::size_t hidden,
                                       std::size_t out) {
  const auto spread = [](std::size_t n) { return 1 / std::sqrt(static_cast<double>(n)); };
  return {&heads_.add(name + ".up", in, hidden, spread(in), random_),
          &heads_.addFilled(name + ".up.bias", 1, hidden, 0),
          &heads_.add(name + ".down", hidden, out, 0.3 * spread(hidden), random_),
          &heads_.addFilled(name + ".down.bias", 1, out, 0)};
}

Var Pretraining::apply(Tape& tape, const Head& head, const Var& x) const {
  const Var inner =
      gelu(tape, linear(tape, x, tape.parameter(*head.up), tape.parameter(*head.upBias)));
  return linear(tape, inner, tape.parameter(*head.down), tape.parameter(*head.downBias));
}

Pretraining::Batch Pretraining::draw(search::Random& random) const {
  Batch batch;
  for (std::size_t c = 0; c < options_.chains; ++c) {
    const Chain chain = corpus_.chain(options_.length, random);
    for (std::size_t k = 0; k < chain.states.size(); ++k) {
      // The way there and back leads to the same program, and that is the one to know again.
      const ir::Program& program = k == 0 ? chain.again : chain.states[k];
      Result<TokenText> text = tokenize(ir::print(program));
      DOJO_CHECK(text.ok(), "a printed program can't be read");
      batch.facts.push_back(factsOf(program, *text));
      batch.texts.push_back(*std::move(text));
      batch.layouts.push_back(layoutOf(batch.texts.back()));
    }
  }
  const std::size_t plain = batch.texts.size();
  for (std::size_t p = 0; p < plain; ++p) {
    batch.texts.push_back(batch.texts[p]);
    batch.layouts.push_back(batch.layouts[p]);
    batch.hidden.push_back(
        hide(batch.texts.back(), batch.layouts[p].lines, options_.hidden, random));
  }
  return batch;
}

double Pretraining::rateAt(std::int64_t step) const {
  const auto at = static_cast<double>(step);
  const auto warmup = static_cast<double>(std::max<std::int64_t>(options_.warmup, 1));
  if (at < warmup) return (at + 1) / warmup;
  const double rest = std::max(static_cast<double>(options_.steps) - warmup, 1.0);
  const double done = std::min((at - warmup) / rest, 1.0);
  return 0.55 + 0.45 * std::cos(std::numbers::pi * done);
}

Result<PretrainLosses> Pretraining::step() {
  search::Random random(options_.seed * 0x9e3779b97f4a7c15ULL +
                        static_cast<std::uint64_t>(steps()));
  const Batch batch = draw(random);
  const std::size_t plain = batch.facts.size();
  LineTable table;
  std::vector<std::vector<std::size_t>> rows;
  std::vector<const Layout*> layouts;
  for (std::size_t p = 0; p < batch.texts.size(); ++p) {
    rows.emplace_back();
    for (std::size_t k = 0; k < batch.layouts[p].lines; ++k) {
      rows.back().push_back(table.add(batch.texts[p].lines[k].tokens));
    }
    layouts.push_back(&batch.layouts[p]);
  }
  Tape tape(true);
  const Encoder::Lines lines = encoder_.lines(tape, table.lines());
  const Encoder::Programs made = encoder_.programs(tape, lines.lines, layouts, rows);

  // Hidden tokens, told from their line and from what it stands in.
  std::vector<std::size_t> tokenRows, contextRows, targets;
  for (std::size_t p = plain; p < batch.texts.size(); ++p) {
    for (const Hidden& one : batch.hidden[p - plain]) {
      tokenRows.push_back(lines.groups.starts[rows[p][one.line]] + one.token);
      contextRows.push_back(made.groups.starts[p] + 1 + one.line);
      targets.push_back(one.was);
    }
  }
  // Facts of the lines of plain programs.
  std::vector<std::size_t> factRows;
  std::vector<const float*> factValues, factWeights;
  Matrix programValues(plain, kProgramFacts);
  std::vector<std::size_t> firsts, seconds, own;
  for (std::size_t p = 0; p < plain; ++p) {
    for (std::size_t k = 0; k < batch.layouts[p].lines; ++k) {
      factRows.push_back(made.groups.starts[p] + 1 + k);
      factValues.push_back(batch.facts[p].lines.row(k));
      factWeights.push_back(batch.facts[p].linesWeight.row(k));
    }
    std::copy_n(batch.facts[p].program.data(), kProgramFacts, programValues.row(p));
    firsts.push_back(p);
    seconds.push_back(plain + p);
    own.push_back(p);
  }
  Matrix lineValues(factRows.size(), kLineFacts), lineWeights(factRows.size(), kLineFacts);
  for (std::size_t i = 0; i < factRows.size(); ++i) {
    std::copy_n(factValues[i], kLineFacts, lineValues.row(i));
    std::copy_n(factWeights[i], kLineFacts, lineWeights.row(i));
  }
  const Var lineLoss = huber(tape, apply(tape, lineFacts_, pick(tape, made.rows, factRows)),
                             lineValues, lineWeights, kBend);
  const Var plainRows = pick(tape, made.programs, firsts);
  const Var programLoss = huber(tape, apply(tape, programFacts_, plainRows), programValues,
                                Matrix(plain, kProgramFacts, 1), kBend);
  const Var likeness = products(tape, unitRows(tape, pick(tape, made.programs, seconds)),
                                unitRows(tape, plainRows), kSharpness);
  const Var contrast = crossEntropy(tape, likeness, own);
  std::vector<std::pair<Var, float>> losses = {{lineLoss, options_.lineFacts},
                                               {programLoss, options_.programFacts},
                                               {contrast, options_.contrast}};
  PretrainLosses out;
  const auto right = [](const Var& scores, const std::vector<std::size_t>& wanted) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const float* row = scores.value().row(i);
      if (static_cast<std::size_t>(std::max_element(row, row + scores.cols()) - row) == wanted[i]) {
        ++count;
      }
    }
    return static_cast<double>(count) / static_cast<double>(wanted.size());
  };
  if (!targets.empty()) {
    const Var scores = apply(
        tape, fill_,
        joined(tape, {pick(tape, lines.tokens, tokenRows), pick(tape, made.rows, contextRows)}));
    const Var fill = crossEntropy(tape, scores, targets);
    losses.emplace_back(fill, options_.fill);
    out.fill = fill.value()(0, 0);
    out.filled = right(scores, targets);
  }
  out.lineFacts = lineLoss.value()(0, 0);
  out.programFacts = programLoss.value()(0, 0);
  out.contrast = contrast.value()(0, 0);
  out.known = right(likeness, own);
  const double rate = rateAt(steps());
  tape.backward(weighted(tape, losses));
  if (!std::isfinite(heads_.gradientNorm()) ||
      !std::isfinite(encoder_.parameters().gradientNorm())) {
    heads_.clearGradients();
    encoder_.parameters().clearGradients();
    return Error{"agent.nan",
                 "a gradient of step " + std::to_string(steps()) + " isn't a finite number", "",
                 ""};
  }
  if (Status status = headsAdam_.step(rate); !status.ok()) return status.error();
  if (Status status = adam_.step(rate); !status.ok()) return status.error();
  return out;
}

Status Pretraining::save(const std::string& path) const {
  Archive archive(kKind);
  archive.put("encoder", encoder_.parameters(), Stored::single);
  archive.put("heads", heads_, Stored::single);
  put(archive, "adam", encoder_.parameters(), adam_);
  put(archive, "heads-adam", heads_, headsAdam_);
  return archive.save(path);
}

Status Pretraining::load(const std::string& path) {
  const Result<Archive> archive = Archive::load(path, kKind);
  if (!archive.ok()) return archive.error();
  const auto take = [&]() -> Status {
    if (Status s = archive->get("encoder", encoder_.parameters()); !s.ok()) return s;
    if (Status s = archive->get("heads", heads_); !s.ok()) return s;
    if (Status s = get(*archive, "adam", encoder_.parameters(), adam_); !s.ok()) return s;
    return get(*archive, "heads-adam", heads_, headsAdam_);
  };
  Status status = take();
  if (status.ok()) return {};
  Error error = status.error();
  error.where = path;
  return error;
}

}  // namespace dojo::agent
