// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bringup/lab.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "codegen/text.h"
#include "link/link.h"
#include "transport/frame.h"

namespace dojo::bringup {
namespace {

constexpr std::uint64_t kTableBytes = 64, kParamBytes = 512, kResultBytes = 1024;

}  // namespace

double Ran::best() const {
  return ticks.empty() ? 0 : *std::min_element(ticks.begin(), ticks.end());
}

Result<Lab> Lab::open(const target::Target& target, transport::Device& device) {
  Lab lab(target, device);
  const transport::Region* code = device.hello().region("code");
  const transport::Region* data = device.hello().region("data");
  if (code == nullptr || data == nullptr) {
    return Error{"bringup.memory", fmt::format("the runner reports no region named '{}'",
                                               code == nullptr ? "code" : "data")};
  }
  const std::uint64_t header = kTableBytes + kParamBytes + kResultBytes;
  if (code->size < codeBytes() || data->size < header + 4096) {
    return Error{"bringup.memory",
                 fmt::format("the code region has {} bytes and the data region {}; at least {} and "
                             "{} are needed",
                             code->size, data->size, codeBytes(), header + 4096)};
  }
  lab.table_ = data->base;
  lab.params_ = lab.table_ + kTableBytes;
  lab.results_ = lab.params_ + kParamBytes;
  lab.work_ = lab.results_ + kResultBytes;
  lab.workBytes_ = data->size - header;
  Result<Ran> nothing = lab.run({}, {.samples = 7});
  if (!nothing) return nothing.error();
  lab.empty_ = nothing->best();
  return lab;
}

Status Lab::writeWork(std::span<const std::byte> bytes) { return device_->write(work_, bytes); }
Status Lab::readWork(std::span<std::byte> into) { return device_->read(work_, into); }

Result<Ran> Lab::run(const Snippet& snippet, const Run& how) {
  const std::string text = fmt::format(R"(
define void @{}(ptr %table) {{
entry:
  %params = load ptr, ptr %table
  %second = getelementptr ptr, ptr %table, i32 1
  %results = load ptr, ptr %second
  %third = getelementptr ptr, ptr %table, i32 2
  %work = load ptr, ptr %third
{}
  ret void
}}
{}
)",
                                       codegen::kEntry, snippet.body, snippet.declarations);
  Result<codegen::Object> object = codegen::compileText(text, *target_, snippet.features);
  if (!object) return object.error();
  const transport::Region* code = device_->hello().region("code");
  Result<link::Image> image = link::place(object->bytes, codegen::kEntry, code->base, codeBytes(),
                                          device_->hello().services);
  if (!image) return image.error();

  std::vector<std::byte> table;
  const int pointer = device_->hello().pointerBytes;
  for (const std::uint64_t at : {params_, results_, how.work == 0 ? work_ : how.work}) {
    transport::put(table, at, pointer);
  }
  std::vector<std::byte> params;
  for (const std::int64_t value : how.params) {
    transport::put(params, static_cast<std::uint64_t>(value), 8);
  }
  DOJO_CHECK(params.size() <= kParamBytes && how.results * 8 <= static_cast<int>(kResultBytes),
             "more parameters or results than there is room for");
  Status done = device_->write(code->base, image->bytes);
  if (done) done = device_->write(table_, table);
  if (done) done = device_->write(params_, params);
  if (!done) return done.error();

  static std::uint64_t nonce = 0;
  transport::Call call;
  call.nonce = ++nonce;
  call.entry = image->entry;
  call.tables = table_;
  call.calls = how.calls;
  call.samples = how.samples;
  call.minSamples = how.samples;
  call.limitSeconds = how.limitSeconds > 0 ? how.limitSeconds : target_->runner.callSeconds;
  call.harts = how.harts;
  Ran ran;
  auto ended = device_->call(call, [&](const transport::Sample& sample) {
    const double ticks = static_cast<double>(sample.ticks) / std::max(1U, sample.calls);
    ran.ticks.push_back(std::max(0.0, ticks - empty_));
    return transport::Device::More::yes;
  });
  if (!ended) return ended.error();
  std::vector<std::byte> results(static_cast<std::size_t>(how.results) * 8);
  if (Status read = device_->read(results_, results); !read) return read.error();
  for (std::size_t i = 0; i < results.size(); i += 8) {
    ran.results.push_back(static_cast<std::int64_t>(transport::getAt(results, i, 8)));
  }
  return ran;
}

}  // namespace dojo::bringup
