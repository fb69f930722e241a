// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// The assembly of a region. What the assembler of a plain RV32 doesn't know is spelt with .insn;
/// encodings are those of the Snitch cluster.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "region/addresses.h"
#include "region/tree.h"

namespace dojo::region {
namespace {

// Configuration registers of a data mover.
constexpr int kStatus = 0;
constexpr int kRepeat = 1;
constexpr int kBound = 2;
constexpr int kStride = 6;
constexpr int kReadPointer = 24;
constexpr int kWritePointer = 28;
constexpr int kAllMovers = 31;

std::string floating(int reg) {
  if (reg < 8) return fmt::format("ft{}", reg);
  if (reg < 10) return fmt::format("fs{}", reg - 8);
  if (reg < 18) return fmt::format("fa{}", reg - 10);
  if (reg < 28) return fmt::format("fs{}", reg - 16);
  return fmt::format("ft{}", reg - 20);
}

/// What a mover is told before its pointer.
struct Setup {
  std::int64_t repeat = 1;
  std::vector<Sequence::Dim> dims;
  bool operator==(const Setup&) const = default;
};

class Writer {
 public:
  Writer(const Tree& tree, const Registers& registers, const target::Target& target,
         const Lines* lines)
      : tree_(tree),
        registers_(registers),
        target_(target),
        lines_(lines),
        addresses_(tree, [this](const std::string& text) { line(text); }) {}

  Result<Code> run() {
    comesFrom(tree_.line);
    survey(tree_.items);
    if (!addresses_.plan()) {
      return refusal("lower.region",
                     "more integer registers are needed for addresses than there are", tree_.line);
    }
    const bool streams = !setups_.empty();
    // What was stored before is in memory before a data mover looks.
    if (streams) line(fmt::format("fmv.x.w {}, ft3", addresses_.scratch(1)));
    addresses_.begin();
    Values values;
    for (const auto& [mover, setups] : setups_) {
      if (setups.size() == 1) collect(mover, setups.front(), values);
    }
    configure(values);
    if (streams) line(fmt::format("mv {0}, {0}", addresses_.scratch(1)));
    items(tree_.items, 0);
    comesFrom(tree_.line);
    if (!synchronised_) synchronise();
    patches();
    Code code;
    code.text = std::move(text_);
    code.inputs = addresses_.inputs();
    for (const auto& [cell, reg] : registers_.constants) {
      code.inputs.push_back({*tree_.cells[static_cast<std::size_t>(cell)].constant, floating(reg)});
    }
    code.changed = addresses_.used();
    code.calls.assign(calls_.begin(), calls_.end());
    if (!calls_.empty()) code.changed.emplace_back("ra");
    for (const int reg : registers_.used) code.changed.push_back(floating(reg));
    // What a load before the region brings to a mover's register may come when that is a stream.
    for (int mover = 0; streams && mover < target_.streams.movers; ++mover) {
      code.changed.push_back(floating(mover));
    }
    return code;
  }

 private:
  void line(const std::string& text) {
    text_ += text;
    text_ += '\n';
  }
  /// What follows comes from that line of the program.
  void comesFrom(int number) {
    if (lines_ == nullptr || number == 0 || number == marked_) return;
    marked_ = number;
    line(kLineMark + std::to_string(number));
  }
  void label(int number) {
    line(fmt::format("{}:", number));
    held_.reset();
  }
  /// The first scratch register, for something else.
  const std::string& scratch() {
    held_.reset();
    return addresses_.scratch(0);
  }
  /// A constant in the first scratch register.
  const std::string& constant(std::int64_t value) {
    if (held_ != value) addresses_.set(addresses_.scratch(0), value);
    held_ = value;
    return addresses_.scratch(0);
  }
  static Setup setupOf(const Start& start) { return {start.repeat, start.sequence.dims}; }

  void survey(const Items& items) {
    for (const Item& item : items) {
      if (const auto* start = item.get<Start>()) {
        std::vector<Setup>& all = setups_[start->mover];
        const Setup one = setupOf(*start);
        if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
        streamed_.insert(start->storage);
      } else if (const auto* instruction = item.get<Instruction>()) {
        if (instruction->operation == Operation::store) {
          stored_.insert(tree_.sites[static_cast<std::size_t>(instruction->out.index)].storage);
        }
      }
      if (item.body() != nullptr) survey(*item.body());
    }
  }

  void configure(int mover, int where, const std::string& reg) {
    line(fmt::format(".insn i 0x2b, 2, x0, {}, {}  # scfgwi {}:{}", reg, where << 5 | mover, mover,
                     where));
  }

  /// What the movers' registers are to hold: by value and register, which movers.
  using Values = std::map<std::pair<std::int64_t, int>, std::vector<int>>;

  static void collect(int mover, const Setup& setup, Values& values) {
    values[{setup.repeat - 1, kRepeat}].push_back(mover);
    std::int64_t ahead = 0;
    int dim = 0;
    for (auto each = setup.dims.rbegin(); each != setup.dims.rend(); ++each, ++dim) {
      values[{each->count - 1, kBound + dim}].push_back(mover);
      values[{each->stride - ahead, kStride + dim}].push_back(mover);
      ahead += each->stride * (each->count - 1);
    }
  }

  /// Equal values share a constant, and a write to all movers where none wants another.
  void configure(const Values& values) {
    for (const auto& [what, movers] : values) {
      const int where = what.second;
      const bool alike = std::none_of(values.begin(), values.end(), [&](const auto& other) {
        return other.first.second == where && other.first.first != what.first;
      });
      const std::string reg = constant(what.first);
      if (movers.size() > 1 && alike) {
        configure(kAllMovers, where, reg);
        continue;
      }
      for (const int mover : movers) configure(mover, where, reg);
    }
  }

  void start(const Start& start) {
    const std::vector<Setup>& all = setups_.at(start.mover);
    if (all.size() > 1) {
      const bool alike = std::all_of(all.begin(), all.end(), [&](const Setup& one) {
        return one.repeat == all.front().repeat;
      });
      // The repetition counts for what is still on its way, too.
      if (!alike) synchronise();
      Values values;
      collect(start.mover, setupOf(start), values);
      configure(values);
    }
    const std::string pointer =
        addresses_.exact(start.storage, start.sequence.start, addresses_.scratch(1));
    const auto dims = static_cast<int>(start.sequence.dims.size());
    configure(start.mover, (start.write ? kWritePointer : kReadPointer) + dims - 1, pointer);
  }

  void synchronise() {
    line(fmt::format("fmv.x.w {}, ft3", scratch()));
    line(fmt::format("mv {0}, {0}", scratch()));
    synchronised_ = true;
  }

  void items(const Items& items, std::size_t loops) {
    for (const Item& item : items) {
      if (const auto* instruction = item.get<Instruction>()) {
        write(*instruction);
      } else if (const auto* one = item.get<Start>()) {
        start(*one);
      } else if (const auto* loop = item.get<Loop>()) {
        if (loop->hardware) {
          hardware(*loop, 0);
        } else {
          counted(*loop, loops);
        }
      } else if (const auto* guarded = item.get<Guarded>()) {
        guard(*guarded, loops);
      } else {
        streams(*item.get<Streams>(), loops);
      }
    }
  }

  void streams(const Streams& streams, std::size_t loops) {
    comesFrom(streams.line);
    const bool later = std::any_of(stored_.begin(), stored_.end(), [&](ir::BufferId storage) {
      return streamed_.contains(storage);
    });
    if (later) synchronise();
    line("csrsi 0x7c0, 1");
    inStreams_ = true;
    items(streams.body, loops);
    comesFrom(streams.line);
    inStreams_ = false;
    if (streams.writers.empty()) {
      line("csrci 0x7c0, 1");
      return;
    }
    // A mover has written when it is done and all results have come to it.
    synchronise();
    line("csrci 0x7c0, 1");
    for (const int mover : streams.writers) {
      const int number = ++labels_;
      addresses_.set(scratch(), kStatus << 5 | mover);
      label(number);
      line(fmt::format(".insn r 0x2b, 1, 0, {}, x1, {}  # scfgr {}:{}", addresses_.scratch(1),
                       scratch(), mover, kStatus));
      line(fmt::format("bgez {}, {}b", addresses_.scratch(1), number));
    }
    synchronised_ = true;
  }

  void counted(const Loop& loop, std::size_t loops) {
    comesFrom(loop.line);
    const std::string& counter = addresses_.counter(loops);
    const int number = ++labels_;
    addresses_.set(counter, loop.count);
    const Addresses::Mark mark = addresses_.mark(loop.body);
    label(number);
    items(loop.body, loops + 1);
    comesFrom(loop.line);
    addresses_.advance(loop, mark);
    line(fmt::format("addi {0}, {0}, -1", counter));
    line(fmt::format("bnez {}, {}b", counter, number));
    addresses_.leave(loop, mark);
  }

  void guard(const Guarded& guarded, std::size_t loops) {
    const int number = ++labels_;
    const Reached place = addresses_.reach(-1, guarded.term.expr - ir::Affine(guarded.term.lo));
    std::string reg = place.reg;
    if (place.offset != 0) {
      reg = addresses_.scratch(1);
      addresses_.add(reg, place.reg, place.offset);
    }
    const std::string limit = constant(guarded.term.hi - guarded.term.lo);
    line(fmt::format("bgeu {}, {}, {}f", reg, limit, number));
    const Addresses::Mark mark = addresses_.mark(guarded.body);
    items(guarded.body, loops);
    addresses_.restore(mark);
    label(number);
    synchronised_ = false;
  }

  static std::int64_t sizeOf(const Loop& loop) {
    std::int64_t size = 0;
    for (const Item& item : loop.body) {
      const auto* inner = item.get<Loop>();
      size += inner != nullptr ? sizeOf(*inner) : 1;
    }
    return size;
  }

  void hardware(const Loop& loop, int nesting) {
    comesFrom(loop.line);
    if (nesting == 0) {
      addresses_.set(scratch(), loop.count - 1);
      for (const Item& item : loop.body) {
        const auto* inner = item.get<Loop>();
        if (inner != nullptr) addresses_.set(addresses_.scratch(1), inner->count - 1);
      }
    }
    line(fmt::format(".insn i 0x0b, 0, x1, {}, {}  # frep.o", addresses_.scratch(nesting),
                     sizeOf(loop) - 1));
    for (const Item& item : loop.body) {
      if (const auto* inner = item.get<Loop>()) {
        hardware(*inner, nesting + 1);
      } else {
        write(*item.get<Instruction>());
      }
    }
  }

  [[nodiscard]] std::string operand(const Operand& operand, int reg) const {
    return floating(operand.kind == Operand::Kind::mover ? operand.index : reg);
  }

  void write(const Instruction& instruction) {
    const std::array<int, 4>& registers = registers_.ofInstruction[written_++];
    synchronised_ = false;
    if (lines_ != nullptr) {
      const auto from = lines_->find(instruction.leaf);
      if (from != lines_->end()) comesFrom(from->second);
    }
    std::array<std::string, 4> names;
    const std::array<Operand, 4> operands = {instruction.out, instruction.in[0], instruction.in[1],
                                             instruction.in[2]};
    for (std::size_t i = 0; i < 4; ++i) {
      if (operands[i].kind == Operand::Kind::none || operands[i].kind == Operand::Kind::site) {
        continue;
      }
      names[i] = operand(operands[i], registers[i]);
    }
    const auto& [out, a, b, c] = names;
    switch (instruction.operation) {
      case Operation::exponent:
        return line(fmt::format("fcvt.w.d {}, {}, rne", addresses_.slot(instruction.slot), a));
      case Operation::upper:
      case Operation::power:
      case Operation::inverse:
      case Operation::root:
        return addresses_.write(instruction);
      case Operation::patch:
        return patch(instruction, out, a, b);
      default:
        break;
    }
    if (instruction.operation == Operation::load || instruction.operation == Operation::store) {
      const bool load = instruction.operation == Operation::load;
      const Site& site =
          tree_.sites[static_cast<std::size_t>((load ? operands[1] : operands[0]).index)];
      const Reached place = addresses_.reach(site.storage, site.bytes);
      line(fmt::format("f{}{} {}, {}({})", load ? 'l' : 's',
                       instruction.form == Form::f32 ? 'w' : 'd', load ? out : a, place.offset,
                       place.reg));
      return;
    }
    if (instruction.form == Form::pair || instruction.operation == Operation::sum) {
      if (instruction.operation != Operation::move) return packed(instruction, out, a, b);
    }
    scalar(instruction, out, a, b, c);
  }

  /// A branch to what is written behind everything else.
  void patch(const Instruction& instruction, const std::string& out, const std::string& a,
             const std::string& b) {
    const int away = ++labels_;
    const int back = ++labels_;
    line(fmt::format("{}, {}f", addresses_.outside(instruction), away));
    line(fmt::format("{}:", back));
    calls_.insert(instruction.routine);
    std::swap(text_, later_);
    const int here = std::exchange(marked_, 0);
    comesFrom(here);
    line(fmt::format("{}:", away));
    const std::string& room = addresses_.scratch(1);
    const auto wait = [&] {
      line(fmt::format("fmv.x.w {}, ft3", room));
      line(fmt::format("mv {0}, {0}", room));
    };
    if (inStreams_) {
      wait();
      line("csrci 0x7c0, 1");
    }
    line("addi sp, sp, -16");
    line(fmt::format("fsd {}, 0(sp)", a));
    if (!b.empty()) line(fmt::format("fsd {}, 8(sp)", b));
    line("call " + routineName(instruction.routine));
    line(fmt::format("fld {}, 0(sp)", out));
    line("addi sp, sp, 16");
    line(fmt::format("li {}, 0", addresses_.slot(instruction.slot)));
    if (inStreams_) {
      wait();
      line("csrsi 0x7c0, 1");
    }
    line(fmt::format("j {}b", back));
    std::swap(text_, later_);
  }

  void patches() {
    if (later_.empty()) return;
    const int end = ++labels_;
    line(fmt::format("j {}f", end));
    text_ += later_;
    line(fmt::format("{}:", end));
  }

  void packed(const Instruction& instruction, const std::string& out, const std::string& a,
              const std::string& b) {
    struct Spelling {
      int funct7;
      const char* name;
    };
    const auto spelling = [&]() -> Spelling {
      switch (instruction.operation) {
        case Operation::add:
          return {0x41, "vfadd.s"};
        case Operation::sub:
          return {0x42, "vfsub.s"};
        case Operation::mul:
          return {0x43, "vfmul.s"};
        case Operation::min:
          return {0x45, "vfmin.s"};
        case Operation::max:
          return {0x46, "vfmax.s"};
        case Operation::fmadd:
          return {0x48, "vfmac.s"};
        case Operation::fnmsub:
          return {0x49, "vfmre.s"};
        case Operation::neg:
          return {0x4e, "vfsgnjn.s"};
        case Operation::abs:
          return {0x4f, "vfsgnjx.s"};
        case Operation::pack:
          return {0x58, "vfcpka.s.s"};
        default:
          return {0x47, "vfsum.s"};
      }
    }();
    const bool sum = instruction.operation == Operation::sum;
    const bool one =
        instruction.operation == Operation::neg || instruction.operation == Operation::abs;
    line(fmt::format(".insn r 0x33, 0, {:#x}, {}, {}, {}  # {}", spelling.funct7, out, a,
                     sum   ? "x28"
                     : one ? a
                           : b,
                     spelling.name));
  }

  void scalar(const Instruction& instruction, const std::string& out, const std::string& a,
              const std::string& b, const std::string& c) {
    const char type = instruction.form == Form::f32 ? 's' : 'd';
    const auto plain = [&](const char* name) {
      std::string text = fmt::format("{}.{} {}, {}", name, type, out, a);
      if (!b.empty()) text += ", " + b;
      if (!c.empty()) text += ", " + c;
      line(text);
    };
    switch (instruction.operation) {
      case Operation::add:
        return plain("fadd");
      case Operation::sub:
        return plain("fsub");
      case Operation::mul:
        return plain("fmul");
      case Operation::min:
        return plain("fmin");
      case Operation::max:
        return plain("fmax");
      case Operation::fmadd:
        return plain("fmadd");
      case Operation::fmsub:
        return plain("fmsub");
      case Operation::fnmsub:
        return plain("fnmsub");
      case Operation::fnmadd:
        return plain("fnmadd");
      case Operation::neg:
        return plain("fneg");
      case Operation::abs:
        return plain("fabs");
      case Operation::widen:
        return line(fmt::format("fcvt.d.s {}, {}", out, a));
      case Operation::narrow:
        return line(fmt::format("fcvt.s.d {}, {}", out, a));
      default:
        return plain("fmv");
    }
  }

  const Tree& tree_;
  const Registers& registers_;
  const target::Target& target_;
  const Lines* lines_;
  int marked_ = 0;
  std::string text_, later_;
  std::set<ir::Op> calls_;
  bool inStreams_ = false;
  Addresses addresses_;
  std::map<int, std::vector<Setup>> setups_;  ///< By mover: all that differ.
  std::set<ir::BufferId> streamed_, stored_;
  std::size_t written_ = 0;
  int labels_ = 0;
  std::optional<std::int64_t> held_;
  bool synchronised_ = false;
};

}  // namespace

Result<Code> write(const Tree& tree, const Registers& registers, const target::Target& target,
                   const Lines* lines) {
  return Writer(tree, registers, target, lines).run();
}

}  // namespace dojo::region
