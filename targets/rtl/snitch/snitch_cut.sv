// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// A register on the way between a sender and a receiver, so that neither sees the other in the
/// same cycle. Two entries deep: one passes each cycle.
module snitch_cut #(
    parameter type T = logic
) (
    input logic clk,
    input logic rst_n,
    input logic in_valid,
    output logic in_ready,
    input T in,
    output logic out_valid,
    input logic out_ready,
    output T out
);
  logic first_valid_q, second_valid_q;
  T first_q, second_q;

  assign in_ready = !second_valid_q;
  assign out_valid = first_valid_q;
  assign out = first_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      first_valid_q  <= 1'b0;
      second_valid_q <= 1'b0;
    end else if (in_valid || first_valid_q) begin
      assert (first_valid_q || !second_valid_q);
      if (out_ready || !first_valid_q) begin
        first_valid_q  <= second_valid_q || in_valid;
        second_valid_q <= 1'b0;
      end else if (in_valid && !second_valid_q) begin
        second_valid_q <= 1'b1;
      end
    end
  end

  always_ff @(posedge clk) begin
    if (in_valid || second_valid_q) begin
      if (out_ready || !first_valid_q) first_q <= second_valid_q ? second_q : in;
      else if (!second_valid_q) second_q <= in;
    end
  end
endmodule
