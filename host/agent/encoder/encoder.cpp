// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "agent/encoder/encoder.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace dojo::agent {
namespace {

double spread(std::size_t inputs) { return 1 / std::sqrt(static_cast<double>(inputs)); }
constexpr double kEmbedding = 0.3;

}  // namespace

EncoderLayer::EncoderLayer(const std::string& name, const EncoderConfig& config,
                           Parameters& parameters, search::Random& random, bool related) {
  const std::size_t width = config.width, hidden = config.hidden;
  // What a layer adds to its input begins small, so that deep stacks train from the start.
  const double small = 0.5;
  gain1 = &parameters.addFilled(name + ".gain1", 1, width, 1);
  bias1 = &parameters.addFilled(name + ".bias1", 1, width, 0);
  qkv = &parameters.add(name + ".qkv", width, 3 * width, spread(width), random);
  qkvBias = &parameters.addFilled(name + ".qkv.bias", 1, 3 * width, 0);
  out = &parameters.add(name + ".out", width, width, small * spread(width), random);
  outBias = &parameters.addFilled(name + ".out.bias", 1, width, 0);
  gain2 = &parameters.addFilled(name + ".gain2", 1, width, 1);
  bias2 = &parameters.addFilled(name + ".bias2", 1, width, 0);
  up = &parameters.add(name + ".up", width, hidden, spread(width), random);
  upBias = &parameters.addFilled(name + ".up.bias", 1, hidden, 0);
  down = &parameters.add(name + ".down", hidden, width, small * spread(hidden), random);
  downBias = &parameters.addFilled(name + ".down.bias", 1, width, 0);
  if (related) {
    relation = &parameters.add(name + ".relation", kRelations, config.heads, 0.1, random);
  }
}

Var EncoderLayer::apply(Tape& tape, Var x, const Groups& groups, std::size_t heads,
                        const Relations* relations) const {
  auto p = [&](Parameter* one) { return tape.parameter(*one); };
  Var inner = layerNorm(tape, x, p(gain1), p(bias1));
  inner = linear(tape, inner, p(qkv), p(qkvBias));
  inner = relation != nullptr ? attention(tape, inner, groups, heads, *relations, p(relation))
                              : attention(tape, inner, groups, heads);
  x = add(tape, x, linear(tape, inner, p(out), p(outBias)));
  inner = layerNorm(tape, x, p(gain2), p(bias2));
  inner = gelu(tape, linear(tape, inner, p(up), p(upBias)));
  return add(tape, x, linear(tape, inner, p(down), p(downBias)));
}

Encoder::Encoder(const EncoderConfig& config, search::Random& random) : config_(config) {
  const std::size_t width = config.width;
  Parameters& ps = parameters_;
  tokens_ = &ps.add("tokens", vocabularySize(), width, kEmbedding, random);
  positions_ = &ps.add("positions", kMostTokens, width, kEmbedding, random);
  features_ = &ps.add("features", kTokenFeatures, width, kEmbedding, random);
  featureBias_ = &ps.addFilled("features.bias", 1, width, 0);
  for (std::size_t k = 0; k < config.lineLayers; ++k) {
    lineLayers_.emplace_back("line" + std::to_string(k), config, ps, random, false);
  }
  lineGain_ = &ps.addFilled("line.gain", 1, width, 1);
  lineBias_ = &ps.addFilled("line.bias", 1, width, 0);
  program_ = &ps.add("program", 1, width, kEmbedding, random);
  order_ = &ps.add("order", kMostLines, width, kEmbedding, random);
  depths_ = &ps.add("depths", kMostDepth + 1, width, kEmbedding, random);
  kinds_ = &ps.add("kinds", kLineKinds, width, kEmbedding, random);
  for (std::size_t k = 0; k < config.programLayers; ++k) {
    programLayers_.emplace_back("program" + std::to_string(k), config, ps, random, true);
  }
  gain_ = &ps.addFilled("gain", 1, width, 1);
  bias_ = &ps.addFilled("bias", 1, width, 0);
  pool_ = &ps.add("pool", 2 * width, width, spread(2 * width), random);
  poolBias_ = &ps.addFilled("pool.bias", 1, width, 0);
}

Encoder::Lines Encoder::lines(Tape& tape,
                              const std::vector<const std::vector<Token>*>& lines) const {
  Groups groups;
  std::vector<std::size_t> ids, positions;
  for (const std::vector<Token>* line : lines) {
    const std::size_t count = std::min(line->size(), kMostTokens);
    DOJO_CHECK(count > 0, "a line without tokens");
    groups.add(count);
    for (std::size_t k = 0; k < count; ++k) {
      ids.push_back((*line)[k].id);
      positions.push_back(k);
    }
  }
  Matrix features(ids.size(), kTokenFeatures);
  std::size_t row = 0;
  for (const std::vector<Token>* line : lines) {
    for (std::size_t k = 0; k < std::min(line->size(), kMostTokens); ++k) {
      featuresOf((*line)[k], features.row(row++));
    }
  }
  Var x = add(tape, pick(tape, tape.parameter(*tokens_), ids),
              pick(tape, tape.parameter(*positions_), positions));
  x = add(tape, x,
          linear(tape, tape.constant(std::move(features)), tape.parameter(*features_),
                 tape.parameter(*featureBias_)));
  for (const EncoderLayer& layer : lineLayers_) {
    x = layer.apply(tape, x, groups, config_.heads, nullptr);
  }
  Var pooled = layerNorm(tape, meanOf(tape, x, groups), tape.parameter(*lineGain_),
                         tape.parameter(*lineBias_));
  return {x, std::move(groups), pooled};
}

Encoder::Programs Encoder::programs(Tape& tape, const Var& lines,
                                    const std::vector<const Layout*>& layouts,
                                    const std::vector<std::vector<std::size_t>>& lineRows) const {
  DOJO_CHECK(layouts.size() == lineRows.size() && !layouts.empty(), "lines of each program");
  Groups groups;
  Relations relations;
  // Rows of the lines, below which stands the row of programs as such.
  std::vector<std::size_t> rows, order, depths, kinds, own;
  for (std::size_t p = 0; p < layouts.size(); ++p) {
    const Layout& layout = *layouts[p];
    DOJO_CHECK(lineRows[p].size() == layout.lines, "rows of all lines");
    own.push_back(groups.rows());
    groups.add(layout.lines + 1);
    relations.insert(relations.end(), layout.relations.begin(), layout.relations.end());
    rows.push_back(lines.rows());
    for (std::size_t k = 0; k < layout.lines; ++k) {
      rows.push_back(lineRows[p][k]);
      order.push_back(k);
      depths.push_back(layout.depths[k]);
      kinds.push_back(layout.kinds[k]);
    }
  }
  // Where a line stands is told to it; a program stands nowhere.
  Var places = add(tape, pick(tape, tape.parameter(*order_), order),
                   pick(tape, tape.parameter(*depths_), depths));
  places = add(tape, places, pick(tape, tape.parameter(*kinds_), kinds));
  std::vector<std::size_t> placeRows;
  for (std::size_t p = 0, line = 0; p < layouts.size(); ++p) {
    placeRows.push_back(order.size());
    for (std::size_t k = 0; k < layouts[p]->lines; ++k) placeRows.push_back(line++);
  }
  const Var nowhere = tape.constant(Matrix(1, config_.width));
  Var x = add(tape, pick(tape, stacked(tape, {lines, tape.parameter(*program_)}), rows),
              pick(tape, stacked(tape, {places, nowhere}), placeRows));
  for (const EncoderLayer& layer : programLayers_) {
    x = layer.apply(tape, x, groups, config_.heads, &relations);
  }
  x = layerNorm(tape, x, tape.parameter(*gain_), tape.parameter(*bias_));
  const Var pooled = joined(tape, {pick(tape, x, own), meanOf(tape, x, groups)});
  const Var programs = linear(tape, pooled, tape.parameter(*pool_), tape.parameter(*poolBias_));
  return {x, std::move(groups), programs};
}

}  // namespace dojo::agent
