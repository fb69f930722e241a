// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The ways of a core complex to memory: the integer core and the FP load/store unit share one,
/// go to the scratchpad (there sharing a port with mover 0) or to the outside, and get their answers
/// in the order of the requests. The registers on these ways are here (see snitch_pkg).
module snitch_data_ways
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,
    input logic core_valid,
    output logic core_ready,
    input mem_req_t core_req,
    output logic core_rsp_valid,
    output mem_rsp_t core_rsp,
    input logic fp_valid,
    output logic fp_ready,
    input mem_req_t fp_req,
    output logic fp_rsp_valid,
    output mem_rsp_t fp_rsp,
    input logic mover_valid,
    output logic mover_ready,
    input mem_req_t mover_req,
    output logic mover_rsp_valid,
    output logic [63:0] mover_rdata,
    // The port of the scratchpad.
    output logic tcdm_valid,
    input logic tcdm_ready,
    output mem_req_t tcdm_req,
    input logic tcdm_rsp_valid,
    input logic [63:0] tcdm_rdata,
    // The outside.
    output logic outside_valid,
    input logic outside_ready,
    output mem_req_t outside_req,
    input logic outside_rsp_valid,
    input mem_rsp_t outside_rsp
);
  import map_pkg::*;

  // Registers, then turns.
  logic cut_core_valid, cut_core_ready, cut_fp_valid, cut_fp_ready;
  mem_req_t cut_core, cut_fp;
  snitch_cut #(
      .T(mem_req_t)
  ) core_cut (
      .clk,
      .rst_n,
      .in_valid(core_valid),
      .in_ready(core_ready),
      .in(core_req),
      .out_valid(cut_core_valid),
      .out_ready(cut_core_ready),
      .out(cut_core)
  );
  snitch_cut #(
      .T(mem_req_t)
  ) fp_cut (
      .clk,
      .rst_n,
      .in_valid(fp_valid),
      .in_ready(fp_ready),
      .in(fp_req),
      .out_valid(cut_fp_valid),
      .out_ready(cut_fp_ready),
      .out(cut_fp)
  );

  // Requests on their way, oldest first: a ring of four.
  localparam int unsigned Depth = 4;
  logic [1:0] in_q, out_q;
  logic [2:0] used_q;
  logic [Depth-1:0] of_fp_q, done_q;
  mem_rsp_t answers_q[Depth];
  logic [1:0] tcdm_tag_q;  ///< Of the request granted last.
  logic [1:0] tags_q[Depth];  ///< Of those that went outside, oldest first.
  logic [1:0] tag_in_q, tag_out_q;

  // First come, first served: an FP access never passes an integer one that was there before it
  // (the other way round, snitch_lsu sees to the order). Whose requests wait, oldest first.
  logic [3:0] whose_q;
  logic [1:0] whose_in_q, whose_out_q;
  wire core_comes = core_valid && core_ready;
  wire fp_comes = fp_valid && fp_ready;
  wire fp_turn = whose_q[whose_out_q];

  logic mover_next_q, mover_owns_q;
  wire room = used_q != 3'(Depth);
  wire valid = (cut_core_valid || cut_fp_valid) && room;
  mem_req_t chosen;
  assign chosen = fp_turn ? cut_fp : cut_core;
  wire near = chosen.addr - ScratchpadOrigin < ScratchpadBytes;

  wire wants_tcdm = valid && near;
  wire mover_turn = mover_valid && (!wants_tcdm || mover_next_q);
  assign tcdm_valid = wants_tcdm || mover_valid;
  assign tcdm_req = mover_turn ? mover_req : chosen;
  assign mover_ready = mover_turn && tcdm_ready;
  assign outside_valid = valid && !near;
  assign outside_req = chosen;

  wire to_tcdm = wants_tcdm && !mover_turn && tcdm_ready;
  wire to_outside = outside_valid && outside_ready;
  wire taken = to_tcdm || to_outside;
  assign cut_fp_ready = taken && fp_turn;
  assign cut_core_ready = taken && !fp_turn;

  // Answers: what is there for the oldest request is passed on at once, the rest is kept.
  assign mover_rsp_valid = tcdm_rsp_valid && mover_owns_q;
  assign mover_rdata = tcdm_rdata;
  wire tcdm_answers = tcdm_rsp_valid && !mover_owns_q;
  wire [1:0] outside_tag = tags_q[tag_out_q];
  wire oldest_tcdm = tcdm_answers && tcdm_tag_q == out_q;
  wire oldest_outside = outside_rsp_valid && outside_tag == out_q;
  wire delivers = used_q != '0 && (done_q[out_q] || oldest_tcdm || oldest_outside);
  mem_rsp_t answer;
  always_comb begin
    answer = answers_q[out_q];
    if (oldest_tcdm) answer = '{data: tcdm_rdata, error: 1'b0};
    if (oldest_outside) answer = outside_rsp;
  end
  assign fp_rsp_valid = delivers && of_fp_q[out_q];
  assign fp_rsp = answer;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      in_q <= '0;
      out_q <= '0;
      used_q <= '0;
      of_fp_q <= '0;
      done_q <= '0;
      tcdm_tag_q <= '0;
      tag_in_q <= '0;
      tag_out_q <= '0;
      whose_q <= '0;
      whose_in_q <= '0;
      whose_out_q <= '0;
      mover_next_q <= 1'b0;
      mover_owns_q <= 1'b0;
      core_rsp_valid <= 1'b0;
    end else begin
      assert (used_q <= 3'(Depth));
      assert (!(tcdm_answers || outside_rsp_valid) || used_q != '0)
      else $error("an answer that nobody asked for");
      if (tcdm_valid) begin
        mover_owns_q <= mover_turn;
        if (wants_tcdm && tcdm_ready) mover_next_q <= !mover_turn;
      end
      core_rsp_valid <= delivers && !of_fp_q[out_q];
      if (core_comes || fp_comes) begin
        whose_q[whose_in_q] <= !core_comes;
        if (core_comes && fp_comes) whose_q[whose_in_q+2'd1] <= 1'b1;
        whose_in_q <= whose_in_q + 2'(core_comes) + 2'(fp_comes);
      end
      if (taken || used_q != '0) begin
        used_q <= used_q + 3'(taken) - 3'(delivers);
        if (taken) begin
          whose_out_q <= whose_out_q + 1'b1;
          in_q <= in_q + 1'b1;
          of_fp_q[in_q] <= fp_turn;
          done_q[in_q] <= 1'b0;
          if (to_tcdm) tcdm_tag_q <= in_q;
          if (to_outside) begin
            tags_q[tag_in_q] <= in_q;
            tag_in_q <= tag_in_q + 1'b1;
          end
        end
        if (tcdm_answers && !oldest_tcdm) begin
          done_q[tcdm_tag_q] <= 1'b1;
          answers_q[tcdm_tag_q] <= '{data: tcdm_rdata, error: 1'b0};
        end
        if (outside_rsp_valid) begin
          tag_out_q <= tag_out_q + 1'b1;
          if (!oldest_outside) begin
            done_q[outside_tag] <= 1'b1;
            answers_q[outside_tag] <= outside_rsp;
          end
        end
        if (delivers) begin
          out_q <= out_q + 1'b1;
          if (!of_fp_q[out_q]) core_rsp <= answer;
        end
      end
    end
  end
endmodule
