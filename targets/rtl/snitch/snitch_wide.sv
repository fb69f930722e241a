// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The wide way to the outside, lines of 64 bytes: reads for the instruction cache, which go first,
/// and for the DMA engine, one a cycle together; the DMA engine's writes beside them. Reads are
/// answered after Latency cycles.
module snitch_wide #(
    parameter int unsigned Latency = 6  ///< At most 8.
) (
    input logic clk,
    input logic rst_n,
    input logic fetch_valid,
    output logic fetch_ready,
    input logic [31:0] fetch_addr,  ///< The low six bits are ignored, here and below.
    output logic fetch_rsp_valid,
    output logic [511:0] fetch_rdata,
    output logic fetch_rsp_error,   ///< Nothing is there.
    input logic read_valid,
    output logic read_ready,
    input logic [31:0] read_addr,
    output logic read_rsp_valid,
    output logic [511:0] read_rdata,
    input logic write_valid,
    output logic write_ready,
    input logic [31:0] write_addr,
    input logic [511:0] write_data,
    input logic [63:0] write_strobe
);
  import map_pkg::*;
  import "DPI-C" function void snitch_memory_read_line(
    input int unsigned address,
    output bit [511:0] data
  );
  import "DPI-C" function void snitch_memory_write_line(
    input int unsigned address,
    input bit [511:0] data,
    input longint unsigned strobe
  );

  localparam int unsigned Slots = 8;
  typedef logic [2:0] slot_t;

  // A wheel of answers: what is put Latency slots ahead comes out Latency cycles later.
  slot_t now_q;
  logic [Slots-1:0] for_fetch_q, for_read_q, error_q;
  logic [511:0] lines_q[Slots];

  wire asked = fetch_valid || read_valid;
  assign fetch_ready = 1'b1;
  assign read_ready = !fetch_valid;
  assign write_ready = 1'b1;
  assign fetch_rsp_valid = for_fetch_q[now_q];
  assign read_rsp_valid = for_read_q[now_q];
  assign fetch_rsp_error = error_q[now_q];
  assign fetch_rdata = lines_q[now_q];
  assign read_rdata = lines_q[now_q];

  wire slot_t slot = now_q + slot_t'(Latency);
  wire [31:0] at = {fetch_valid ? fetch_addr[31:6] : read_addr[31:6], 6'b0};
  wire in_memory = at - RamOrigin < RamBytes || at - ScratchpadOrigin < ScratchpadBytes;
  wire in_rom = at - BootRomOrigin < BootRomBytes;
  wire in_zero = at - ZeroOrigin < ZeroBytes;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      now_q <= '0;
      for_fetch_q <= '0;
      for_read_q <= '0;
      error_q <= '0;
    end else begin
      if (asked || |{for_fetch_q, for_read_q}) begin
        now_q <= now_q + 1'b1;
        for_fetch_q[now_q] <= 1'b0;
        for_read_q[now_q] <= 1'b0;
        if (asked) begin
          for_fetch_q[slot] <= fetch_valid;
          for_read_q[slot] <= !fetch_valid;
          error_q[slot] <= !in_memory && !in_rom && !in_zero;
          if (in_memory) begin
            automatic bit [511:0] line;
            snitch_memory_read_line(at, line);
            lines_q[slot] <= line;
          end else begin
            lines_q[slot] <= in_rom ? snitch_boot_rom::line(at[11:6]) : '0;
          end
        end
      end
      if (write_valid && write_addr - RamOrigin < RamBytes) begin
        snitch_memory_write_line({write_addr[31:6], 6'b0}, write_data, write_strobe);
      end
    end
  end
endmodule
