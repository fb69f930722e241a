// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// One data mover: a register that is a stream. Generates the addresses of up to four nested loops, or
/// of indices read from memory; a FIFO of four elements stands between the memory and the register.
/// Its configuration exists twice: what runs, and what comes next.
module snitch_ssr_mover
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,

    // Configuration: a write is taken while no next stream waits.
    input  logic        config_read,
    input  logic        config_write,
    output logic        config_ready,
    input  logic [ 4:0] config_word,
    input  logic [31:0] config_wdata,
    output logic [31:0] config_rdata,

    // The register's lane: an element to be read, or room for one to be written.
    output logic        lane_valid,
    output logic [63:0] lane_rdata,
    input  logic        lane_take,
    input  logic        lane_put,
    input  logic [63:0] lane_wdata,

    output logic     req_valid,
    input  logic     req_ready,
    output mem_req_t req,
    input  logic     rsp_valid,  ///< In the cycle after the request was taken.
    input  logic [63:0] rsp_data,

    output logic idle  ///< Nothing runs, nothing is kept: no clock is needed.
);
  localparam int Credits = 4;
  localparam int IndexCredits = 3;
  localparam int BoundBits = 14;
  localparam int RepeatBits = 4;

  // ---- configuration: what comes next, and what runs ----
  typedef logic [BoundBits-1:0] bound_t;

  typedef struct packed {
    logic       write;
    logic [1:0] dims;      ///< Loops - 1.
    logic       indirect;
  } kind_t;

  kind_t next_kind_q, kind_q;
  logic next_done_q, done_q;
  logic [31:0] next_pointer_q, pointer_q;
  logic [RepeatBits-1:0] next_repeats_q, repeats_q;        // - 1
  bound_t [3:0] next_bound_q, bound_q;                     // - 1
  logic [31:0] next_stride_q[4], stride_q[4];              // To what follows the end of the inner loops.
  logic [4:0] next_index_kind_q, index_kind_q;             // {shift, size}
  logic [31:0] next_index_base_q, index_base_q;
  logic synced_q;  // What runs is at its end, and its configuration what comes next.

  assign config_ready = next_done_q;
  wire written = config_write && next_done_q;
  wire start = config_word[4];
  wire [1:0] dimension = config_word[1:0] ^ 2'd2;  // Of words 2 to 5 and 6 to 9.
  wire is_bound = config_word inside {[5'd2 : 5'd5]};
  wire is_stride = config_word inside {[5'd6 : 5'd9]};

  always_comb begin
    config_rdata = '0;
    if (config_read) begin
      case (config_word)
        5'd0: config_rdata = {done_q, kind_q, pointer_q[26:0]};
        5'd1: config_rdata = 32'(repeats_q);
        5'd10: config_rdata = {21'b0, index_kind_q[4:2], 6'b0, index_kind_q[1:0]};
        5'd11: config_rdata = index_base_q;
        default: begin
          if (is_bound) config_rdata = 32'(bound_q[dimension]);
          if (is_stride) config_rdata = stride_q[dimension];
        end
      endcase
    end
  end

  // ---- addresses ----
  // Through a register of two entries: {last, address}.
  logic [32:0] spill_q[2];
  logic [1:0] spilled_q;
  wire spill_ready = spilled_q != 2'd2;
  wire address_valid = spilled_q != 0;
  wire [31:0] address = spill_q[0][31:0];
  wire address_last = spill_q[0][32];
  logic address_ready;

  logic all_in_q;  // The last address is in the register: the loops stand still.
  wire running = !done_q && !all_in_q;

  bound_t [3:0] index_q;
  logic [3:0] at_end;
  logic [1:0] outermost;  // The loop that steps.
  always_comb begin
    at_end = '0;
    if (running) begin
      for (int i = 0; i < 4; i++) begin
        at_end[i] = index_q[i] == bound_q[i] || kind_q.dims < 2'(i);
      end
    end
    outermost = !at_end[0] ? 2'd0 : !at_end[1] ? 2'd1 : !at_end[2] ? 2'd2 : 2'd3;
  end

  // ---- indices ----
  // Words of indices that have been asked for, and those that are there.
  logic [63:0] word_q[4];
  logic [1:0] word_head_q, word_tail_q;
  logic [1:0] words_out_q, words_in_q;  // Asked for and not used up; arrived and not used up.
  logic first_q;      // The first cycle of a stream.
  logic [2:0] byte_q; // Of the next index, in its word.
  bound_t taken_q;    // Indices that have become addresses.
  logic [31:0] last_word_q;  // Where the last index is.
  wire [31:0] index_span = 32'(bound_q[0]) << index_kind_q[1:0];
  wire [31:0] last_word = first_q ? pointer_q + index_span : last_word_q;
  logic more_words_q;
  logic [31:0] index_value;
  always_comb begin
    index_value = '0;
    if (words_in_q != 0) begin
      index_value = 32'(word_q[word_head_q] >> {byte_q, 3'b0});
      if (index_kind_q[1:0] == 2'd0) index_value[31:8] = '0;
      if (index_kind_q[1:0] == 2'd1) index_value[31:16] = '0;
    end
  end
  wire index_valid = running && kind_q.indirect && words_in_q != 0;
  wire index_last = taken_q == bound_q[0];
  wire [2:0] next_byte = byte_q + (3'd1 << index_kind_q[1:0]);
  wire use_index = index_valid && spill_ready;
  wire use_word = use_index && (index_last || next_byte == 0);

  wire index_req = running && kind_q.indirect && (first_q || more_words_q)
                   && words_out_q != IndexCredits[1:0];

  wire spill_push = running && spill_ready && (!kind_q.indirect || words_in_q != 0);
  wire spill_last = kind_q.indirect ? index_last : &at_end;
  wire [31:0] spill_address =
      kind_q.indirect ? index_base_q + ((index_value << 3) << index_kind_q[4:2]) : pointer_q;

  // ---- data ----
  logic [63:0] fifo_q[Credits];
  logic [1:0] head_q, tail_q;
  logic [2:0] held_q, credit_q;
  logic direction_q;  // Of the last request.
  // What is under way in one direction has to be at its end before the first request of the other.
  wire turning = kind_q.write != direction_q && credit_q != Credits[2:0];
  wire writing = turning ? direction_q : kind_q.write;
  wire fifo_full = held_q == Credits[2:0];
  wire fifo_empty = held_q == 0;

  assign lane_valid = writing ? !fifo_full : !fifo_empty;
  assign lane_rdata = fifo_q[head_q];

  wire data_req = address_valid && credit_q != 0 && !turning && !(writing ? fifo_empty : fifo_full);

  // Data and indices take turns at the port.
  logic prefer_index_q;
  wire index_granted = index_req && (!data_req || prefer_index_q);
  assign req_valid = index_req || data_req;
  always_comb begin
    req = '0;
    if (req_valid) begin
      req.addr = index_granted ? {pointer_q[31:3], 3'b0} : address;
      req.write = !index_granted && kind_q.write;
      req.data = lane_rdata;
      req.strobe = '1;
    end
  end
  wire data_sent = data_req && req_ready && !index_granted;
  wire index_sent = index_granted && req_ready;
  assign address_ready = data_sent;

  // The answer of this cycle's request comes in the next one.
  logic index_due_q;
  wire index_rsp = rsp_valid && index_due_q;
  wire data_rsp = rsp_valid && !index_due_q;

  logic [RepeatBits-1:0] repeat_q;
  wire read_lane = lane_take && !writing && !fifo_empty;
  wire read_done = read_lane && repeat_q == repeats_q;
  wire push = writing ? lane_put && !fifo_full : data_rsp;
  wire pop = writing ? data_sent : read_done;
  wire credit_taken = data_sent;
  wire credit_given = writing ? data_rsp : read_done;

  assign idle = done_q && synced_q && credit_q == Credits[2:0] && fifo_empty;
  wire last_sent = address_valid && address_ready && address_last;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      next_done_q <= 1'b1;
      done_q <= 1'b1;
      {next_kind_q, kind_q, next_pointer_q, pointer_q, next_repeats_q, repeats_q} <= '0;
      {next_index_kind_q, index_kind_q, next_index_base_q, index_base_q} <= '0;
      {next_bound_q, bound_q, index_q} <= '0;
      synced_q <= 1'b1;
      spilled_q <= '0;
      all_in_q <= 1'b0;
      {word_head_q, word_tail_q, words_out_q, words_in_q} <= '0;
      {first_q, byte_q, taken_q, last_word_q, more_words_q} <= '0;
      {head_q, tail_q, held_q} <= '0;
      credit_q <= Credits[2:0];
      {direction_q, prefer_index_q, index_due_q, repeat_q} <= '0;
    end else begin
      if (done_q && !synced_q) begin
        done_q <= next_done_q;
        next_done_q <= 1'b1;
        synced_q <= next_done_q;
        kind_q <= next_kind_q;
        pointer_q <= next_pointer_q;
        repeats_q <= next_repeats_q;
        bound_q <= next_bound_q;
        stride_q <= next_stride_q;
        index_kind_q <= next_index_kind_q;
        index_base_q <= next_index_base_q;
        all_in_q <= 1'b0;
        first_q <= 1'b1;
      end
      if (written) begin
        if (start || config_word == 0) begin
          automatic kind_t kind = config_word == 0 ? config_wdata[30:27] :
              '{write: config_word[2], dims: config_word[1:0], indirect: !config_word[3]};
          automatic logic done = config_word == 0 && config_wdata[31];
          automatic logic [31:0] pointer =
              config_word == 0 ? {5'b0, config_wdata[26:0]} : config_wdata;
          next_kind_q <= kind;
          next_pointer_q <= pointer;
          if (done_q) begin
            done_q <= done;
            synced_q <= done;
            kind_q <= kind;
            pointer_q <= pointer;
            all_in_q <= 1'b0;
            first_q <= 1'b1;
          end else begin
            next_done_q <= done;
          end
        end
        if (config_word == 5'd1) begin
          next_repeats_q <= config_wdata[RepeatBits-1:0];
          if (done_q) repeats_q <= config_wdata[RepeatBits-1:0];
        end
        if (is_bound) begin
          next_bound_q[dimension] <= config_wdata[BoundBits-1:0];
          if (done_q) bound_q[dimension] <= config_wdata[BoundBits-1:0];
        end
        if (is_stride) begin
          next_stride_q[dimension] <= {config_wdata[31:3], 3'b0};
          if (done_q) stride_q[dimension] <= {config_wdata[31:3], 3'b0};
        end
        if (config_word == 5'd10) begin
          next_index_kind_q <= {config_wdata[10:8], config_wdata[1:0]};
          if (done_q) index_kind_q <= {config_wdata[10:8], config_wdata[1:0]};
        end
        if (config_word == 5'd11) begin
          next_index_base_q <= {config_wdata[31:3], 3'b0};
          if (done_q) index_base_q <= {config_wdata[31:3], 3'b0};
        end
      end
      if (running) begin
        if (first_q) first_q <= 1'b0;
        if (kind_q.indirect) begin
          if (first_q) begin
            byte_q <= pointer_q[2:0];
            taken_q <= '0;
            last_word_q <= last_word;
            more_words_q <= 1'b1;
          end
          if (index_sent) begin
            pointer_q <= pointer_q + 32'd8;
            more_words_q <= pointer_q[31:3] != last_word[31:3];
          end
        end
        if (spill_push) begin
          if (spill_last) all_in_q <= 1'b1;
          if (kind_q.indirect) begin
            byte_q <= next_byte;
            taken_q <= taken_q + 1'b1;
          end else begin
            pointer_q <= pointer_q + stride_q[outermost];
            for (int i = 0; i < 4; i++) begin
              if (2'(i) <= outermost) index_q[i] <= at_end[i] ? '0 : index_q[i] + 1'b1;
            end
          end
        end
      end
      if (last_sent) begin
        done_q <= 1'b1;
        synced_q <= 1'b0;
      end

      if (!idle || lane_put) begin
        // The register of two entries.
        if (address_ready) spill_q[0] <= spill_q[1];
        if (spill_push) spill_q[spilled_q[0] ^ address_ready] <=
            {spill_last, spill_address};
        spilled_q <= spilled_q + 2'(spill_push) - 2'(address_ready);

        if (index_sent || index_rsp || use_word) begin
          words_out_q <= words_out_q + 2'(index_sent) - 2'(use_word);
          words_in_q <= words_in_q + 2'(index_rsp) - 2'(use_word);
          if (index_rsp) begin
            word_q[word_tail_q] <= rsp_data;
            word_tail_q <= word_tail_q + 1'b1;
          end
          if (use_word) word_head_q <= word_head_q + 1'b1;
        end
        if (req_valid && req_ready) begin
          prefer_index_q <= index_req && data_req ? !prefer_index_q : index_req;
        end
        index_due_q <= index_sent;

        if (push) begin
          fifo_q[tail_q] <= writing ? lane_wdata : rsp_data;
          tail_q <= tail_q + 1'b1;
        end
        if (pop) head_q <= head_q + 1'b1;
        held_q <= held_q + 3'(push) - 3'(pop);
        credit_q <= credit_q - 3'(credit_taken) + 3'(credit_given);
        if (data_sent) direction_q <= kind_q.write;
        if (read_lane) repeat_q <= read_done ? '0 : repeat_q + 1'b1;
      end
    end
  end

  // Nothing is read that isn't there, nor written where there is no room.
  assert property (@(posedge clk) disable iff (!rst_n) !(lane_take && !lane_valid));
  assert property (@(posedge clk) disable iff (!rst_n) !(lane_put && !lane_valid));
  assert property (@(posedge clk) disable iff (!rst_n) !(push && fifo_full && !pop));
endmodule
