// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// For the files that hold references of kernels: a call, a sum and its tolerance.
#pragma once

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "support/kernel_reference.h"

namespace dojo::test {

using Wide = long double;
using Values = std::vector<double>;
using Elements = std::vector<Expected>;

/// A call: shape, arguments, roundoff, and the one result.
struct Call {
  const Shape& shape;
  const std::vector<Values>& arguments;
  Wide unit;
  Elements out;

  [[nodiscard]] std::size_t size(const std::string& name) const {
    return static_cast<std::size_t>(shape.at(name));
  }
  [[nodiscard]] Wide in(std::size_t argument, std::size_t element) const {
    return arguments[argument][element];
  }
  void put(Wide value, Wide tolerance) {
    const auto rounded = static_cast<double>(value);
    const bool exact = !std::isfinite(rounded) || rounded == value;
    if (!exact) tolerance += std::fabs(value - rounded);
    out.push_back({rounded, static_cast<double>(tolerance)});
  }
};

/// A sum with the magnitude of its terms: in any order it is within (n+1) u sum|t|, and each term
/// may have been rounded once more.
struct Sum {
  Wide value = 0;
  Wide magnitude = 0;
  std::size_t terms = 0;

  void add(Wide term) {
    value += term;
    magnitude += std::fabs(term);
    ++terms;
  }
  [[nodiscard]] Wide tolerance(Wide unit) const {
    return static_cast<Wide>(terms + 2) * unit * magnitude;
  }
};

struct Reference {
  void (*compute)(Call&);
  std::size_t result;  ///< Position of the argument that it computes.
};

/// The kernels that are layers of networks.
[[nodiscard]] const std::map<std::string, Reference>& layerReferences();

}  // namespace dojo::test
