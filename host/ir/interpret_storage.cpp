// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interpret_storage.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ir/check.h"
#include "ir/numeric.h"

namespace dojo::ir {
namespace {

std::size_t byteOf(const Tensor& tensor, std::int64_t element) {
  const std::size_t start =
      static_cast<std::size_t>(element) * static_cast<std::size_t>(sizeBytes(tensor.dtype));
  DOJO_CHECK(element >= 0 && start < tensor.bytes.size(), "element outside of a tensor");
  return start;
}

}  // namespace

double loadAsDouble(const Tensor& tensor, std::int64_t element) {
  const Number number = load(tensor.dtype, &tensor.bytes[byteOf(tensor, element)]);
  return isFloat(tensor.dtype) ? number.real : static_cast<double>(number.integer);
}

std::int64_t loadAsInteger(const Tensor& tensor, std::int64_t element) {
  const Number number = load(tensor.dtype, &tensor.bytes[byteOf(tensor, element)]);
  return isFloat(tensor.dtype) ? truncateTo(DType::i64, number.real) : number.integer;
}

double excess(const Bounded& want, const Tensor& got, std::int64_t element) {
  return isFloat(got.dtype) ? excess(want, loadAsDouble(got, element))
                            : excess(want, loadAsInteger(got, element));
}

void store(Tensor& tensor, std::int64_t element, double value) {
  const DType type = tensor.dtype;
  store(type, &tensor.bytes[byteOf(tensor, element)],
        castNumber(Number::of(value), DType::f64, type));
}

void store(Tensor& tensor, std::int64_t element, std::int64_t value) {
  const DType type = tensor.dtype;
  store(type, &tensor.bytes[byteOf(tensor, element)],
        castNumber(Number::of(value), DType::i64, type));
}

Tensor makeTensor(const Buffer& buffer) {
  return {buffer.dtype, std::vector<std::byte>(static_cast<std::size_t>(buffer.storageBytes()))};
}

Tensor repack(const Tensor& tensor, const Buffer& from, const Buffer& to) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(from.logicalElements()));
  forEachElement(from, [&](std::int64_t logical, std::int64_t offset) {
    places[static_cast<std::size_t>(logical)] = offset;
  });
  Tensor out = makeTensor(to);
  const auto size = static_cast<std::ptrdiff_t>(sizeBytes(to.dtype));
  forEachElement(to, [&](std::int64_t logical, std::int64_t offset) {
    const std::byte* source =
        &tensor.bytes[byteOf(tensor, places[static_cast<std::size_t>(logical)])];
    std::copy_n(source, size, &out.bytes[byteOf(out, offset)]);
  });
  return out;
}

bool packsSameArray(const Buffer& a, const Buffer& b) {
  return a.packed && b.packed && a.name == b.name && a.role == b.role && a.dtype == b.dtype &&
         a.location == b.location && a.values == b.values && a.finite == b.finite &&
         a.logicalElements() == b.logicalElements();
}

std::vector<BufferId> argumentsOf(const Program& program) {
  std::vector<BufferId> out;
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    if (program.buffers[i].isArgument()) out.push_back(static_cast<BufferId>(i));
  }
  return out;
}

namespace {

Status checkValues(const Buffer& buffer, const Tensor& tensor) {
  const ValueRange& range = *buffer.values;
  std::int64_t previous = range.lo;
  std::string wrong;
  forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
    if (!wrong.empty()) return;
    const std::int64_t value = loadAsInteger(tensor, offset);
    const std::string element = "element " + std::to_string(logical) + " of " + buffer.name;
    if (value < range.lo || value >= range.hi) {
      wrong = element + " is " + std::to_string(value) + ", outside of its declared values [" +
              std::to_string(range.lo) + ", " + std::to_string(range.hi) + ")";
    } else if (range.monotone && value < previous) {
      wrong = element + " is " + std::to_string(value) + " after " + std::to_string(previous) +
              ", but it is declared monotone";
    }
    previous = value;
  });
  if (wrong.empty()) return {};
  return Error{"interpret.value-range", wrong, buffer.name, {}};
}

Status checkFinite(const Buffer& buffer, const Tensor& tensor) {
  std::string wrong;
  forEachElement(buffer, [&](std::int64_t logical, std::int64_t offset) {
    if (!wrong.empty() || std::isfinite(loadAsDouble(tensor, offset))) return;
    wrong = "element " + std::to_string(logical) + " of " + buffer.name +
            " is infinite or NaN, but it is declared finite";
  });
  if (wrong.empty()) return {};
  return Error{"interpret.value-range", wrong, buffer.name, {}};
}

}  // namespace

Status checkArguments(const Program& program, const std::vector<Tensor>& arguments) {
  if (Status status = checkStructure(program); !status) return status;
  const std::vector<BufferId> ids = argumentsOf(program);
  if (ids.size() != arguments.size()) {
    return Error{"interpret.arguments",
                 program.name + " takes " + std::to_string(ids.size()) + " arguments, not " +
                     std::to_string(arguments.size()),
                 program.name,
                 {}};
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Buffer& buffer = program.buffer(ids[i]);
    const Tensor& tensor = arguments[i];
    if (tensor.dtype != buffer.dtype ||
        tensor.bytes.size() != static_cast<std::size_t>(buffer.storageBytes())) {
      return Error{"interpret.arguments",
                   buffer.name + " is " + std::to_string(buffer.storageBytes()) + " bytes of " +
                       std::string(name(buffer.dtype)) + ", not " +
                       std::to_string(tensor.bytes.size()) + " bytes of " +
                       std::string(name(tensor.dtype)),
                   buffer.name,
                   {}};
    }
    if (buffer.values && buffer.role != Role::out && !isFloat(buffer.dtype)) {
      if (Status status = checkValues(buffer, tensor); !status) return status;
    }
    if (buffer.finite) {
      if (Status status = checkFinite(buffer, tensor); !status) return status;
    }
  }
  return {};
}

}  // namespace dojo::ir
