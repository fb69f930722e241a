// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>

#include <fmt/format.h>

#include "region/build.h"

namespace dojo::region {
namespace {

bool isMultiple(const ir::Affine& expr, std::int64_t of) {
  return expr.constant() % of == 0 &&
         std::all_of(expr.terms().begin(), expr.terms().end(),
                     [&](const ir::Term& term) { return term.coef % of == 0; });
}

}  // namespace

bool Builder::isOutside(const ir::Affine& expr) const {
  return std::all_of(expr.terms().begin(), expr.terms().end(), [&](const ir::Term& term) {
    return variables_[static_cast<std::size_t>(term.var)].kind == Variable::Kind::outside;
  });
}

/// An index modulo the dim's fold: of what is known, or the same for the whole region.
ir::Affine Builder::folded(const ir::Affine& expr, const ir::Dim& dim, const ir::Buffer& buffer) {
  if (dim.fold == 0) return expr;
  if (dim.fold == 1) return {};
  ir::Affine rest = expr.constant();
  for (const ir::Term& term : expr.terms()) {
    if (term.coef % dim.fold != 0) rest += ir::Affine::variable(term.var, term.coef);
  }
  const auto fold = [&](std::int64_t value) { return (value % dim.fold + dim.fold) % dim.fold; };
  if (rest.isConstant()) return fold(rest.constant());
  if (isOutside(expr)) return ir::Affine::variable(number({ir::Index(expr), dim.fold}));
  refuse("lower.region",
         fmt::format("{} is stored modulo {}, and the index changes inside the region", buffer.name,
                     dim.fold));
  return {};
}

ir::Affine Builder::gathered(const ir::Index& index, const ir::Dim& dim, const ir::Buffer& buffer) {
  ir::Index here = index;
  for (ir::Affine& inner : here.gatherIndices) {
    inner = substituted(inner);
    if (isOutside(inner)) continue;
    refuse("lower.region",
           fmt::format("{} is gathered from inside a scope that is mapped stream, frep or vector",
                       buffer.name));
    return {};
  }
  return ir::Affine::variable(number({here, dim.fold > 1 ? dim.fold : 0}));
}

Builder::Place Builder::placeOf(const ir::Access& access) {
  const ir::Buffer& buffer = program_.buffer(access.buffer);
  const std::vector<std::int64_t> strides = buffer.strides();
  Place place;
  for (std::size_t d = 0; d < access.indices.size(); ++d) {
    const ir::Index& index = access.indices[d];
    if (buffer.dims[d].fold == 1) continue;
    ir::Affine part =
        index.isGather() ? gathered(index, buffer.dims[d], buffer) : substituted(index.affine);
    if (inLanes() && !index.isGather()) {
      const std::int64_t step = part.coef(lane_);
      if (step != 0 && buffer.dims[d].fold != 0) {
        refuse("lower.vector", fmt::format("lanes in a dim of {} that is stored modulo {}",
                                           buffer.name, buffer.dims[d].fold));
      }
      place.lane += step * strides[d];
      part = part.substitute(lane_, ir::Affine(0));
    }
    if (!index.isGather()) part = folded(part, buffer.dims[d], buffer);
    place.elements += part * strides[d];
  }
  place.known = !failure_;
  return place;
}

bool Builder::uniform(const ir::Access& access) {
  const ir::BufferId storage = program_.storageOf(access.buffer);
  if (program_.buffer(access.buffer).isLocal() && within(storage, laneScope_)) return false;
  return placeOf(access).lane == 0;
}

Operand Builder::access(const ir::Access& access, Form form, int position) {
  const ir::Buffer& buffer = program_.buffer(access.buffer);
  const bool wide = buffer.dtype == ir::DType::f64;
  if (!wide && buffer.dtype != ir::DType::f32) {
    refuse("lower.region",
           fmt::format("{} is {}, and only f64 and f32 are computed beside streams, "
                       "frep and packed vectors",
                       buffer.name, ir::name(buffer.dtype)));
    return {};
  }
  if (form == Form::pair && wide) {
    refuse("lower.vector", fmt::format("{} is f64, of which a vector has one", buffer.name));
    return {};
  }
  const Place place = placeOf(access);
  if (!place.known) return {};
  if (buffer.location == "register") {
    // Elements that were written one by one are put together where lanes read them.
    if (inLanes() && position != -2 && place.lane != 0 && place.elements.isConstant()) {
      const std::int64_t element = place.elements.constant();
      const auto alone = [&](std::int64_t at) {
        const auto found = cells_.find({program_.storageOf(access.buffer), at});
        if (found == cells_.end()) return Operand();
        const int cell = found->second.first;
        const bool one = tree_.cells[static_cast<std::size_t>(cell)].form == Form::f32;
        return one ? cellOperand(cell) : Operand();
      };
      const Operand first = alone(element);
      const Operand second = alone(element + place.lane);
      if (form == Form::pair && first != Operand() && second != Operand()) {
        const Operand both = temporary(Form::pair);
        emit(Operation::pack, Form::pair, both, first, second);
        return both;
      }
    }
    return cellOf(access, place, form);
  }
  return memory(access, place, form, position);
}

Operand Builder::cellOf(const ir::Access& access, const Place& place, Form form) {
  const ir::Buffer& buffer = program_.buffer(access.buffer);
  const ir::BufferId storage = program_.storageOf(access.buffer);
  // Between regions no register carries a value: each is written first in what reads it.
  if (outside_[static_cast<std::size_t>(storage)]) {
    refuse("lower.register",
           fmt::format("{} is in registers and used outside of the scope that is mapped stream, "
                       "frep or vector, too",
                       buffer.name));
    return {};
  }
  if (program_.sharing(storage).size() > 1) {
    refuse("lower.register", fmt::format("{} shares its registers", buffer.name));
    return {};
  }
  if (!place.elements.isConstant()) {
    refuse("lower.register",
           fmt::format("{} is in registers and its index is not constant", buffer.name));
    return {};
  }
  const std::int64_t element = place.elements.constant();
  const bool own = inLanes() && within(storage, laneScope_);
  const bool lanes = own || place.lane != 0;
  if (!own && lanes && (place.lane != 1 || element % 2 != 0)) {
    refuse("lower.vector",
           fmt::format("the lanes of {} are not neighbours in one register", buffer.name));
    return {};
  }
  const Form held = buffer.dtype == ir::DType::f64 ? Form::f64 : lanes ? Form::pair : Form::f32;
  const auto [found, fresh] = cells_.try_emplace({storage, element}, std::pair(-1, 0));
  if (fresh) {
    found->second.first = tree_.addCell(held, buffer.name);
    if (held == Form::pair && !own) cells_[{storage, element + 1}] = {found->second.first, 1};
  }
  const auto [cell, part] = cells_.at({storage, element});
  if (part != 0 || tree_.cells[static_cast<std::size_t>(cell)].form != held) {
    refuse("lower.vector",
           fmt::format("{} is in registers and used both by lanes and by elements", buffer.name));
    return {};
  }
  if (held != Form::f32 || form != Form::pair) return cellOperand(cell);
  const Operand both = temporary(Form::pair);
  emit(Operation::pack, Form::pair, both, cellOperand(cell), cellOperand(cell));
  return both;
}

Operand Builder::memory(const ir::Access& access, const Place& place, Form form, int position) {
  const ir::Buffer& buffer = program_.buffer(access.buffer);
  const ir::BufferId storage = program_.storageOf(access.buffer);
  if (inLanes() && buffer.location == "stack" && within(storage, laneScope_)) {
    refuse("lower.vector",
           fmt::format("{} is on the stack with a copy for each lane", buffer.name));
    return {};
  }
  const std::int64_t size = ir::sizeBytes(buffer.dtype);
  Site site;
  site.storage = storage;
  site.buffer = access.buffer;
  site.bytes = place.elements * size;
  site.form = buffer.dtype == ir::DType::f64 ? Form::f64 : form == Form::pair ? form : Form::f32;
  site.write = position == -2;
  site.leaf = leaf_;
  site.position = position;
  if (site.form == Form::pair) {
    site.splat = place.lane == 0;
    if (!site.splat && (place.lane != 1 || !isMultiple(site.bytes, 8))) {
      site.apart = place.lane * size;
    }
    if (site.write && (site.splat || site.apart)) {
      refuse("lower.vector",
             fmt::format("lanes are written to {} that aren't neighbours at a multiple of 8 bytes",
                         buffer.name));
      return {};
    }
  }
  tree_.sites.push_back(std::move(site));
  return siteOperand(static_cast<int>(tree_.sites.size()) - 1);
}

}  // namespace dojo::region
