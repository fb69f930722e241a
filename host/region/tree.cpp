// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "region/tree.h"

#include <fmt/format.h>

namespace dojo::region {

Items* Item::body() {
  if (auto* loop = get<Loop>()) return &loop->body;
  if (auto* guarded = get<Guarded>()) return &guarded->body;
  if (auto* streams = get<Streams>()) return &streams->body;
  return nullptr;
}

const Items* Item::body() const { return const_cast<Item*>(this)->body(); }

int Tree::addCell(Form form, std::string name) {
  Cell cell;
  cell.form = form;
  cell.name = std::move(name);
  cells.push_back(std::move(cell));
  return static_cast<int>(cells.size()) - 1;
}

int Tree::constant(double value, Form form) {
  const Real real{value, form == Form::f64 ? ir::DType::f64 : ir::DType::f32};
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].constant == real && cells[i].form == form) return static_cast<int>(i);
  }
  const int cell = addCell(form, fmt::format("{}", value));
  cells[static_cast<std::size_t>(cell)].constant = real;
  return cell;
}

std::int64_t Tree::reserve(std::int64_t bytes) {
  scratch += bytes;
  return scratch - bytes;
}

int Tree::scratchSite(std::int64_t at, Form form, bool write) {
  Site site;
  site.storage = kScratch;
  site.bytes = at;
  site.form = form;
  site.write = write;
  sites.push_back(site);
  return static_cast<int>(sites.size()) - 1;
}

Error refusal(std::string code, std::string message, int line) {
  return Error{std::move(code), std::move(message), fmt::format("line {}", line), ""};
}

}  // namespace dojo::region
