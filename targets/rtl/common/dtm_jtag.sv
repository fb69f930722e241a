// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// JTAG debug transport module of RISC-V Debug 0.13: the test access port with its registers
/// IDCODE, DTMCS, DMI and BYPASS, in the domain of tck, and the crossing of a request into the
/// domain of clk, where the debug module answers it in one cycle.
module dtm_jtag #(
    parameter logic [31:0] Idcode = 32'h1d0f_0001
) (
    // JTAG
    input logic tck,
    input logic tms,
    input logic tdi,
    input logic trst_n,
    output logic tdo,
    // Debug module interface
    input logic clk,
    input logic rst_n,
    output logic dmi_valid,  ///< One cycle a request.
    output logic dmi_write,
    output logic [6:0] dmi_addr,
    output logic [31:0] dmi_wdata,
    input logic [31:0] dmi_rdata  ///< In the cycle of dmi_valid.
);
  localparam int unsigned AddrBits = 7;
  localparam logic [4:0] IrIdcode = 5'h01;
  localparam logic [4:0] IrDtmcs = 5'h10;
  localparam logic [4:0] IrDmi = 5'h11;
  /// Idle cycles that the host should spend after a request: those of both crossings.
  localparam logic [2:0] IdleHint = 3'd4;

  typedef enum logic [3:0] {
    TestLogicReset,
    RunTestIdle,
    SelectDr,
    CaptureDr,
    ShiftDr,
    Exit1Dr,
    PauseDr,
    Exit2Dr,
    UpdateDr,
    SelectIr,
    CaptureIr,
    ShiftIr,
    Exit1Ir,
    PauseIr,
    Exit2Ir,
    UpdateIr
  } tap_e;

  tap_e tap_q, tap_d;
  always_comb begin
    case (tap_q)
      TestLogicReset: tap_d = tms ? TestLogicReset : RunTestIdle;
      RunTestIdle: tap_d = tms ? SelectDr : RunTestIdle;
      SelectDr: tap_d = tms ? SelectIr : CaptureDr;
      CaptureDr: tap_d = tms ? Exit1Dr : ShiftDr;
      ShiftDr: tap_d = tms ? Exit1Dr : ShiftDr;
      Exit1Dr: tap_d = tms ? UpdateDr : PauseDr;
      PauseDr: tap_d = tms ? Exit2Dr : PauseDr;
      Exit2Dr: tap_d = tms ? UpdateDr : ShiftDr;
      UpdateDr: tap_d = tms ? SelectDr : RunTestIdle;
      SelectIr: tap_d = tms ? TestLogicReset : CaptureIr;
      CaptureIr: tap_d = tms ? Exit1Ir : ShiftIr;
      ShiftIr: tap_d = tms ? Exit1Ir : ShiftIr;
      Exit1Ir: tap_d = tms ? UpdateIr : PauseIr;
      PauseIr: tap_d = tms ? Exit2Ir : PauseIr;
      Exit2Ir: tap_d = tms ? UpdateIr : ShiftIr;
      default: tap_d = tms ? SelectDr : RunTestIdle;
    endcase
  end

  // A request is under way while the toggles differ; its fields stand still meanwhile.
  logic request_q;             // tck: flips with each request
  logic [1:0] request_seen_q;  // clk: the same, two flip-flops later
  logic answer_q;              // clk: flips when the answer is there
  logic [1:0] answer_seen_q;   // tck
  logic op_write_q;
  logic [AddrBits-1:0] addr_q;
  logic [31:0] wdata_q, rdata_q;
  wire busy = request_q != answer_seen_q[1];

  logic [4:0] ir_q, ir_shift_q;
  logic [AddrBits+33:0] shift_q;
  logic stuck_q;  // dmistat is 3: a scan came while a request was under way.

  wire [31:0] dtmcs = {17'b0, IdleHint, stuck_q, stuck_q, 6'(AddrBits), 4'd1};

  always_ff @(posedge tck or negedge trst_n) begin
    if (!trst_n) begin
      tap_q <= TestLogicReset;
      ir_q <= IrIdcode;
      ir_shift_q <= '0;
      shift_q <= '0;
      request_q <= 1'b0;
      answer_seen_q <= '0;
      op_write_q <= 1'b0;
      addr_q <= '0;
      wdata_q <= '0;
      stuck_q <= 1'b0;
    end else begin
      tap_q <= tap_d;
      answer_seen_q <= {answer_seen_q[0], answer_q};
      case (tap_q)
        TestLogicReset: ir_q <= IrIdcode;
        CaptureIr: ir_shift_q <= 5'b00001;
        ShiftIr: ir_shift_q <= {tdi, ir_shift_q[4:1]};
        UpdateIr: ir_q <= ir_shift_q;
        CaptureDr: begin
          shift_q <= '0;
          case (ir_q)
            IrIdcode: shift_q[31:0] <= Idcode;
            IrDtmcs: shift_q[31:0] <= dtmcs;
            IrDmi: begin
              shift_q <= {addr_q, rdata_q, {2{stuck_q || busy}}};
              if (busy) stuck_q <= 1'b1;
            end
            default: ;
          endcase
        end
        ShiftDr: begin
          case (ir_q)
            IrIdcode, IrDtmcs: shift_q[31:0] <= {tdi, shift_q[31:1]};
            IrDmi: shift_q <= {tdi, shift_q[AddrBits+33:1]};
            default: shift_q[0] <= tdi;
          endcase
        end
        UpdateDr: begin
          if (ir_q == IrDtmcs && (shift_q[16] || shift_q[17])) stuck_q <= 1'b0;
          if (ir_q == IrDmi && !stuck_q && (shift_q[1:0] inside {2'd1, 2'd2})) begin
            if (busy) begin
              stuck_q <= 1'b1;
            end else begin
              request_q <= !request_q;
              op_write_q <= shift_q[1];
              {addr_q, wdata_q} <= shift_q[AddrBits+33:2];
            end
          end
        end
        default: ;
      endcase
    end
  end

  always_ff @(negedge tck or negedge trst_n) begin
    if (!trst_n) tdo <= 1'b0;
    else tdo <= tap_q == ShiftIr ? ir_shift_q[0] : shift_q[0];
  end

  // The other side.
  assign dmi_valid = request_seen_q[1] != answer_q;
  assign dmi_write = op_write_q;
  assign dmi_addr  = addr_q;
  assign dmi_wdata = wdata_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      request_seen_q <= '0;
      answer_q <= 1'b0;
      rdata_q <= '0;
    end else begin
      request_seen_q <= {request_seen_q[0], request_q};
      if (dmi_valid) begin
        answer_q <= request_seen_q[1];
        rdata_q  <= dmi_rdata;
      end
    end
  end
endmodule
