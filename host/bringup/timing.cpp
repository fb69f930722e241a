// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bringup/timing.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include <fmt/format.h>

#include "bringup/lab.h"
#include "bringup/timing_rows.h"

namespace dojo::bringup {
namespace {

constexpr int kRuns = 3;
constexpr std::uint64_t kAlign = 4096;
/// Where the results lie, from the first aligned address of the Lab's work memory on; then `work`.
constexpr std::uint64_t kResults = 0;
constexpr std::uint64_t kWork = 4096;

/// The word `name` in assembly becomes a number.
void replaceWord(std::string& text, const std::string& name, std::uint64_t value) {
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += name.size()) {
    const bool begins = at == 0 || !part(text[at - 1]);
    const std::size_t end = at + name.size();
    if (!begins || (end < text.size() && part(text[end]))) continue;
    text.replace(at, name.size(), fmt::format("{:#x}", value));
  }
}

/// Of what a compiler wrote, labels and instructions.
std::string withoutDirectives(std::string_view assembly) {
  std::string out;
  while (!assembly.empty()) {
    const std::size_t end = std::min(assembly.find('\n'), assembly.size());
    const std::string line(assembly.substr(0, end));
    assembly.remove_prefix(std::min(end + 1, assembly.size()));
    const std::size_t first = line.find_first_not_of(" \t");
    const bool directive =
        first != std::string::npos && line[first] == '.' && line.find(':') == std::string::npos;
    if (!directive || line.find(".p2align") != std::string::npos) out += line + '\n';
  }
  return out;
}

/// The function dojo_row: runs a row kRuns times and stores each time and what `after` gives.
std::string assembly(const TimingSource& row, std::uint64_t base, std::uint64_t dram) {
  const auto& texts = timingTexts();
  std::string registers;
  const auto each = [&](const char* what) {
    registers.clear();
    for (int i = 0; i < 12; ++i) registers += fmt::format("  {} s{}, {}(sp)\n", what, i, 4 * i);
    const bool stores = what[0] == 's';
    for (int i = 0; i < 12; ++i) {
      registers += fmt::format("  {} fs{}, {}(sp)\n", stores ? "fsd" : "fld", i, 64 + 8 * i);
    }
    registers += fmt::format("  {} ra, 48(sp)\n", what);
    return registers;
  };
  std::string out(texts.at("snitch_macros.S"));
  out += "  .text\n  .globl dojo_row\n  .p2align 6\ndojo_row:\n  addi sp, sp, -160\n" + each("sw");
  out += fmt::format("  li s11, {:#x}\n  li s10, {}\n  sw s10, 52(sp)\n", base + kResults, kRuns);
  out += R"(88:
  li t0, 1
  fcvt.d.w fa0, t0
  fadd.d fa1, fa0, fa0
  li t0, 0x3fe00000
  sw zero, 56(sp)
  sw t0, 60(sp)
  fence
  fld fa2, 56(sp)
)" + row.prepare +
         R"(
  fmv.x.w s8, fa2
  mv s8, s8
  fence
  j 99f
  .p2align 6
99:
  csrr s9, mcycle
)" + row.body +
         R"(
  csrr s8, mcycle
)" + row.after +
         R"(
  sub s9, s8, s9
  sw s9, 0(s11)
  sw a0, 4(s11)
  addi s11, s11, 8
  lw s10, 52(sp)
  addi s10, s10, -1
  sw s10, 52(sp)
  bnez s10, 98f
  j 97f
98:
  j 88b
97:
)" + each("lw") +
         "  addi sp, sp, 160\n  ret\n";
  if (row.body.find("timing_") != std::string::npos) {
    out += withoutDirectives(texts.at("snitch_kernels.c.s"));
  }
  replaceWord(out, "work", base + kWork);
  replaceWord(out, "dram", dram);
  return out;
}

std::string asModule(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line;
    for (const char c : text.substr(at, end - at)) {
      if (c == '"' || c == '\\') {
        line += fmt::format("\\{:02X}", static_cast<unsigned>(c));
      } else {
        line += c;
      }
    }
    out += "module asm \"" + line + "\"\n";
    at = end + 1;
  }
  return out;
}

void run(Lab& lab, const TimingSource& source, TimingRow& row) {
  const transport::Region* dram = lab.device().hello().region("dram");
  const std::uint64_t base = (lab.workBase() + kAlign - 1) / kAlign * kAlign;
  Snippet snippet;
  snippet.body = source.onDmaHart ? "  call void @dojo_dma_run(ptr @dojo_row, ptr null)"
                                  : "  call void @dojo_row()";
  snippet.declarations = "declare void @dojo_row()\n";
  if (source.onDmaHart) snippet.declarations += "declare void @dojo_dma_run(ptr, ptr)\n";
  snippet.declarations += asModule(assembly(source, base, dram == nullptr ? 0 : dram->base));
  const Result<Ran> ran = lab.run(snippet, {.harts = lab.target().harts});
  if (!ran) {
    row.wrong = ran.error().text();
    return;
  }
  std::array<std::int32_t, 2 * kRuns> results{};
  if (Status read = lab.device().read(base + kResults, std::as_writable_bytes(std::span(results)));
      !read) {
    row.wrong = read.error().text();
    return;
  }
  row.ours = results[2 * (kRuns - 1)];
  if (source.cold != 0) row.ours = (results[0] - row.ours) / source.cold;

  const int gave = results[2 * (kRuns - 1) + 1];
  if (source.gives && gave != *source.gives) {
    row.wrong = fmt::format("computes {} instead of {}", gave, *source.gives);
  }
}

}  // namespace

bool TimingRow::within() const {
  return wrong.empty() && ours > 0 && difference() <= allowed && (most || -difference() <= allowed);
}

Result<std::vector<TimingRow>> checkTiming(const target::Target& target, transport::Device& device,
                                           const std::string& only, const OnRow& onRow) {
  if (target.runner.port != "snitch") {
    return Error{"timing.target", "there is no table of timing for '" + target.name +
                                      "'; there is one for the Snitch cluster"};
  }
  Result<Lab> lab = Lab::open(target, device);
  if (!lab) return lab.error();
  std::vector<TimingRow> rows;
  for (const char* file : {"snitch.S", "snitch_cluster.S", "snitch_kernels.S"}) {
    const Result<std::vector<TimingSource>> sources = readTimingRows(timingTexts().at(file));
    if (!sources) return sources.error();
    for (const TimingSource& source : *sources) {
      if (source.name.find(only) == std::string::npos) continue;
      TimingRow row;
      row.name = source.name;
      row.reference = source.cycles;
      row.allowed = source.allowed;
      row.most = source.most;
      run(*lab, source, row);
      rows.push_back(row);
      if (onRow && !onRow(row)) return rows;
    }
  }
  return rows;
}

}  // namespace dojo::bringup
