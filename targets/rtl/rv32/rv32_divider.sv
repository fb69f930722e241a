// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Division and remainder, one bit a cycle: done for one cycle, 33 cycles after start.
module rv32_divider (
    input logic clk,
    input logic rst_n,
    input logic start,
    input logic [1:0] operation,  ///< div, divu, rem, remu
    input logic [31:0] a,
    input logic [31:0] b,
    output logic done,
    output logic [31:0] result
);
  logic [31:0] remainder_q, quotient_q, divisor_q;
  logic [5:0] left_q;
  logic busy_q, negative_q, wants_remainder_q;

  wire is_signed = !operation[0];
  wire [31:0] a_size = (is_signed && a[31]) ? -a : a;
  wire [31:0] b_size = (is_signed && b[31]) ? -b : b;

  wire [32:0] shifted = {remainder_q, quotient_q[31]};
  wire [32:0] less = shifted - {1'b0, divisor_q};
  wire fits = !less[32];

  wire [31:0] plain = wants_remainder_q ? remainder_q : quotient_q;
  assign done = busy_q && left_q == 0;
  assign result = negative_q ? -plain : plain;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      busy_q <= 1'b0;
      left_q <= '0;
      negative_q <= 1'b0;
      wants_remainder_q <= 1'b0;
      remainder_q <= '0;
      quotient_q <= '0;
      divisor_q <= '0;
    end else if (start) begin
      busy_q <= 1'b1;
      left_q <= 6'd32;
      wants_remainder_q <= operation[1];
      // Division by zero gives all ones (-1) and the dividend, which the steps give by
      // themselves as long as the quotient keeps its sign.
      negative_q <= is_signed && (operation[1] ? a[31] : (a[31] != b[31] && b != 0));
      remainder_q <= '0;
      quotient_q <= a_size;
      divisor_q <= b_size;
    end else if (busy_q) begin
      if (left_q == 0) begin
        busy_q <= 1'b0;
      end else begin
        left_q <= left_q - 1;
        remainder_q <= fits ? less[31:0] : shifted[31:0];
        quotient_q <= {quotient_q[30:0], fits};
      end
    end
  end
endmodule
