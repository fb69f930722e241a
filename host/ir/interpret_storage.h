// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// What the interpreters share about arguments and storage.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/interpret.h"
#include "ir/program.h"

namespace dojo::ir {

/// Calls fn(logical, offset) for every element of a buffer in row-major order of its indices;
/// `logical` is its number, for packed arguments that in the caller's array, `offset` where it
/// falls in storage.
template <class F>
void forEachElement(const Buffer& buffer, const F& fn) {
  const std::vector<std::int64_t> strides = buffer.strides();
  const std::vector<std::int64_t> caller = buffer.callerStrides();
  const std::size_t rank = buffer.dims.size();
  const std::int64_t count = buffer.logicalElements();
  std::vector<std::int64_t> index(rank, 0);
  for (std::int64_t element = 0; element < count; ++element) {
    std::int64_t logical = 0;
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < rank; ++d) {
      const std::int64_t fold = buffer.dims[d].fold;
      logical += index[d] * caller[d];
      offset += (fold > 1 ? index[d] % fold : index[d]) * strides[d];
    }
    fn(logical, offset);
    for (std::size_t d = rank; d-- > 0;) {
      if (++index[d] < buffer.dims[d].extent) break;
      index[d] = 0;
    }
  }
}

/// Positions of the arguments in Program::buffers, in order.
[[nodiscard]] std::vector<BufferId> argumentsOf(const Program& program);

/// The program is structurally valid, and there is one tensor an argument, of the right dtype and
/// size, index buffers within their declared values, floats finite where that is declared. Errors:
/// "check.structure", "interpret.arguments", "interpret.value-range".
[[nodiscard]] Status checkArguments(const Program& program, const std::vector<Tensor>& arguments);

/// Well mixed bits of a position in a stream of random numbers.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
  value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
  return value ^ (value >> 31);
}
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  return mix(mix(a) + b);
}

}  // namespace dojo::ir
