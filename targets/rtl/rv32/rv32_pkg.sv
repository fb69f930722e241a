// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What the parts of the RV32 core say to one another.
package rv32_pkg;
  typedef enum logic [3:0] {
    AluAdd,
    AluSub,
    AluSll,
    AluSlt,
    AluSltu,
    AluXor,
    AluSrl,
    AluSra,
    AluOr,
    AluAnd,
    AluSecond
  } alu_op_e;

  /// What becomes of an instruction.
  typedef enum logic [3:0] {
    KindAlu,     ///< rd = alu
    KindTarget,  ///< rd = target (auipc)
    KindBranch,
    KindJump,    ///< rd = pc + 4, on to target
    KindLoad,
    KindStore,
    KindAtomic,
    KindMul,
    KindDiv,
    KindCsr,
    KindFloat,
    KindFence,
    KindEcall,
    KindEbreak,
    KindMret,
    KindWfi
  } kind_e;

  typedef struct packed {
    logic legal;
    kind_e kind;
    logic writes_rd;
    logic float_rd;       ///< rd is a floating-point register; with loads too.
    alu_op_e alu;
    logic second_is_imm;
    logic target_from_pc; ///< target = pc + imm, else rs1 + imm.
    logic [31:0] imm;
  } decoded_t;

  typedef enum logic [4:0] {
    CauseFetchMisaligned = 0,
    CauseFetchFault = 1,
    CauseIllegal = 2,
    CauseBreakpoint = 3,
    CauseLoadMisaligned = 4,
    CauseLoadFault = 5,
    CauseStoreMisaligned = 6,
    CauseStoreFault = 7,
    CauseEcallM = 11
  } cause_e;

  /// Why a hart entered debug mode: dcsr.cause.
  typedef enum logic [2:0] {
    DebugNever = 0,
    DebugEbreak = 1,
    DebugHalt = 3,
    DebugStep = 4,
    DebugReset = 5
  } debug_cause_e;

  // Function codes (funct5) of the A extension.
  localparam logic [4:0] AmoAdd = 5'b00000;
  localparam logic [4:0] AmoSwap = 5'b00001;
  localparam logic [4:0] AmoLr = 5'b00010;
  localparam logic [4:0] AmoSc = 5'b00011;
  localparam logic [4:0] AmoXor = 5'b00100;
  localparam logic [4:0] AmoOr = 5'b01000;
  localparam logic [4:0] AmoAnd = 5'b01100;
  localparam logic [4:0] AmoMin = 5'b10000;
  localparam logic [4:0] AmoMax = 5'b10100;
  localparam logic [4:0] AmoMinu = 5'b11000;
  localparam logic [4:0] AmoMaxu = 5'b11100;
endpackage
