// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Loads, stores and atomics of the integer core: up to four on their way, answered in order.
/// An access whose double word an FP load or store is still to touch waits, where one of them
/// writes: the core says what it hands on, the FP subsystem when it is done.
module snitch_lsu
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,
    // An access. Taken where ready.
    input logic valid,
    output logic ready,
    input logic write,
    input amo_e amo,
    input logic [2:0] size,  ///< funct3 of loads
    input logic [31:0] addr,
    input logic [31:0] data,
    input logic [4:0] rd,
    input logic [31:2] pc,
    // An FP load or store that is handed on.
    input logic fp_valid,
    output logic fp_ready,
    input logic fp_write,
    input logic fp_done,  ///< The oldest of them is done.
    // What a load gave.
    output logic out_valid,
    input logic out_ready,
    output logic [4:0] out_rd,
    output logic [31:0] out_value,
    // An access that nothing answered to, for one cycle.
    output logic fault,
    output logic fault_write,
    output logic [31:0] fault_addr,
    output logic [31:2] fault_pc,
    output logic empty,  ///< Nothing is on its way, FP accesses included.
    // Memory.
    output logic req_valid,
    input logic req_ready,
    output mem_req_t req,
    input logic rsp_valid,
    input mem_rsp_t rsp
);
  localparam int unsigned Depth = 4;
  localparam int unsigned FpDepth = 8;

  typedef struct packed {
    logic write;  ///< Nothing is written back.
    logic atomic;
    logic [2:0] size;
    logic [4:0] rd;
  } access_t;

  access_t access_q[Depth];
  logic [31:0] addr_q[Depth];
  logic [31:2] pc_q[Depth];
  logic [31:0] answer_q[Depth];
  logic [Depth-1:0] error_q;
  logic [1:0] first_q, next_q, answered_q;  // The oldest; where the next goes; whose answer is due.
  logic [2:0] on_way_q, answers_q;

  // FP accesses: whether they write, and bits 10 to 3 of the address.
  logic [8:0] fp_q[FpDepth];
  logic [2:0] fp_first_q, fp_next_q;
  logic [3:0] fp_count_q;

  logic collides;
  always_comb begin
    collides = 1'b0;
    if (valid && fp_count_q != 0) begin
      for (int i = 0; i < FpDepth; ++i) begin
        if ({1'b0, 3'(i) - fp_first_q} < fp_count_q && fp_q[i][7:0] == addr[10:3]
            && (fp_q[i][8] || write || amo != AmoNone)) begin
          collides = 1'b1;
        end
      end
    end
  end

  wire room = !on_way_q[2];
  assign req_valid = valid && room && !collides;
  assign ready = req_ready && room && !collides;
  assign fp_ready = !fp_count_q[3];

  logic [3:0] strobe;
  logic [31:0] lanes;
  always_comb begin
    case (size[1:0])
      2'b00: begin
        strobe = 4'b0001 << addr[1:0];
        lanes = {4{data[7:0]}};
      end
      2'b01: begin
        strobe = 4'b0011 << addr[1:0];
        lanes = {2{data[15:0]}};
      end
      default: begin
        strobe = 4'b1111;
        lanes = data;
      end
    endcase
  end
  assign req = '{
          addr: addr,
          write: write,
          amo: amo,
          data: {lanes, lanes},
          strobe: addr[2] ? {strobe, 4'b0} : {4'b0, strobe}
      };

  // The oldest access: its answer may come in this very cycle.
  wire access_t access = access_q[first_q];
  wire [31:0] access_addr = addr_q[first_q];
  wire there = answers_q != 0 || rsp_valid;
  logic [31:0] word;
  always_comb begin
    word = answers_q != 0 ? answer_q[first_q]
        : access_addr[2] ? rsp.data[63:32] : rsp.data[31:0];
  end
  wire error = answers_q != 0 ? error_q[first_q] : rsp.error;
  wire [31:0] lane = word >> {access_addr[1:0], 3'b000};
  always_comb begin
    case (access.size)
      3'b000: out_value = {{24{lane[7]}}, lane[7:0]};
      3'b001: out_value = {{16{lane[15]}}, lane[15:0]};
      3'b100: out_value = {24'b0, lane[7:0]};
      3'b101: out_value = {16'b0, lane[15:0]};
      default: out_value = lane;
    endcase
  end
  assign out_valid = there && !access.write;
  assign out_rd = access.rd;
  wire leaves = there && (access.write || out_ready);
  assign fault = leaves && error;
  assign fault_write = access.write || access.atomic;
  assign fault_addr = access_addr;
  assign fault_pc = pc_q[first_q];

  wire takes = valid && ready;
  wire fp_takes = fp_valid && fp_ready;
  assign empty = on_way_q == 0 && fp_count_q == 0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      first_q <= '0;
      next_q <= '0;
      answered_q <= '0;
      on_way_q <= '0;
      answers_q <= '0;
      error_q <= '0;
      fp_first_q <= '0;
      fp_next_q <= '0;
      fp_count_q <= '0;
    end else begin
      if (takes) begin
        access_q[next_q] <= '{write, amo != AmoNone && amo != AmoLr, size, rd};
        addr_q[next_q] <= addr;
        pc_q[next_q] <= pc;
        next_q <= next_q + 1;
      end
      if (rsp_valid) begin
        answer_q[answered_q] <= addr_q[answered_q][2] ? rsp.data[63:32] : rsp.data[31:0];
        error_q[answered_q] <= rsp.error;
        answered_q <= answered_q + 1;
      end
      if (leaves) first_q <= first_q + 1;
      on_way_q  <= on_way_q + 3'(takes) - 3'(leaves);
      answers_q <= answers_q + 3'(rsp_valid) - 3'(leaves);
      if (fp_takes) begin
        fp_q[fp_next_q] <= {fp_write, addr[10:3]};
        fp_next_q <= fp_next_q + 1;
      end
      if (fp_done) fp_first_q <= fp_first_q + 1;
      fp_count_q <= fp_count_q + 4'(fp_takes) - 4'(fp_done);
      assert (!rsp_valid || answers_q < on_way_q);
      assert (!fp_done || fp_count_q != 0);
    end
  end
endmodule
