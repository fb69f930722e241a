// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// What the integer core must know of an instruction that it hands on: whether it exists, which
/// integer registers it takes and gives, whether it is a load or store. rv32_decode knows all
/// others; the two never claim the same encoding.
module snitch_decode
  import snitch_pkg::*;
#(
    parameter bit Streams = 1'b1,  ///< Streams and hardware loops.
    parameter bit Dma = 1'b0,
    parameter bit Divides = 1'b0   ///< fdiv, fsqrt.
) (
    input logic [31:0] instruction,
    input logic float_on,  ///< mstatus.FS isn't Off.
    input logic [2:0] frm,
    output handed_t handed
);
  wire [6:0] opcode = instruction[6:0];
  wire [2:0] funct3 = instruction[14:12];
  wire [4:0] rs1 = instruction[19:15];
  wire [4:0] rs2 = instruction[24:20];
  wire [4:0] rd = instruction[11:7];

  // Formats of scalars: 0 single, 1 double, 2 half, 3 byte.
  wire [1:0] format = instruction[26:25];
  wire rounding_legal = funct3 <= 3'd4 || (funct3 == 3'd7 && frm <= 3'd4);

  always_comb begin
    handed = '0;
    case (opcode)
      7'h07, 7'h27: begin  // fl, fs
        handed.legal = float_on && !funct3[2];
        handed.load = !opcode[5];
        handed.store = opcode[5];
        handed.uses_rs1 = 1'b1;
      end
      7'h43, 7'h47, 7'h4b, 7'h4f: begin  // fmadd and its kin
        handed.legal = float_on && rounding_legal;
      end
      7'h53: begin
        case (instruction[31:27])
          5'h00, 5'h01, 5'h02: handed.legal = rounding_legal;
          5'h03: handed.legal = Divides && rounding_legal;
          5'h0b: handed.legal = Divides && rounding_legal && rs2 == 0;
          5'h04: handed.legal = funct3 <= 3'd2;
          5'h05: handed.legal = funct3 <= 3'd1;
          // Conversions between formats: from one to itself only where it may have two meanings.
          5'h08: handed.legal = rounding_legal && rs2 <= 5'd3 && (rs2[1:0] != format || format[1]);
          5'h09, 5'h0a: handed.legal = rounding_legal && format[1];  // fmulex, fmacex
          5'h14: begin
            handed.legal = funct3 <= 3'd2;
            handed.writes_rd = 1'b1;
          end
          5'h18: begin
            handed.legal = rounding_legal && rs2 <= 5'd1;
            handed.writes_rd = 1'b1;
          end
          5'h1a: begin
            handed.legal = rounding_legal && rs2 <= 5'd1;
            handed.uses_rs1 = 1'b1;
          end
          5'h1c: begin  // fmv.x.w, fclass
            handed.legal = rs2 == 0 && (funct3 == 3'd1 || (funct3 == 3'd0 && format != 2'd1));
            handed.writes_rd = 1'b1;
          end
          5'h1e: begin
            handed.legal = rs2 == 0 && funct3 == 3'd0 && format != 2'd1;
            handed.uses_rs1 = 1'b1;
          end
          default: ;
        endcase
        handed.legal = handed.legal && float_on;
      end
      7'h33: begin  // packed: funct3 has the format (0 single, 2 half, 3 byte) and a variant
        if (instruction[31:30] == 2'b10) begin
          case (instruction[29:25])
            5'h01, 5'h02, 5'h03, 5'h05, 5'h06, 5'h08, 5'h09, 5'h0d, 5'h0e, 5'h0f, 5'h18, 5'h19, 5'h1a,
            5'h1b:
            handed.legal = funct3[1:0] != 2'd1;
            5'h07, 5'h17: begin  // vfsum, vfnsum; with another result format, vfsumex
              case (rs2)
                5'h1c, 5'h16: handed.legal = funct3 == 3'd0;
                5'h1e, 5'h17: handed.legal = funct3 == 3'd2;
                5'h07: handed.legal = funct3 == 3'd3;
                default: ;
              endcase
            end
            5'h0b, 5'h1d: handed.legal = !funct3[0];  // vfdotpex, vfndotpex
            5'h0c: begin
              handed.legal = funct3[1:0] != 2'd1 && (rs2 == 0 || rs2[4:2] == 3'd1);
              handed.uses_rs1 = rs2 == 5'd0 && funct3[2];  // vfmv.v.x
              handed.writes_rd = rs2 == 5'd0 && !funct3[2];  // vfmv.x
            end
            5'h10, 5'h11, 5'h12, 5'h13, 5'h14, 5'h15: begin  // comparisons
              handed.legal = funct3[1:0] != 2'd1;
              handed.writes_rd = 1'b1;
            end
            default: ;
          endcase
          handed.legal = handed.legal && float_on;
        end
      end
      7'h0b: begin  // frep
        handed.legal = Streams && float_on;
        handed.uses_rs1 = 1'b1;
      end
      7'h2b: begin
        case (funct3)
          3'd0: begin
            case (instruction[31:25])
              7'h00, 7'h01, 7'h06: begin
                handed.legal = Dma && rd == 0;
                handed.uses_rs1 = 1'b1;
                handed.uses_rs2 = 1'b1;
              end
              7'h02: begin
                handed.legal = Dma;
                handed.uses_rs1 = 1'b1;
                handed.writes_rd = 1'b1;
              end
              7'h03: begin
                handed.legal = Dma;
                handed.uses_rs1 = 1'b1;
                handed.uses_rs2 = 1'b1;
                handed.writes_rd = 1'b1;
              end
              7'h04: begin
                handed.legal = Dma && rs1 == 0;
                handed.writes_rd = 1'b1;
              end
              7'h05: begin
                handed.legal = Dma && rs1 == 0;
                handed.uses_rs2 = 1'b1;
                handed.writes_rd = 1'b1;
              end
              7'h07: begin
                handed.legal = Dma && rd == 0 && rs2 == 0;
                handed.uses_rs1 = 1'b1;
              end
              default: ;
            endcase
          end
          3'd1: begin  // scfgri, scfgr
            handed.legal = Streams && (rs1 == 0 || (rs1 == 5'd1 && instruction[31:25] == 0));
            handed.uses_rs2 = rs1 == 5'd1;
            handed.writes_rd = 1'b1;
          end
          3'd2: begin  // scfgwi, scfgw
            handed.legal = Streams && (rd == 0 || (rd == 5'd1 && instruction[31:25] == 0));
            handed.uses_rs1 = 1'b1;
            handed.uses_rs2 = rd == 5'd1;
          end
          default: ;
        endcase
      end
      default: ;
    endcase
  end
endmodule
