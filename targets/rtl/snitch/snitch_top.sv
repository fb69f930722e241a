// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The whole machine: the cluster, and the debug module behind JTAG in front of its harts.
/// Addresses are those of map_pkg, which is generated from the target's description.
module snitch_top #(
    parameter int unsigned Cores = 8,
    parameter bit Dot8 = 1'b0
) (
    input logic clk,
    input logic rst_n,        ///< Power-on reset, of everything.
    input logic system_rst_n, ///< The reset line of the board: all but the debug module.
    input logic start,        ///< One cycle: all harts run the program at start_address.
    input logic [31:0] start_address,
    input logic observe,      ///< Tell the model what happens, cycle by cycle.
    input logic tck,
    input logic tms,
    input logic tdi,
    input logic trst_n,
    output logic tdo,
    output logic sleeping  ///< No hart does anything until an interrupt or the debugger comes.
);
  localparam int unsigned Harts = Cores + 1;

  // A cycle late, so that a reset never comes and goes between two edges of clk.
  logic ndmreset, machine_rst_n;
  logic [Harts-1:0] hart_reset, hart_rst_n, idle;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      machine_rst_n <= 1'b0;
      hart_rst_n <= '0;
    end else begin
      machine_rst_n <= system_rst_n && !ndmreset;
      hart_rst_n <= {Harts{system_rst_n && !ndmreset}} & ~hart_reset;
    end
  end
  assign sleeping = &idle;

  debug_if debug[Harts] ();
  bus_if system ();

  snitch_cluster #(
      .Cores(Cores),
      .Dot8(Dot8)
  ) cluster (
      .clk,
      .rst_n(machine_rst_n),
      .hart_rst_n,
      .debug,
      .system,
      .start,
      .start_address,
      .idle,
      .observe
  );

  logic dmi_valid, dmi_write;
  logic [6:0] dmi_addr;
  logic [31:0] dmi_wdata, dmi_rdata;

  dtm_jtag dtm (.*);

  dm #(
      .Harts(Harts)
  ) dm (
      .clk,
      .rst_n,
      .dmi_valid,
      .dmi_write,
      .dmi_addr,
      .dmi_wdata,
      .dmi_rdata,
      .hart(debug),
      .ndmreset,
      .hart_reset,
      .system
  );
endmodule
