// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "performance/agents/contest.h"

#include <algorithm>
#include <cmath>

namespace dojo::contest {
namespace {

double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(at);
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  return sorted[low] + (at - static_cast<double>(low)) * (sorted[high] - sorted[low]);
}

template <class T>
void addNew(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

Field fieldOf(const Row& row) { return {row.kernel, row.target}; }

}  // namespace

double Row::after(std::int64_t count) const {
  if (curve.empty() || count < 1) return 0;
  return curve[static_cast<std::size_t>(std::min(count, static_cast<std::int64_t>(curve.size())) -
                                        1)];
}

double Row::at(double limit) const {
  // What came in order has ascending times.
  const auto until = std::upper_bound(elapsed.begin(), elapsed.end(), limit);
  return after(until - elapsed.begin());
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

double spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.75) - quantile(values, 0.25);
}

Table::Table(const std::vector<Row>& rows) {
  std::map<std::pair<Field, std::string>, std::vector<double>> values;
  for (const Row& row : rows) {
    addNew(fields_, fieldOf(row));
    addNew(strategies_, row.strategy);
    if (row.best > 0) values[{fieldOf(row), row.strategy}].push_back(row.best);
  }
  for (const auto& [key, all] : values) add(key.first, key.second, all);
}

Table Table::atEqualTime(const std::vector<Row>& rows) {
  Table out;
  std::map<Field, std::map<std::string, std::vector<double>>> times;
  for (const Row& row : rows) {
    if (!row.seconds || row.elapsed.empty()) continue;
    addNew(out.fields_, fieldOf(row));
    addNew(out.strategies_, row.strategy);
    times[fieldOf(row)][row.strategy].push_back(*row.seconds);
  }
  for (const auto& [field, byStrategy] : times) {
    double shortest = 0;
    for (const auto& [strategy, all] : byStrategy) {
      const double one = median(all);
      if (shortest == 0 || one < shortest) shortest = one;
    }
    out.seconds_[field] = shortest;
    for (const std::string& strategy : out.strategies_) {
      std::vector<double> values;
      for (const Row& row : rows) {
        if (!row.seconds || row.elapsed.empty()) continue;
        if (row.strategy != strategy || fieldOf(row) != field) continue;
        if (const double best = row.at(shortest); best > 0) values.push_back(best);
      }
      if (!values.empty()) out.add(field, strategy, values);
    }
  }
  return out;
}

void Table::add(const Field& field, const std::string& strategy,
                const std::vector<double>& values) {
  cells_[{field, strategy}] = {median(values), contest::spread(values), values.size()};
}

const Cell* Table::cell(const Field& field, const std::string& strategy) const {
  const auto at = cells_.find({field, strategy});
  return at == cells_.end() ? nullptr : &at->second;
}

std::optional<double> Table::advantage(const std::string& strategy,
                                       const std::string& other) const {
  double sum = 0;
  int count = 0;
  for (const Field& field : fields_) {
    const Cell *mine = cell(field, strategy), *theirs = cell(field, other);
    if (mine == nullptr || theirs == nullptr) continue;
    sum += std::log(theirs->median / mine->median);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return std::exp(sum / count);
}

std::vector<Field> Table::below(const std::string& strategy, const std::string& other) const {
  std::vector<Field> out;
  for (const Field& field : fields_) {
    const Cell *mine = cell(field, strategy), *theirs = cell(field, other);
    if (mine == nullptr || theirs == nullptr) continue;
    if (mine->median - theirs->median > std::max(mine->spread, theirs->spread)) {
      out.push_back(field);
    }
  }
  return out;
}

std::vector<Transfer> transfersOf(const std::vector<Row>& rows,
                                  const std::vector<std::string>& kernels,
                                  const std::vector<std::string>& targets) {
  const auto has = [](const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  std::vector<Transfer> out;
  for (const bool kernel : {true, false}) {
    for (const bool target : {true, false}) {
      std::vector<Row> some;
      for (const Row& row : rows) {
        if (has(kernels, row.kernel) == kernel && has(targets, row.target) == target) {
          some.push_back(row);
        }
      }
      if (some.empty()) continue;
      const Table table(some);
      out.push_back({std::string(kernel ? "kernels trained on" : "other kernels") +
                         (target ? ", targets trained on" : ", other targets"),
                     table.fields(), table.advantage(kSubject, kUnlearned)});
    }
  }
  return out;
}

double Table::seconds(const Field& field) const {
  const auto at = seconds_.find(field);
  return at == seconds_.end() ? 0 : at->second;
}

}  // namespace dojo::contest
