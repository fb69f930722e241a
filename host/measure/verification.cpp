// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure/verification.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <future>
#include <optional>

#include <fmt/format.h>

#include "base/clock.h"
#include "ir/numeric.h"
#include "ir/print.h"
#include "measure/verification_cache.h"

namespace dojo::measure {
namespace {

/// Above so many leaf executions a kernel gets fewer sets.
constexpr double kManyExecutions = 4e7;
/// A reference that takes longer is kept on disk.
constexpr double kLongSeconds = 0.2;

double executions(const std::vector<ir::Node>& nodes) {
  double out = 0;
  for (const ir::Node& node : nodes) {
    if (node.isLeaf()) {
      out += 1;
    } else {
      // A data-dependent extent counts once: such kernels are small here.
      const ir::Scope& scope = node.scope();
      const double extent = scope.extent.isConstant() ? static_cast<double>(scope.extent.count) : 1;
      out += extent * executions(scope.body);
    }
  }
  return out;
}

}  // namespace

std::vector<ir::InputSet> defaultSets(const ir::Program& program) {
  using ir::InputSet;
  std::vector<InputSet> out = {InputSet::uniform, InputSet::exact, InputSet::awkward,
                               InputSet::wide, InputSet::equal};
  if (executions(program.body) > kManyExecutions) out.resize(3);
  return out;
}

namespace {

/// The widest median bound that proves something.
double widest(ir::DType type) { return ir::sizeBytes(type) < 4 ? 0.25 : 1e-3; }

/// "y[3, 17]"
std::string nameOf(const ir::Buffer& buffer, std::int64_t element) {
  std::string indices;
  for (const std::int64_t stride : buffer.strides()) {
    indices += fmt::format("{}{}", indices.empty() ? "" : ", ", element / stride);
    element %= stride;
  }
  return fmt::format("{}[{}]", buffer.name, indices);
}

}  // namespace

/// All outputs of one set.
struct Verifier::Expected {
  std::vector<ir::Buffer> arguments;
  References elements;  ///< One array an argument, empty for `in`.
  std::int64_t compared = 0, skipped = 0;
};

namespace {

template <class T>
double errorAt(const std::byte* bytes, std::size_t i, const ir::Bounded& want) {
  T got;
  std::memcpy(&got, bytes + i * sizeof got, sizeof got);
  return ir::excess(want, static_cast<double>(got));
}

double errorAt(ir::DType type, const std::byte* bytes, std::size_t i, const ir::Bounded& want) {
  const ir::Number got = ir::load(type, bytes + i * static_cast<std::size_t>(ir::sizeBytes(type)));
  return ir::isFloat(type) ? ir::excess(want, got.real) : ir::excess(want, got.integer);
}

/// The worst error of an argument, and the first element that is wrong.
struct Found {
  double worst = 0;
  std::optional<std::size_t> wrong;
};

template <class F>
Found scan(const std::vector<ir::Bounded>& want, const F& error) {
  Found out;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!want[i].isCompared()) continue;
    const double found = error(i);
    out.worst = std::max(out.worst, found);
    if (found > 1) {
      out.wrong = i;
      return out;
    }
  }
  return out;
}

Found scan(ir::DType type, const std::byte* bytes, const std::vector<ir::Bounded>& want) {
  switch (type) {
    case ir::DType::f32:
      return scan(want, [&](std::size_t i) { return errorAt<float>(bytes, i, want[i]); });
    case ir::DType::f64:
      return scan(want, [&](std::size_t i) { return errorAt<double>(bytes, i, want[i]); });
    default:
      return scan(want, [&](std::size_t i) { return errorAt(type, bytes, i, want[i]); });
  }
}

std::string sentence(const ir::Buffer& buffer, const std::byte* bytes, std::size_t i,
                     const ir::Bounded& want, const std::string& set) {
  const auto element = static_cast<std::int64_t>(i);
  const ir::Number got =
      ir::load(buffer.dtype, bytes + i * static_cast<std::size_t>(ir::sizeBytes(buffer.dtype)));
  const std::string where = nameOf(buffer, element);
  if (!ir::isFloat(buffer.dtype)) {
    const auto right = static_cast<std::int64_t>(static_cast<long double>(want.value) + want.low);
    return fmt::format("{} is {}, but must be {} within {:.3g} (input set '{}')", where,
                       got.integer, right, want.bound, set);
  }
  return fmt::format("{} is {:.9g}, but must be {:.9g} within {:.3g} (input set '{}')", where,
                     got.real, want.value, want.bound, set);
}

double medianOf(std::vector<double>& values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<Compared> Verifier::checkAgainst(const Expected& expected, const std::string& set,
                                        const std::vector<std::span<const std::byte>>& outputs) {
  Compared out;
  out.elements = expected.compared;
  out.skipped = expected.skipped;
  DOJO_CHECK(outputs.size() == expected.arguments.size(), "one span an argument");
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const ir::Buffer& buffer = expected.arguments[k];
    if (buffer.role == ir::Role::in) continue;
    const std::vector<ir::Bounded>& want = expected.elements[k];
    DOJO_CHECK(outputs[k].size() == static_cast<std::size_t>(buffer.storageBytes()),
               "an output of the buffer's size");
    const std::byte* bytes = outputs[k].data();
    const Found found = scan(buffer.dtype, bytes, want);
    if (found.wrong) {
      const std::size_t i = *found.wrong;
      return Error{"verify.mismatch", sentence(buffer, bytes, i, want[i], set), "", ""};
    }
    out.worstError = std::max(out.worstError, found.worst);
  }
  return out;
}

namespace {

/// One set on its way.
struct Drawn {
  VerifiedSet set;
  std::vector<ir::Tensor> inputs;
  References references;
  bool proves = true;
};

/// Counts, and whether the bounds are tight enough to prove anything.
void judge(const ir::Program& program, Drawn& drawn) {
  std::vector<double> relative;
  bool proves = true;
  std::size_t k = 0;
  for (const ir::Buffer& buffer : program.buffers) {
    if (!buffer.isArgument()) continue;
    const std::vector<ir::Bounded>& elements = drawn.references[k++];
    if (buffer.role == ir::Role::in) continue;
    std::vector<double> own;
    std::int64_t compared = 0;
    for (const ir::Bounded& e : elements) {
      if (std::isinf(e.bound)) continue;
      ++compared;
      if (!ir::isFloat(buffer.dtype)) continue;
      // An exact zero has no magnitude, and no error to compare with it.
      own.push_back(e.bound == 0 ? 0 : e.bound / std::abs(e.value));
    }
    drawn.set.compared += compared;
    drawn.set.skipped += buffer.logicalElements() - compared;
    if (compared == 0) proves = false;
    if (medianOf(own) > widest(buffer.dtype)) proves = false;
    relative.insert(relative.end(), own.begin(), own.end());
  }
  drawn.set.medianBound = medianOf(relative);
  drawn.proves = proves;
}

Result<Drawn> draw(const ir::Program& program, const std::string& text, ir::InputSet kind,
                   std::uint64_t seed, const std::string& cacheFolder) {
  Drawn out;
  out.set.name = std::string(ir::name(kind));
  out.set.kind = kind;
  out.set.seed = seed;
  out.inputs = ir::makeInputs(program, kind, seed);
  const std::string key = referenceKey(text, kind, seed);
  if (auto kept = readReferences(cacheFolder, key)) {
    out.references = std::move(*kept);
  } else {
    Stopwatch watch;
    auto computed = ir::reference(program, out.inputs);
    if (!computed) {
      Error error = computed.error();
      return Error{"verify.reference",
                   fmt::format("the kernel can't be run on the input set '{}': {}", out.set.name,
                               error.message),
                   error.where, error.detail};
    }
    out.references = std::move(computed).value();
    if (watch.seconds() > kLongSeconds) writeReferences(cacheFolder, key, out.references);
  }
  judge(program, out);
  return out;
}

}  // namespace

Result<Verifier> Verifier::make(const ir::Program& start, const VerifierOptions& options) {
  const std::vector<ir::InputSet> kinds = options.sets.empty() ? defaultSets(start) : options.sets;
  const std::string text = ir::print(start);
  std::vector<std::future<Result<Drawn>>> pending;
  for (const ir::InputSet kind : kinds) {
    pending.push_back(std::async(std::launch::async, draw, std::cref(start), std::cref(text), kind,
                                 options.seed, std::cref(options.cacheFolder)));
  }
  std::vector<Result<Drawn>> drawn;
  for (auto& one : pending) drawn.push_back(one.get());

  Verifier out;
  std::vector<ir::Buffer> arguments;
  for (const ir::Buffer& buffer : start.buffers) {
    if (buffer.isArgument()) arguments.push_back(buffer);
  }
  const auto take = [&](Drawn& one) {
    if (!one.proves) {
      out.dropped_.push_back(one.set);
      return;
    }
    auto expected = std::make_shared<Expected>();
    expected->arguments = arguments;
    expected->elements = std::move(one.references);
    expected->compared = one.set.compared;
    expected->skipped = one.set.skipped;
    out.expected_.push_back(std::move(expected));
    out.inputs_.push_back(std::move(one.inputs));
    out.sets_.push_back(one.set);
  };
  for (Result<Drawn>& one : drawn) {
    if (!one) return one.error();
    take(*one);
  }
  // Every timing ends on inputs that were not the first ones.
  for (std::uint64_t more = 1; out.sets_.size() < 2 && more <= 2; ++more) {
    Result<Drawn> another =
        draw(start, text, ir::InputSet::exact, options.seed + more, options.cacheFolder);
    if (!another) return another.error();
    another->set.name += more == 1 ? ", second" : ", third";
    take(*another);
  }
  if (out.sets_.size() < 2) {
    const VerifiedSet& tried = out.dropped_.front();
    return Error{"verify.weak",
                 fmt::format("no input set of {} proves anything: on '{}' half of the results may "
                             "be off by {:.2g} of their size, and {} of {} are not compared",
                             start.name, tried.name, tried.medianBound, tried.skipped,
                             tried.compared + tried.skipped),
                 "", ""};
  }
  return out;
}

Result<Compared> Verifier::check(int set,
                                 const std::vector<std::span<const std::byte>>& outputs) const {
  const auto which = static_cast<std::size_t>(set);
  return checkAgainst(*expected_[which], sets_[which].name, outputs);
}

Compare Verifier::compare() const {
  std::vector<std::string> names;
  for (const VerifiedSet& set : sets_) names.push_back(set.name);
  return [expected = expected_, names = std::move(names)](
             int set, const std::vector<std::span<const std::byte>>& outputs) {
    const auto which = static_cast<std::size_t>(set);
    return checkAgainst(*expected[which], names[which], outputs);
  };
}

}  // namespace dojo::measure
