// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The hardware barrier: holds every hart that asks until all have asked. The last one's request
/// releases all in the next cycle.
module snitch_barrier #(
    parameter int unsigned Harts = 1
) (
    input logic clk,
    input logic rst_n,
    input logic [Harts-1:0] req,  ///< Held until done; a hart may give up before.
    output logic done             ///< One cycle, of all harts.
);
  logic [Harts-1:0] arrived_q;
  assign done = &arrived_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) arrived_q <= '0;
    else arrived_q <= req;
  end
endmodule
