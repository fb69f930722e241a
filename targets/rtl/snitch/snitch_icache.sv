// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Instructions for all harts: a few lines of its own for each (snitch_icache_l0), and behind them
/// 16 KiB that all share: 128 sets of two lines of 64 bytes. A hart's miss that is found here is
/// answered three cycles later; one that isn't is fetched once, whoever waits for it.
/// A flush by one hart forgets its own lines and the shared ones.
module snitch_icache #(
    parameter int unsigned Harts = 1
) (
    input logic clk,
    input logic rst_n,
    input logic [Harts-1:0] fetch_valid,
    input logic [31:0] fetch_addr[Harts],
    output logic [Harts-1:0] fetch_ready,
    output logic [31:0] fetch_instr[Harts],
    output logic [Harts-1:0] fetch_error,
    input logic [Harts-1:0] flush,
    // Memory: lines, answered in order.
    output logic wide_valid,
    input logic wide_ready,
    output logic [31:0] wide_addr,
    input logic wide_rsp_valid,
    input logic [511:0] wide_rdata,
    input logic wide_rsp_error
);
  localparam int unsigned Sets = 128;
  localparam int unsigned HartBits = Harts > 1 ? $clog2(Harts) : 1;
  localparam int unsigned Slots = 1 << HartBits;  ///< Lines on their way from memory.
  typedef logic [HartBits-1:0] hart_t;
  typedef logic [HartBits-1:0] slot_t;
  typedef logic [31:6] line_t;
  typedef logic [Harts-1:0] harts_t;

  harts_t line_valid, line_ready, line_rsp_valid_q;
  line_t line_addr[Harts];
  logic [511:0] rdata_q;
  logic rsp_error_q;

  for (genvar h = 0; h < Harts; ++h) begin : g_hart
    snitch_icache_l0 l0 (
        .clk,
        .rst_n,
        .fetch_valid(fetch_valid[h]),
        .fetch_addr(fetch_addr[h]),
        .fetch_ready(fetch_ready[h]),
        .fetch_instr(fetch_instr[h]),
        .fetch_error(fetch_error[h]),
        .flush(flush[h]),
        .line_valid(line_valid[h]),
        .line_ready(line_ready[h]),
        .line_addr(line_addr[h]),
        .line_rsp_valid(line_rsp_valid_q[h]),
        .line_rdata(rdata_q),
        .line_rsp_error(rsp_error_q)
    );
  end

  logic [31:13] tags_q[2*Sets];
  logic [511:0] lines_q[2*Sets];
  logic [Sets-1:0] valid_q[2];
  logic victim_q;

  // First step: the tags; second step: the words.
  logic look_q, read_q;
  hart_t look_hart_q, read_hart_q;
  line_t look_line_q;
  logic [7:0] read_at_q;

  // Lines on their way, oldest first, and who waits for which.
  line_t slot_line_q[Slots];
  logic [Slots-1:0] slot_stale_q;
  slot_t first_q, next_q;
  logic [HartBits:0] on_way_q;
  harts_t waits_q;
  slot_t waits_for_q[Harts];
  logic ask_q;  // The youngest isn't asked for yet.

  wire hold = look_q && (wide_rsp_valid || (ask_q && !wide_ready));
  wire flushes = |flush;

  harts_t behind_q;
  wire harts_t ahead = line_valid & behind_q;
  assign line_ready = hold ? '0 : ahead != '0 ? ahead & -ahead : line_valid & -line_valid;

  logic hit, merges;
  logic [7:0] at;
  slot_t merges_with;
  always_comb begin
    hit = 1'b0;
    at = '0;
    merges = 1'b0;
    merges_with = '0;
    if (look_q && !hold) begin
      for (int w = 0; w < 2; ++w) begin
        if (valid_q[w][look_line_q[12:6]] && tags_q[{look_line_q[12:6], 1'(w)}] == look_line_q[31:13])
        begin
          hit = 1'b1;
          at = {look_line_q[12:6], 1'(w)};
        end
      end
      for (int s = 0; s < Slots; ++s) begin
        if ({1'b0, slot_t'(s) - first_q} < on_way_q && !slot_stale_q[s]
            && slot_line_q[s] == look_line_q) begin
          merges = 1'b1;
          merges_with = slot_t'(s);
        end
      end
    end
  end
  wire misses = look_q && !hold && !hit;
  wire fetches = misses && !merges;

  assign wide_valid = ask_q;
  assign wide_addr = {slot_line_q[next_q-slot_t'(1)], 6'b0};

  // What is being read isn't overwritten.
  wire line_t come = slot_line_q[first_q];
  wire victim = (read_q && read_at_q == {come[12:6], victim_q}) ? !victim_q : victim_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      valid_q[0] <= '0;
      valid_q[1] <= '0;
      victim_q <= 1'b0;
      look_q <= 1'b0;
      look_hart_q <= '0;
      look_line_q <= '0;
      read_q <= 1'b0;
      read_hart_q <= '0;
      read_at_q <= '0;
      first_q <= '0;
      next_q <= '0;
      on_way_q <= '0;
      slot_stale_q <= '0;
      waits_q <= '0;
      ask_q <= 1'b0;
      behind_q <= '0;
      line_rsp_valid_q <= '0;
      rsp_error_q <= 1'b0;
    end else if (look_q || read_q || line_valid != '0 || on_way_q != 0 || line_rsp_valid_q != '0
        || flushes) begin
      line_rsp_valid_q <= '0;
      if (!hold) begin
        look_q <= line_valid != '0;
        for (int h = 0; h < Harts; ++h) begin
          if (line_ready[h]) begin
            look_hart_q <= hart_t'(h);
            look_line_q <= line_addr[h];
          end
        end
        if (line_valid != '0) behind_q <= ~(line_ready | (line_ready - 1'b1));
      end

      // A line that memory gives goes before one that was found.
      if (!(read_q && wide_rsp_valid)) begin
        read_q <= hit;
        read_hart_q <= look_hart_q;
        read_at_q <= at;
      end
      if (wide_rsp_valid) begin
        for (int h = 0; h < Harts; ++h) begin
          if (waits_q[h] && waits_for_q[h] == first_q) begin
            line_rsp_valid_q[h] <= 1'b1;
            waits_q[h] <= 1'b0;
          end
        end
        rdata_q <= wide_rdata;
        rsp_error_q <= wide_rsp_error;
        if (!slot_stale_q[first_q] && !wide_rsp_error) begin
          tags_q[{come[12:6], victim}] <= come[31:13];
          lines_q[{come[12:6], victim}] <= wide_rdata;
          valid_q[victim][come[12:6]] <= 1'b1;
          victim_q <= !victim;
        end
        first_q <= first_q + 1'b1;
      end else if (read_q) begin
        line_rsp_valid_q[read_hart_q] <= 1'b1;
        rdata_q <= lines_q[read_at_q];
        rsp_error_q <= 1'b0;
      end

      if (ask_q && wide_ready) ask_q <= 1'b0;
      if (misses) begin
        waits_q[look_hart_q] <= 1'b1;
        waits_for_q[look_hart_q] <= merges ? merges_with : next_q;
      end
      if (fetches) begin
        slot_line_q[next_q] <= look_line_q;
        slot_stale_q[next_q] <= 1'b0;
        next_q <= next_q + 1'b1;
        ask_q <= 1'b1;
      end
      on_way_q <= on_way_q + (HartBits + 1)'(fetches) - (HartBits + 1)'(wide_rsp_valid);
      if (flushes) begin
        valid_q[0] <= '0;
        valid_q[1] <= '0;
        slot_stale_q <= '1;
      end
    end
  end
endmodule
