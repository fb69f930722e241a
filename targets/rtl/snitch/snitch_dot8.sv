// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// A vendor's own instruction: rd plus the dot product of two registers of four signed bytes each.
/// Encoding: R-type, opcode custom-2 (0x5b), funct3 0, funct7 0. Its result goes the way of products.
module snitch_dot8 #(
    parameter bit Enabled = 1'b0
) (
    input logic [31:0] instruction,
    input logic [31:0] rs1,
    input logic [31:0] rs2,
    input logic [31:0] sum,  ///< What rd holds.
    output logic legal,
    output logic [31:0] result
);
  localparam logic [6:0] Opcode = 7'h5b;

  assign legal = Enabled && instruction[6:0] == Opcode && instruction[14:12] == 3'd0
      && instruction[31:25] == 7'd0;

  always_comb begin
    result = sum;
    if (legal) begin
      for (int i = 0; i < 4; ++i) begin
        result += 32'(signed'(rs1[8*i+:8])) * 32'(signed'(rs2[8*i+:8]));
      end
    end
  end
endmodule
