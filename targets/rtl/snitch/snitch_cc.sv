// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// A core complex: integer core, FP subsystem, streams, and their ways to memory. The registers
/// between these parts are here (see snitch_pkg).
module snitch_cc
  import snitch_pkg::*;
#(
    parameter bit Streams = 1'b1,
    parameter bit Dma = 1'b0,   ///< The hart that gives the DMA engine its instructions.
    parameter bit Dot8 = 1'b0,  ///< The vendor's own instruction: a dot product of bytes.
    localparam int unsigned Ports = Streams ? 3 : 1
) (
    input logic clk,
    input logic rst_n,
    input logic [31:0] hart_id,
    input logic [31:0] boot_address,
    input logic irq_software,
    input logic irq_timer,
    input logic irq_cluster,
    debug_if.hart_side debug,
    // Instructions.
    output logic fetch_valid,
    output logic [31:0] fetch_addr,
    input logic fetch_ready,
    input logic [31:0] fetch_instr,
    input logic fetch_error,
    output logic fetch_flush,
    // The scratchpad.
    output logic [Ports-1:0] tcdm_valid,
    input logic [Ports-1:0] tcdm_ready,
    output mem_req_t tcdm_req[Ports],
    input logic [Ports-1:0] tcdm_rsp_valid,
    input logic [63:0] tcdm_rdata[Ports],
    // The outside.
    output logic outside_valid,
    input logic outside_ready,
    output mem_req_t outside_req,
    input logic outside_rsp_valid,
    input mem_rsp_t outside_rsp,
    // The DMA engine.
    output logic dma_valid,
    input logic dma_ready,
    output offload_req_t dma_req,
    input logic dma_rsp_valid,
    output logic dma_rsp_ready,
    input offload_rsp_t dma_rsp,
    // The barrier.
    output logic barrier_req,
    input logic barrier_done,
    // What happened.
    output core_events_t events,
    output logic offloaded,  ///< An instruction was handed on to the FP subsystem.
    output logic idle,
    input logic observe  ///< Tell the model what happens, cycle by cycle.
);
  // One function for all instances, not a copy for each.
  /* verilator no_inline_module */
  // ---- The integer core
  logic core_req_valid, core_req_ready, core_rsp_valid;
  mem_req_t core_req;
  mem_rsp_t core_rsp;
  logic core_offload_valid, core_offload_ready, core_answer_valid, core_answer_ready;
  offload_req_t core_offload;
  offload_rsp_t core_answer;
  logic [4:0] fp_flags, fp_reg_addr;
  logic fp_drained, fp_access_done, fp_reg_write;
  logic [31:0] fp_reg_wdata, fp_reg_rdata;
  core_events_t core_events, fp_events;

  snitch_core #(
      .Streams(Streams),
      .Dma(Dma),
      .Dot8(Dot8)
  ) core (
      .clk,
      .rst_n,
      .hart_id,
      .boot_address,
      .irq_software,
      .irq_timer,
      .irq_external(1'b0),
      .irq_cluster,
      .debug,
      .fetch_valid,
      .fetch_addr,
      .fetch_ready,
      .fetch_instr,
      .fetch_error,
      .fetch_flush,
      .data_req_valid(core_req_valid),
      .data_req_ready(core_req_ready),
      .data_req(core_req),
      .data_rsp_valid(core_rsp_valid),
      .data_rsp(core_rsp),
      .offload_valid(core_offload_valid),
      .offload_ready(core_offload_ready),
      .offload_req(core_offload),
      .offload_rsp_valid(core_answer_valid),
      .offload_rsp_ready(core_answer_ready),
      .offload_rsp(core_answer),
      .fp_flags,
      .fp_empty(fp_drained && !handed_valid),
      .fp_access_done,
      .fp_reg_write,
      .fp_reg_addr,
      .fp_reg_wdata,
      .fp_reg_rdata,
      .barrier_req,
      .barrier_done,
      .events(core_events),
      .idle
  );

  // ---- Instructions that are handed on, and what they give back
  logic handed_valid, handed_ready;
  offload_req_t handed;
  snitch_cut #(
      .T(offload_req_t)
  ) offload_cut (
      .clk,
      .rst_n,
      .in_valid(core_offload_valid),
      .in_ready(core_offload_ready),
      .in(core_offload),
      .out_valid(handed_valid),
      .out_ready(handed_ready),
      .out(handed)
  );
  wire for_dma = Dma && handed.instr[6:0] == 7'h2b && handed.instr[14:12] == 3'd0;
  logic fp_offload_ready, fp_answer_valid, fp_answer_ready;
  offload_rsp_t fp_answer;
  assign dma_valid = handed_valid && for_dma;
  assign dma_req = handed;
  assign handed_ready = for_dma ? dma_ready : fp_offload_ready;
  assign offloaded = handed_valid && handed_ready && !for_dma;

  // The FP subsystem's answers go first: the DMA engine's are kept until they are taken.
  logic answer_ready;
  assign fp_answer_ready = answer_ready;
  assign dma_rsp_ready = answer_ready && !fp_answer_valid;
  snitch_cut #(
      .T(offload_rsp_t)
  ) answer_cut (
      .clk,
      .rst_n,
      .in_valid(fp_answer_valid || dma_rsp_valid),
      .in_ready(answer_ready),
      .in(fp_answer_valid ? fp_answer : dma_rsp),
      .out_valid(core_answer_valid),
      .out_ready(core_answer_ready),
      .out(core_answer)
  );

  // ---- The FP subsystem with its streams
  logic fp_req_valid, fp_req_ready, fp_rsp_valid;
  mem_req_t fp_req;
  mem_rsp_t fp_rsp;
  logic [2:0] mover_valid, mover_ready, mover_rsp_valid;
  mem_req_t mover_req[3];
  logic [63:0] mover_rdata[3];
  // The FP subsystem has a clock only while there is something for it to do.
  logic fp_clock_on, fp_clocked_q;
  always_ff @(negedge clk or negedge rst_n) begin
    if (!rst_n) fp_clocked_q <= 1'b1;
    else fp_clocked_q <= fp_clock_on || (handed_valid && !for_dma) || fp_reg_write;
  end
  wire fp_clk = clk && fp_clocked_q;

  snitch_fpss #(
      .Streams(Streams)
  ) fpss (
      .clk(fp_clk),
      .clock_on(fp_clock_on),
      .rst_n,
      .offload_valid(handed_valid && !for_dma),
      .offload_ready(fp_offload_ready),
      .offload_req(handed),
      .offload_rsp_valid(fp_answer_valid),
      .offload_rsp_ready(fp_answer_ready),
      .offload_rsp(fp_answer),
      .fflags(fp_flags),
      .fp_empty(fp_drained),
      .data_req_valid(fp_req_valid),
      .data_req_ready(fp_req_ready),
      .data_req(fp_req),
      .data_rsp_valid(fp_rsp_valid),
      .data_rsp(fp_rsp),
      .data_done(fp_access_done),
      .stream_req_valid(mover_valid),
      .stream_req_ready(mover_ready),
      .stream_req(mover_req),
      .stream_rsp_valid(mover_rsp_valid),
      .stream_rsp_data(mover_rdata),
      .debug_write(fp_reg_write),
      .debug_register(fp_reg_addr),
      .debug_wdata(fp_reg_wdata),
      .debug_rdata(fp_reg_rdata),
      .events(fp_events)
  );

  // ---- The ways to memory
  snitch_data_ways ways (
      .clk,
      .rst_n,
      .core_valid(core_req_valid),
      .core_ready(core_req_ready),
      .core_req,
      .core_rsp_valid,
      .core_rsp,
      .fp_valid(fp_req_valid),
      .fp_ready(fp_req_ready),
      .fp_req,
      .fp_rsp_valid,
      .fp_rsp,
      .mover_valid(mover_valid[0]),
      .mover_ready(mover_ready[0]),
      .mover_req(mover_req[0]),
      .mover_rsp_valid(mover_rsp_valid[0]),
      .mover_rdata(mover_rdata[0]),
      .tcdm_valid(tcdm_valid[0]),
      .tcdm_ready(tcdm_ready[0]),
      .tcdm_req(tcdm_req[0]),
      .tcdm_rsp_valid(tcdm_rsp_valid[0]),
      .tcdm_rdata(tcdm_rdata[0]),
      .outside_valid,
      .outside_ready,
      .outside_req,
      .outside_rsp_valid,
      .outside_rsp
  );
  if (Streams) begin : g_movers
    assign tcdm_valid[2:1] = mover_valid[2:1];
    assign mover_ready[2:1] = tcdm_ready[2:1];
    assign tcdm_req[1:2] = mover_req[1:2];
    assign mover_rsp_valid[2:1] = tcdm_rsp_valid[2:1];
    assign mover_rdata[1:2] = tcdm_rdata[1:2];
  end else begin : g_no_movers
    assign mover_ready[2:1] = '0;
    assign mover_rsp_valid[2:1] = '0;
    assign mover_rdata[1:2] = '{default: '0};
  end

  always_comb begin
    events = core_events | fp_events;
    events.tcdm_conflict = |(tcdm_valid & ~tcdm_ready);
  end

  // For logs and profiles: the instruction at which the core stands (bit 0 of `did`: it ended), the
  // one that the FP side issues (bit 1) or holds, the integer register (bit 2) and the FP register
  // (bit 3) that is written.
  import "DPI-C" function void snitch_observe(
    input int unsigned hart,
    input int unsigned did,
    input int unsigned pc,
    input int unsigned instruction,
    input int unsigned fp_instruction,
    input int unsigned fp_pc,
    input byte unsigned integer_register,
    input int unsigned integer_value,
    input byte unsigned fp_register,
    input longint unsigned fp_value,
    input int unsigned happened
  );
  always_ff @(posedge clk) begin
    if (observe) begin
      snitch_observe(hart_id, {28'b0, fpss.write_enable, core.x_written, fpss.issued, core.finished},
                     core.pc_q, core.present ? core.instruction : '0, fpss.instr,
                     fpss.issue.pc, {3'b0, core.x_register}, core.x_value, {3'b0, fpss.write_register},
                     fpss.write_data, 32'(events));
    end
  end
endmodule
