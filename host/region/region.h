// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file
/// Regions: the parts of a program that are compiled as one piece of assembly for targets with data
/// movers and hardware loops, which no general compiler knows.
///
/// A region is the outermost scope that is mapped `stream` or `frep`, or `vector` on a target whose
/// vectors are packed into floating-point registers beside data movers. Everything inside it is
/// its own: loops, addresses, register buffers, streams. What a region can't be compiled for is
/// refused by admits(), which is the same compiler with the text thrown away, so that the answer
/// before compiling is the one of compiling.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "ir/program.h"
#include "ir/tree.h"
#include "target/target.h"

namespace dojo::region {

/// True where the scope, with none of the kind around it, is a region of its own on that target.
[[nodiscard]] bool isRegion(const ir::Scope& scope, const target::Target& target);

/// The places of all regions of a program, in program order.
[[nodiscard]] std::vector<ir::Path> regions(const ir::Program& program,
                                            const target::Target& target);

/// Success where the region at `path` compiles. The reason why not is a sentence about the
/// program: "y is written by two streams", "the body of frep needs 40 instructions, more than 32".
/// Errors: "lower.region", "lower.stream", "lower.frep", "lower.vector", "lower.register"; where =
/// the line of print().
[[nodiscard]] Status admits(const ir::Program& program, const ir::Path& path,
                            const target::Target& target);

/// A value that the code around a region computes for it.
struct Base {
  ir::BufferId buffer;  ///< The address of its storage.
  bool operator==(const Base&) const = default;
};
struct Number {
  ir::Index index;        ///< In variables of scopes around the region alone.
  std::int64_t fold = 0;  ///< > 0: modulo this.
  bool operator==(const Number&) const = default;
};
struct Real {
  double value;
  ir::DType dtype;  ///< f64 or f32
  bool operator==(const Real& other) const {
    return dtype == other.dtype && value == other.value &&
           std::signbit(value) == std::signbit(other.value);
  }
};
/// Memory that nothing else uses, at a multiple of 8.
struct Scratch {
  std::int64_t bytes = 8;
  bool operator==(const Scratch&) const = default;
};
struct Input {
  std::variant<Base, Number, Real, Scratch> what;
  std::string reg;  ///< Where it's expected: "a0", "fa5".
};

/// A compiled region: lines of assembly with what they need and change.
struct Code {
  std::string text;
  std::vector<Input> inputs;
  /// Registers that are changed, those of inputs included.
  std::vector<std::string> changed;
  /// Functions that it calls, see routineName(): the operations on f64 for any operands.
  std::vector<ir::Op> calls;
};
/// What a function of Code::calls is called: operands and the result are on the stack, from its
/// pointer on, and it changes no register.
[[nodiscard]] std::string routineName(ir::Op op);

/// `lines`: the text tells the assembler where in print(program) what follows comes from, by
/// kLineMark and the line's number.
inline constexpr const char* kLineMark = ".loc 1 ";
[[nodiscard]] Result<Code> compile(const ir::Program& program, const ir::Path& path,
                                   const target::Target& target, bool lines = false);

}  // namespace dojo::region
