// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tune/verifier.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "tune/work.h"

namespace dojo::tune {
namespace {

/// An input set whose median relative bound is above this proves nothing about floats of 32 bits
/// and more.
constexpr double kWideBound = 1e-3;
/// Above so many leaf executions a kernel gets three, then two input sets.
constexpr double kManyExecutions = 4e6, kVeryManyExecutions = 4e7;

struct Set {
  ir::InputSet kind;
  const char* name;
};

std::vector<Set> setsFor(double executions) {
  using ir::InputSet;
  if (executions > kVeryManyExecutions) {
    return {{InputSet::uniform, "uniform"}, {InputSet::awkward, "awkward"}};
  }
  if (executions > kManyExecutions) {
    return {
        {InputSet::uniform, "uniform"}, {InputSet::awkward, "awkward"}, {InputSet::wide, "wide"}};
  }
  return {{InputSet::uniform, "uniform"},
          {InputSet::awkward, "awkward"},
          {InputSet::wide, "wide"},
          {InputSet::equal, "equal"},
          {InputSet::uniform, "second uniform"}};
}

using References = std::vector<std::vector<ir::Bounded>>;

bool provesSomething(const ir::Program& program, const References& references) {
  std::vector<double> relative;
  std::size_t argument = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const std::vector<ir::Bounded>& elements = references[argument++];
    if (!ir::isFloat(buffer.dtype) || ir::sizeBytes(buffer.dtype) < 4) continue;
    for (const ir::Bounded& e : elements) {
      if (e.value != 0 || e.bound != 0) relative.push_back(e.bound / std::abs(e.value));
    }
  }
  if (relative.empty()) return true;
  auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
  std::nth_element(relative.begin(), middle, relative.end());
  return *middle <= kWideBound;
}

std::string indices(const ir::Buffer& buffer, std::int64_t element) {
  const std::vector<std::int64_t> strides = buffer.strides();
  std::string out;
  for (std::size_t d = 0; d < strides.size(); ++d) {
    const std::int64_t index = strides[d] == 0 ? 0 : element / strides[d];
    element -= index * strides[d];
    out += (out.empty() ? "" : ", ") + std::to_string(index);
  }
  return "[" + out + "]";
}

/// How far off, over what is allowed: at most 1 is right. `off` is got less want.value.
double errorOf(double got, double off, const ir::Bounded& want) {
  if (std::isnan(want.value)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(want.value)) return got == want.value ? 0 : INFINITY;
  off = std::abs(off - want.low);
  if (off == 0) return 0;
  return std::isnan(off) || want.bound == 0 ? INFINITY : off / want.bound;
}

}  // namespace

int inputSetCount(double executions) { return static_cast<int>(setsFor(executions).size()); }

Result<measure::Compared> compareElements(const ir::Buffer& buffer,
                                          std::span<const std::byte> bytes,
                                          const std::vector<ir::Bounded>& reference,
                                          const std::string& set) {
  measure::Compared out;
  ir::Tensor tensor;
  const bool f32 = buffer.dtype == ir::DType::f32;
  if (!f32) tensor = {buffer.dtype, {bytes.begin(), bytes.end()}};
  for (std::size_t k = 0; k < reference.size(); ++k) {
    const ir::Bounded& want = reference[k];
    if (std::isinf(want.bound)) {
      ++out.skipped;
      continue;
    }
    ++out.elements;
    const auto element = static_cast<std::int64_t>(k);
    double got = 0, off = 0;
    if (f32) {
      float value = 0;
      std::memcpy(&value, bytes.data() + k * sizeof value, sizeof value);
      got = value;
      off = got - want.value;
    } else if (ir::isFloat(buffer.dtype)) {
      got = ir::loadAsDouble(tensor, element);
      off = got - want.value;
    } else {
      // Integers of 64 bits don't fit a double; their differences from the reference do.
      const std::int64_t value = ir::loadAsInteger(tensor, element);
      got = static_cast<double>(value);
      off = static_cast<double>(static_cast<__int128>(value) - static_cast<__int128>(want.value));
    }
    const double error = errorOf(got, off, want);
    if (error > 1) {
      return Error{
          "verify.mismatch",
          fmt::format("{}{} is {:.9g} where {:.9g} within {:.3g} is right (input set "
                      "'{}')",
                      buffer.name, indices(buffer, element), got, want.value, want.bound, set),
          "", ""};
    }
    out.worstError = std::max(out.worstError, error);
  }
  return out;
}

Result<Verifier> makeVerifier(const ir::Program& program, std::uint64_t seed) {
  auto references = std::make_shared<std::vector<References>>();
  Verifier out;
  std::vector<Set> sets = setsFor(countWork(program).executions);
  for (std::size_t k = 0; k < sets.size(); ++k) {
    std::vector<ir::Tensor> inputs = ir::makeInputs(program, sets[k].kind, seed + k);
    Result<References> reference = ir::reference(program, inputs);
    if (!reference.ok()) {
      Error error = reference.error();
      error.message = "the kernel can't be run on generated inputs: " + error.message;
      return error;
    }
    // The set that is timed stays: a kernel is measured even if no set says much of its result.
    if (k > 0 && !provesSomething(program, *reference)) {
      out.dropped.emplace_back(sets[k].name);
      continue;
    }
    out.inputs.push_back(std::move(inputs));
    out.names.emplace_back(sets[k].name);
    references->push_back(std::move(*reference));
  }
  if (out.inputs.size() == 1) {
    std::vector<ir::Tensor> inputs = ir::makeInputs(program, ir::InputSet::uniform, seed + 1000);
    Result<References> reference = ir::reference(program, inputs);
    if (!reference.ok()) return reference.error();
    out.inputs.push_back(std::move(inputs));
    out.names.emplace_back("second uniform");
    references->push_back(std::move(*reference));
  }
  std::vector<ir::Buffer> arguments;
  for (const ir::Buffer& buffer : program.buffers) {
    if (buffer.isArgument()) arguments.push_back(buffer);
  }
  out.compare =
      [references, arguments, names = out.names](
          int set,
          const std::vector<std::span<const std::byte>>& outputs) -> Result<measure::Compared> {
    measure::Compared all;
    const auto which = static_cast<std::size_t>(set);
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      if (arguments[k].role == ir::Role::in) continue;
      Result<measure::Compared> one =
          compareElements(arguments[k], outputs[k], (*references)[which][k], names[which]);
      if (!one.ok()) return one.error();
      all.worstError = std::max(all.worstError, one->worstError);
      all.elements += one->elements;
      all.skipped += one->skipped;
    }
    return all;
  };
  return out;
}

}  // namespace dojo::tune
