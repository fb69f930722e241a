// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The scratchpad: 32 banks of 8 bytes, an access a bank and cycle. What asks for one bank in one
/// cycle takes turns (round robin, bank by bank); a request is granted by its ready and answered in
/// the next cycle. Atomics are done at the bank, which is busy for two more cycles. The wide port
/// takes eight neighbouring banks at once and goes before the others.
///
/// Contents are the model's (DPI): bytes at an offset from the begin of the memory.
module snitch_tcdm
  import snitch_pkg::*;
#(
    parameter int unsigned Ports = 1,
    parameter int unsigned Harts = 1
) (
    input logic clk,
    input logic rst_n,
    input logic [Ports-1:0] req_valid,
    output logic [Ports-1:0] req_ready,
    input mem_req_t req[Ports],
    input logic [3:0] hart[Ports],  ///< Whose reservation (lr, sc) a port has; Harts: nobody's.
    output logic [Ports-1:0] rsp_valid,
    output logic [63:0] rsp_data[Ports],

    input logic wide_valid,
    output logic wide_ready,
    input logic wide_write,
    input logic [31:0] wide_addr,  ///< The low six bits are ignored.
    input logic [511:0] wide_data,
    input logic [63:0] wide_strobe,
    output logic wide_rsp_valid,  ///< Reads alone.
    output logic [511:0] wide_rsp_data,

    output logic [5:0] accesses,  ///< Of this cycle, for the performance counters.
    output logic [5:0] refused
);
  import map_pkg::*;
  import "DPI-C" function longint unsigned snitch_memory_read(input int unsigned address);
  import "DPI-C" function void snitch_memory_write(
    input int unsigned address,
    input longint unsigned data,
    input byte unsigned strobe
  );
  import "DPI-C" function void snitch_memory_read_line(
    input int unsigned address,
    output bit [511:0] data
  );
  import "DPI-C" function void snitch_memory_write_line(
    input int unsigned address,
    input bit [511:0] data,
    input longint unsigned strobe
  );

  localparam int unsigned Banks = 32;
  typedef logic [Ports-1:0] ports_t;
  typedef logic [$clog2(Harts)-1:0] hart_t;

  ports_t behind_q[Banks];  ///< Who comes next: the ports behind the one granted last.
  logic [Banks-1:0] atomic_first_q, atomic_second_q;
  logic [Banks-1:0] reached;  ///< By the wide port.

  assign wide_ready = 1'b1;
  assign reached = wide_valid ? 32'hff << {wide_addr[7:6], 3'b000} : '0;

  // Who is granted its bank.
  always_comb begin
    automatic ports_t want[Banks];
    automatic ports_t ahead = '0;
    req_ready = '0;
    for (int b = 0; b < Banks; ++b) want[b] = '0;
    if (|req_valid) begin
      for (int p = 0; p < Ports; ++p) begin
        if (req_valid[p]) want[req[p].addr[7:3]][p] = 1'b1;
      end
      for (int b = 0; b < Banks; ++b) begin
        if (want[b] != '0 && !reached[b] && !atomic_first_q[b] && !atomic_second_q[b]) begin
          ahead = want[b] & behind_q[b];
          req_ready |= ahead != '0 ? ahead & -ahead : want[b] & -want[b];
        end
      end
    end
  end

  wire ports_t granted = req_valid & req_ready;
  assign accesses = |granted ? 6'($countones(granted)) : '0;
  assign refused = |(req_valid & ~req_ready) ? 6'($countones(req_valid & ~req_ready)) : '0;

  // Reservations: a double word for each hart, lost when another writes to it.
  logic [Harts-1:0] reserved_q;
  logic [31:0] reservation_q[Harts];

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      rsp_valid <= '0;
      wide_rsp_valid <= 1'b0;
      atomic_first_q <= '0;
      atomic_second_q <= '0;
      reserved_q <= '0;
      for (int b = 0; b < Banks; ++b) behind_q[b] <= '0;
    end else begin
      automatic logic [Harts-1:0] reserved = reserved_q;
      automatic logic [Banks-1:0] atomics = '0;
      rsp_valid <= granted;
      wide_rsp_valid <= wide_valid && !wide_write;
      if (wide_valid) begin
        if (wide_write) begin
          snitch_memory_write_line({wide_addr[31:6], 6'b0}, wide_data, wide_strobe);
          for (int h = 0; h < Harts; ++h) begin
            if (reservation_q[h][31:6] == wide_addr[31:6]) reserved[h] = 1'b0;
          end
        end else begin
          automatic bit [511:0] line;
          snitch_memory_read_line({wide_addr[31:6], 6'b0}, line);
          wide_rsp_data <= line;
        end
      end
      if (|granted) begin
        for (int p = 0; p < Ports; ++p) begin
          if (granted[p]) begin
            automatic logic [31:0] at = {req[p].addr[31:3], 3'b000};
            automatic logic [63:0] old = '0;
            automatic logic [63:0] data = req[p].data;
            automatic logic stores = req[p].write;
            automatic logic owned = 32'(hart[p]) < Harts;
            automatic hart_t owner = hart_t'(hart[p]);
            assert (at - ScratchpadOrigin < ScratchpadBytes);
            assert (req[p].amo == AmoNone || (!req[p].write && req[p].strobe inside {8'h0f, 8'hf0}));
            behind_q[at[7:3]] <= ~(ports_t'(1) << p | ((ports_t'(1) << p) - 1'b1));
            if (!req[p].write) old = snitch_memory_read(at);
            if (req[p].amo == AmoLr) begin
              if (owned) begin
                reserved[owner] = 1'b1;
                reservation_q[owner] <= at;
              end
            end else if (req[p].amo == AmoSc) begin
              stores = owned && reserved[owner] && reservation_q[owner] == at;
              old = {2{31'b0, !stores}};
              if (owned) reserved[owner] = 1'b0;
            end else if (req[p].amo != AmoNone) begin
              stores = 1'b1;
              data = atomic_result(req[p].amo, old, req[p].data, req[p].strobe[4]);
              atomics[at[7:3]] = 1'b1;
            end
            rsp_data[p] <= old;
            if (stores) begin
              snitch_memory_write(at, data, req[p].strobe);
              for (int h = 0; h < Harts; ++h) begin
                if ((!owned || hart_t'(h) != owner) && reservation_q[h] == at) reserved[h] = 1'b0;
              end
            end
          end
        end
      end
      reserved_q <= reserved;
      if (|{atomics, atomic_first_q, atomic_second_q}) begin
        atomic_first_q  <= atomics;
        atomic_second_q <= atomic_first_q;
      end
    end
  end
endmodule
