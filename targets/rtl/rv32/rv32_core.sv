// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// RV32IMAF with Zicsr, Zifencei, machine mode and external debug. Two steps an instruction,
/// fetch and execute; the next fetch begins in the cycle in which an instruction ends, so that
/// with a memory that answers in the next cycle an instruction takes one cycle, a load or store
/// two, an atomic four, a division 34, a floating-point operation two (division and root 17).
module rv32_core
  import rv32_pkg::*;
#(
    parameter logic [31:0] HartId = 0,
    parameter logic [31:0] BootAddress = 0
) (
    input logic clk,
    input logic rst_n,
    bus_if.master fetch,
    bus_if.master data,
    debug_if.hart_side debug,
    input logic irq_software,
    input logic irq_timer,
    input logic irq_external,
    output logic sleeping  ///< Waits for an interrupt.
);
  typedef enum logic [1:0] {
    Fetch,    ///< The fetch at pc_q isn't taken yet.
    Await,    ///< Its answer is due; when it comes it is executed at once.
    Execute,  ///< instruction_q is being executed.
    Halted
  } state_e;

  /// Where the memory access of the instruction stands.
  typedef enum logic [1:0] {
    MemIdle,
    MemAnswer,
    MemWrite,   ///< The write of an atomic isn't taken yet.
    MemWritten
  } memory_e;

  state_e state_q;
  memory_e memory_q;
  logic [31:0] pc_q, instruction_q;
  logic started_q;      // A division, float operation or wait is under way.
  logic fresh_q;        // No instruction since reset.
  logic reserved_q;
  logic [31:2] reserved_addr_q;
  logic [31:0] amo_q;   // What the atomic will write.
  logic [31:0] amo_old_q;
  logic [31:0] x_q[32];
  logic [31:0] f_q[32];

  // The instruction and what it reads.
  wire present = (state_q == Await && fetch.done) || state_q == Execute;
  wire fetch_fault = state_q == Await && fetch.error;
  wire [31:0] instruction = state_q == Await ? fetch.rdata : instruction_q;
  wire [2:0] funct3 = instruction[14:12];
  wire [4:0] rd = instruction[11:7];
  wire [4:0] rs1 = instruction[19:15];
  wire [4:0] rs2 = instruction[24:20];
  wire [31:0] rs1_value = x_q[rs1];
  wire [31:0] rs2_value = x_q[rs2];

  decoded_t decoded;
  logic float_on;
  logic [2:0] frm;
  rv32_decode decode (.*);

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
  wire [31:0] target = {target_sum[31:1], target_sum[0] && decoded.kind != KindJump};

  // Whether it may begin: no halt, no interrupt, nothing wrong with it.
  wire first = present && memory_q == MemIdle && !started_q;
  wire halt_now = first && (debug.halt_req || (fresh_q && debug.halt_on_reset));
  logic irq, irq_awake;
  logic [4:0] irq_cause;
  wire irq_now = first && !halt_now && irq;

  wire jumps = decoded.kind == KindJump || (decoded.kind == KindBranch && taken);
  wire stores = decoded.kind == KindStore
      || (decoded.kind == KindAtomic && instruction[31:27] != AmoLr);
  wire accesses = decoded.kind inside {KindLoad, KindStore, KindAtomic};
  wire misaligned = accesses
      && ((funct3[1:0] == 2'b01 && target[0]) || (funct3[1:0] == 2'b10 && target[1:0] != 0));

  logic csr_legal, step, ebreak_halts;
  logic wrong;  // The instruction traps before it does anything.
  cause_e wrong_cause;
  logic [31:0] wrong_value;
  always_comb begin
    wrong = 1'b1;
    wrong_cause = CauseIllegal;
    wrong_value = '0;
    if (fetch_fault) begin
      wrong_cause = CauseFetchFault;
      wrong_value = pc_q;
    end else if (!decoded.legal || (decoded.kind == KindCsr && !csr_legal)) begin
      wrong_value = instruction;
    end else if (decoded.kind == KindEcall) begin
      wrong_cause = CauseEcallM;
    end else if (decoded.kind == KindEbreak) begin
      wrong_cause = CauseBreakpoint;
      wrong_value = pc_q;
    end else if (jumps && target[1]) begin
      wrong_cause = CauseFetchMisaligned;
      wrong_value = target;
    end else if (misaligned) begin
      wrong_cause = stores ? CauseStoreMisaligned : CauseLoadMisaligned;
      wrong_value = target;
    end else begin
      wrong = 1'b0;
    end
  end
  wire ebreak_now = first && !halt_now && !irq_now && wrong && wrong_cause == CauseBreakpoint
      && ebreak_halts;
  wire wrong_now = first && !halt_now && !irq_now && wrong && !ebreak_now;
  wire run = present && !halt_now && !irq_now && !(first && wrong);

  // Memory.
  wire is_lr = instruction[31:27] == AmoLr;
  wire is_sc = instruction[31:27] == AmoSc;
  wire sc_fails = decoded.kind == KindAtomic && is_sc
      && !(reserved_q && reserved_addr_q == target[31:2]);
  wire second_access = decoded.kind == KindAtomic && !is_lr && !is_sc;
  wire mem_done = (memory_q == MemAnswer && data.done && (!second_access || data.error))
      || (memory_q == MemWritten && data.done) || (run && first && accesses && sc_fails);
  wire mem_fault = (memory_q inside {MemAnswer, MemWritten}) && data.done && data.error;

  always_comb begin
    data.valid = (run && memory_q == MemIdle && accesses && !sc_fails) || memory_q == MemWrite;
    data.write = memory_q == MemWrite || decoded.kind == KindStore
        || (decoded.kind == KindAtomic && is_sc);
    data.addr = target;
    case (funct3[1:0])
      2'b00: begin
        data.strobe = 4'b0001 << target[1:0];
        data.wdata = {4{rs2_value[7:0]}};
      end
      2'b01: begin
        data.strobe = 4'b0011 << target[1:0];
        data.wdata = {2{rs2_value[15:0]}};
      end
      default: begin
        data.strobe = 4'b1111;
        data.wdata = memory_q == MemWrite ? amo_q
            : (decoded.kind == KindStore && instruction[2]) ? f_q[rs2] : rs2_value;
      end
    endcase
  end

  logic [31:0] loaded;
  wire [31:0] lane = data.rdata >> {target[1:0], 3'b000};
  always_comb begin
    case (funct3)
      3'b000: loaded = {{24{lane[7]}}, lane[7:0]};
      3'b001: loaded = {{16{lane[15]}}, lane[15:0]};
      3'b100: loaded = {24'b0, lane[7:0]};
      3'b101: loaded = {16'b0, lane[15:0]};
      default: loaded = lane;
    endcase
  end

  logic [31:0] amo_new;
  always_comb begin
    case (instruction[31:27])
      AmoAdd: amo_new = data.rdata + rs2_value;
      AmoXor: amo_new = data.rdata ^ rs2_value;
      AmoOr: amo_new = data.rdata | rs2_value;
      AmoAnd: amo_new = data.rdata & rs2_value;
      AmoMin: amo_new = $signed(data.rdata) < $signed(rs2_value) ? data.rdata : rs2_value;
      AmoMax: amo_new = $signed(data.rdata) > $signed(rs2_value) ? data.rdata : rs2_value;
      AmoMinu: amo_new = data.rdata < rs2_value ? data.rdata : rs2_value;
      AmoMaxu: amo_new = data.rdata > rs2_value ? data.rdata : rs2_value;
      default: amo_new = rs2_value;
    endcase
  end

  // Units that take their time.
  logic divided, floated;
  logic [31:0] quotient, float_result;
  logic [4:0] float_flags;
  rv32_divider divider (
      .clk,
      .rst_n,
      .start(run && first && decoded.kind == KindDiv),
      .operation(funct3[1:0]),
      .a(rs1_value),
      .b(rs2_value),
      .done(divided),
      .result(quotient)
  );
  rv32_fpu fpu (
      .clk,
      .rst_n,
      .start(run && first && decoded.kind == KindFloat),
      .instruction,
      .frm,
      .a(f_q[rs1]),
      .b(f_q[rs2]),
      .c(f_q[instruction[31:27]]),
      .x(rs1_value),
      .done(floated),
      .result(float_result),
      .flags(float_flags)
  );
  // A wait ends at once when it is single-stepped.
  wire awake = irq_awake || debug.halt_req || step;
  assign sleeping = started_q && decoded.kind == KindWfi;

  // How the instruction ends.
  logic finished;
  always_comb begin
    case (decoded.kind)
      KindLoad, KindStore, KindAtomic: finished = mem_done && !mem_fault;
      KindDiv: finished = started_q && divided;
      KindFloat: finished = started_q && floated;
      KindWfi: finished = awake;
      default: finished = 1'b1;
    endcase
    finished = finished && run;
  end

  wire trap = irq_now || wrong_now || mem_fault;
  logic [4:0] trap_cause;
  always_comb begin
    if (irq_now) trap_cause = irq_cause;
    else if (mem_fault) trap_cause = stores ? CauseStoreFault : CauseLoadFault;
    else trap_cause = wrong_cause;
  end

  logic [31:0] trap_target, mepc, dpc;
  logic [31:0] next_pc;
  always_comb begin
    if (trap) next_pc = trap_target;
    else if (decoded.kind == KindMret) next_pc = mepc;
    else if (jumps) next_pc = target;
    else next_pc = pc_q + 4;
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

  wire go_on = ended && !step_now;
  assign fetch.valid = state_q == Fetch || go_on;
  assign fetch.addr = state_q == Fetch ? pc_q : next_pc;
  assign fetch.write = 1'b0;
  assign fetch.strobe = '1;
  assign fetch.wdata = '0;

  // Registers of control, shared with the debugger.
  wire halted = state_q == Halted;
  wire debug_csr = halted && debug.reg_valid && debug.reg_addr[15:12] == 4'h0;
  wire debug_x = halted && debug.reg_valid && debug.reg_addr[15:5] == {8'h10, 3'b000};
  wire debug_f = halted && debug.reg_valid && debug.reg_addr[15:5] == {8'h10, 3'b001};
  wire [31:0] csr_operand = funct3[2] ? {27'b0, rs1} : rs1_value;
  wire csr_writes = halted ? debug.reg_write : (funct3[1:0] == 2'b01 || rs1 != 0);
  logic [31:0] csr_old, csr_new;
  always_comb begin
    case (funct3[1:0])
      2'b10: csr_new = csr_old | csr_operand;
      2'b11: csr_new = csr_old & ~csr_operand;
      default: csr_new = csr_operand;
    endcase
    if (halted) csr_new = debug.reg_wdata;
  end

  rv32_csr csr (
      .clk,
      .rst_n,
      .hart_id(HartId),
      .access(1'b1),
      .addr(halted ? debug.reg_addr[11:0] : instruction[31:20]),
      .writes(csr_writes),
      .write_now(csr_legal && csr_writes
          && (halted ? debug_csr : (finished && decoded.kind == KindCsr))),
      .wdata(csr_new),
      .rdata(csr_old),
      .legal(csr_legal),
      .trap,
      .trap_is_irq(irq_now),
      .trap_cause,
      .trap_value(irq_now ? 32'b0 : mem_fault ? target : wrong_value),
      .pc(pc_q[31:2]),
      .mret(finished && decoded.kind == KindMret),
      .debug_enter,
      .debug_cause,
      .debug_pc(step_now ? next_pc[31:2] : pc_q[31:2]),
      .retired(finished),
      .float_touched(finished && (decoded.kind == KindFloat || decoded.float_rd)),
      .float_flags(decoded.kind == KindFloat ? float_flags : 5'b0),
      .halted,
      .irq_software,
      .irq_timer,
      .irq_external,
      .irq_cluster(1'b0),
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
      .float_mode()
  );

  assign debug.halted = halted;
  assign debug.reset = !rst_n;
  assign debug.reg_error = !(debug_x || debug_f || (debug_csr && csr_legal));
  assign debug.reg_rdata = debug_x ? x_q[debug.reg_addr[4:0]]
      : debug_f ? f_q[debug.reg_addr[4:0]] : csr_old;

  // What it writes.
  logic [31:0] value;
  always_comb begin
    case (decoded.kind)
      KindTarget: value = target;
      KindJump: value = pc_q + 4;
      KindLoad: value = loaded;
      KindAtomic: value = is_sc ? {31'b0, sc_fails} : is_lr ? data.rdata : amo_old_q;
      KindMul: value = product;
      KindDiv: value = quotient;
      KindCsr: value = csr_old;
      KindFloat: value = float_result;
      default: value = alu_result;
    endcase
  end

  always_ff @(posedge clk) begin
    if (finished && decoded.writes_rd && !decoded.float_rd && rd != 0) x_q[rd] <= value;
    if (debug_x && debug.reg_write && debug.reg_addr[4:0] != 0) begin
      x_q[debug.reg_addr[4:0]] <= debug.reg_wdata;
    end
    if (finished && decoded.writes_rd && decoded.float_rd) f_q[rd] <= value;
    if (debug_f && debug.reg_write) f_q[debug.reg_addr[4:0]] <= debug.reg_wdata;
  end
  initial x_q[0] = '0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      state_q <= Fetch;
      memory_q <= MemIdle;
      pc_q <= BootAddress;
      instruction_q <= '0;
      started_q <= 1'b0;
      fresh_q <= 1'b1;
      reserved_q <= 1'b0;
      reserved_addr_q <= '0;
      amo_q <= '0;
      amo_old_q <= '0;
    end else begin
      // Where execution stands.
      if (debug_enter) begin
        state_q <= Halted;
      end else if (halted) begin
        if (debug.resume_req) begin
          state_q <= Fetch;
          pc_q <= dpc;
        end
      end else if (fetch.valid) begin
        state_q <= fetch.ready ? Await : Fetch;
        pc_q <= fetch.addr;
      end else if (present) begin
        state_q <= Execute;
        instruction_q <= instruction;
      end
      if (ended || debug_enter) fresh_q <= 1'b0;
      started_q <= !ended && (started_q
          || (run && decoded.kind inside {KindDiv, KindFloat, KindWfi}));

      case (memory_q)
        MemIdle: if (data.valid && data.ready) memory_q <= MemAnswer;
        MemAnswer:
        if (data.done) memory_q <= (second_access && !data.error) ? MemWrite : MemIdle;
        MemWrite: if (data.ready) memory_q <= MemWritten;
        default: if (data.done) memory_q <= MemIdle;
      endcase
      if (memory_q == MemAnswer && data.done) begin
        amo_q <= amo_new;
        amo_old_q <= data.rdata;
      end

      // Reservation: of the last lr, until an sc, a trap or the debugger.
      if (finished && decoded.kind == KindAtomic && is_lr) begin
        reserved_q <= 1'b1;
        reserved_addr_q <= target[31:2];
      end else if ((finished && decoded.kind == KindAtomic && is_sc) || trap || debug_enter) begin
        reserved_q <= 1'b0;
      end
    end
  end
endmodule
