// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The whole machine: one RV32 hart, memory, timer, console, and the debug module behind JTAG.
/// Addresses are those of map_pkg, which is generated from the target's description.
module rv32_top (
    input logic clk,
    input logic rst_n,       ///< Power-on reset, of everything.
    input logic system_rst_n,///< The reset line of the board: all but the debug module.
    input logic tck,
    input logic tms,
    input logic tdi,
    input logic trst_n,
    output logic tdo,
    output logic sleeping,   ///< The hart does nothing until an interrupt or the debugger comes.
    output logic halted
);
  import map_pkg::*;

  logic ndmreset;
  logic [0:0] hart_reset;
  // A cycle late, so that a reset never comes and goes between two edges of clk.
  logic machine_rst_n, hart_rst_n;
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      machine_rst_n <= 1'b0;
      hart_rst_n <= 1'b0;
    end else begin
      machine_rst_n <= system_rst_n && !ndmreset;
      hart_rst_n <= system_rst_n && !ndmreset && !hart_reset[0];
    end
  end

  bus_if hart_fetch ();
  bus_if hart_data ();
  bus_if system ();
  bus_if ram_fetch ();
  bus_if ram_data ();
  bus_if clint_bus ();
  bus_if console_bus ();
  debug_if debug[1] ();

  logic irq_software, irq_timer;

  rv32_core #(
      .HartId(0),
      .BootAddress(RamOrigin)
  ) core (
      .clk,
      .rst_n(hart_rst_n),
      .fetch(hart_fetch),
      .data(hart_data),
      .debug(debug[0]),
      .irq_software,
      .irq_timer,
      .irq_external(1'b0),
      .sleeping
  );

  fabric fabric (
      .clk,
      .rst_n(machine_rst_n),
      .hart_fetch,
      .hart_data,
      .system,
      .ram_fetch,
      .ram_data,
      .clint(clint_bus),
      .console(console_bus)
  );

  sram #(
      .Words(RamBytes / 4)
  ) ram (
      .clk,
      .rst_n(machine_rst_n),
      .fetch(ram_fetch),
      .data (ram_data)
  );

  clint clint (
      .clk,
      .rst_n(machine_rst_n),
      .bus(clint_bus),
      .irq_software,
      .irq_timer
  );

  console console (
      .clk,
      .rst_n(machine_rst_n),
      .bus(console_bus)
  );

  logic dmi_valid, dmi_write;
  logic [6:0] dmi_addr;
  logic [31:0] dmi_wdata, dmi_rdata;

  dtm_jtag dtm (.*);

  dm #(
      .Harts(1)
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

  assign halted = debug[0].halted;
endmodule
