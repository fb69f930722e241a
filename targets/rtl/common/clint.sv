// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Timer and software interrupts: msip at 0, a bit for each hart; mtimecmp from 0x4000 on, eight
/// bytes for each; mtime at 0xbff8. mtime counts every cycle. For one hart these are the registers
/// of the usual CLINT.
module clint #(
    parameter int unsigned Harts = 1  ///< At most 32.
) (
    input logic clk,
    input logic rst_n,
    bus_if.slave bus,
    output logic [Harts-1:0] irq_software,
    output logic [Harts-1:0] irq_timer
);
  localparam int unsigned SelectBits = Harts > 1 ? $clog2(Harts) : 1;

  logic [63:0] mtime_q;
  logic [63:0] mtimecmp_q[Harts];
  logic [Harts-1:0] msip_q;

  assign bus.ready = 1'b1;
  assign irq_software = msip_q;
  for (genvar i = 0; i < Harts; ++i) begin : g_timer
    assign irq_timer[i] = mtime_q >= mtimecmp_q[i];
  end

  wire [15:0] offset = {bus.addr[15:2], 2'b00};
  wire write = bus.valid && bus.write && bus.strobe == 4'hf;
  wire compares = offset >= 16'h4000 && offset < 16'h4000 + 16'(8 * Harts);
  wire [SelectBits-1:0] hart = compares ? offset[3+:SelectBits] : '0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      mtime_q <= '0;
      for (int i = 0; i < Harts; ++i) mtimecmp_q[i] <= '1;
      msip_q <= '0;
      bus.done <= 1'b0;
      bus.error <= 1'b0;
      bus.rdata <= '0;
    end else begin
      mtime_q <= mtime_q + 1;
      bus.done <= bus.valid;
      if (bus.valid) begin
        bus.error <= !compares && !(offset inside {16'h0, 16'hbff8, 16'hbffc});
        if (offset == 16'h0) bus.rdata <= 32'(msip_q);
        else if (compares) bus.rdata <= mtimecmp_q[hart][32*offset[2]+:32];
        else bus.rdata <= mtime_q[32*offset[2]+:32];
      end
      if (write) begin
        if (offset == 16'h0) msip_q <= bus.wdata[Harts-1:0];
        else if (compares) mtimecmp_q[hart][32*offset[2]+:32] <= bus.wdata;
        else if (offset inside {16'hbff8, 16'hbffc}) mtime_q[32*offset[2]+:32] <= bus.wdata;
      end
    end
  end
endmodule
