// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The narrow way to everything but the scratchpad: one request a cycle of all harts and of the
/// debug module, who take turns, each answered Latency cycles after it was taken. Where nothing is,
/// the answer is an error. Atomics are done where DRAM is.
module snitch_outside
  import snitch_pkg::*;
#(
    parameter int unsigned Harts = 1,
    parameter int unsigned Masters = 1,  ///< The harts, then others.
    parameter int unsigned Latency = 8   ///< 3 to 8.
) (
    input logic clk,
    input logic rst_n,
    input logic [Masters-1:0] req_valid,
    output logic [Masters-1:0] req_ready,
    input mem_req_t req[Masters],
    output logic [Masters-1:0] rsp_valid,
    output mem_rsp_t rsp,
    // Who else writes to DRAM: reservations are lost.
    input logic wide_write,
    input logic [31:0] wide_addr,
    // Registers of the cluster, answered in the next cycle.
    output logic periph_valid,
    output logic periph_write,
    output logic [11:0] periph_addr,
    output logic [63:0] periph_wdata,
    output logic [7:0] periph_strobe,
    input logic [63:0] periph_rdata,
    bus_if.master clint,
    bus_if.master console
);
  import map_pkg::*;
  import "DPI-C" function longint unsigned snitch_memory_read(input int unsigned address);
  import "DPI-C" function void snitch_memory_write(
    input int unsigned address,
    input longint unsigned data,
    input byte unsigned strobe
  );

  typedef logic [Masters-1:0] masters_t;
  typedef enum logic [2:0] {
    Nowhere,
    Ram,
    Rom,
    Zero,
    Periph,
    Clint,
    Console
  } place_e;

  // Whose turn it is.
  masters_t behind_q;
  wire masters_t ahead = req_valid & behind_q;
  assign req_ready = ahead != '0 ? ahead & -ahead : req_valid & -req_valid;
  wire asked = |req_valid;

  mem_req_t now;
  logic [$clog2(Masters)-1:0] master;
  always_comb begin
    now = req[0];
    master = '0;
    for (int m = 1; m < Masters; ++m) begin
      if (req_ready[m]) begin
        now = req[m];
        master = $clog2(Masters)'(m);
      end
    end
  end

  place_e place;
  always_comb begin
    if (now.addr - RamOrigin < RamBytes) place = Ram;
    else if (now.addr - BootRomOrigin < BootRomBytes) place = Rom;
    else if (now.addr - ZeroOrigin < ZeroBytes) place = Zero;
    else if (now.addr - PeripheralsOrigin < PeripheralsBytes) place = Periph;
    else if (now.addr - ClintOrigin < ClintBytes) place = Clint;
    else if (now.addr - ConsoleOrigin < ConsoleBytes) place = Console;
    else place = Nowhere;
  end

  // Devices of 32 bits see the word that the request names.
  wire upper = now.strobe[3:0] == '0;
  wire [31:0] word_addr = {now.addr[31:3], upper, 2'b00};
  wire [3:0] word_strobe = upper ? now.strobe[7:4] : now.strobe[3:0];
  wire [31:0] word_data = upper ? now.data[63:32] : now.data[31:0];
  assign clint.valid = asked && place == Clint;
  assign clint.write = now.write;
  assign clint.addr = word_addr - ClintOrigin;
  assign clint.strobe = word_strobe;
  assign clint.wdata = word_data;
  assign console.valid = asked && place == Console;
  assign console.write = now.write;
  assign console.addr = word_addr - ConsoleOrigin;
  assign console.strobe = word_strobe;
  assign console.wdata = word_data;
  assign periph_valid = asked && place == Periph;
  assign periph_write = now.write;
  assign periph_addr = {now.addr[11:3], 3'b000};
  assign periph_wdata = now.data;
  assign periph_strobe = now.strobe;

  // The request a cycle later, when the devices have answered.
  logic taken_q;
  logic [$clog2(Masters)-1:0] master_q;
  place_e place_q;
  logic [63:0] data_q;
  mem_rsp_t answer;
  always_comb begin
    answer.error = 1'b0;
    answer.data  = data_q;
    case (place_q)
      Ram, Rom, Zero: ;
      Periph: answer.data = periph_rdata;
      Clint: answer = '{data: {2{clint.rdata}}, error: clint.error};
      Console: answer = '{data: {2{console.rdata}}, error: console.error};
      default: answer.error = 1'b1;
    endcase
  end

  // A wheel of answers: what is put some slots ahead comes out as many cycles later.
  localparam int unsigned Slots = 8;
  typedef logic [2:0] slot_t;
  slot_t now_q;
  logic [Slots-1:0] full_q;
  mem_rsp_t slots_q[Slots];
  logic [$clog2(Masters)-1:0] slot_master_q[Slots];
  wire slot_t slot = now_q + slot_t'(Latency - 1);
  assign rsp = slots_q[now_q];
  assign rsp_valid = full_q[now_q] ? masters_t'(1) << slot_master_q[now_q] : '0;

  // Reservations: a double word for each hart, lost when another writes to it.
  wire [$clog2(Harts)-1:0] hart = $clog2(Harts)'(master);
  logic [Harts-1:0] reserved_q;
  logic [31:0] reservation_q[Harts];

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      behind_q <= '0;
      taken_q <= 1'b0;
      master_q <= '0;
      place_q <= Nowhere;
      now_q <= '0;
      full_q <= '0;
      reserved_q <= '0;
    end else begin
      automatic logic [Harts-1:0] reserved = reserved_q;
      taken_q <= asked;
      if (wide_write && reserved_q != '0) begin
        for (int h = 0; h < Harts; ++h) begin
          if (reservation_q[h][31:6] == wide_addr[31:6]) reserved[h] = 1'b0;
        end
      end
      if (asked) begin
        automatic logic [31:0] at = {now.addr[31:3], 3'b000};
        automatic logic [63:0] old = '0;
        behind_q <= ~(req_ready | (req_ready - 1'b1));
        master_q <= master;
        place_q <= place;
        if (place == Rom) old = snitch_boot_rom::double_word(at[11:3]);
        if (place == Ram) begin
          automatic logic stores = now.write;
          automatic logic [63:0] data = now.data;
          if (!now.write) old = snitch_memory_read(at);
          if (now.amo == AmoSc) begin
            stores = 32'(master) < Harts && reserved[hart] && reservation_q[hart] == at;
            old = {2{31'b0, !stores}};
          end else if (now.amo != AmoNone && now.amo != AmoLr) begin
            stores = 1'b1;
            data = atomic_result(now.amo, old, now.data, now.strobe[4]);
          end
          for (int h = 0; h < Harts; ++h) begin
            if (h == 32'(master)) begin
              if (now.amo == AmoLr) reservation_q[h] <= at;
              if (now.amo == AmoLr || now.amo == AmoSc) reserved[h] = now.amo == AmoLr;
            end else if (stores && reservation_q[h] == at) begin
              reserved[h] = 1'b0;
            end
          end
          if (stores) snitch_memory_write(at, data, now.strobe);
        end
        data_q <= old;
      end
      if (taken_q || |full_q) begin
        now_q <= now_q + 1'b1;
        full_q[now_q] <= 1'b0;
        if (taken_q) begin
          assert (!full_q[slot] || slot == now_q);
          full_q[slot] <= 1'b1;
          slots_q[slot] <= answer;
          slot_master_q[slot] <= master_q;
        end
      end
      reserved_q <= reserved;
    end
  end
endmodule
