// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/peak.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/parse.h"
#include "tune/bench.h"

namespace dojo::tune {
namespace {

/// Accumulators: enough for any latency and number of units, few enough for the registers. Which
/// is best hangs on how the loop comes to lie.
constexpr int kAccumulators[] = {8, 10, 12};
constexpr int kSteps = 8192;

std::string peakKernel(ir::DType dtype, int lanes, int accumulators) {
  const std::string type(ir::name(dtype));
  return fmt::format(R"(kernel peak
in a {0} [{1}]
in b {0} [{1}]
out y {0} [{2}, {1}]
tmp u {0} [{1}] @register
tmp v {0} [{1}] @register
tmp t {0} [{2}, {1}] @register

{1}:vector
| u[{{0}}] = a[{{0}}]
{1}:vector
| v[{{0}}] = b[{{0}}]
{2}:unroll
| {1}:vector
| | t[{{0}}, {{1}}] = 0
{3}
| {2}:unroll
| | {1}:vector
| | | t[{{1}}, {{2}}] fma+= u[{{2}}] * v[{{2}}]
{2}:unroll
| {1}:vector
| | y[{{0}}, {{1}}] = t[{{0}}, {{1}}]
)",
                     type, lanes, accumulators, kSteps);
}

}  // namespace

Result<double> measurePeak(transport::Device& device, const target::Target& target,
                           ir::DType dtype) {
  const std::vector<std::string>& types = target.vector.types;
  const bool native = std::find(types.begin(), types.end(), ir::name(dtype)) != types.end();
  if (!ir::isFloat(dtype) || !target.vector.fma || !native) {
    return Error{"peak.target",
                 fmt::format("target {} has no fused multiply-add for vectors of {}", target.name,
                             ir::name(dtype)),
                 "", ""};
  }
  const int lanes = target.lanes(ir::sizeBytes(dtype));
  target::Target one = target;
  one.harts = 1;
  BenchOptions options;
  options.raceFactor = std::numeric_limits<double>::infinity();
  double peak = 0;
  for (const int accumulators : kAccumulators) {
    Result<ir::Parsed> parsed = ir::parse(peakKernel(dtype, lanes, accumulators));
    if (!parsed.ok()) return parsed.error();
    Result<std::unique_ptr<Bench>> bench = Bench::open(parsed->program, one, device, options);
    if (!bench.ok()) return bench.error();
    (*bench)->submit(search::candidate(parsed->program, {}));
    std::optional<Outcome> outcome = (*bench)->next();
    if (!outcome) return Error{"peak.stopped", "stopped", "", ""};
    if (!outcome->ok()) return Error{outcome->failure().code, outcome->failure().detail, "", ""};
    // A peak is what was reached once, not what is usual.
    const std::vector<double>& samples = outcome->measurement().samples;
    const double cycles = *std::min_element(samples.begin(), samples.end());
    peak = std::max(peak, static_cast<double>(accumulators) * kSteps * lanes / cycles);
  }
  return peak;
}

}  // namespace dojo::tune
