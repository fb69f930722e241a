// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Control and status registers of machine mode and of debug mode, and what they decide.
/// In one cycle at most one of trap, mret, debug entry and write happens.
module rv32_csr
  import rv32_pkg::*;
#(
    parameter logic [31:0] Misa = 32'h40001121,  ///< RV32IMAF
    parameter logic [1:0] FloatAtReset = 2'b00,  ///< mstatus.FS
    parameter bit Cluster = 1'b0  ///< Of a hart in a Snitch cluster: 0x7c0 to 0x7c2, interrupt 19.
) (
    input logic clk,
    input logic rst_n,
    input logic [31:0] hart_id,
    // Access by an instruction, or by the debugger while the hart is halted.
    input logic access,
    input logic [11:0] addr,
    input logic writes,  ///< The access wants to write; decides whether it is legal.
    input logic write_now,
    input logic [31:0] wdata,
    output logic [31:0] rdata,
    output logic legal,
    // Events.
    input logic trap,
    input logic trap_is_irq,
    input logic [4:0] trap_cause,
    input logic [31:0] trap_value,
    input logic [31:2] pc,  ///< Of the instruction that traps.
    input logic mret,
    input logic debug_enter,
    input debug_cause_e debug_cause,
    input logic [31:2] debug_pc,
    input logic retired,
    input logic float_touched,  ///< A floating-point register or flag was written.
    input logic [4:0] float_flags,
    // Lines and state.
    input logic halted,
    input logic irq_software,
    input logic irq_timer,
    input logic irq_external,
    input logic irq_cluster,
    output logic irq,        ///< An interrupt is to be taken now.
    output logic irq_awake,  ///< One is pending and enabled, whatever mstatus.MIE says.
    output logic [4:0] irq_cause,
    output logic [31:0] trap_target,
    output logic [31:0] mepc,
    output logic [31:0] dpc,
    output logic step,
    output logic ebreak_halts,
    output logic float_on,
    output logic [2:0] frm,
    output logic [1:0] float_mode  ///< 0x7c1
);
  logic [63:0] mcycle_q, minstret_q;
  logic [31:0] mscratch_q, mtval_q, dscratch0_q, dscratch1_q;
  logic [31:2] mtvec_q, mepc_q, dpc_q;
  logic mtvec_vectored_q;
  logic mie_q, mpie_q, cause_is_irq_q;
  logic [4:0] mcause_q;
  logic [1:0] fs_q;
  logic msie_q, mtie_q, meie_q, mcie_q;
  logic streams_on_q;
  logic [1:0] float_mode_q;
  logic step_q, ebreakm_q;
  debug_cause_e debug_cause_q;
  logic [4:0] fflags_q;
  logic [2:0] frm_q;

  wire [31:0] mip = {
    12'b0, irq_cluster, 7'b0, irq_external, 3'b0, irq_timer, 3'b0, irq_software, 3'b0
  };
  wire [31:0] mie = {12'b0, mcie_q, 7'b0, meie_q, 3'b0, mtie_q, 3'b0, msie_q, 3'b0};
  wire [31:0] mstatus = {
    fs_q == 2'b11, 16'b0, fs_q, 2'b11, 3'b0, mpie_q, 3'b0, mie_q, 3'b0
  };

  // Interrupts, by priority.
  assign irq_awake = (mip & mie) != 0;
  assign irq = irq_awake && mie_q && !step_q;
  always_comb begin
    if (irq_external && meie_q) irq_cause = 5'd11;
    else if (irq_software && msie_q) irq_cause = 5'd3;
    else if (irq_timer && mtie_q) irq_cause = 5'd7;
    else irq_cause = 5'd19;
  end

  wire [31:0] base = {mtvec_q, 2'b00};
  assign trap_target = (mtvec_vectored_q && trap_is_irq) ? base + {25'b0, trap_cause, 2'b00} : base;
  assign mepc = {mepc_q, 2'b00};
  assign dpc = {dpc_q, 2'b00};
  assign step = step_q;
  assign ebreak_halts = ebreakm_q;
  assign float_on = fs_q != 2'b00;
  assign frm = frm_q;
  assign float_mode = float_mode_q;

  logic known;
  always_comb begin
    known = access;
    rdata = '0;
    if (access) case (addr) inside
      12'h001: rdata = {27'b0, fflags_q};
      12'h002: rdata = {29'b0, frm_q};
      12'h003: rdata = {24'b0, frm_q, fflags_q};
      12'h300: rdata = mstatus;
      12'h301: rdata = Misa;
      12'h304: rdata = mie;
      12'h305: rdata = {mtvec_q, 1'b0, mtvec_vectored_q};
      12'h310: rdata = '0;  // mstatush
      12'h340: rdata = mscratch_q;
      12'h341: rdata = mepc;
      12'h342: rdata = {cause_is_irq_q, 26'b0, mcause_q};
      12'h343: rdata = mtval_q;
      12'h344: rdata = mip;
      12'h320, [12'h323 : 12'h33f]: rdata = '0;  // mcountinhibit, mhpmevent
      [12'h7a0 : 12'h7a3]: rdata = '0;  // tselect, tdata: there is no trigger.
      [12'h7c0 : 12'h7c2]: begin
        known = Cluster;
        rdata = addr[1] ? '0 : addr[0] ? {30'b0, float_mode_q} : {31'b0, streams_on_q};
      end
      12'h7b0:
      rdata = {
        4'd4, 12'b0, ebreakm_q, 4'b0, 1'b1, 1'b0, debug_cause_q, 3'b0, step_q, 2'b11
      };
      12'h7b1: rdata = dpc;
      12'h7b2: rdata = dscratch0_q;
      12'h7b3: rdata = dscratch1_q;
      12'hb00, 12'hc00: rdata = mcycle_q[31:0];
      12'hb80, 12'hc80: rdata = mcycle_q[63:32];
      12'hb02, 12'hc02: rdata = minstret_q[31:0];
      12'hb82, 12'hc82: rdata = minstret_q[63:32];
      [12'hb03 : 12'hb1f], [12'hb83 : 12'hb9f]: rdata = '0;  // mhpmcounter
      [12'hf11 : 12'hf13]: rdata = '0;
      12'hf14: rdata = hart_id;
      12'hf15: rdata = '0;  // mconfigptr
      default: known = 1'b0;
    endcase
  end

  wire read_only = addr[11:10] == 2'b11;
  wire needs_debug = addr[11:4] == 8'h7b;
  wire needs_float = addr[11:2] == 10'd0;
  assign legal = known && !(writes && read_only) && !(needs_debug && !halted)
      && !(needs_float && !float_on && !halted);

  // One register at a time is written; counters count where they aren't written.
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      mcycle_q <= '0;
      minstret_q <= '0;
      mscratch_q <= '0;
      mtval_q <= '0;
      mtvec_q <= '0;
      mtvec_vectored_q <= 1'b0;
      mepc_q <= '0;
      mcause_q <= '0;
      cause_is_irq_q <= 1'b0;
      mie_q <= 1'b0;
      mpie_q <= 1'b0;
      fs_q <= FloatAtReset;
      {msie_q, mtie_q, meie_q, mcie_q} <= '0;
      streams_on_q <= 1'b0;
      float_mode_q <= '0;
      step_q <= 1'b0;
      ebreakm_q <= 1'b0;
      debug_cause_q <= DebugNever;
      dpc_q <= '0;
      dscratch0_q <= '0;
      dscratch1_q <= '0;
      fflags_q <= '0;
      frm_q <= '0;
    end else begin
      if (!halted) mcycle_q <= mcycle_q + 1;  // dcsr.stopcount
      if (retired) minstret_q <= minstret_q + 1;
      if (float_touched) begin
        fflags_q <= fflags_q | float_flags;
        fs_q <= 2'b11;
      end
      if (trap) begin
        mepc_q <= pc;
        mcause_q <= trap_cause;
        cause_is_irq_q <= trap_is_irq;
        mtval_q <= trap_value;
        mpie_q <= mie_q;
        mie_q <= 1'b0;
      end
      if (mret) begin
        mie_q  <= mpie_q;
        mpie_q <= 1'b1;
      end
      if (debug_enter) begin
        debug_cause_q <= debug_cause;
        dpc_q <= debug_pc;
      end
      if (write_now) begin
        case (addr)
          12'h001: fflags_q <= wdata[4:0];
          12'h002: frm_q <= wdata[2:0];
          12'h003: {frm_q, fflags_q} <= wdata[7:0];
          12'h300: begin
            mie_q <= wdata[3];
            mpie_q <= wdata[7];
            fs_q <= wdata[14:13];
          end
          12'h304:
          {mcie_q, meie_q, mtie_q, msie_q} <= {wdata[19] && Cluster, wdata[11], wdata[7], wdata[3]};
          12'h305: {mtvec_q, mtvec_vectored_q} <= {wdata[31:2], wdata[0]};
          12'h340: mscratch_q <= wdata;
          12'h341: mepc_q <= wdata[31:2];
          12'h342: {cause_is_irq_q, mcause_q} <= {wdata[31], wdata[4:0]};
          12'h343: mtval_q <= wdata;
          12'h7c0: streams_on_q <= wdata[0];
          12'h7c1: float_mode_q <= wdata[1:0];
          12'h7b0: {ebreakm_q, step_q} <= {wdata[15], wdata[2]};
          12'h7b1: dpc_q <= wdata[31:2];
          12'h7b2: dscratch0_q <= wdata;
          12'h7b3: dscratch1_q <= wdata;
          12'hb00: mcycle_q[31:0] <= wdata;
          12'hb80: mcycle_q[63:32] <= wdata;
          12'hb02: minstret_q[31:0] <= wdata;
          12'hb82: minstret_q[63:32] <= wdata;
          default: ;
        endcase
        if (addr inside {12'h001, 12'h002, 12'h003}) fs_q <= 2'b11;
      end
    end
  end
endmodule
