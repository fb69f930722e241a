// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Debug module of RISC-V Debug 0.13 for any number of harts: halt, resume, reset, halt on reset;
/// abstract commands that access registers; memory by system bus access (dm_sba), also while the
/// harts run. There is no program buffer.
module dm #(
    parameter int unsigned Harts = 1
) (
    input logic clk,
    input logic rst_n,
    // Debug module interface: a request is answered in its cycle.
    input logic dmi_valid,
    input logic dmi_write,
    input logic [6:0] dmi_addr,
    input logic [31:0] dmi_wdata,
    output logic [31:0] dmi_rdata,
    // The system.
    debug_if.module_side hart[Harts],
    output logic ndmreset,
    output logic [Harts-1:0] hart_reset,
    bus_if.master system
);
  localparam int unsigned SelectBits = Harts > 1 ? $clog2(Harts) : 1;
  typedef logic [SelectBits-1:0] select_t;

  typedef enum logic [6:0] {
    Data0 = 7'h04,
    Dmcontrol = 7'h10,
    Dmstatus = 7'h11,
    Hartinfo = 7'h12,
    Abstractcs = 7'h16,
    Command = 7'h17,
    Haltsum0 = 7'h40
  } register_e;

  /// abstractcs.cmderr
  typedef enum logic [2:0] {
    ErrNone = 0,
    ErrBusy = 1,
    ErrNotSupported = 2,
    ErrException = 3,
    ErrHaltResume = 4
  } cmderr_e;

  logic active_q, ndmreset_q;
  select_t select_q;
  logic [Harts-1:0] halt_req_q, resume_req_q, resume_ack_q, have_reset_q, reset_halt_q;
  logic [Harts-1:0] hart_reset_q;
  cmderr_e cmderr_q;
  logic busy_q;
  logic [16:0] command_q;  // write, register number
  logic [31:0] data0_q;

  // The harts, as vectors.
  logic [Harts-1:0] halted, in_reset, reg_error;
  logic [31:0] reg_rdata[Harts];
  wire command_write = command_q[16];
  for (genvar i = 0; i < Harts; ++i) begin : g_hart
    assign hart[i].halt_req = halt_req_q[i];
    assign hart[i].halt_on_reset = reset_halt_q[i];
    assign hart[i].resume_req = resume_req_q[i];
    assign hart[i].reg_valid = busy_q && select_q == select_t'(i);
    assign hart[i].reg_write = command_write;
    assign hart[i].reg_addr = command_q[15:0];
    assign hart[i].reg_wdata = data0_q;
    assign halted[i] = hart[i].halted && !hart[i].reset;
    assign in_reset[i] = hart[i].reset;
    assign reg_error[i] = hart[i].reg_error;
    assign reg_rdata[i] = hart[i].reg_rdata;
  end
  assign ndmreset = ndmreset_q;
  assign hart_reset = hart_reset_q;

  // What is selected; a number beyond the harts selects none.
  wire exists = 32'(select_q) < Harts;
  wire select_t chosen = exists ? select_q : '0;
  wire is_halted = exists && halted[chosen];
  wire is_running = exists && !halted[chosen] && !in_reset[chosen];
  wire is_away = exists && in_reset[chosen];
  wire has_reset = exists && have_reset_q[chosen];
  wire has_resumed = exists && resume_ack_q[chosen];

  wire [31:0] dmcontrol = {
    2'b00,
    exists && hart_reset_q[chosen],
    3'b000,
    10'(select_q),
    14'b0,
    ndmreset_q,
    active_q
  };
  wire [31:0] dmstatus = {
    12'b0,
    {2{has_reset}},
    {2{has_resumed}},
    {2{!exists}},
    {2{is_away}},
    {2{is_running}},
    {2{is_halted}},
    1'b1,  // authenticated
    1'b0,
    1'b1,  // hasresethaltreq
    1'b0,
    4'd2  // version 0.13
  };
  wire [31:0] abstractcs = {19'b0, busy_q, 1'b0, cmderr_q, 4'b0, 4'd1};

  // System bus access.
  logic sba_hit;
  logic [31:0] sba_rdata;
  dm_sba sba (
      .clk,
      .rst_n(rst_n && active_q && !ndmreset_q),
      .dmi_valid,
      .dmi_write,
      .dmi_addr,
      .dmi_wdata,
      .hit(sba_hit),
      .rdata(sba_rdata),
      .system
  );

  always_comb begin
    case (dmi_addr)
      Data0: dmi_rdata = data0_q;
      Dmcontrol: dmi_rdata = dmcontrol;
      Dmstatus: dmi_rdata = dmstatus;
      Abstractcs: dmi_rdata = abstractcs;
      Haltsum0: dmi_rdata = 32'(halted);
      default: dmi_rdata = sba_hit ? sba_rdata : '0;  // Hartinfo: no scratch, no data window.
    endcase
  end

  // Writes to dmcontrol act on the hart that the same write selects.
  wire write = dmi_valid && dmi_write;
  wire control = write && dmi_addr == Dmcontrol && dmi_wdata[0];
  wire select_t new_select = dmi_wdata[16+:SelectBits];
  wire new_exists = 32'(new_select) < Harts;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      active_q <= 1'b0;
      ndmreset_q <= 1'b0;
      select_q <= '0;
      halt_req_q <= '0;
      resume_req_q <= '0;
      resume_ack_q <= '0;
      have_reset_q <= '1;
      reset_halt_q <= '0;
      hart_reset_q <= '0;
      cmderr_q <= ErrNone;
      busy_q <= 1'b0;
      command_q <= '0;
      data0_q <= '0;
    end else begin
      have_reset_q <= have_reset_q | in_reset;
      // A request to resume stands until the hart has taken it.
      resume_req_q <= resume_req_q & halted;
      resume_ack_q <= resume_ack_q | (resume_req_q & ~halted);

      if (write && dmi_addr == Dmcontrol) begin
        active_q   <= dmi_wdata[0];
        ndmreset_q <= dmi_wdata[0] && dmi_wdata[1];
        if (!dmi_wdata[0]) begin
          select_q <= '0;
          halt_req_q <= '0;
          reset_halt_q <= '0;
          hart_reset_q <= '0;
          cmderr_q <= ErrNone;
          busy_q <= 1'b0;
        end
      end
      if (control && !busy_q) begin
        select_q <= new_select;
        if (new_exists) begin
          halt_req_q[new_select]   <= dmi_wdata[31];
          hart_reset_q[new_select] <= dmi_wdata[29];
          if (dmi_wdata[30] && !dmi_wdata[31] && halted[new_select]) begin
            resume_req_q[new_select] <= 1'b1;
            resume_ack_q[new_select] <= 1'b0;
          end
          if (dmi_wdata[28]) have_reset_q[new_select] <= 1'b0;
          if (dmi_wdata[3]) reset_halt_q[new_select] <= 1'b1;
          else if (dmi_wdata[2]) reset_halt_q[new_select] <= 1'b0;
        end
      end

      // Abstract commands: a register access takes the cycle after it was asked for.
      if (busy_q) begin
        busy_q <= 1'b0;
        if (!is_halted) cmderr_q <= ErrHaltResume;
        else if (reg_error[chosen]) cmderr_q <= ErrException;
        else if (!command_write) data0_q <= reg_rdata[chosen];
      end
      if (write) begin
        if (busy_q && (dmi_addr inside {Data0, Abstractcs, Command})) begin
          if (cmderr_q == ErrNone) cmderr_q <= ErrBusy;
        end else if (dmi_addr == Data0) begin
          data0_q <= dmi_wdata;
        end else if (dmi_addr == Abstractcs) begin
          cmderr_q <= cmderr_e'(cmderr_q & ~dmi_wdata[10:8]);
        end else if (dmi_addr == Command && cmderr_q == ErrNone) begin
          command_q <= dmi_wdata[16:0];
          if (dmi_wdata[31:24] != 0 || dmi_wdata[19:18] != 0
              || (dmi_wdata[17] && dmi_wdata[22:20] != 3'd2)) begin
            cmderr_q <= ErrNotSupported;
          end else if (!is_halted) begin
            cmderr_q <= ErrHaltResume;
          end else begin
            busy_q <= dmi_wdata[17];
          end
        end
      end
    end
  end
endmodule
