// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "proof/ulp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <mpfr.h>

#include "ir/parse.h"

namespace dojo::proof {

namespace {

using ir::DType;
using ir::Op;

/// Arguments that go through a kernel in one call.
constexpr std::int64_t kBatch = 1 << 16;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array<Op, 7> kFunctions = {Op::exp,     Op::log,   Op::tanh, Op::erf,
                                          Op::sigmoid, Op::rsqrt, Op::pow};
constexpr std::array<DType, 4> kTypes = {DType::f32, DType::f64, DType::f16, DType::bf16};

/// Precision, least exponent of a last place, and the largest value as 2^top.
struct Format {
  int precision, leastPlace, top;
  double argument;  ///< Where exp overflows: arguments of interest are within.
};
Format formatOf(DType type) {
  switch (type) {
    case DType::f64:
      return {53, -1074, 1024, 750};
    case DType::f16:
      return {11, -24, 16, 18};
    case DType::bf16:
      return {8, -133, 128, 95};
    default:
      return {24, -149, 128, 108};
  }
}

class Real {
 public:
  Real() { mpfr_init2(value_, 160); }
  explicit Real(double value) : Real() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

void evaluate(Op op, Real& out, Real& x, Real& y) {
  switch (op) {
    case Op::exp:
      mpfr_exp(out.get(), x.get(), MPFR_RNDN);
      break;
    case Op::log:
      mpfr_log(out.get(), x.get(), MPFR_RNDN);
      break;
    case Op::tanh:
      mpfr_tanh(out.get(), x.get(), MPFR_RNDN);
      break;
    case Op::erf:
      mpfr_erf(out.get(), x.get(), MPFR_RNDN);
      break;
    case Op::sigmoid:
      mpfr_neg(out.get(), x.get(), MPFR_RNDN);
      mpfr_exp(out.get(), out.get(), MPFR_RNDN);
      mpfr_add_ui(out.get(), out.get(), 1, MPFR_RNDN);
      mpfr_ui_div(out.get(), 1, out.get(), MPFR_RNDN);
      break;
    case Op::rsqrt:
      // mpfr_rec_sqrt gives plus infinity for both zeros.
      mpfr_sqrt(out.get(), x.get(), MPFR_RNDN);
      mpfr_ui_div(out.get(), 1, out.get(), MPFR_RNDN);
      break;
    default:
      mpfr_pow(out.get(), x.get(), y.get(), MPFR_RNDN);
      break;
  }
}

/// A double that is right to a few of its own units: enough to pass over what is plainly fine.
double quick(Op op, double x, double y) {
  switch (op) {
    case Op::exp:
      return std::exp(x);
    case Op::log:
      return std::log(x);
    case Op::tanh:
      return std::tanh(x);
    case Op::erf:
      return std::erf(x);
    case Op::sigmoid:
      return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
    case Op::rsqrt:
      return 1 / std::sqrt(x);
    default:
      return std::pow(x, y);
  }
}

/// Units in the last place between `got` and the exact value.
double error(const Format& format, double got, Real& exact) {
  if (mpfr_nan_p(exact.get()) != 0 || std::isnan(got)) {
    return mpfr_nan_p(exact.get()) != 0 && std::isnan(got) ? 0 : kInfinity;
  }
  if (mpfr_inf_p(exact.get()) != 0) {
    return std::isinf(got) && std::signbit(got) == (mpfr_signbit(exact.get()) != 0) ? 0 : kInfinity;
  }
  if (mpfr_zero_p(exact.get()) != 0) {
    return std::abs(got) / std::ldexp(1.0, format.leastPlace);
  }
  const long place =
      std::max<long>(mpfr_get_exp(exact.get()) - format.precision, format.leastPlace);
  Real difference;
  if (std::isinf(got)) {
    // Infinity stands for the first value past the largest.
    mpfr_set_si_2exp(difference.get(), got > 0 ? 1 : -1, format.top, MPFR_RNDN);
    Real limit;
    mpfr_set(limit.get(), difference.get(), MPFR_RNDN);
    if (mpfr_cmpabs(exact.get(), limit.get()) >= 0) {
      return mpfr_signbit(exact.get()) == (got > 0 ? 0 : 1) ? 0 : kInfinity;
    }
  } else {
    mpfr_set_d(difference.get(), got, MPFR_RNDN);
  }
  mpfr_sub(difference.get(), difference.get(), exact.get(), MPFR_RNDN);
  mpfr_mul_2si(difference.get(), difference.get(), -place, MPFR_RNDN);
  return std::abs(mpfr_get_d(difference.get(), MPFR_RNDU));
}

/// The same against a double; nothing where it can't tell.
double quickError(const Format& format, double got, double near) {
  if (!std::isfinite(got) || !std::isfinite(near) || near == 0) return kInfinity;
  int exponent = 0;
  std::frexp(near, &exponent);
  return std::abs(got - near) /
         std::ldexp(1.0, std::max(exponent - format.precision, format.leastPlace));
}

Result<ir::Program> programFor(Op op, DType type, int lanes) {
  const std::string call = op == Op::pow
                               ? "pow(x[{0}*LANES + {1}], y[{0}*LANES + {1}])"
                               : fmt::format("{}(x[{{0}}*LANES + {{1}}])", ir::info(op).spelling);
  std::string text = fmt::format(
      "kernel ulp\nparam LANES = {0}\nin x {1} [{2}]\nin y {1} [{2}]\nout z {1} [{2}]\n\n{3}\n"
      "| LANES{4}\n| | z[{{0}}*LANES + {{1}}] = {5}\n",
      lanes, ir::name(type), kBatch, kBatch / lanes, lanes > 1 ? ":vector" : "", call);
  Result<ir::Parsed> parsed = ir::parse(text);
  if (!parsed) return parsed.error();
  return std::move(parsed->program);
}

constexpr std::array<double, 14> kSpecial = {
    0.0,  -0.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(),
    1.0,  -1.0, 2.0,       -2.0,       0.5,
    -0.5, 3.0,  0x1p-149,  1e30};

/// Draws arguments: a third from all bit patterns, a third where exp and its kin are interesting, a
/// third small; the special values first.
class Source {
 public:
  Source(Op op, DType type, const UlpOptions& options)
      : op_(op),
        type_(type),
        random_(options.seed * 0x9e3779b97f4a7c15U + static_cast<unsigned>(op)),
        bits_(ir::sizeBytes(type) * 8) {
    const bool enumerable = op != Op::pow && (bits_ == 16 || (bits_ == 32 && options.exhaustive));
    all_ = enumerable;
    count_ = enumerable ? std::int64_t{1} << bits_ : options.samples;
  }
  [[nodiscard]] std::int64_t count() const { return count_; }

  void fill(std::int64_t from, ir::Tensor& x, ir::Tensor& y) {
    for (std::int64_t i = 0; i < kBatch; ++i) {
      const std::int64_t index = from + i;
      if (all_) {
        storeBits(x, i, static_cast<std::uint64_t>(index));
        continue;
      }
      draw(index, x, y, i);
    }
  }

 private:
  void storeBits(ir::Tensor& tensor, std::int64_t element, std::uint64_t value) const {
    for (int byte = 0; byte < bits_ / 8; ++byte) {
      tensor.bytes[static_cast<std::size_t>(element * (bits_ / 8) + byte)] =
          static_cast<std::byte>(value >> (8 * byte));
    }
  }
  double uniform(double size) {
    return std::uniform_real_distribution<double>(-size, size)(random_);
  }

  void draw(std::int64_t index, ir::Tensor& x, ir::Tensor& y, std::int64_t i) {
    constexpr auto kSpecials = static_cast<std::int64_t>(kSpecial.size());
    if (index < kSpecials * kSpecials) {
      ir::store(x, i, kSpecial[static_cast<std::size_t>(index / kSpecials)]);
      ir::store(y, i, kSpecial[static_cast<std::size_t>(index % kSpecials)]);
      return;
    }
    const double top = formatOf(type_).argument;
    switch (index % 3) {
      case 0:
        storeBits(x, i, random_());
        if (index % 2 == 0) {
          storeBits(y, i, random_());
        } else {
          ir::store(y, i, std::trunc(uniform(20)));
        }
        break;
      case 1:
        ir::store(x, i, op_ == Op::pow ? std::exp(uniform(top)) : uniform(top));
        break;
      default:
        ir::store(x, i, op_ == Op::pow ? 1 + uniform(0.3) : uniform(3));
        break;
    }
    if (index % 3 != 0) {
      const double logarithm = std::log(std::abs(ir::loadAsDouble(x, i)));
      ir::store(y, i, logarithm == 0 ? uniform(top) : uniform(top) / logarithm);
    }
  }

  Op op_;
  DType type_;
  std::mt19937_64 random_;
  int bits_;
  bool all_ = false;
  std::int64_t count_ = 0;
};

Result<UlpRow> measure(const Execute& execute, Op op, DType type, const UlpOptions& options) {
  const int lanes = std::max(1, options.lanesOfF32 * 4 / std::max(4, ir::sizeBytes(type)));
  Result<ir::Program> program = programFor(op, type, lanes);
  if (!program) return program.error();
  std::vector<ir::Tensor> arguments;
  for (const ir::Buffer& buffer : program->buffers) arguments.push_back(ir::makeTensor(buffer));

  const Format format = formatOf(type);
  UlpRow row;
  row.op = op;
  row.dtype = type;
  row.allowed = allowedUlps(op, type);
  Source source(op, type, options);
  for (std::int64_t from = 0; from < source.count(); from += kBatch) {
    source.fill(from, arguments[0], arguments[1]);
    Result<std::vector<ir::Tensor>> results = execute(*program, arguments);
    if (!results) return results.error();
    for (std::int64_t i = 0; i < std::min(kBatch, source.count() - from); ++i) {
      const double x = ir::loadAsDouble(arguments[0], i);
      const double y = ir::loadAsDouble(arguments[1], i);
      const double got = ir::loadAsDouble((*results)[2], i);
      ++row.samples;
      if (type != DType::f64 &&
          quickError(format, got, quick(op, x, y)) < std::max(0.0, row.worst - 1e-3)) {
        continue;
      }
      Real exact;
      Real argument(x);
      Real second(y);
      evaluate(op, exact, argument, second);
      const double units = error(format, got, exact);
      if (units <= row.worst) continue;
      row.worst = units;
      row.x = x;
      row.y = y;
      row.got = got;
    }
  }
  return row;
}

}  // namespace

double allowedUlps(Op op, DType dtype) {
  if (dtype == DType::f16 || dtype == DType::bf16) return 1;
  const double units = dtype == DType::f64 ? 4 : 2;
  return op == Op::pow ? 2 * units : units;
}

Result<std::vector<UlpRow>> ulpTable(const Execute& execute, const UlpOptions& options,
                                     const std::function<void(const UlpRow&)>& onRow) {
  std::vector<UlpRow> rows;
  for (const Op op : kFunctions) {
    for (const DType type : kTypes) {
      Result<UlpRow> row = measure(execute, op, type, options);
      if (!row) return row.error();
      if (onRow) onRow(*row);
      rows.push_back(*row);
    }
  }
  return rows;
}

}  // namespace dojo::proof
