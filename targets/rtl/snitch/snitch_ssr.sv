// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The streams of a core: three data movers behind ft0, ft1 and ft2, and their configuration.
module snitch_ssr
  import snitch_pkg::*;
#(
    parameter int Movers = 3
) (
    input logic clk,
    input logic rst_n,

    // A read is answered in the same cycle.
    input  logic        config_valid,
    output logic        config_ready,
    input  logic        config_write,
    input  logic [ 4:0] config_mover,  ///< 31: all of them.
    input  logic [ 4:0] config_word,
    input  logic [31:0] config_wdata,
    output logic [31:0] config_rdata,

    output logic [Movers-1:0] lane_valid,
    output logic [      63:0] lane_rdata[Movers],
    input  logic [Movers-1:0] lane_take,
    input  logic [Movers-1:0] lane_put,
    input  logic [      63:0] lane_wdata,

    output logic     [Movers-1:0] req_valid,
    input  logic     [Movers-1:0] req_ready,
    output mem_req_t              req      [Movers],
    input  logic     [Movers-1:0] rsp_valid,
    input  logic     [      63:0] rsp_data [Movers],

    output logic idle
);
  logic [Movers-1:0] selected, mover_ready, mover_idle;
  assign idle = &mover_idle;
  logic [31:0] mover_rdata[Movers];

  always_comb begin
    config_rdata = '0;
    for (int m = 0; m < Movers; m++) begin
      selected[m] = config_valid && (config_mover == 5'(m) || config_mover == '1);
      if (config_mover == 5'(m)) config_rdata = mover_rdata[m];
    end
  end
  assign config_ready = !config_write || (selected & ~mover_ready) == 0;

  for (genvar m = 0; m < Movers; m++) begin : gen_mover
    snitch_ssr_mover u_mover (
        .clk,
        .rst_n,
        .config_read(selected[m] && !config_write),
        .config_write(selected[m] && config_write && config_ready),
        .config_ready(mover_ready[m]),
        .config_word,
        .config_wdata,
        .config_rdata(mover_rdata[m]),
        .lane_valid(lane_valid[m]),
        .lane_rdata(lane_rdata[m]),
        .lane_take(lane_take[m]),
        .lane_put(lane_put[m]),
        .lane_wdata,
        .req_valid(req_valid[m]),
        .req_ready(req_ready[m]),
        .req(req[m]),
        .rsp_valid(rsp_valid[m]),
        .rsp_data(rsp_data[m]),
        .idle(mover_idle[m])
    );
  end
endmodule
