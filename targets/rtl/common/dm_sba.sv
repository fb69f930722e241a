// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// System bus access of the debug module: memory in bytes, half words and words past the harts,
/// with reads by address or by data and with automatic increment.
module dm_sba (
    input logic clk,
    input logic rst_n,
    input logic dmi_valid,
    input logic dmi_write,
    input logic [6:0] dmi_addr,
    input logic [31:0] dmi_wdata,
    output logic hit,  ///< The address is one of ours.
    output logic [31:0] rdata,
    bus_if.master system
);
  typedef enum logic [6:0] {
    Sbcs = 7'h38,
    Sbaddress0 = 7'h39,
    Sbdata0 = 7'h3c
  } register_e;

  typedef enum logic [2:0] {
    ErrNone = 0,
    ErrAddress = 2,
    ErrAlignment = 3,
    ErrSize = 4
  } sberror_e;

  typedef enum logic [1:0] {
    Idle,
    Request,
    Answer
  } state_e;

  state_e state_q;
  logic write_q, busyerror_q, readonaddr_q, autoincrement_q, readondata_q;
  logic [2:0] access_q;
  sberror_e error_q;
  logic [31:0] address_q, data_q;

  wire busy = state_q != Idle;
  assign hit = dmi_addr inside {Sbcs, Sbaddress0, Sbdata0};

  always_comb begin
    case (dmi_addr)
      Sbcs:
      rdata = {
        3'd1, 6'b0, busyerror_q, busy, readonaddr_q, access_q, autoincrement_q, readondata_q,
        error_q, 7'd32, 5'b00111
      };
      Sbaddress0: rdata = address_q;
      default: rdata = data_q;
    endcase
  end

  // The access: a byte or half word travels in its lane.
  wire [4:0] shift = {address_q[1:0], 3'b000};
  assign system.valid = state_q == Request;
  assign system.write = write_q;
  assign system.addr = address_q;
  assign system.wdata = data_q << shift;
  always_comb begin
    case (access_q)
      3'd0: system.strobe = 4'b0001 << address_q[1:0];
      3'd1: system.strobe = 4'b0011 << address_q[1:0];
      default: system.strobe = 4'b1111;
    endcase
  end
  wire [31:0] lane = system.rdata >> shift;

  // What starts one, and at which address.
  wire touches = dmi_valid && (dmi_addr inside {Sbaddress0, Sbdata0});
  wire healthy = !busyerror_q && error_q == ErrNone && !busy;
  wire by_address = dmi_write && dmi_addr == Sbaddress0 && readonaddr_q;
  wire by_data = dmi_addr == Sbdata0 && (dmi_write || readondata_q);
  wire start = touches && healthy && (by_address || by_data);
  wire [1:0] at = by_address ? dmi_wdata[1:0] : address_q[1:0];
  wire misaligned = (access_q == 3'd1 && at[0]) || (access_q == 3'd2 && at != 0);

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      state_q <= Idle;
      write_q <= 1'b0;
      busyerror_q <= 1'b0;
      readonaddr_q <= 1'b0;
      autoincrement_q <= 1'b0;
      readondata_q <= 1'b0;
      access_q <= 3'd2;
      error_q <= ErrNone;
      address_q <= '0;
      data_q <= '0;
    end else begin
      if (touches && busy) busyerror_q <= 1'b1;
      if (dmi_valid && dmi_write && !busy) begin
        if (dmi_addr == Sbaddress0) address_q <= dmi_wdata;
        if (dmi_addr == Sbdata0) data_q <= dmi_wdata;
      end
      if (dmi_valid && dmi_write && dmi_addr == Sbcs) begin
        if (dmi_wdata[22]) busyerror_q <= 1'b0;
        error_q <= sberror_e'(error_q & ~dmi_wdata[14:12]);
        {readonaddr_q, access_q, autoincrement_q, readondata_q} <= dmi_wdata[20:15];
      end
      if (start) begin
        write_q <= dmi_write && dmi_addr == Sbdata0;
        if (access_q > 3'd2) error_q <= ErrSize;
        else if (misaligned) error_q <= ErrAlignment;
        else state_q <= Request;
      end
      if (state_q == Request && system.ready) state_q <= Answer;
      if (state_q == Answer && system.done) begin
        state_q <= Idle;
        if (system.error) begin
          error_q <= ErrAddress;
        end else begin
          if (!write_q) data_q <= lane;
          if (autoincrement_q) address_q <= address_q + (32'd1 << access_q);
        end
      end
    end
  end
endmodule
