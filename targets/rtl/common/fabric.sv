// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Leads the data port of a hart and the system bus access of the debug module, which take turns
/// where both ask at once, to memory, timer and console; and the hart's fetches to memory alone.
/// Elsewhere there is nothing: the answer is an error.
module fabric (
    input logic clk,
    input logic rst_n,
    bus_if.slave hart_fetch,
    bus_if.slave hart_data,
    bus_if.slave system,
    bus_if.master ram_fetch,
    bus_if.master ram_data,
    bus_if.master clint,
    bus_if.master console
);
  import map_pkg::*;

  function automatic logic inside_of(logic [31:0] addr, logic [31:0] origin, logic [31:0] size);
    return addr - origin < size;
  endfunction

  // Fetches.
  wire fetch_ok = inside_of(hart_fetch.addr, RamOrigin, RamBytes);
  logic fetch_error_q;
  assign ram_fetch.valid = hart_fetch.valid && fetch_ok;
  assign ram_fetch.write = 1'b0;
  assign ram_fetch.addr = hart_fetch.addr;
  assign ram_fetch.strobe = '1;
  assign ram_fetch.wdata = '0;
  assign hart_fetch.ready = fetch_ok ? ram_fetch.ready : 1'b1;
  assign hart_fetch.done = ram_fetch.done || fetch_error_q;
  assign hart_fetch.error = fetch_error_q;
  assign hart_fetch.rdata = ram_fetch.rdata;

  // Data: who is served, and where the request goes.
  typedef enum logic [1:0] {
    Nowhere,
    Ram,
    Clint,
    Console
  } place_e;

  logic pending_q, system_owns_q, system_last_q, nowhere_done_q;
  place_e place_q;

  wire system_turn = system.valid && (!hart_data.valid || !system_last_q);
  wire [31:0] addr = system_turn ? system.addr : hart_data.addr;
  wire write = system_turn ? system.write : hart_data.write;
  wire [3:0] strobe = system_turn ? system.strobe : hart_data.strobe;
  wire [31:0] wdata = system_turn ? system.wdata : hart_data.wdata;

  place_e place;
  always_comb begin
    if (inside_of(addr, RamOrigin, RamBytes)) place = Ram;
    else if (inside_of(addr, ClintOrigin, ClintBytes)) place = Clint;
    else if (inside_of(addr, ConsoleOrigin, ConsoleBytes)) place = Console;
    else place = Nowhere;
  end

  logic done, error, place_ready;
  logic [31:0] rdata;
  always_comb begin
    error = 1'b0;
    case (place_q)
      Ram: {done, error, rdata} = {ram_data.done, ram_data.error, ram_data.rdata};
      Clint: {done, error, rdata} = {clint.done, clint.error, clint.rdata};
      Console: {done, error, rdata} = {console.done, console.error, console.rdata};
      default: {done, error, rdata} = {nowhere_done_q, 1'b1, 32'b0};
    endcase
    case (place)
      Ram: place_ready = ram_data.ready;
      Clint: place_ready = clint.ready;
      Console: place_ready = console.ready;
      default: place_ready = 1'b1;
    endcase
  end

  wire free = !pending_q || done;
  wire valid = free && (hart_data.valid || system.valid);
  wire taken = valid && place_ready;

  assign ram_data.valid = valid && place == Ram;
  assign ram_data.write = write;
  assign ram_data.addr = addr;
  assign ram_data.strobe = strobe;
  assign ram_data.wdata = wdata;
  assign clint.valid = valid && place == Clint;
  assign clint.write = write;
  assign clint.addr = addr - ClintOrigin;
  assign clint.strobe = strobe;
  assign clint.wdata = wdata;
  assign console.valid = valid && place == Console;
  assign console.write = write;
  assign console.addr = addr - ConsoleOrigin;
  assign console.strobe = strobe;
  assign console.wdata = wdata;

  assign hart_data.ready = free && place_ready && !system_turn;
  assign hart_data.done = pending_q && done && !system_owns_q;
  assign hart_data.error = error;
  assign hart_data.rdata = rdata;
  assign system.ready = free && place_ready && system_turn;
  assign system.done = pending_q && done && system_owns_q;
  assign system.error = error;
  assign system.rdata = rdata;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      fetch_error_q <= 1'b0;
      pending_q <= 1'b0;
      system_owns_q <= 1'b0;
      system_last_q <= 1'b0;
      nowhere_done_q <= 1'b0;
      place_q <= Nowhere;
    end else begin
      fetch_error_q <= hart_fetch.valid && !fetch_ok;
      pending_q <= taken || (pending_q && !done);
      nowhere_done_q <= taken && place == Nowhere;
      if (taken) begin
        system_owns_q <= system_turn;
        system_last_q <= system_turn;
        place_q <= place;
      end
    end
  end
endmodule
