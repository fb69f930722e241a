// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Memory of Words words with a port for instructions and one for data, each an access a cycle,
/// answered in the next. Addresses are taken modulo the size.
module sram #(
    parameter int unsigned Words = 1024
) (
    input logic clk,
    input logic rst_n,
    bus_if.slave fetch,
    bus_if.slave data
);
  localparam int unsigned IndexBits = $clog2(Words);

  // The model's back door reads and writes it from outside.
  logic [31:0] words[Words]  /* verilator public_flat_rw */;

  assign fetch.ready = 1'b1;
  assign fetch.error = 1'b0;
  assign data.ready  = 1'b1;
  assign data.error  = 1'b0;

  wire [IndexBits-1:0] index = data.addr[2+:IndexBits];

  always_ff @(posedge clk) begin
    if (fetch.valid) fetch.rdata <= words[fetch.addr[2+:IndexBits]];
    if (data.valid) begin
      data.rdata <= words[index];
      if (data.write) begin
        for (int i = 0; i < 4; ++i) begin
          if (data.strobe[i]) words[index][8*i+:8] <= data.wdata[8*i+:8];
        end
      end
    end
  end

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      fetch.done <= 1'b0;
      data.done  <= 1'b0;
    end else begin
      fetch.done <= fetch.valid;
      data.done  <= data.valid;
    end
  end
endmodule
