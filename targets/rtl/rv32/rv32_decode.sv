// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Instruction word to control signals: RV32IMAF, Zicsr, Zifencei, machine mode.
module rv32_decode
  import rv32_pkg::*;
(
    input logic [31:0] instruction,
    input logic float_on,  ///< mstatus.FS isn't Off.
    input logic [2:0] frm,
    output decoded_t decoded
);
  wire [6:0] opcode = instruction[6:0];
  wire [2:0] funct3 = instruction[14:12];
  wire [6:0] funct7 = instruction[31:25];
  wire [4:0] rs2 = instruction[24:20];

  wire [31:0] imm_i = {{20{instruction[31]}}, instruction[31:20]};
  wire [31:0] imm_s = {{20{instruction[31]}}, instruction[31:25], instruction[11:7]};
  wire [31:0] imm_b = {
    {20{instruction[31]}}, instruction[7], instruction[30:25], instruction[11:8], 1'b0
  };
  wire [31:0] imm_u = {instruction[31:12], 12'b0};
  wire [31:0] imm_j = {
    {12{instruction[31]}}, instruction[19:12], instruction[20], instruction[30:21], 1'b0
  };

  alu_op_e alu;  // Of the OP and OP-IMM opcodes.
  always_comb begin
    case (funct3)
      3'b000: alu = (opcode[5] && funct7[5]) ? AluSub : AluAdd;
      3'b001: alu = AluSll;
      3'b010: alu = AluSlt;
      3'b011: alu = AluSltu;
      3'b100: alu = AluXor;
      3'b101: alu = funct7[5] ? AluSra : AluSrl;
      3'b110: alu = AluOr;
      default: alu = AluAnd;
    endcase
  end

  logic alu_legal;
  always_comb begin
    if (opcode[5]) begin
      alu_legal = funct7 == 7'h00 || (funct7 == 7'h20 && funct3 inside {3'b000, 3'b101});
    end else begin
      case (funct3)
        3'b001: alu_legal = funct7 == 7'h00;
        3'b101: alu_legal = funct7 inside {7'h00, 7'h20};
        default: alu_legal = 1'b1;
      endcase
    end
  end

  wire atomic_legal = funct3 == 3'b010 && (instruction[31:27] inside {AmoAdd, AmoSwap, AmoSc, AmoXor,
      AmoOr, AmoAnd, AmoMin, AmoMax, AmoMinu, AmoMaxu} || (instruction[31:27] == AmoLr && rs2 == 0));

  // Floating point: which encodings exist, and which write an integer register.
  wire rounding_legal = funct3 inside {[3'd0 : 3'd4]} || (funct3 == 3'd7 && frm inside {[0 : 4]});
  logic float_legal, float_to_x;
  always_comb begin
    float_to_x = 1'b0;
    case (funct7)
      7'h00, 7'h04, 7'h08, 7'h0c: float_legal = rounding_legal;
      7'h2c: float_legal = rounding_legal && rs2 == 0;
      7'h10: float_legal = funct3 <= 3'd2;
      7'h14: float_legal = funct3 <= 3'd1;
      7'h60: begin
        float_legal = rounding_legal && rs2 <= 5'd1;
        float_to_x  = 1'b1;
      end
      7'h68: float_legal = rounding_legal && rs2 <= 5'd1;
      7'h70: begin
        float_legal = funct3 <= 3'd1 && rs2 == 0;
        float_to_x  = 1'b1;
      end
      7'h50: begin
        float_legal = funct3 <= 3'd2;
        float_to_x  = 1'b1;
      end
      7'h78: float_legal = funct3 == 0 && rs2 == 0;
      default: float_legal = 1'b0;
    endcase
  end

  always_comb begin
    decoded = '{
        legal: 1'b0,
        kind: KindAlu,
        writes_rd: 1'b0,
        float_rd: 1'b0,
        alu: AluAdd,
        second_is_imm: 1'b1,
        target_from_pc: 1'b0,
        imm: imm_i
    };
    case (opcode)
      7'h37: begin  // lui
        decoded.legal = 1'b1;
        decoded.writes_rd = 1'b1;
        decoded.alu = AluSecond;
        decoded.imm = imm_u;
      end
      7'h17: begin  // auipc
        decoded.legal = 1'b1;
        decoded.kind = KindTarget;
        decoded.writes_rd = 1'b1;
        decoded.target_from_pc = 1'b1;
        decoded.imm = imm_u;
      end
      7'h6f: begin  // jal
        decoded.legal = 1'b1;
        decoded.kind = KindJump;
        decoded.writes_rd = 1'b1;
        decoded.target_from_pc = 1'b1;
        decoded.imm = imm_j;
      end
      7'h67: begin  // jalr
        decoded.legal = funct3 == 3'b000;
        decoded.kind = KindJump;
        decoded.writes_rd = 1'b1;
      end
      7'h63: begin
        decoded.legal = !(funct3 inside {3'b010, 3'b011});
        decoded.kind = KindBranch;
        decoded.target_from_pc = 1'b1;
        decoded.second_is_imm = 1'b0;
        decoded.imm = imm_b;
      end
      7'h03: begin
        decoded.legal = !(funct3 inside {3'b011, 3'b110, 3'b111});
        decoded.kind = KindLoad;
        decoded.writes_rd = 1'b1;
      end
      7'h07: begin  // flw
        decoded.legal = float_on && funct3 == 3'b010;
        decoded.kind = KindLoad;
        decoded.writes_rd = 1'b1;
        decoded.float_rd = 1'b1;
      end
      7'h23: begin
        decoded.legal = funct3 <= 3'b010;
        decoded.kind = KindStore;
        decoded.imm = imm_s;
      end
      7'h27: begin  // fsw
        decoded.legal = float_on && funct3 == 3'b010;
        decoded.kind = KindStore;
        decoded.imm = imm_s;
      end
      7'h2f: begin
        decoded.legal = atomic_legal;
        decoded.kind = KindAtomic;
        decoded.writes_rd = 1'b1;
        decoded.imm = '0;
      end
      7'h13: begin
        decoded.legal = alu_legal;
        decoded.writes_rd = 1'b1;
        decoded.alu = alu;
      end
      7'h33: begin
        decoded.writes_rd = 1'b1;
        decoded.second_is_imm = 1'b0;
        decoded.alu = alu;
        if (funct7 == 7'h01) begin
          decoded.legal = 1'b1;
          decoded.kind = funct3[2] ? KindDiv : KindMul;
        end else begin
          decoded.legal = alu_legal;
        end
      end
      7'h0f: begin
        decoded.legal = funct3 <= 3'b001;
        decoded.kind = KindFence;
      end
      7'h43, 7'h47, 7'h4b, 7'h4f: begin  // fmadd and its kin
        decoded.legal = float_on && instruction[26:25] == 2'b00 && rounding_legal;
        decoded.kind = KindFloat;
        decoded.writes_rd = 1'b1;
        decoded.float_rd = 1'b1;
      end
      7'h53: begin
        decoded.legal = float_on && float_legal;
        decoded.kind = KindFloat;
        decoded.writes_rd = 1'b1;
        decoded.float_rd = !float_to_x;
      end
      7'h73: begin
        if (funct3 == 3'b000) begin
          decoded.legal = 1'b1;
          case (instruction[31:7])
            25'h0000000: decoded.kind = KindEcall;
            {12'h001, 13'b0} : decoded.kind = KindEbreak;
            {12'h302, 13'b0} : decoded.kind = KindMret;
            {12'h105, 13'b0} : decoded.kind = KindWfi;
            default: decoded.legal = 1'b0;
          endcase
        end else begin
          decoded.legal = funct3 != 3'b100;
          decoded.kind = KindCsr;
          decoded.writes_rd = 1'b1;
        end
      end
      default: ;
    endcase
  end
endmodule
