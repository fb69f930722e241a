// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Integer results that take no time: arithmetic, comparisons of branches, products.
module rv32_alu
  import rv32_pkg::*;
(
    input alu_op_e op,
    input logic [31:0] a,
    input logic [31:0] b,
    input logic [2:0] funct3,  ///< Which comparison, which product.
    output logic [31:0] result,
    output logic taken,
    output logic [31:0] product
);
  always_comb begin
    case (op)
      AluAdd: result = a + b;
      AluSub: result = a - b;
      AluSll: result = a << b[4:0];
      AluSlt: result = {31'b0, $signed(a) < $signed(b)};
      AluSltu: result = {31'b0, a < b};
      AluXor: result = a ^ b;
      AluSrl: result = a >> b[4:0];
      AluSra: result = $signed(a) >>> b[4:0];
      AluOr: result = a | b;
      AluAnd: result = a & b;
      default: result = b;
    endcase
  end

  logic holds;
  always_comb begin
    case (funct3[2:1])
      2'b00: holds = a == b;
      2'b10: holds = $signed(a) < $signed(b);
      default: holds = a < b;
    endcase
  end
  assign taken = holds != funct3[0];

  // mul, mulh, mulhsu, mulhu: the low half of the product of operands extended to 64 bits.
  wire a_signed = funct3[1:0] != 2'b11;
  wire b_signed = !funct3[1];
  wire [63:0] wide = {{32{a_signed && a[31]}}, a} * {{32{b_signed && b[31]}}, b};
  assign product = funct3[1:0] == 2'b00 ? wide[31:0] : wide[63:32];
endmodule
