// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Single precision. What decides cycles is here: a result is there in the cycle after start,
/// division and square root take 16. The arithmetic itself is behavioural (model/float.h), with
/// all rounding modes and flags.
module rv32_fpu (
    input logic clk,
    input logic rst_n,
    input logic start,
    input logic [31:0] instruction,
    input logic [2:0] frm,
    input logic [31:0] a,
    input logic [31:0] b,
    input logic [31:0] c,
    input logic [31:0] x,  ///< Integer operand.
    output logic done,
    output logic [31:0] result,
    output logic [4:0] flags
);
  /// Codes of the operations: model/float_dpi.cpp has the same.
  typedef enum int {
    MulAdd,
    MulSub,
    NegMulSub,
    NegMulAdd,
    Add,
    Sub,
    Mul,
    Div,
    Sqrt,
    CopySign,
    NegateSign,
    XorSign,
    Min,
    Max,
    ToInt,
    ToUnsigned,
    FromInt,
    FromUnsigned,
    LessEqual,
    Less,
    Equal,
    Classify,
    Move
  } operation_e;

  import "DPI-C" function void float32_operate(
    input int operation,
    input int rounding,
    input int unsigned a,
    input int unsigned b,
    input int unsigned c,
    output int unsigned result,
    output bit [4:0] flags
  );

  wire [2:0] funct3 = instruction[14:12];
  wire unsigned_integer = instruction[20];
  // The fused operations have a third source where the others have their function.
  wire fused = !instruction[4];
  wire from_integer = !fused && (instruction[31:25] inside {7'h68, 7'h78});

  operation_e operation;
  always_comb begin
    operation = Move;
    if (fused) begin
      case (instruction[3:2])
        2'b00: operation = MulAdd;
        2'b01: operation = MulSub;
        2'b10: operation = NegMulSub;
        default: operation = NegMulAdd;
      endcase
    end else begin
      case (instruction[31:25])
        7'h00: operation = Add;
        7'h04: operation = Sub;
        7'h08: operation = Mul;
        7'h0c: operation = Div;
        7'h2c: operation = Sqrt;
        7'h10: operation = funct3[1] ? XorSign : funct3[0] ? NegateSign : CopySign;
        7'h14: operation = funct3[0] ? Max : Min;
        7'h60: operation = unsigned_integer ? ToUnsigned : ToInt;
        7'h68: operation = unsigned_integer ? FromUnsigned : FromInt;
        7'h50: operation = funct3[1] ? Equal : funct3[0] ? Less : LessEqual;
        7'h70: operation = funct3[0] ? Classify : Move;
        default: operation = Move;
      endcase
    end
  end

  logic [4:0] left_q;  // Cycles until the result is due; 0: idle.
  assign done = left_q == 5'd1;

  int unsigned value;
  bit [4:0] raised;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      left_q <= '0;
      result <= '0;
      flags  <= '0;
    end else if (start) begin
      float32_operate(operation, {29'b0, funct3 == 3'd7 ? frm : funct3}, from_integer ? x : a, b, c,
                      value, raised);
      result <= value;
      flags  <= raised;
      left_q <= operation inside {Div, Sqrt} ? 5'd16 : 5'd1;
    end else if (left_q != 0) begin
      left_q <= left_q - 1;
    end
  end
endmodule
