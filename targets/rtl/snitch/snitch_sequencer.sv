// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The buffer ahead of the FP subsystem, and the hardware loops over it (FREP).
///
/// Instructions that have to do with integer registers pass the buffer by when it has run empty;
/// all others go through it, and stay in it while a loop may come back to them. Two loops may be
/// nested: a FREP that comes while the body of the first isn't complete is the inner one.
module snitch_sequencer
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,

    input  logic         in_valid,
    output logic         in_ready,
    input  offload_req_t in_req,

    output logic         out_valid,
    input  logic         out_ready,
    output offload_req_t out_req,
    output logic         out_repeated,  ///< Has been issued before, in an earlier iteration.
    output logic         empty
);
  localparam int Depth = 32;
  localparam int Levels = 2;

  typedef logic [5:0] pointer_t;  // Of twice the depth: differences say how far apart.

  typedef struct packed {
    pointer_t    first;
    logic [4:0]  length;  ///< Instructions - 1.
    logic [15:0] count;   ///< Iterations - 1.
    logic [2:0]  stagger;
    logic [3:0]  mask;
    logic        each;    ///< frep.i: repeats each instruction before the next.
  } loop_t;

  // What one entry keeps: its integer operands are of no use in a loop.
  typedef struct packed {
    logic [31:0] instr;
    logic [31:0] addr;
    logic [2:0]  frm;
    logic [1:0]  fmode;
    logic [31:0] pc;
  } entry_t;

  entry_t buffer[Depth];
  pointer_t write_q, read_q;

  loop_t loop_q[Levels];
  logic [Levels-1:0][15:0] iteration_q;
  logic [Levels-1:0][2:0] stagger_q;
  logic [1:0]  loops_q;  // Loops of the nest that runs, or is being filled.

  // ---- in ----
  wire [31:0] instr = in_req.instr;
  wire is_frep = instr[6:0] == 7'h0b;

  /// Reads or writes an integer register, or switches the streams.
  logic passes_by;
  always_comb begin
    passes_by = 1'b0;
    if (in_valid) begin
      case (instr[6:0])
        7'h73: passes_by = 1'b1;
        7'h53: passes_by = instr[31:27] inside {5'h14, 5'h18, 5'h1a, 5'h1c, 5'h1e};
        7'h33:
        passes_by = instr[31:28] == 4'b1010 && instr[27:25] <= 3'd5
                    || instr[31:25] == 7'h4c && instr[24:20] == 0;
        default: passes_by = 1'b0;
      endcase
    end
  end

  wire buffered = read_q != write_q;

  // Where the instruction to be issued stands.
  wire pointer_t into_0 = read_q - loop_q[0].first;
  wire pointer_t into_1 = read_q - loop_q[1].first;
  wire in_0 = loops_q != 0 && into_0 <= {1'b0, loop_q[0].length};
  wire in_1 = loops_q[1] && into_1 <= {1'b0, loop_q[1].length};

  // The buffer is free up to what is to be issued, or up to the start of the nest that runs.
  wire pointer_t oldest = in_0 ? loop_q[0].first : read_q;
  wire full = write_q == {!oldest[5], oldest[4:0]};

  wire pointer_t filled = write_q - loop_q[0].first;
  wire nest_open = filled <= {1'b0, loop_q[0].length};
  wire frep_ready = loops_q == 0 || (loops_q == 1 && nest_open);

  wire fill = in_valid && !is_frep && !passes_by && !full;
  wire configure = in_valid && is_frep && frep_ready;

  // ---- out ----
  entry_t head;
  logic [4:0] step;
  logic [3:0] mask;
  always_comb begin
    head = '0;
    step = {2'b0, stagger_q[in_1]};
    mask = in_0 ? loop_q[in_1].mask : '0;
    out_req = in_req;
    out_repeated = 1'b0;
    if (buffered) begin
      head = buffer[read_q[4:0]];
      out_req = '{
          instr: head.instr,
          addr: head.addr,
          frm: head.frm,
          fmode: head.fmode,
          pc: head.pc,
          default: '0
      };
      if (in_0) begin
        if (mask[0]) out_req.instr[11:7] = head.instr[11:7] + step;
        if (mask[1]) out_req.instr[19:15] = head.instr[19:15] + step;
        if (mask[2]) out_req.instr[24:20] = head.instr[24:20] + step;
        if (mask[3]) out_req.instr[31:27] = head.instr[31:27] + step;
        out_repeated = iteration_q[0] != 0 || (in_1 && iteration_q[1] != 0);
      end
    end
  end

  assign out_valid = buffered || (in_valid && passes_by);
  assign in_ready  = is_frep ? frep_ready : passes_by ? !buffered && out_ready : !full;
  assign empty     = !buffered && loops_q == 0;

  // ---- what comes next ----
  pointer_t next_read;
  logic [Levels-1:0][15:0] next_iteration;
  logic [Levels-1:0][2:0] next_stagger;
  logic nest_ends;
  logic        outward;  // No loop within this one goes on.
  logic last, innermost, again;
  logic [2:0] next_step;
  always_comb begin
    outward = 1'b1;
    next_step = '0;
    {last, innermost, again} = '0;
    next_read = read_q + 1'b1;
    next_iteration = iteration_q;
    next_stagger = stagger_q;
    nest_ends = 1'b0;
    if (buffered && in_0) begin
      for (int level = Levels - 1; level >= 0; level--) begin
        if (outward && (level == 0 || in_1)) begin
          last = (level == 0 ? into_0 : into_1) == {1'b0, loop_q[level].length};
          innermost = level == 1 || !in_1;
          again = iteration_q[level] != loop_q[level].count;
          next_step = stagger_q[level] == loop_q[level].stagger ? '0 : stagger_q[level] + 1'b1;
          if (loop_q[level].each ? innermost && again : last && again) begin
            next_iteration[level] = iteration_q[level] + 1'b1;
            next_stagger[level] = next_step;
            next_read = loop_q[level].each ? read_q : loop_q[level].first;
            outward = 1'b0;
          end else if (last) begin
            next_iteration[level] = '0;
            next_stagger[level] = '0;
            nest_ends = level == 0;
          end else begin
            if (loop_q[level].each && innermost) begin
              next_iteration[level] = '0;
              next_stagger[level] = next_step;
            end
            outward = 1'b0;
          end
        end
      end
    end
  end

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      write_q <= '0;
      read_q  <= '0;
      loops_q <= '0;
      iteration_q <= '0;
      stagger_q <= '0;
    end else begin
      if (fill) begin
        buffer[write_q[4:0]] <= '{
            instr: instr,
            addr: in_req.addr,
            frm: in_req.frm,
            fmode: in_req.fmode,
            pc: in_req.pc
        };
        write_q <= write_q + 1'b1;
      end
      if (buffered && out_ready) begin
        read_q <= next_read;
        iteration_q <= next_iteration;
        stagger_q <= next_stagger;
        if (nest_ends) loops_q <= '0;
      end
      if (configure) begin
        loop_q[loops_q[0]] <= '{
            first: write_q,
            length: instr[24:20],
            count: in_req.rs1[15:0],
            stagger: instr[14:12],
            mask: instr[11:8],
            each: !instr[7]
        };
        iteration_q[loops_q[0]] <= '0;
        stagger_q[loops_q[0]] <= '0;
        loops_q <= loops_q + 1'b1;
      end
    end
  end

  // A third FREP in a nest would wait for its own body.
  assert property (@(posedge clk) disable iff (!rst_n)
                   !(in_valid && is_frep && loops_q == 2 && nest_open));
  // A nest that has run to its end isn't being filled any more.
  assert property (@(posedge clk) disable iff (!rst_n)
                   !(buffered && out_ready && nest_ends && nest_open));
endmodule
