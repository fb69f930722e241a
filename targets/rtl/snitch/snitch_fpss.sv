// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The FP subsystem: takes what the integer core hands on, in order; buffers and repeats it
/// (snitch_sequencer), and issues it to the FPU or its load/store unit when operands, destination
/// and unit are ready. Three registers may be streams (snitch_ssr).
module snitch_fpss
  import snitch_pkg::*;
#(
    parameter bit Streams = 1'b1
) (
    input logic clk,
    input logic rst_n,

    input  logic         offload_valid,
    output logic         offload_ready,
    input  offload_req_t offload_req,
    output logic         offload_rsp_valid,
    input  logic         offload_rsp_ready,
    output offload_rsp_t offload_rsp,

    output logic       clock_on,  ///< What is here already needs the next edge of clk.
    output logic [4:0] fflags,    ///< Raised in this cycle.
    output logic       fp_empty,  ///< Nothing that was handed on is under way (streams aside).

    // Loads and stores. `data_done`: one that was handed on (not a repetition of it) is answered.
    output logic     data_req_valid,
    input  logic     data_req_ready,
    output mem_req_t data_req,
    input  logic     data_rsp_valid,
    input  mem_rsp_t data_rsp,  ///< A load of nothing reads what the bus says: no trap here.
    output logic     data_done,

    // The data movers' ports.
    output logic     [2:0] stream_req_valid,
    input  logic     [2:0] stream_req_ready,
    output mem_req_t       stream_req      [3],
    input  logic     [2:0] stream_rsp_valid,
    input  logic     [63:0] stream_rsp_data[3],

    // Registers for the debugger, while nothing is under way: their low words.
    input  logic        debug_write,
    input  logic [ 4:0] debug_register,
    input  logic [31:0] debug_wdata,
    output logic [31:0] debug_rdata,

    output core_events_t events
);
  localparam int Outstanding = 4;

  // ---- by destination: streams' configuration, or the sequencer ----
  wire is_config =
      offload_req.instr[6:0] == 7'h2b && offload_req.instr[14:12] inside {3'd1, 3'd2};
  logic sequencer_ready, config_ready, config_rsp_free;
  logic config_valid;
  assign config_valid  = offload_valid && is_config && config_rsp_free;
  assign offload_ready = is_config ? config_ready && config_rsp_free : sequencer_ready;

  logic issue_valid, issue_ready, repeated, sequencer_empty;
  offload_req_t issue;
  snitch_sequencer u_sequencer (
      .clk,
      .rst_n,
      .in_valid(offload_valid && !is_config),
      .in_ready(sequencer_ready),
      .in_req(offload_req),
      .out_valid(issue_valid),
      .out_ready(issue_ready),
      .out_req(issue),
      .out_repeated(repeated),
      .empty(sequencer_empty)
  );

  // ---- decode ----
  wire [31:0] instr = issue.instr;
  wire [4:0] rd = instr[11:7];

  typedef enum logic [2:0] {
    ToFpu,
    ToLoad,
    ToStore,
    ToSwitch  // of the streams
  } target_e;

  target_e target;
  fpu_unit_e unit;
  logic [2:0] uses;        // Operands that are FP registers: a, b, c.
  logic [4:0] c_register;
  logic a_integer, rd_fp;
  always_comb begin
    target = ToFpu;
    unit = FpuMulAdd;
    uses = 3'b000;
    c_register = rd;
    a_integer = 1'b0;
    rd_fp = 1'b1;
    if (issue_valid) begin
      case (instr[6:0])
        7'h07: target = ToLoad;
        7'h27: begin
          target = ToStore;
          uses = 3'b010;
          rd_fp = 1'b0;
        end
        7'h73: begin
          target = ToSwitch;
          rd_fp = 1'b0;
        end
        7'h53: begin
          uses = 3'b011;
          case (instr[31:27])
            5'h00, 5'h01, 5'h02, 5'h09: unit = FpuMulAdd;
            5'h0a: uses = 3'b111;  // fmacex
            5'h04, 5'h05: unit = FpuOther;
            5'h14: begin
              unit = FpuOther;
              rd_fp = 1'b0;
            end
            5'h08: begin
              unit = FpuConvert;
              uses = 3'b001;
            end
            5'h18: begin
              unit = FpuConvert;
              uses = 3'b001;
              rd_fp = 1'b0;
            end
            5'h1a: begin
              unit = FpuConvert;
              uses = 3'b000;
              a_integer = 1'b1;
            end
            5'h1c: begin
              unit = FpuOther;
              uses = 3'b001;
              rd_fp = 1'b0;
            end
            default: begin  // fmv from an integer register
              unit = FpuOther;
              uses = 3'b000;
              a_integer = 1'b1;
            end
          endcase
        end
        7'h33: begin
          uses = 3'b011;
          case (instr[31:25])
            7'h41, 7'h42, 7'h43: unit = FpuMulAdd;
            7'h48, 7'h49: uses = 3'b111;  // vfmac, vfmre
            7'h47, 7'h57: begin  // vfsum
              unit = FpuDot;
              uses = 3'b101;
            end
            7'h4b, 7'h5d: begin  // vfdotpex
              unit = FpuDot;
              uses = 3'b111;
            end
            7'h58, 7'h59, 7'h5a, 7'h5b: begin  // vfcpk
              unit = FpuConvert;
              uses = {instr[13], 2'b11};
            end
            7'h4c: begin  // vfmv, vfcvt
              unit = instr[24:20] == 0 ? FpuOther : FpuConvert;
              a_integer = instr[24:20] == 0 && instr[14];
              uses = a_integer ? 3'b000 : 3'b001;
              rd_fp = instr[24:20] != 0 || instr[14];
            end
            default: begin
              unit = FpuOther;
              rd_fp = !(instr[31:28] == 4'b1010);
            end
          endcase
        end
        default: begin  // fused
          uses = 3'b111;
          c_register = instr[31:27];
        end
      endcase
    end
  end

  // ---- operands ----
  logic [63:0] registers[32];
  logic [31:0] pending_q;  // Registers that wait for a result.
  logic streams_q;         // Registers 0 to 2 are streams.

  logic [2:0] lane_valid, lane_take, lane_put;
  logic [63:0] lane_rdata[3];
  logic [63:0] write_data;

  logic [4:0] operand_register[3];
  logic [2:0] operand_stream, operand_there, operand_pending;
  logic [63:0] operand[3];
  logic operands_ready, rd_stream, rd_free;
  always_comb begin
    operand_register = '{instr[19:15], instr[24:20], c_register};
    operand = '{default: '0};
    operand_stream = '0;
    operand_there = '1;
    operand_pending = '0;
    for (int i = 0; i < 3; i++) begin
      if (uses[i]) begin
        operand_stream[i] = streams_q && operand_register[i] < 5'd3;
        operand_pending[i] = pending_q[operand_register[i]];
        if (operand_stream[i]) begin
          operand_there[i] = lane_valid[operand_register[i][1:0]];
          operand[i] = lane_rdata[operand_register[i][1:0]];
        end else begin
          operand[i] = registers[operand_register[i]];
        end
      end
    end
    if (a_integer) operand[0] = {32'b0, issue.rs1};
  end
  assign operands_ready = operand_pending == '0 && &operand_there;
  assign rd_stream = streams_q && rd < 5'd3;
  assign rd_free = !(rd_fp && pending_q[rd]);

  // ---- issue ----
  logic fpu_ready, memory_free;
  wire can_issue = issue_valid && operands_ready && rd_free;
  wire fpu_valid = can_issue && target == ToFpu;
  wire to_memory = target == ToLoad || target == ToStore;
  assign data_req_valid = can_issue && to_memory && memory_free;
  always_comb begin
    case (target)
      ToFpu: issue_ready = can_issue && fpu_ready;
      ToLoad, ToStore: issue_ready = data_req_valid && data_req_ready;
      default: issue_ready = 1'b1;
    endcase
  end
  wire issued = issue_valid && issue_ready;

  always_comb begin
    lane_take = '0;
    if (issued) begin
      for (int i = 0; i < 3; i++) begin
        if (operand_stream[i]) lane_take[operand_register[i][1:0]] = 1'b1;
      end
    end
  end

  // ---- FPU ----
  logic result_valid, result_ready, fpu_empty;
  fpu_tag_t result_tag;
  logic [63:0] result;
  snitch_fpu u_fpu (
      .clk,
      .rst_n,
      .in_valid(fpu_valid),
      .in_ready(fpu_ready),
      .unit,
      .in_tag('{integer_rd: !rd_fp, stream: rd_stream && rd_fp, rd: rd}),
      .instr,
      .frm(issue.frm),
      .fmode(issue.fmode),
      .a(operand[0]),
      .b(operand[1]),
      .c(operand[2]),
      .out_valid(result_valid),
      .out_ready(result_ready),
      .out_tag(result_tag),
      .result,
      .flags(fflags),
      .empty(fpu_empty)
  );

  // ---- loads and stores ----
  typedef struct packed {
    logic       load;
    logic       repeated;
    logic [4:0] rd;
    logic [1:0] size;
    logic [2:0] offset;
  } access_t;

  access_t access_q[Outstanding];
  logic [63:0] loaded_q[Outstanding];  // Answers that wait for the write port.
  logic [1:0] newest_q, answered_q, oldest_q;
  logic [2:0] accesses_q, answers_q;   // Under way or waiting; waiting.
  assign memory_free = accesses_q != Outstanding[2:0];

  always_comb begin
    data_req = '0;
    if (data_req_valid) begin
      data_req.addr = issue.addr;
      data_req.write = target == ToStore;
      data_req.data = operand[1] << {issue.addr[2:0], 3'b0};
      case (instr[13:12])
        2'd0: data_req.strobe = 8'h01 << issue.addr[2:0];
        2'd1: data_req.strobe = 8'h03 << issue.addr[2:0];
        2'd2: data_req.strobe = 8'h0f << issue.addr[2:0];
        default: data_req.strobe = 8'hff;
      endcase
    end
  end

  // The oldest access: its answer is there, now or since earlier.
  access_t oldest;
  assign oldest = access_q[oldest_q];
  wire answered = answers_q != 0 || data_rsp_valid;
  logic [63:0] load_value;
  always_comb begin
    automatic logic [63:0] shifted;
    load_value = '0;
    if (answered && oldest.load) begin
      shifted = (answers_q != 0 ? loaded_q[oldest_q] : data_rsp.data) >> {oldest.offset, 3'b0};
      case (oldest.size)
        2'd0: load_value = {56'hff_ffff_ffff_ffff, shifted[7:0]};
        2'd1: load_value = {48'hffff_ffff_ffff, shifted[15:0]};
        2'd2: load_value = {32'hffff_ffff, shifted[31:0]};
        default: load_value = shifted;
      endcase
    end
  end

  // ---- results: one write port, the FPU before loads ----
  wire result_fp = result_valid && !result_tag.integer_rd;
  wire stream_full = result_tag.stream && !lane_valid[result_tag.rd[1:0]];
  wire write_load = answered && oldest.load && !result_fp;
  wire access_done = answered && (!oldest.load || !result_fp);
  assign result_ready = result_tag.integer_rd ? offload_rsp_ready : !stream_full;
  wire write_result = result_fp && !stream_full;
  wire write_enable = write_result || write_load;
  wire [4:0] write_register = result_fp ? result_tag.rd : oldest.rd;
  assign write_data = result_fp ? result : load_value;
  assign data_done  = access_done && !oldest.repeated;

  always_comb begin
    lane_put = '0;
    if (write_result && result_tag.stream) lane_put[result_tag.rd[1:0]] = 1'b1;
  end

  // ---- streams ----
  // The forms with the address in a register have 1 where the others name a register.
  wire config_write = !offload_req.instr[12];
  wire by_register = (config_write ? offload_req.instr[11:7] : offload_req.instr[19:15]) == 5'd1;
  wire [9:0] config_address = by_register ? offload_req.rs2[9:0] : offload_req.instr[29:20];
  logic [31:0] config_rdata;
  logic streams_idle;
  if (Streams) begin : gen_streams
    snitch_ssr u_ssr (
        .clk,
        .rst_n,
        .config_valid,
        .config_ready,
        .config_write,
        .config_mover(config_address[4:0]),
        .config_word(config_address[9:5]),
        .config_wdata(offload_req.rs1),
        .config_rdata,
        .lane_valid,
        .lane_rdata,
        .lane_take,
        .lane_put,
        .lane_wdata(write_data),
        .req_valid(stream_req_valid),
        .req_ready(stream_req_ready),
        .req(stream_req),
        .rsp_valid(stream_rsp_valid),
        .rsp_data(stream_rsp_data),
        .idle(streams_idle)
    );
  end else begin : gen_no_streams
    assign streams_idle = 1'b1;
    assign config_ready = 1'b1;
    assign config_rdata = '0;
    assign lane_valid = '0;
    assign lane_rdata = '{default: '0};
    assign stream_req_valid = '0;
    assign stream_req = '{default: '0};
  end

  // ---- answers to the core ----
  logic config_rsp_q;
  offload_rsp_t config_data_q;
  wire result_integer = result_valid && result_tag.integer_rd;
  wire config_rsp_sent = config_rsp_q && !result_integer && offload_rsp_ready;
  assign config_rsp_free = !config_rsp_q || config_rsp_sent;
  assign offload_rsp_valid = result_integer || config_rsp_q;
  assign offload_rsp = result_integer ? '{rd: result_tag.rd, data: result[31:0]} : config_data_q;

  // ---- state ----
  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      pending_q <= '0;
      streams_q <= 1'b0;
      {newest_q, answered_q, oldest_q, accesses_q, answers_q} <= '0;
      config_rsp_q <= 1'b0;
    end else begin
      if (issued && rd_fp) pending_q[rd] <= 1'b1;
      if (write_enable) begin
        registers[write_register] <= write_data;
        pending_q[write_register] <= 1'b0;
      end
      if (debug_write) registers[debug_register] <= {32'hffff_ffff, debug_wdata};
      // Streams aren't waited for by way of the scoreboard.
      if (streams_q) pending_q[2:0] <= '0;
      if (issued && target == ToSwitch) streams_q <= issue.rs1[0];

      if (data_req_valid && data_req_ready) begin
        access_q[newest_q] <= '{
            load: target == ToLoad,
            repeated: repeated,
            rd: rd,
            size: instr[13:12],
            offset: issue.addr[2:0]
        };
        newest_q <= newest_q + 1'b1;
      end
      if (accesses_q != 0) begin
        if (data_rsp_valid) begin
          loaded_q[answered_q] <= data_rsp.data;
          answered_q <= answered_q + 1'b1;
        end
        if (access_done) oldest_q <= oldest_q + 1'b1;
        answers_q <= answers_q + 3'(data_rsp_valid) - 3'(access_done);
      end
      accesses_q <= accesses_q + 3'(data_req_valid && data_req_ready) - 3'(access_done);

      if (config_rsp_sent) config_rsp_q <= 1'b0;
      if (config_valid && !config_write) begin
        config_rsp_q  <= 1'b1;
        config_data_q <= '{rd: offload_req.instr[11:7], data: config_rdata};
      end
    end
  end

  assign debug_rdata = registers[debug_register][31:0];
  assign fp_empty = !offload_valid && sequencer_empty && fpu_empty && accesses_q == 0
                    && !config_rsp_q;

  assign clock_on = !(sequencer_empty && fpu_empty && accesses_q == 0 && !config_rsp_q && streams_idle);

  always_comb begin
    events = '0;
    events.fp_retired = issued;
    events.fpu_busy = fpu_valid && fpu_ready;
    events.fp_idle = !issue_valid;
    if (issue_valid && !issue_ready) begin
      if (operand_pending != 0) events.fp_stall_operand = 1'b1;
      else if (!rd_free) events.fp_stall_write = 1'b1;
      else if (!(&operand_there)) events.fp_stall_stream = 1'b1;
      else if (to_memory) events.fp_stall_memory = 1'b1;
      else if (stream_full && result_valid) events.fp_stall_stream = 1'b1;
      else events.fp_stall_operand = 1'b1;
    end
  end

  assert property (@(posedge clk) disable iff (!rst_n) !(data_rsp_valid && accesses_q == 0));
  assert property (@(posedge clk) disable iff (!rst_n) !(debug_write && !fp_empty));
endmodule
