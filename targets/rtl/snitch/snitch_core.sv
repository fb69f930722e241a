// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The integer core of a Snitch core complex: RV32IMA, Zicsr, Zifencei, machine mode, debug.
///
/// One instruction a cycle, in order, in one step: the word at pc_q is decoded, its registers are
/// read, and it ends in the same cycle or stays where it is. Loads, products, quotients and what the
/// FP subsystem gives come later; until then the scoreboard marks their destination, and any
/// instruction waits whose operands are marked, or whose bits 11 to 7 name a marked register,
/// whether it has a destination there or not. The register file takes one value a cycle: of the
/// instruction that ends, else of a load, else of the multiplier, else of the FP subsystem.
///
/// An access to an address where nothing is traps at once. One that a device refuses traps late: mepc
/// and mtval are its own, but instructions after it may have taken place.
module snitch_core
  import rv32_pkg::*, snitch_pkg::*, map_pkg::*;
#(
    parameter bit Streams = 1'b1,
    parameter bit Dma = 1'b0,
    parameter bit Dot8 = 1'b0  ///< With the vendor's own instruction.
) (
    input logic clk,
    input logic rst_n,
    input logic [31:0] hart_id,
    input logic [31:0] boot_address,
    input logic irq_software,
    input logic irq_timer,
    input logic irq_external,
    input logic irq_cluster,
    debug_if.hart_side debug,
    // Instructions: the word at fetch_addr is there in the cycle where ready is set. An address may
    // be given up. flush, one cycle: forget all words.
    output logic fetch_valid,
    output logic [31:0] fetch_addr,
    input logic fetch_ready,
    input logic [31:0] fetch_instr,
    input logic fetch_error,
    output logic fetch_flush,
    // Data.
    output logic data_req_valid,
    input logic data_req_ready,
    output mem_req_t data_req,
    input logic data_rsp_valid,
    input mem_rsp_t data_rsp,
    // Instructions handed on.
    output logic offload_valid,
    input logic offload_ready,
    output offload_req_t offload_req,
    input logic offload_rsp_valid,
    output logic offload_rsp_ready,
    input offload_rsp_t offload_rsp,
    // The FP subsystem.
    input logic [4:0] fp_flags,     ///< Raised in this cycle.
    input logic fp_empty,           ///< All that was handed on is done, registers on the way included.
    input logic fp_access_done,     ///< The oldest FP load or store handed on is done (once for each,
                                    ///< however often FREP repeats it).
    output logic fp_reg_write,      ///< The debugger writes f[fp_reg_addr] in this cycle.
    output logic [4:0] fp_reg_addr,
    output logic [31:0] fp_reg_wdata,
    input logic [31:0] fp_reg_rdata,
    // The barrier: level, until it is done or the core gives up.
    output logic barrier_req,
    input logic barrier_done,
    output core_events_t events,
    output logic idle  ///< Waits, is halted.
);
  /// What the hart does.
  typedef enum logic [1:0] {
    Run,
    Sleep,    ///< In wfi.
    Barrier,  ///< Reads 0x7c2.
    Halted
  } state_e;

  state_e state_q;
  logic [31:0] pc_q;
  logic [31:0] x_q[32];
  logic [31:0] marked_q;  // The scoreboard.
  logic fresh_q;          // No instruction since reset.

  // An access failed: it traps before the next instruction.
  logic fault_q, fault_write_q;
  logic [31:0] fault_addr_q;
  logic [31:2] fault_pc_q;

  wire halted = state_q == Halted;
  assign fetch_valid = state_q == Run;
  assign fetch_addr = pc_q;
  wire present = fetch_valid && fetch_ready;

  // The instruction and what it reads.
  wire [31:0] instruction = fetch_instr;
  wire [2:0] funct3 = instruction[14:12];
  wire [4:0] rd = instruction[11:7];
  wire [4:0] rs1 = instruction[19:15];
  wire [4:0] rs2 = instruction[24:20];
  wire [31:0] rs1_value = x_q[rs1];
  wire [31:0] rs2_value = x_q[rs2];

  decoded_t decoded;
  rv32_decode decode (
      .instruction,
      .float_on(1'b0),
      .frm(3'b0),
      .decoded
  );
  logic float_on;
  logic [2:0] frm;
  logic [1:0] float_mode;
  handed_t handed;
  snitch_decode #(
      .Streams(Streams),
      .Dma(Dma)
  ) hand (
      .instruction,
      .float_on,
      .frm,
      .handed
  );
  logic dot8;
  logic [31:0] dot8_sum;
  snitch_dot8 #(
      .Enabled(Dot8)
  ) dot (
      .instruction,
      .rs1(rs1_value),
      .rs2(rs2_value),
      .sum(x_q[rd]),
      .legal(dot8),
      .result(dot8_sum)
  );
  wire kind_e kind = handed.legal ? KindFloat : dot8 ? KindMul : decoded.kind;

  logic [31:0] alu_result, product;
  logic taken;
  rv32_alu alu (
      .op(decoded.alu),
      .a(rs1_value),
      .b(decoded.second_is_imm ? decoded.imm : rs2_value),
      .funct3,
      .result(alu_result),
      .taken,
      .product
  );
  wire [31:0] target_sum = (decoded.target_from_pc ? pc_q : rs1_value) + decoded.imm;
  wire [31:0] target = {target_sum[31:1], target_sum[0] && kind != KindJump};

  logic uses_rs1, uses_rs2;
  always_comb begin
    uses_rs1 = 1'b0;
    uses_rs2 = 1'b0;
    case (kind)
      KindAlu: begin
        uses_rs1 = decoded.alu != AluSecond;
        uses_rs2 = !decoded.second_is_imm;
      end
      KindBranch, KindStore, KindAtomic, KindMul, KindDiv: begin
        uses_rs1 = 1'b1;
        uses_rs2 = 1'b1;
      end
      KindJump: uses_rs1 = !decoded.target_from_pc;
      KindLoad: uses_rs1 = 1'b1;
      KindCsr: uses_rs1 = !funct3[2];
      KindFloat: begin
        uses_rs1 = handed.uses_rs1;
        uses_rs2 = handed.uses_rs2;
      end
      default: ;
    endcase
  end
  wire waits = (uses_rs1 && marked_q[rs1]) || (uses_rs2 && marked_q[rs2]) || marked_q[rd];

  // What comes before it: a halt, a late fault, an interrupt.
  logic irq, irq_awake;
  logic [4:0] irq_cause;
  // At the barrier all are released in one cycle: it isn't missed.
  wire released = state_q == Barrier && barrier_done;
  wire halt_now = !halted && !released && (debug.halt_req || (fresh_q && debug.halt_on_reset));
  wire fault_now = fault_q && !halted && !halt_now && !released;
  wire irq_now = present && irq && !halt_now && !fault_now;
  wire begins = present && !waits && !halt_now && !fault_now && !irq_now;

  wire jumps = kind == KindJump || (kind == KindBranch && taken);
  wire float_access = handed.load || handed.store;
  wire accesses = float_access || kind inside {KindLoad, KindStore, KindAtomic};
  wire stores = kind == KindStore || handed.store
      || (kind == KindAtomic && instruction[31:27] != rv32_pkg::AmoLr);
  logic misaligned, mapped;
  always_comb begin
    mapped = !accesses || target - ScratchpadOrigin < ScratchpadBytes || target - RamOrigin < RamBytes
        || target - BootRomOrigin < BootRomBytes || target - PeripheralsOrigin < PeripheralsBytes
        || target - ZeroOrigin < ZeroBytes || target - ClintOrigin < ClintBytes
        || target - ConsoleOrigin < ConsoleBytes;
    case (funct3[1:0])
      2'b01: misaligned = target[0];
      2'b10: misaligned = target[1:0] != 0;
      2'b11: misaligned = target[2:0] != 0;
      default: misaligned = 1'b0;
    endcase
  end

  logic csr_legal, step, ebreak_halts;
  logic wrong;  // It traps before it does anything.
  cause_e wrong_cause;
  logic [31:0] wrong_value;
  always_comb begin
    wrong = 1'b1;
    wrong_cause = CauseIllegal;
    wrong_value = '0;
    if (fetch_error) begin
      wrong_cause = CauseFetchFault;
      wrong_value = pc_q;
    end else if (!(decoded.legal || handed.legal || dot8) || (kind == KindCsr && !csr_legal)) begin
      wrong_value = instruction;
    end else if (kind == KindEcall) begin
      wrong_cause = CauseEcallM;
    end else if (kind == KindEbreak) begin
      wrong_cause = CauseBreakpoint;
      wrong_value = pc_q;
    end else if (jumps && target[1]) begin
      wrong_cause = CauseFetchMisaligned;
      wrong_value = target;
    end else if (accesses && misaligned) begin
      wrong_cause = stores ? CauseStoreMisaligned : CauseLoadMisaligned;
      wrong_value = target;
    end else if (!mapped) begin
      wrong_cause = stores ? CauseStoreFault : CauseLoadFault;
      wrong_value = target;
    end else begin
      wrong = 1'b0;
    end
  end
  wire ebreak_now = begins && wrong && wrong_cause == CauseBreakpoint && ebreak_halts;
  wire wrong_now = begins && wrong && !ebreak_now;
  wire run = begins && !wrong;

  // Memory.
  amo_e amo;
  always_comb begin
    amo = AmoNone;
    if (kind == KindAtomic) begin
      case (instruction[31:27])
        rv32_pkg::AmoLr: amo = snitch_pkg::AmoLr;
        rv32_pkg::AmoSc: amo = snitch_pkg::AmoSc;
        rv32_pkg::AmoSwap: amo = snitch_pkg::AmoSwap;
        rv32_pkg::AmoAdd: amo = snitch_pkg::AmoAdd;
        rv32_pkg::AmoXor: amo = snitch_pkg::AmoXor;
        rv32_pkg::AmoAnd: amo = snitch_pkg::AmoAnd;
        rv32_pkg::AmoOr: amo = snitch_pkg::AmoOr;
        rv32_pkg::AmoMin: amo = snitch_pkg::AmoMin;
        rv32_pkg::AmoMax: amo = snitch_pkg::AmoMax;
        rv32_pkg::AmoMinu: amo = snitch_pkg::AmoMinu;
        default: amo = snitch_pkg::AmoMaxu;
      endcase
    end
  end

  logic lsu_ready, lsu_fp_ready, lsu_out_valid, lsu_out_ready, lsu_empty;
  logic fault, fault_write;
  logic [4:0] lsu_out_rd;
  logic [31:0] lsu_out_value, fault_addr;
  logic [31:2] fault_pc;
  wire lsu_valid = run && kind inside {KindLoad, KindStore, KindAtomic};
  snitch_lsu lsu (
      .clk,
      .rst_n,
      .valid(lsu_valid),
      .ready(lsu_ready),
      .write(kind == KindStore),
      .amo,
      .size(funct3),
      .addr(target),
      .data(rs2_value),
      .rd,
      .pc(pc_q[31:2]),
      .fp_valid(offload_valid && offload_ready && float_access),
      .fp_ready(lsu_fp_ready),
      .fp_write(handed.store),
      .fp_done(fp_access_done),
      .out_valid(lsu_out_valid),
      .out_ready(lsu_out_ready),
      .out_rd(lsu_out_rd),
      .out_value(lsu_out_value),
      .fault,
      .fault_write,
      .fault_addr,
      .fault_pc,
      .empty(lsu_empty),
      .req_valid(data_req_valid),
      .req_ready(data_req_ready),
      .req(data_req),
      .rsp_valid(data_rsp_valid),
      .rsp(data_rsp)
  );

  logic muldiv_ready, muldiv_out_valid, muldiv_out_ready;
  logic [4:0] muldiv_out_rd;
  logic [31:0] muldiv_out_value;
  wire muldiv_valid = run && kind inside {KindMul, KindDiv};
  snitch_muldiv muldiv (
      .clk,
      .rst_n,
      .in_valid(muldiv_valid),
      .in_ready(muldiv_ready),
      .in_divides(kind == KindDiv),
      .in_operation(funct3[1:0]),
      .in_a(kind == KindDiv ? rs1_value : dot8 ? dot8_sum : product),
      .in_b(rs2_value),
      .in_rd(rd),
      .out_valid(muldiv_out_valid),
      .out_ready(muldiv_out_ready),
      .out_rd(muldiv_out_rd),
      .out_value(muldiv_out_value)
  );

  // Registers of control, shared with the debugger.
  wire debug_csr = halted && debug.reg_valid && debug.reg_addr[15:12] == 4'h0;
  wire debug_x = halted && debug.reg_valid && debug.reg_addr[15:5] == {8'h10, 3'b000};
  wire debug_f = halted && debug.reg_valid && debug.reg_addr[15:5] == {8'h10, 3'b001};
  wire [31:0] csr_operand = funct3[2] ? {27'b0, rs1} : rs1_value;
  wire csr_writes = halted ? debug.reg_write : (funct3[1:0] == 2'b01 || rs1 != 0);
  wire [11:0] csr_addr = halted ? debug.reg_addr[11:0] : instruction[31:20];
  wire csr_is_float = csr_addr[11:2] == 10'd0;  // fflags, frm, fcsr: when all flags are in.
  wire csr_is_streams = csr_addr == 12'h7c0 && csr_writes;
  wire csr_is_barrier = csr_addr == 12'h7c2;
  logic [31:0] csr_old, csr_new;
  always_comb begin
    case (funct3[1:0])
      2'b10: csr_new = csr_old | csr_operand;
      2'b11: csr_new = csr_old & ~csr_operand;
      default: csr_new = csr_operand;
    endcase
    if (halted) csr_new = debug.reg_wdata;
  end

  assign offload_valid = run && ((kind == KindFloat && (!float_access || lsu_fp_ready))
      || (kind == KindCsr && csr_is_streams));
  assign offload_req = '{
          instr: instruction,
          rs1: kind == KindCsr ? csr_new : rs1_value,
          rs2: rs2_value,
          addr: target,
          frm: frm,
          fmode: float_mode,
          pc: pc_q
      };

  // How it ends. A wait ends at once when it is single-stepped.
  wire awake = irq_awake || step;
  logic finished;
  state_e wait_for;  // Run where it doesn't wait.
  always_comb begin
    finished = 1'b0;
    wait_for = Run;
    if (run) begin
      finished = 1'b1;
      case (kind)
        KindLoad, KindStore, KindAtomic: finished = lsu_ready;
        KindMul, KindDiv: finished = muldiv_ready;
        KindFloat: finished = offload_ready && (!float_access || lsu_fp_ready);
        KindCsr: begin
          if (csr_is_streams) finished = offload_ready;
          else if (csr_is_float) finished = fp_empty;
          else if (csr_is_barrier) begin
            finished = 1'b0;
            wait_for = Barrier;
          end
        end
        KindFence: finished = lsu_empty;
        KindWfi: begin
          finished = awake;
          wait_for = awake ? Run : Sleep;
        end
        default: ;
      endcase
    end else if (!halt_now && !fault_now) begin
      if (state_q == Sleep) finished = awake;
      else if (state_q == Barrier) finished = barrier_done;
    end
  end
  wire waiting = state_q == Sleep || state_q == Barrier;
  // Halts, faults and interrupts end the wait: the read begins anew when they are over.
  wire gives_up = halt_now || fault_now || irq;
  assign barrier_req = !barrier_done && (wait_for == Barrier || (state_q == Barrier && !gives_up));
  assign fetch_flush = finished && !waiting && kind == KindFence && funct3[0];

  wire trap = fault_now || irq_now || wrong_now;
  logic [4:0] trap_cause;
  logic [31:0] trap_value;
  always_comb begin
    if (fault_now) begin
      trap_cause = fault_write_q ? CauseStoreFault : CauseLoadFault;
      trap_value = fault_addr_q;
    end else if (irq_now) begin
      trap_cause = irq_cause;
      trap_value = '0;
    end else begin
      trap_cause = wrong_cause;
      trap_value = wrong_value;
    end
  end

  logic [31:0] trap_target, mepc, dpc;
  logic [31:0] next_pc;
  wire [31:0] pc_after = pc_q + 4;
  always_comb begin
    if (trap) next_pc = trap_target;
    else if (waiting) next_pc = pc_after;
    else if (kind == KindMret) next_pc = mepc;
    else if (jumps) next_pc = target;
    else next_pc = pc_after;
  end

  wire ended = finished || trap;
  wire step_now = ended && step;
  wire debug_enter = halt_now || ebreak_now || step_now;
  debug_cause_e debug_cause;
  always_comb begin
    if (step_now) debug_cause = DebugStep;
    else if (ebreak_now) debug_cause = DebugEbreak;
    else if (fresh_q && debug.halt_on_reset) debug_cause = DebugReset;
    else debug_cause = DebugHalt;
  end

  rv32_csr #(
      .Misa(32'h40801129),  // RV32IMAFD and what isn't standard
      .FloatAtReset(2'b11),
      .Cluster(1'b1)
  ) csr (
      .clk,
      .rst_n,
      .hart_id,
      .access(halted || kind == KindCsr),
      .addr(csr_addr),
      .writes(csr_writes),
      .write_now(csr_legal && csr_writes
          && (halted ? debug_csr : (finished && !waiting && kind == KindCsr))),
      .wdata(csr_new),
      .rdata(csr_old),
      .legal(csr_legal),
      .trap,
      .trap_is_irq(irq_now),
      .trap_cause,
      .trap_value,
      .pc(fault_now ? fault_pc_q : pc_q[31:2]),
      .mret(finished && !waiting && kind == KindMret),
      .debug_enter,
      .debug_cause,
      .debug_pc(step_now ? next_pc[31:2] : pc_q[31:2]),
      .retired(finished),
      .float_touched(float_on && (fp_flags != 0 || (finished && !waiting && kind == KindFloat))),
      .float_flags(fp_flags),
      .halted,
      .irq_software,
      .irq_timer,
      .irq_external,
      .irq_cluster,
      .irq,
      .irq_awake,
      .irq_cause,
      .trap_target,
      .mepc,
      .dpc,
      .step,
      .ebreak_halts,
      .float_on,
      .frm,
      .float_mode
  );

  assign debug.halted = halted;
  assign debug.reset = !rst_n;
  assign debug.reg_error = !(debug_x || debug_f || (debug_csr && csr_legal));
  assign debug.reg_rdata = debug_x ? x_q[debug.reg_addr[4:0]] : debug_f ? fp_reg_rdata : csr_old;
  assign fp_reg_write = debug_f && debug.reg_write;
  assign fp_reg_addr = debug.reg_addr[4:0];
  assign fp_reg_wdata = debug.reg_wdata;

  // What is written: one value a cycle.
  logic [31:0] value;
  logic writes_now;
  always_comb begin
    writes_now = (finished || wait_for == Barrier) && !waiting && rd != 0 && decoded.writes_rd;
    case (kind)
      KindTarget: value = target;
      KindJump: value = pc_after;
      KindCsr: value = csr_old;
      KindAlu: value = alu_result;
      default: begin
        value = alu_result;
        writes_now = 1'b0;
      end
    endcase
  end
  assign lsu_out_ready = !writes_now;
  assign muldiv_out_ready = !writes_now && !lsu_out_valid;
  assign offload_rsp_ready = !writes_now && !lsu_out_valid && !muldiv_out_valid;

  // Destinations that are marked, and unmarked when their value comes.
  wire marks = finished && !waiting && rd != 0
      && (kind inside {KindLoad, KindAtomic, KindMul, KindDiv}
          || (kind == KindFloat && handed.writes_rd));
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      marked_q <= '0;
    end else begin
      if (marks) marked_q[rd] <= 1'b1;
      if (!writes_now) begin
        if (lsu_out_valid) marked_q[lsu_out_rd] <= 1'b0;
        else if (muldiv_out_valid) marked_q[muldiv_out_rd] <= 1'b0;
        else if (offload_rsp_valid) marked_q[offload_rsp.rd] <= 1'b0;
      end
    end
  end

  logic x_written;
  logic [4:0] x_register;
  logic [31:0] x_value;
  always_comb begin
    x_written = writes_now || lsu_out_valid || muldiv_out_valid || offload_rsp_valid;
    if (writes_now) {x_register, x_value} = {rd, value};
    else if (lsu_out_valid) {x_register, x_value} = {lsu_out_rd, lsu_out_value};
    else if (muldiv_out_valid) {x_register, x_value} = {muldiv_out_rd, muldiv_out_value};
    else {x_register, x_value} = offload_rsp;
    if (x_register == '0) x_written = 1'b0;
  end
  always_ff @(posedge clk) begin
    if (x_written) x_q[x_register] <= x_value;
    if (debug_x && debug.reg_write && debug.reg_addr[4:0] != 0) begin
      x_q[debug.reg_addr[4:0]] <= debug.reg_wdata;
    end
  end
  initial x_q[0] = '0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      state_q <= Run;
      pc_q <= boot_address;
      fresh_q <= 1'b1;
      fault_q <= 1'b0;
      fault_write_q <= 1'b0;
      fault_addr_q <= '0;
      fault_pc_q <= '0;
    end else begin
      if (debug_enter) begin
        state_q <= Halted;
      end else if (halted) begin
        if (debug.resume_req) begin
          state_q <= Run;
          pc_q <= dpc;
        end
      end else if (ended) begin
        state_q <= Run;
        pc_q <= next_pc;
      end else if (wait_for != Run) begin
        state_q <= wait_for;
      end else if (state_q == Barrier && irq) begin
        state_q <= Run;
      end
      if (ended || debug_enter) fresh_q <= 1'b0;
      if (fault_now) fault_q <= 1'b0;
      if (fault) begin
        fault_q <= 1'b1;
        fault_write_q <= fault_write;
        fault_addr_q <= fault_addr;
        fault_pc_q <= fault_pc;
      end
    end
  end

  assign idle = waiting || halted;
  always_comb begin
    events = '0;
    events.retired = finished;
    events.stall_fetch = fetch_valid && !fetch_ready;
    events.stall_operand = present && waits;
    events.stall_load = lsu_valid && !lsu_ready;
    events.stall_offload = run && !finished && (kind == KindFloat || kind == KindCsr)
        && wait_for == Run;
    events.barrier = state_q == Barrier || wait_for == Barrier;
  end
endmodule
