// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Timer and software interrupt of one hart, with the registers of the usual CLINT:
/// msip at 0, mtimecmp at 0x4000, mtime at 0xbff8. mtime counts every cycle.
module clint (
    input logic clk,
    input logic rst_n,
    bus_if.slave bus,
    output logic irq_software,
    output logic irq_timer
);
  logic [63:0] mtime_q, mtimecmp_q;
  logic msip_q;

  assign bus.ready = 1'b1;
  assign irq_software = msip_q;
  assign irq_timer = mtime_q >= mtimecmp_q;

  wire [15:0] offset = {bus.addr[15:2], 2'b00};
  wire write = bus.valid && bus.write && bus.strobe == 4'hf;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      mtime_q <= '0;
      mtimecmp_q <= '1;
      msip_q <= 1'b0;
      bus.done <= 1'b0;
      bus.error <= 1'b0;
      bus.rdata <= '0;
    end else begin
      mtime_q <= mtime_q + 1;
      bus.done <= bus.valid;
      bus.error <= bus.valid && !(offset inside {16'h0, 16'h4000, 16'h4004, 16'hbff8, 16'hbffc});
      case (offset)
        16'h0000: bus.rdata <= {31'b0, msip_q};
        16'h4000: bus.rdata <= mtimecmp_q[31:0];
        16'h4004: bus.rdata <= mtimecmp_q[63:32];
        16'hbff8: bus.rdata <= mtime_q[31:0];
        default: bus.rdata <= mtime_q[63:32];
      endcase
      if (write) begin
        case (offset)
          16'h0000: msip_q <= bus.wdata[0];
          16'h4000: mtimecmp_q[31:0] <= bus.wdata;
          16'h4004: mtimecmp_q[63:32] <= bus.wdata;
          16'hbff8: mtime_q[31:0] <= bus.wdata;
          16'hbffc: mtime_q[63:32] <= bus.wdata;
          default: ;
        endcase
      end
    end
  end
endmodule
