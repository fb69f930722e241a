// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What the parts of the cluster say to one another.
///
/// Every port is a pair of handshakes. A request is taken in the cycle where valid and ready are
/// both set; neither waits for the other by combinational paths that close a loop: ready may depend
/// on valid, valid never on ready. An answer is valid for one cycle, in the order of the requests.
///
/// The registers on the ways between the parts are snitch_cc's, so that each part says how long it
/// takes itself and nothing twice. With no conflict on the way:
/// - data port of the core: a request taken in cycle t is at its bank in t+1 and answered to the core
///   in t+3; from DRAM in t+10. What depends on a load issues in the cycle after the answer.
/// - data port of the FP subsystem: taken in t, at the bank in t+1, answered in t+2; from DRAM t+9.
/// - a mover's port: taken in t is granted by the bank in t (ready), answered in t+1.
/// - offload port: what the core hands on in t is offered to the FP subsystem (or the DMA engine)
///   in t+1, through a register of two entries; an answer given in t is offered to the core in t+1.
/// - barrier: asked for in t, with all the others there, done in t+1.
/// At most four requests of a core's two data ports are on their way at once.
package snitch_pkg;
  /// Atomic operations of a memory port, done at the bank.
  typedef enum logic [3:0] {
    AmoNone,
    AmoLr,
    AmoSc,
    AmoSwap,
    AmoAdd,
    AmoXor,
    AmoAnd,
    AmoOr,
    AmoMin,
    AmoMax,
    AmoMinu,
    AmoMaxu
  } amo_e;

  /// A request to memory, 64 bits wide. Each is answered, writes too (mem_rsp_t).
  typedef struct packed {
    logic [31:0] addr;    ///< In bytes; the low three bits say where within the double word.
    logic        write;
    amo_e        amo;
    logic [63:0] data;    ///< In its lanes: byte i of the double word at [8*i+:8].
    logic [7:0]  strobe;  ///< Bytes that are written or read.
  } mem_req_t;

  /// What an atomic operation leaves in its word: the upper or the lower of the double word.
  function automatic logic [63:0] atomic_result(amo_e amo, logic [63:0] old, logic [63:0] operand,
                                                logic upper);
    logic [31:0] a, b, out;
    a = upper ? old[63:32] : old[31:0];
    b = upper ? operand[63:32] : operand[31:0];
    case (amo)
      AmoAdd: out = a + b;
      AmoXor: out = a ^ b;
      AmoAnd: out = a & b;
      AmoOr: out = a | b;
      AmoMin: out = $signed(a) < $signed(b) ? a : b;
      AmoMax: out = $signed(a) < $signed(b) ? b : a;
      AmoMinu: out = a < b ? a : b;
      AmoMaxu: out = a < b ? b : a;
      default: out = b;
    endcase
    return {out, out};
  endfunction

  typedef struct packed {
    logic [63:0] data;   ///< The whole double word.
    logic        error;  ///< Nothing is there.
  } mem_rsp_t;

  /// An instruction that the integer core hands on: floating point (with FREP), streams'
  /// configuration, DMA. The core has checked that it is legal. Writes of CSR 0x7c0 (streams on
  /// and off) are handed on, too, so that they act in the order of FP instructions: then rs1 is
  /// what the register becomes.
  typedef struct packed {
    logic [31:0] instr;
    logic [31:0] rs1;    ///< Values of the integer operands that it names.
    logic [31:0] rs2;
    logic [31:0] addr;   ///< Of loads and stores: rs1 and the offset.
    logic [2:0]  frm;    ///< fcsr.frm, always.
    logic [1:0]  fmode;  ///< CSR 0x7c1: other 16 and 8 bit formats, of the destination, the source.
    logic [31:0] pc;     ///< Where it stands, for profiles.
  } offload_req_t;

  /// What the integer core must know of an instruction that it hands on.
  typedef struct packed {
    logic legal;
    logic load;      ///< An FP load or store, at rs1 and the offset.
    logic store;
    logic uses_rs1;  ///< Integer registers that it takes and gives.
    logic uses_rs2;
    logic writes_rd;
  } handed_t;

  /// What comes back of those that write an integer register.
  typedef struct packed {
    logic [4:0]  rd;
    logic [31:0] data;
  } offload_rsp_t;

  /// What happened in a core complex in a cycle, for the performance counters and `dojo profile`.
  typedef struct packed {
    logic retired;         ///< An integer instruction (offloaded ones: when handed on).
    logic fp_retired;      ///< An instruction issued to the FPU or to the FP load/store unit.
    logic fpu_busy;        ///< An arithmetic operation issued to the FPU.
    logic stall_fetch;     ///< The integer core waits for an instruction.
    logic stall_operand;   ///< It waits for a register.
    logic stall_load;      ///< It waits for its load/store unit to take a request.
    logic stall_offload;   ///< It waits for the queue ahead of the FP subsystem.
    logic fp_stall_operand;///< An FP instruction waits for a register that is being computed.
    logic fp_stall_write;  ///< It waits for an earlier write of its own destination.
    logic fp_stall_stream; ///< It waits for a stream's element, or for room in a written stream.
    logic fp_stall_memory; ///< It waits for the FP load/store unit.
    logic fp_idle;         ///< There is no FP instruction to issue.
    logic tcdm_conflict;   ///< A request to the TCDM of this core's was not granted.
    logic barrier;         ///< The hart waits at the barrier.
  } core_events_t;

  // ---- inside the FP subsystem ----

  /// The FPU's units, in the order in which they are asked for results.
  typedef enum logic [1:0] {
    FpuMulAdd,
    FpuOther,
    FpuConvert,
    FpuDot
  } fpu_unit_e;

  /// Where a result goes.
  typedef struct packed {
    logic       integer_rd;
    logic       stream;
    logic [4:0] rd;
  } fpu_tag_t;
endpackage
