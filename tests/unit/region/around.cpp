// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/region/around.h"

#include <array>
#include <cstring>
#include <map>
#include <stdexcept>

#include "ir/numeric.h"
#include "ir/storage.h"
#include "ir/tree.h"
#include "region/region.h"
#include "unit/region/machine.h"

namespace dojo::test {
namespace {

constexpr std::size_t kScratch = 8;
constexpr std::size_t kStack = 1024;  ///< Its end.
constexpr std::size_t kFirst = kStack + 64;

class Around {
 public:
  Around(const ir::Program& program, const target::Target& target)
      : program_(program), machine_(place()) {
    for (const ir::Path& path : region::regions(program, target)) {
      auto code = region::compile(program, path, target);
      if (!code) throw std::runtime_error(code.error().text());
      regions_.emplace(ir::find(program, path), std::move(code).value());
    }
  }

  std::vector<ir::Tensor> run(std::vector<ir::Tensor> arguments) {
    std::size_t argument = 0;
    const auto each = [&](const auto& fn) {
      argument = 0;
      for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
        if (!program_.buffers[id].isArgument()) continue;
        auto& bytes = arguments[argument++].bytes;
        fn(machine_.memory().data() + bases_[id], bytes);
      }
    };
    each([](std::byte* at, auto& bytes) { std::memcpy(at, bytes.data(), bytes.size()); });
    nodes(program_.body);
    each([](const std::byte* at, auto& bytes) { std::memcpy(bytes.data(), at, bytes.size()); });
    return arguments;
  }

 private:
  std::size_t place() {
    const auto sizes = ir::storageSizes(program_);
    std::size_t next = kFirst;
    for (std::size_t id = 0; id < program_.buffers.size(); ++id) {
      const auto storage = static_cast<std::size_t>(program_.storageOf(static_cast<int>(id)));
      if (storage != id) {
        bases_.push_back(bases_[storage]);
        continue;
      }
      bases_.push_back(next);
      const auto bytes = static_cast<std::size_t>(sizes[id]) *
                         static_cast<std::size_t>(ir::sizeBytes(program_.buffers[id].dtype));
      next = (next + bytes + 63) / 64 * 64 + 64;
    }
    return next;
  }

  std::byte* element(const ir::Access& access) {
    const ir::Buffer& buffer = program_.buffer(access.buffer);
    const auto strides = buffer.strides();
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < access.indices.size(); ++d) {
      offset += strides[d] * folded(value(access.indices[d]), buffer.dims[d].fold);
    }
    return machine_.memory().data() + bases_[static_cast<std::size_t>(access.buffer)] +
           offset * ir::sizeBytes(buffer.dtype);
  }
  static std::int64_t folded(std::int64_t index, std::int64_t fold) {
    return fold > 0 ? index % fold : index;
  }
  std::int64_t value(const ir::Index& index) {
    if (!index.isGather()) return index.affine.evaluate(variables_);
    ir::Access access;
    access.buffer = index.gather;
    for (const ir::Affine& inner : index.gatherIndices) access.indices.emplace_back(inner);
    return ir::load(program_.buffer(index.gather).dtype, element(access)).integer;
  }

  void nodes(const std::vector<ir::Node>& body) {
    for (const ir::Node& node : body) {
      bool on = true;
      for (const ir::GuardTerm& term : node.guard) {
        const std::int64_t at = term.expr.evaluate(variables_);
        on = on && at >= term.lo && at < term.hi;
      }
      if (on) this->node(node);
    }
  }

  void node(const ir::Node& node) {
    if (node.isLeaf()) return leaf(node.leaf());
    if (const auto found = regions_.find(&node); found != regions_.end()) {
      return region(found->second);
    }
    const ir::Extent& extent = node.scope().extent;
    std::int64_t from = 0;
    std::int64_t to = extent.count;
    if (extent.range) {
      const auto limit = [&](const ir::Access& access) {
        return ir::load(program_.buffer(access.buffer).dtype, element(access)).integer;
      };
      from = limit(extent.range->first);
      to = limit(extent.range->last);
    }
    variables_.push_back(0);
    for (std::int64_t i = from; i < to; ++i) {
      variables_.back() = i;
      nodes(node.scope().body);
    }
    variables_.pop_back();
  }

  void region(const region::Code& code) {
    for (const region::Input& input : code.inputs) {
      if (const auto* base = std::get_if<region::Base>(&input.what)) {
        machine_.setInteger(
            input.reg, static_cast<std::int64_t>(bases_[static_cast<std::size_t>(base->buffer)]));
      } else if (const auto* number = std::get_if<region::Number>(&input.what)) {
        machine_.setInteger(input.reg, folded(value(number->index), number->fold));
      } else if (const auto* real = std::get_if<region::Real>(&input.what)) {
        if (real->dtype == ir::DType::f64) {
          machine_.setReal(input.reg, real->value);
        } else {
          machine_.setReal(input.reg, static_cast<float>(real->value));
        }
      } else {
        machine_.setInteger(input.reg, kScratch);
      }
    }
    machine_.setInteger("sp", kStack);
    machine_.run(code.text);
    if (!machine_.idle()) throw std::runtime_error("streams are left over\n" + code.text);
  }

  void leaf(const ir::Leaf& leaf) {
    const ir::DType to = program_.buffer(leaf.dst.buffer).dtype;
    const ir::DType type = ir::computeType(program_, leaf);
    std::array<ir::Number, 3> in{};
    for (std::size_t i = 0; i < leaf.operands.size(); ++i) {
      const bool condition = leaf.op == ir::Op::select && i == 0;
      const ir::DType as = condition ? ir::DType::boolean : type;
      if (const auto* access = std::get_if<ir::Access>(&leaf.operands[i])) {
        const ir::DType from = program_.buffer(access->buffer).dtype;
        in[i] = ir::castNumber(ir::load(from, element(*access)), from, as);
      } else if (const auto* constant = std::get_if<ir::Constant>(&leaf.operands[i])) {
        in[i] = ir::numberOf(*constant, as);
      } else {
        const auto& index = std::get<ir::Affine>(leaf.operands[i]);
        in[i] = ir::castNumber(ir::Number::of(index.evaluate(variables_)), ir::DType::i64, as);
      }
    }
    std::byte* at = element(leaf.dst);
    const ir::Number old = ir::load(to, at);
    const auto compute = [&](ir::Op op, ir::DType in_, ir::Number a, ir::Number b, ir::Number c) {
      const auto result = ir::evaluate(op, in_, a, b, c);
      if (!result) throw std::runtime_error("a division by zero");
      return *result;
    };
    ir::Number result = in[0];
    if (leaf.assign == ir::Assign::fma) {
      result = compute(ir::Op::fma, type, in[0], in[1], old);
    } else if (leaf.op == ir::Op::cast) {
      result = ir::castNumber(in[0], type, to);
    } else if (leaf.op == ir::Op::satCast) {
      result = ir::saturatingCast(in[0], type, to);
    } else if (leaf.op != ir::Op::copy) {
      result = compute(leaf.op, type, in[0], in[1], in[2]);
      if (ir::info(leaf.op).comparison) result = ir::castNumber(result, ir::DType::boolean, to);
    }
    if (leaf.isReduction() && leaf.assign != ir::Assign::fma) {
      const ir::Op op = leaf.assign == ir::Assign::add   ? ir::Op::add
                        : leaf.assign == ir::Assign::mul ? ir::Op::mul
                        : leaf.assign == ir::Assign::max ? ir::Op::max
                                                         : ir::Op::min;
      result = compute(op, to, old, result, {});
    }
    ir::store(to, at, result);
  }

  const ir::Program& program_;
  std::vector<std::size_t> bases_;
  Machine machine_;
  std::map<const ir::Node*, region::Code> regions_;
  std::vector<std::int64_t> variables_;
};

}  // namespace

std::vector<ir::Tensor> runRegions(const ir::Program& program, const target::Target& target,
                                   const std::vector<ir::Tensor>& arguments) {
  return Around(program, target).run(arguments);
}

}  // namespace dojo::test
