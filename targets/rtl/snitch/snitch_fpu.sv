// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The pipelines of the FPU. What decides cycles is here: each unit takes an operation a cycle and
/// has a number of stages; results leave one a cycle, units that finish together after one another.
/// The arithmetic is behavioural (model/snitch_float.h): done when an operation is issued, its result
/// travels.
module snitch_fpu
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,

    input  logic            in_valid,
    output logic            in_ready,
    input  fpu_unit_e       unit,
    input  fpu_tag_t        in_tag,
    input  logic     [31:0] instr,
    input  logic     [ 2:0] frm,
    input  logic     [ 1:0] fmode,
    input  logic     [63:0] a,
    input  logic     [63:0] b,
    input  logic     [63:0] c,

    output logic            out_valid,
    input  logic            out_ready,
    output fpu_tag_t        out_tag,
    output logic     [63:0] result,
    output logic     [ 4:0] flags,
    output logic            empty
);
  import "DPI-C" function void snitch_fp_compute(
    input int instruction,
    input bit [2:0] frm,
    input bit [1:0] mode,
    input longint a,
    input longint b,
    input longint c,
    output longint result,
    output bit [4:0] flags
  );

  localparam int Units = 4;
  localparam int Stages = 3;

  typedef struct packed {
    fpu_tag_t    tag;
    logic [4:0]  flags;
    logic [63:0] value;
  } result_t;

  // Stage 0 of a unit is its last; units with fewer stages begin further on.
  function automatic logic [1:0] first_stage(logic [1:0] which);
    case (fpu_unit_e'(which))
      FpuOther: return 2'd0;
      FpuConvert: return 2'd1;
      default: return 2'd2;
    endcase
  endfunction

  logic [Units-1:0][Stages-1:0] valid_q;
  logic [Units-1:0][Stages-1:0][3:0] slot_q;
  // More than can be under way, fair as the way out is.
  result_t results[16];
  logic [3:0] next_slot_q;

  // ---- out: fair among the units ----
  logic [Units-1:0] waiting;
  always_comb for (int u = 0; u < Units; u++) waiting[u] = valid_q[u][0];

  // A tree of five inputs, of which the second (division) isn't there: the preferred input wins
  // its pairs, and where it doesn't wait the right one of a pair may.
  logic [2:0] preferred_q, next_preferred;
  logic [1:0] granted;
  always_comb begin
    automatic logic right = waiting[1] || waiting[2];
    granted = 2'd0;
    if (!waiting[0] || (right && preferred_q[1])) begin
      granted = !waiting[1] || (waiting[2] && preferred_q[0]) ? 2'd2 : 2'd1;
    end
    if (waiting[2:0] == 0 || (waiting[3] && preferred_q[2])) granted = 2'd3;
    // The next input that waits, from the preferred one on.
    next_preferred = waiting[0] ? 3'd0 : waiting[1] ? 3'd2 : waiting[2] ? 3'd3 : 3'd4;
    if (waiting[3] && preferred_q < 3'd4) next_preferred = 3'd4;
    if (waiting[2] && preferred_q < 3'd3) next_preferred = 3'd3;
    if (waiting[1] && preferred_q < 3'd2) next_preferred = 3'd2;
  end

  assign out_valid = waiting != 0;
  result_t leaving;
  always_comb begin
    leaving = '0;
    if (out_valid) leaving = results[slot_q[granted][0]];
  end
  assign out_tag = leaving.tag;
  assign result = leaving.value;
  assign flags = out_ready ? leaving.flags : '0;
  assign empty = valid_q == '0;

  // A stage moves on where the next one does, or is empty.
  logic [Units-1:0][Stages-1:0] free;
  always_comb begin
    for (int u = 0; u < Units; u++) begin
      free[u][0] = !valid_q[u][0] || (out_ready && granted == 2'(u));
      for (int s = 1; s < Stages; s++) free[u][s] = !valid_q[u][s] || free[u][s-1];
    end
  end
  assign in_ready = free[unit][first_stage(unit)];

  longint value;
  bit [4:0] raised;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      valid_q <= '0;
      slot_q <= '0;
      next_slot_q <= '0;
      preferred_q <= '0;
    end else begin
      if (!empty) begin
        for (int u = 0; u < Units; u++) begin
          if (valid_q[u] != 0) begin
            for (int s = 0; s < Stages; s++) begin
              if (free[u][s]) begin
                valid_q[u][s] <= 1'b0;
                if (s + 1 < Stages && valid_q[u][s+1]) begin
                  valid_q[u][s] <= 1'b1;
                  slot_q[u][s] <= slot_q[u][s+1];
                end
              end
            end
          end
        end
        if (out_valid && out_ready) preferred_q <= next_preferred;
      end
      if (in_valid && in_ready) begin
        snitch_fp_compute(instr, frm, fmode, a, b, c, value, raised);
        valid_q[unit][first_stage(unit)] <= 1'b1;
        slot_q[unit][first_stage(unit)] <= next_slot_q;
        results[next_slot_q] <= '{tag: in_tag, flags: raised, value: value};
        next_slot_q <= next_slot_q + 1'b1;
      end
    end
  end
endmodule
