// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Registers of the cluster: 16 performance counters (enable from 0, select from 0x80, count from
/// 0x100), four scratch registers from 0x180, cluster interrupts (set 0x1a0, clear 0x1a8). Each has
/// eight bytes. A write to a count clears it.
module snitch_periph
  import snitch_pkg::*;
#(
    parameter int unsigned Harts = 1
) (
    input logic clk,
    input logic rst_n,
    input logic valid,
    input logic write,
    input logic [11:0] addr,
    input logic [63:0] wdata,
    input logic [7:0] strobe,
    output logic [63:0] rdata,  ///< In the next cycle.
    // Starts the program at an address: scratch register 1 and the cluster interrupts of all harts.
    input logic start,
    input logic [31:0] start_address,
    output logic [Harts-1:0] irq_cluster,
    // What is counted.
    input core_events_t events[Harts],
    input logic [Harts-1:0] offloaded,
    input logic [5:0] tcdm_accesses,
    input logic [5:0] tcdm_refused,
    input logic dma_busy
);
  localparam int unsigned Counters = 16;
  localparam int unsigned HartBits = $clog2(Harts);

  /// What a counter can count, by the number in bits 31:16 of its select register; bits 15:0 are
  /// the hart.
  typedef enum logic [5:0] {
    Cycle = 0,
    TcdmAccessed = 1,
    TcdmCongested = 2,
    IssueFpu = 3,
    IssueFpuSeq = 4,
    IssueCoreToFpu = 5,
    RetiredInstr = 6,
    RetiredI = 8,
    RetiredAcc = 9,
    DmaBusy = 27
  } metric_e;

  logic [Counters-1:0] enable_q;
  logic [HartBits-1:0] hart_q[Counters];
  logic [5:0] metric_q[Counters];
  logic [47:0] count_q[Counters];
  logic [31:0] scratch_q[4];
  logic [Harts-1:0] irq_q;
  assign irq_cluster = irq_q;

  function automatic logic [5:0] step(logic [5:0] metric, core_events_t of, logic handed,
                                      logic [5:0] accesses, logic [5:0] refused, logic dma);
    case (metric)
      Cycle: return 6'd1;
      TcdmAccessed: return accesses;
      TcdmCongested: return refused;
      IssueFpu: return 6'(of.fpu_busy);
      IssueFpuSeq: return 6'(of.fp_retired);
      IssueCoreToFpu, RetiredAcc: return 6'(handed);
      RetiredInstr: return 6'(of.retired);
      RetiredI: return 6'(of.retired && !handed);
      DmaBusy: return 6'(dma);
      default: return '0;
    endcase
  endfunction

  wire [3:0] index = addr[6:3];
  wire puts = valid && write && strobe[3:0] == 4'hf;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      enable_q <= '1;
      irq_q <= '0;
      rdata <= '0;
      for (int i = 0; i < 4; ++i) scratch_q[i] <= '0;
      for (int i = 0; i < Counters; ++i) begin
        hart_q[i] <= '0;
        metric_q[i] <= '0;
        count_q[i] <= '0;
      end
    end else begin
      for (int i = 0; i < Counters; ++i) begin
        if (enable_q[i]) begin
          count_q[i] <= count_q[i] + 48'(step(metric_q[i], events[hart_q[i]], offloaded[hart_q[i]],
                                              tcdm_accesses, tcdm_refused, dma_busy));
        end
      end
      if (valid) begin
        rdata <= '0;
        case (addr[11:7])
          5'd0: rdata <= 64'(enable_q[index]);
          5'd1: rdata <= {32'b0, 10'b0, metric_q[index], 16'(hart_q[index])};
          5'd2: rdata <= 64'(count_q[index]);
          5'd3: if (!addr[5] && !addr[6]) rdata <= 64'(scratch_q[addr[4:3]]);
          default: ;
        endcase
      end
      if (puts) begin
        case (addr[11:7])
          5'd0: enable_q[index] <= wdata[0];
          5'd1: begin
            metric_q[index] <= wdata[21:16];
            hart_q[index] <= HartBits'(wdata[15:0] % 16'(Harts));
          end
          5'd2: count_q[index] <= '0;
          5'd3: begin
            if (!addr[5] && !addr[6]) scratch_q[addr[4:3]] <= wdata[31:0];
            if (addr[6:3] == 4'd4) irq_q <= irq_q | wdata[Harts-1:0];
            if (addr[6:3] == 4'd5) irq_q <= irq_q & ~wdata[Harts-1:0];
          end
          default: ;
        endcase
      end
      if (start) begin
        scratch_q[1] <= start_address;
        irq_q <= '1;
      end
    end
  end
endmodule
