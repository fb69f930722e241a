// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The cluster: compute cores and the DMA core, the scratchpad that they share, instruction cache,
/// DMA engine, barrier, registers, and the ways outside. Harts 0 to Cores - 1 compute, the last one
/// is the DMA core.
module snitch_cluster
  import snitch_pkg::*;
#(
    parameter int unsigned Cores = 8,  ///< 1 to 8.
    parameter bit Dot8 = 1'b0,         ///< With the vendor's own instruction.
    localparam int unsigned Harts = Cores + 1
) (
    input logic clk,
    input logic rst_n,
    input logic [Harts-1:0] hart_rst_n,
    debug_if.hart_side debug[Harts],
    bus_if.slave system,  ///< Of the debug module.
    input logic start,    ///< Runs the program at start_address on all harts.
    input logic [31:0] start_address,
    output logic [Harts-1:0] idle,
    input logic observe  ///< Tell the model what happens, cycle by cycle.
);
  import map_pkg::*;

  // Ports of the scratchpad: three of each compute core, one of the DMA core, the debug module's.
  localparam int unsigned DmaPort = 3 * Cores;
  localparam int unsigned SystemPort = DmaPort + 1;
  localparam int unsigned Ports = SystemPort + 1;
  localparam int unsigned Masters = Harts + 1;  ///< Of the narrow way outside.

  logic [Ports-1:0] tcdm_valid, tcdm_ready, tcdm_rsp_valid;
  mem_req_t tcdm_req[Ports];
  logic [63:0] tcdm_rdata[Ports];
  logic [3:0] tcdm_hart[Ports];
  logic [Masters-1:0] outside_valid, outside_ready, outside_rsp_valid;
  mem_req_t outside_req[Masters];
  mem_rsp_t outside_rsp;
  logic [Harts-1:0] fetch_valid, fetch_ready, fetch_error, fetch_flush;
  logic [31:0] fetch_addr[Harts];
  logic [31:0] fetch_instr[Harts];
  logic [Harts-1:0] barrier_req, irq_software, irq_timer, irq_cluster, offloaded;
  logic barrier_done;
  core_events_t events[Harts];

  logic dma_valid, dma_ready, dma_rsp_valid, dma_rsp_ready, dma_busy;
  offload_req_t dma_req;
  offload_rsp_t dma_rsp;

  // The ways of the compute cores to a DMA engine, which they don't have.
  logic [Cores-1:0] no_dma_valid, no_dma_rsp_ready;
  offload_req_t no_dma_req[Cores];

  for (genvar i = 0; i < Cores; ++i) begin : g_core
    snitch_cc #(
        .Dot8(Dot8)
    ) cc (
        .clk,
        .rst_n(hart_rst_n[i]),
        .hart_id(32'(i)),
        .boot_address(BootRomOrigin),
        .irq_software(irq_software[i]),
        .irq_timer(irq_timer[i]),
        .irq_cluster(irq_cluster[i]),
        .debug(debug[i]),
        .fetch_valid(fetch_valid[i]),
        .fetch_addr(fetch_addr[i]),
        .fetch_ready(fetch_ready[i]),
        .fetch_instr(fetch_instr[i]),
        .fetch_error(fetch_error[i]),
        .fetch_flush(fetch_flush[i]),
        .tcdm_valid(tcdm_valid[3*i+:3]),
        .tcdm_ready(tcdm_ready[3*i+:3]),
        .tcdm_req(tcdm_req[3*i+:3]),
        .tcdm_rsp_valid(tcdm_rsp_valid[3*i+:3]),
        .tcdm_rdata(tcdm_rdata[3*i+:3]),
        .outside_valid(outside_valid[i]),
        .outside_ready(outside_ready[i]),
        .outside_req(outside_req[i]),
        .outside_rsp_valid(outside_rsp_valid[i]),
        .outside_rsp,
        .dma_valid(no_dma_valid[i]),
        .dma_ready(1'b0),
        .dma_req(no_dma_req[i]),
        .dma_rsp_valid(1'b0),
        .dma_rsp_ready(no_dma_rsp_ready[i]),
        .dma_rsp('0),
        .barrier_req(barrier_req[i]),
        .barrier_done,
        .events(events[i]),
        .offloaded(offloaded[i]),
        .idle(idle[i]),
        .observe
    );
    assign tcdm_hart[3*i+:3] = '{default: 4'(i)};
  end

  snitch_cc #(
      .Streams(1'b0),
      .Dma(1'b1)
  ) dma_cc (
      .clk,
      .rst_n(hart_rst_n[Cores]),
      .hart_id(32'(Cores)),
      .boot_address(BootRomOrigin),
      .irq_software(irq_software[Cores]),
      .irq_timer(irq_timer[Cores]),
      .irq_cluster(irq_cluster[Cores]),
      .debug(debug[Cores]),
      .fetch_valid(fetch_valid[Cores]),
      .fetch_addr(fetch_addr[Cores]),
      .fetch_ready(fetch_ready[Cores]),
      .fetch_instr(fetch_instr[Cores]),
      .fetch_error(fetch_error[Cores]),
      .fetch_flush(fetch_flush[Cores]),
      .tcdm_valid(tcdm_valid[DmaPort]),
      .tcdm_ready(tcdm_ready[DmaPort]),
      .tcdm_req(tcdm_req[DmaPort+:1]),
      .tcdm_rsp_valid(tcdm_rsp_valid[DmaPort]),
      .tcdm_rdata(tcdm_rdata[DmaPort+:1]),
      .outside_valid(outside_valid[Cores]),
      .outside_ready(outside_ready[Cores]),
      .outside_req(outside_req[Cores]),
      .outside_rsp_valid(outside_rsp_valid[Cores]),
      .outside_rsp,
      .dma_valid,
      .dma_ready,
      .dma_req,
      .dma_rsp_valid,
      .dma_rsp_ready,
      .dma_rsp,
      .barrier_req(barrier_req[Cores]),
      .barrier_done,
      .events(events[Cores]),
      .offloaded(offloaded[Cores]),
      .idle(idle[Cores]),
      .observe
  );
  assign tcdm_hart[DmaPort] = 4'(Cores);
  assign tcdm_hart[SystemPort] = 4'(Harts);

  // ---- The debug module's way: to the scratchpad or outside, one access at a time.
  wire system_inside = system.addr - ScratchpadOrigin < ScratchpadBytes;
  mem_req_t system_req;
  assign system_req = '{
      addr: system.addr,
      write: system.write,
      amo: AmoNone,
      data: {2{system.wdata}},
      strobe: system.addr[2] ? {system.strobe, 4'b0} : {4'b0, system.strobe}
  };
  logic system_upper_q;
  wire [63:0] system_data = tcdm_rsp_valid[SystemPort] ? tcdm_rdata[SystemPort] : outside_rsp.data;
  assign tcdm_valid[SystemPort] = system.valid && system_inside;
  assign tcdm_req[SystemPort] = system_req;
  assign outside_valid[Harts] = system.valid && !system_inside;
  assign outside_req[Harts] = system_req;
  assign system.ready = system_inside ? tcdm_ready[SystemPort] : outside_ready[Harts];
  assign system.done = tcdm_rsp_valid[SystemPort] || outside_rsp_valid[Harts];
  assign system.error = outside_rsp_valid[Harts] && outside_rsp.error;
  assign system.rdata = system_upper_q ? system_data[63:32] : system_data[31:0];
  always_ff @(posedge clk) begin
    if (system.valid) system_upper_q <= system.addr[2];
  end

  // ---- The scratchpad and the DMA engine
  logic wide_valid, wide_ready, wide_write, wide_rsp_valid;
  logic [31:0] wide_addr;
  logic [511:0] wide_wdata, wide_rdata;
  logic [63:0] wide_strobe;
  logic [5:0] tcdm_accesses, tcdm_refused;
  snitch_tcdm #(
      .Ports(Ports),
      .Harts(Harts)
  ) tcdm (
      .clk,
      .rst_n,
      .req_valid(tcdm_valid),
      .req_ready(tcdm_ready),
      .req(tcdm_req),
      .hart(tcdm_hart),
      .rsp_valid(tcdm_rsp_valid),
      .rsp_data(tcdm_rdata),
      .wide_valid,
      .wide_ready,
      .wide_write,
      .wide_addr,
      .wide_data(wide_wdata),
      .wide_strobe,
      .wide_rsp_valid,
      .wide_rsp_data(wide_rdata),
      .accesses(tcdm_accesses),
      .refused(tcdm_refused)
  );

  logic read_valid, read_ready, read_rsp_valid, write_valid, write_ready;
  logic [31:0] read_addr, write_addr;
  logic [511:0] read_rdata, write_data;
  logic [63:0] write_strobe;
  snitch_dma dma (
      .clk,
      .rst_n,
      .offload_valid(dma_valid),
      .offload_ready(dma_ready),
      .offload_req(dma_req),
      .offload_rsp_valid(dma_rsp_valid),
      .offload_rsp_ready(dma_rsp_ready),
      .offload_rsp(dma_rsp),
      .busy(dma_busy),
      .tcdm_valid(wide_valid),
      .tcdm_ready(wide_ready),
      .tcdm_write(wide_write),
      .tcdm_addr(wide_addr),
      .tcdm_wdata(wide_wdata),
      .tcdm_strobe(wide_strobe),
      .tcdm_rsp_valid(wide_rsp_valid),
      .tcdm_rdata(wide_rdata),
      .read_valid,
      .read_ready,
      .read_addr,
      .read_rsp_valid,
      .read_rdata,
      .write_valid,
      .write_ready,
      .write_addr,
      .write_data,
      .write_strobe
  );

  // ---- Instructions, and the wide way outside
  logic refill_valid, refill_ready, refill_rsp_valid, refill_rsp_error;
  logic [31:0] refill_addr;
  logic [511:0] refill_rdata;
  snitch_icache #(
      .Harts(Harts)
  ) icache (
      .clk,
      .rst_n,
      .fetch_valid,
      .fetch_addr,
      .fetch_ready,
      .fetch_instr,
      .fetch_error,
      .flush(fetch_flush),
      .wide_valid(refill_valid),
      .wide_ready(refill_ready),
      .wide_addr(refill_addr),
      .wide_rsp_valid(refill_rsp_valid),
      .wide_rdata(refill_rdata),
      .wide_rsp_error(refill_rsp_error)
  );
  snitch_wide wide (
      .clk,
      .rst_n,
      .fetch_valid(refill_valid),
      .fetch_ready(refill_ready),
      .fetch_addr(refill_addr),
      .fetch_rsp_valid(refill_rsp_valid),
      .fetch_rdata(refill_rdata),
      .fetch_rsp_error(refill_rsp_error),
      .read_valid,
      .read_ready,
      .read_addr,
      .read_rsp_valid,
      .read_rdata,
      .write_valid,
      .write_ready,
      .write_addr,
      .write_data,
      .write_strobe
  );

  // ---- The narrow way outside, and what is there
  bus_if clint_bus ();
  bus_if console_bus ();
  logic periph_valid, periph_write;
  logic [11:0] periph_addr;
  logic [63:0] periph_wdata, periph_rdata;
  logic [7:0] periph_strobe;
  snitch_outside #(
      .Harts(Harts),
      .Masters(Masters)
  ) outside (
      .clk,
      .rst_n,
      .req_valid(outside_valid),
      .req_ready(outside_ready),
      .req(outside_req),
      .rsp_valid(outside_rsp_valid),
      .rsp(outside_rsp),
      .wide_write(write_valid),
      .wide_addr(write_addr),
      .periph_valid,
      .periph_write,
      .periph_addr,
      .periph_wdata,
      .periph_strobe,
      .periph_rdata,
      .clint(clint_bus),
      .console(console_bus)
  );
  snitch_periph #(
      .Harts(Harts)
  ) periph (
      .clk,
      .rst_n,
      .valid(periph_valid),
      .write(periph_write),
      .addr(periph_addr),
      .wdata(periph_wdata),
      .strobe(periph_strobe),
      .rdata(periph_rdata),
      .start,
      .start_address,
      .irq_cluster,
      .events,
      .offloaded,
      .tcdm_accesses,
      .tcdm_refused,
      .dma_busy
  );
  clint #(
      .Harts(Harts)
  ) clint (
      .clk,
      .rst_n,
      .bus(clint_bus),
      .irq_software,
      .irq_timer
  );
  console console (
      .clk,
      .rst_n,
      .bus(console_bus)
  );
  snitch_barrier #(
      .Harts(Harts)
  ) barrier (
      .clk,
      .rst_n,
      .req(barrier_req),
      .done(barrier_done)
  );
endmodule
