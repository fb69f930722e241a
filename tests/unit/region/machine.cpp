// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unit/region/machine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

namespace dojo::test {
namespace {

constexpr std::uint64_t kBoxed = 0xffffffff00000000;
constexpr std::size_t kDepth = 4;  ///< Elements that a mover holds.

int realNumber(const std::string& name) {
  const auto number = [&](std::size_t from) { return std::stoi(name.substr(from)); };
  if (name.starts_with("ft")) return number(2) < 8 ? number(2) : number(2) + 20;
  if (name.starts_with("fs")) return number(2) < 2 ? number(2) + 8 : number(2) + 16;
  if (name.starts_with("fa")) return number(2) + 10;
  return -1;
}

double asDouble(std::uint64_t bits) { return std::bit_cast<double>(bits); }
float asFloat(std::uint64_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); }
std::uint64_t bitsOf(double value) { return std::bit_cast<std::uint64_t>(value); }
std::uint64_t bitsOf(float value) { return kBoxed | std::bit_cast<std::uint32_t>(value); }

template <class T>
T compute(const std::string& name, T a, T b, T c) {
  if (name == "fadd") return a + b;
  if (name == "fsub") return a - b;
  if (name == "fmul") return a * b;
  if (name == "fmin") return std::fmin(a, b);
  if (name == "fmax") return std::fmax(a, b);
  if (name == "fmadd") return std::fma(a, b, c);
  if (name == "fmsub") return std::fma(a, b, -c);
  if (name == "fnmsub") return std::fma(-a, b, c);
  if (name == "fnmadd") return std::fma(-a, b, -c);
  if (name == "fneg") return -a;
  if (name == "fabs") return std::fabs(a);
  throw std::runtime_error("unknown: " + name);
}

}  // namespace

void Machine::wrong(const std::string& why) const {
  throw std::runtime_error(fmt::format("{}: {}", now_ == nullptr ? "" : now_->text, why));
}

void Machine::setInteger(const std::string& reg, std::int64_t value) {
  if (reg != "zero" && reg != "x0") integers_[reg] = static_cast<std::int32_t>(value);
}
void Machine::setReal(const std::string& reg, double value) {
  reals_[static_cast<std::size_t>(realNumber(reg))] = bitsOf(value);
}
void Machine::setReal(const std::string& reg, float value) {
  reals_[static_cast<std::size_t>(realNumber(reg))] = bitsOf(value);
}

std::int64_t Machine::integer(const std::string& reg) const {
  const auto found = integers_.find(reg);
  if (found == integers_.end()) wrong(reg + " was never written");
  return found->second;
}

std::uint64_t Machine::load(std::uint32_t address, int size) const {
  if (address % static_cast<unsigned>(size) != 0) wrong("a misaligned address");
  if (address + static_cast<unsigned>(size) > memory_.size()) wrong("an address outside");
  std::uint64_t value = size == 4 ? kBoxed : 0;
  std::memcpy(&value, memory_.data() + address, static_cast<std::size_t>(size));
  return value;
}
void Machine::store(std::uint32_t address, int size, std::uint64_t value) {
  (void)load(address, size);
  std::memcpy(memory_.data() + address, &value, static_cast<std::size_t>(size));
}

void Machine::fill(Mover& mover) {
  while (!mover.write && mover.ahead.size() < kDepth && !mover.addresses.empty()) {
    mover.ahead.push_back(load(mover.addresses.front(), 8));
    mover.addresses.pop_front();
  }
}

std::uint64_t Machine::read(int reg) {
  const auto index = static_cast<std::size_t>(reg);
  if (!streams_ || reg > 2) return reals_[index];
  if (taken_[index]) return element_[index];
  Mover& mover = movers_[index];
  if (mover.ahead.empty()) wrong("a stream at its end");
  taken_[index] = true;
  element_[index] = mover.ahead.front();
  if (++mover.handed == mover.running) {
    mover.handed = 0;
    mover.ahead.pop_front();
    fill(mover);
  }
  return element_[index];
}

void Machine::write(int reg, std::uint64_t value) {
  const auto index = static_cast<std::size_t>(reg);
  if (!streams_ || reg > 2) {
    reals_[index] = value;
    return;
  }
  Mover& mover = movers_[index];
  if (!mover.write || mover.addresses.empty()) wrong("a write stream at its end");
  mover.late.emplace_back(mover.addresses.front(), value);
  mover.addresses.pop_front();
  if (mover.late.size() <= kDepth) return;
  store(mover.late.front().first, 8, mover.late.front().second);
  mover.late.pop_front();
}

bool Machine::idle() const {
  return !streams_ && std::all_of(movers_.begin(), movers_.end(), [](const Mover& mover) {
    return mover.addresses.empty() && mover.ahead.empty() && mover.late.empty();
  });
}

void Machine::configure(int number, int where, std::int64_t value) {
  if (number == 31 && where < 24) {
    for (int each = 0; each < 3; ++each) configure(each, where, value);
    return;
  }
  if (number > 2) wrong("no such mover");
  Mover& mover = movers_[static_cast<std::size_t>(number)];
  if (where == 1) mover.repeat = value + 1;
  if (where >= 2 && where < 6) mover.bound[static_cast<std::size_t>(where - 2)] = value;
  if (where >= 6 && where < 10) mover.stride[static_cast<std::size_t>(where - 6)] = value;
  if (where < 24) return;
  mover.write = where >= 28;
  const int dims = where % 4 + 1;
  // What is still on its way is handed out as the new stream says.
  if (!mover.ahead.empty() && mover.running != mover.repeat) wrong("the repeat changes too early");
  mover.running = mover.write ? 1 : mover.repeat;
  std::array<std::int64_t, 4> at{};
  std::int64_t address = value;
  for (;;) {
    if (address % 8 != 0) wrong("a misaligned stream");
    mover.addresses.push_back(static_cast<std::uint32_t>(address));
    int dim = 0;
    while (dim < dims &&
           at[static_cast<std::size_t>(dim)] == mover.bound[static_cast<std::size_t>(dim)]) {
      at[static_cast<std::size_t>(dim++)] = 0;
    }
    if (dim == dims) break;
    ++at[static_cast<std::size_t>(dim)];
    address += mover.stride[static_cast<std::size_t>(dim)];
  }
  fill(mover);
}

std::uint32_t Machine::address(const std::string& operand) const {
  const std::size_t open = operand.find('(');
  const std::string reg = operand.substr(open + 1, operand.size() - open - 2);
  return static_cast<std::uint32_t>(integer(reg) + std::stoll(operand.substr(0, open)));
}

bool Machine::isFloating(const Line& line) {
  if (line.operation == ".insn") return line.operands[0] == "0x33";
  return line.operation[0] == 'f';
}

void Machine::floating(const Line& line) {
  taken_.fill(false);
  const std::size_t dot = line.operation.find('.');
  const std::string name = line.operation.substr(0, dot);
  const auto& operands = line.operands;
  if (name == "fld" || name == "flw") {
    reals_[static_cast<std::size_t>(realNumber(operands[0]))] =
        load(address(operands[1]), name == "fld" ? 8 : 4);
    return;
  }
  if (name == "fsd" || name == "fsw") {
    return store(address(operands[1]), name == "fsd" ? 8 : 4, read(realNumber(operands[0])));
  }
  std::array<std::uint64_t, 3> in{};
  for (std::size_t i = 1; i < operands.size(); ++i) in[i - 1] = read(realNumber(operands[i]));
  const int out = realNumber(operands[0]);
  if (line.operation == "fcvt.d.s") return write(out, bitsOf(static_cast<double>(asFloat(in[0]))));
  if (line.operation == "fcvt.s.d") return write(out, bitsOf(static_cast<float>(asDouble(in[0]))));
  if (name == "fmv") return write(out, in[0]);
  if (line.operation.ends_with(".d")) {
    return write(out, bitsOf(compute(name, asDouble(in[0]), asDouble(in[1]), asDouble(in[2]))));
  }
  for (std::size_t i = 1; i < operands.size(); ++i) {
    if ((in[i - 1] & kBoxed) != kBoxed) wrong("a number of 32 bits that isn't boxed");
  }
  write(out, bitsOf(compute(name, asFloat(in[0]), asFloat(in[1]), asFloat(in[2]))));
}

void Machine::packed(const Line& line) {
  taken_.fill(false);
  const auto& operands = line.operands;  // 0x33, 0, funct7, rd, rs1, rs2
  const int code = std::stoi(operands[2], nullptr, 0);
  const int out = realNumber(operands[3]);
  const std::uint64_t a = read(realNumber(operands[4]));
  if (code == 0x47) {
    const float old = asFloat(read(out));
    const double sum = static_cast<double>(asFloat(a)) + asFloat(a >> 32);
    const std::uint64_t upper = reals_[static_cast<std::size_t>(out)] & kBoxed;
    const auto total = static_cast<float>(old + sum);
    return write(out, upper | std::bit_cast<std::uint32_t>(total));
  }
  const std::uint64_t b = read(realNumber(operands[5]));
  std::uint64_t result = 0;
  if (code == 0x58) {
    result = (a & ~kBoxed) | b << 32;
    if ((a & kBoxed) != kBoxed || (b & kBoxed) != kBoxed) wrong("what is packed isn't boxed");
    return write(out, result);
  }
  static const std::map<int, std::string> names = {
      {0x41, "fadd"},  {0x42, "fsub"},   {0x43, "fmul"}, {0x45, "fmin"}, {0x46, "fmax"},
      {0x48, "fmadd"}, {0x49, "fnmsub"}, {0x4e, "fneg"}, {0x4f, "fabs"}};
  const bool adds = code == 0x48 || code == 0x49;
  if (adds && out <= 2 && streams_) wrong("a stream is added to");
  const std::uint64_t old = adds ? reals_[static_cast<std::size_t>(out)] : 0;
  for (int lane = 0; lane < 2; ++lane) {
    const int shift = 32 * lane;
    const float value =
        compute(names.at(code), asFloat(a >> shift), asFloat(b >> shift), asFloat(old >> shift));
    result |= static_cast<std::uint64_t>(std::bit_cast<std::uint32_t>(value)) << shift;
  }
  write(out, result);
}

/// At a frep: what follows, so many times.
void Machine::hardware(std::size_t& at) {
  const Line& line = lines_[at];
  const std::int64_t times = integer(line.operands[3]) + 1;
  const std::int64_t count = std::stoll(line.operands[4]) + 1;
  if (count > 32 || times > 65536 || times < 1) wrong("a hardware loop that there isn't");
  const std::size_t begin = at + 1;
  std::size_t end = begin;
  for (std::int64_t time = 0; time < times; ++time) {
    std::size_t here = begin;
    std::int64_t done = 0;
    while (done < count) {
      if (here >= lines_.size()) wrong("a hardware loop past the end");
      const Line& each = lines_[here];
      now_ = &each;
      if (each.operation == ".insn" && each.operands[0] == "0x0b") {
        if (here == begin) wrong("an inner hardware loop on the first instruction");
        done += std::stoll(each.operands[4]) + 1;
        hardware(here);
        continue;
      }
      if (!isFloating(each)) wrong("not an instruction for hardware loops");
      execute(here);
      ++done;
    }
    end = here;
  }
  at = end;
}

void Machine::custom(const Line& line, std::size_t& at) {
  const auto& operands = line.operands;
  if (operands[0] == "0x0b") return hardware(at);
  ++at;
  if (operands[0] == "0x33") return packed(line);
  if (operands[1] == "2") {
    const auto where = std::stoi(operands[4]);
    return configure(where & 31, where >> 5, integer(operands[3]));
  }
  // The status of a mover: done once what it has is in memory.
  Mover& mover = movers_[static_cast<std::size_t>(integer(operands[5]) & 31)];
  for (const auto& [place, value] : mover.late) store(place, 8, value);
  mover.late.clear();
  if (!mover.addresses.empty()) wrong("waits for ever");
  setInteger(operands[3], -1);
}

/// On operands on the stack, where the result goes, too.
void Machine::routine(const std::string& name) {
  if (streams_) wrong("a function is called that has no registers for streams");
  const auto sp = static_cast<std::uint32_t>(integer("sp"));
  if (sp % 16 != 0) wrong("a misaligned stack");
  const double a = asDouble(load(sp, 8));
  const auto give = [&](double value) { store(sp, 8, bitsOf(value)); };
  if (name == "dojo_any_exp") return give(std::exp(a));
  if (name == "dojo_any_sigmoid") {
    const double e = std::exp(-std::fabs(a));
    return give((a < 0 ? e : 1) / (1 + e));
  }
  if (name == "dojo_any_sqrt") return give(std::sqrt(a));
  if (name == "dojo_any_rsqrt") return give(1 / std::sqrt(a));
  if (name == "dojo_any_div") return give(a / asDouble(load(sp + 8, 8)));
  wrong("an unknown function");
}

void Machine::execute(std::size_t& at) {
  const Line& line = lines_[at];
  now_ = &line;
  const auto& operation = line.operation;
  const auto& operands = line.operands;
  if (operation == ".insn") return custom(line, at);
  const auto jump = [&](bool taken) {
    if (!taken) return void(++at);
    const std::string& target = operands.back();
    const auto& places = labels_.at(target.substr(0, target.size() - 1));
    at = target.back() == 'b' ? *std::prev(std::upper_bound(places.begin(), places.end(), at))
                              : *std::upper_bound(places.begin(), places.end(), at);
  };
  if (operation == "j") return jump(true);
  if (operation == "bnez") return jump(integer(operands[0]) != 0);
  if (operation == "bgez") return jump(integer(operands[0]) >= 0);
  if (operation == "bgeu") {
    return jump(static_cast<std::uint32_t>(integer(operands[0])) >=
                static_cast<std::uint32_t>(integer(operands[1])));
  }
  ++at;
  const auto immediate = [&](std::size_t i) {
    const std::int64_t value = std::stoll(operands[i], nullptr, 0);
    if (value < -2048 || value > 2047) wrong("an immediate that doesn't fit");
    return value;
  };
  if (operation == "li") return setInteger(operands[0], std::stoll(operands[1]));
  if (operation == "mv") return setInteger(operands[0], integer(operands[1]));
  if (operation == "addi") return setInteger(operands[0], integer(operands[1]) + immediate(2));
  if (operation == "slli") return setInteger(operands[0], integer(operands[1]) << immediate(2));
  if (operation == "srli") {
    return setInteger(operands[0],
                      static_cast<std::uint32_t>(integer(operands[1])) >> immediate(2));
  }
  if (operation == "lw") {
    const std::uint64_t bits = load(address(operands[1]), 4);
    return setInteger(operands[0], static_cast<std::int32_t>(bits));
  }
  if (operation == "sw") {
    return store(address(operands[1]), 4, static_cast<std::uint32_t>(integer(operands[0])));
  }
  if (operation == "call") return routine(operands[0]);
  if (operation == "fcvt.w.d") {
    const double value = std::nearbyint(asDouble(read(realNumber(operands[1]))));
    constexpr double kMost = 0x1p31;
    const double most = std::isnan(value) ? kMost - 1 : std::clamp(value, -kMost, kMost - 1);
    return setInteger(operands[0], static_cast<std::int64_t>(most));
  }
  if (operation == "fmv.x.w") return setInteger(operands[0], 0);
  if (operation == "csrsi") return void(streams_ = true);
  if (operation == "csrci") return void(streams_ = false);
  if (operation[0] == 'f') return floating(line);
  const std::int64_t a = integer(operands.at(1));
  const std::int64_t b = integer(operands.at(2));
  if (operation == "add") return setInteger(operands[0], a + b);
  if (operation == "sub") return setInteger(operands[0], a - b);
  if (operation == "mul") return setInteger(operands[0], a * b);
  wrong("an unknown instruction");
}

void Machine::run(const std::string& text) {
  lines_.clear();
  labels_.clear();
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    line = line.substr(0, line.find("  #"));
    if (line.ends_with(':')) {
      labels_[line.substr(0, line.size() - 1)].push_back(lines_.size());
      continue;
    }
    Line parsed;
    parsed.text = line;
    std::size_t at = line.find(' ');
    parsed.operation = line.substr(0, at);
    if (parsed.operation == ".insn") at = line.find(' ', at + 1);
    while (at < line.size()) {
      const std::size_t from = line.find_first_not_of(" ,", at);
      at = std::min(line.find(',', from), line.size());
      parsed.operands.push_back(line.substr(from, at - from));
    }
    lines_.push_back(std::move(parsed));
  }
  for (std::size_t at = 0; at < lines_.size();) execute(at);
}

}  // namespace dojo::test
