// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The DMA engine: takes the DMA hart's instructions, and moves up to 64 bytes a cycle between the
/// scratchpad and what lies outside, in rows of any length and alignment.
///
/// A transfer goes queue -> rows -> reads -> realignment -> writes. The reader runs ahead of the
/// writer, over the ends of rows and of transfers, as far as there is room for what it asked for.
module snitch_dma
  import snitch_pkg::*;
(
    input logic clk,
    input logic rst_n,
    // Instructions (opcode 0x2b, funct3 0; funct7 says which).
    input logic offload_valid,
    output logic offload_ready,
    input offload_req_t offload_req,
    output logic offload_rsp_valid,
    input logic offload_rsp_ready,
    output offload_rsp_t offload_rsp,
    output logic busy,
    // The scratchpad.
    output logic tcdm_valid,
    input logic tcdm_ready,
    output logic tcdm_write,
    output logic [31:0] tcdm_addr,
    output logic [511:0] tcdm_wdata,
    output logic [63:0] tcdm_strobe,
    input logic tcdm_rsp_valid,
    input logic [511:0] tcdm_rdata,
    // Outside: reads and writes have a way each.
    output logic read_valid,
    input logic read_ready,
    output logic [31:0] read_addr,
    input logic read_rsp_valid,
    input logic [511:0] read_rdata,
    output logic write_valid,
    input logic write_ready,
    output logic [31:0] write_addr,
    output logic [511:0] write_data,
    output logic [63:0] write_strobe
);
  import map_pkg::*;

  localparam int unsigned Transfers = 8;  ///< That may wait.
  localparam int unsigned Rows = 16;      ///< Between the reader and the writer.
  localparam int unsigned Lines = 16;     ///< Asked for and not yet realigned.
  /// Cycles from the last write to the end of a transfer: the acknowledgement's way.
  localparam int unsigned TcdmAck = 2;
  localparam int unsigned OutsideAck = 4;

  typedef struct packed {
    logic [31:0] src, dst, size, src_stride, dst_stride, rows;
  } transfer_t;
  typedef struct packed {
    logic [31:0] src, dst, size;
    logic last;  ///< Of its transfer.
  } row_t;
  /// The bytes of a line that count.
  typedef struct packed {
    logic [5:0] first;
    logic [6:0] bytes;
  } part_t;

  function automatic logic in_tcdm(logic [31:0] addr);
    return addr - ScratchpadOrigin < ScratchpadBytes;
  endfunction
  /// Of `left` bytes from place `first` of a line on, those in that line.
  function automatic part_t part_of(logic [5:0] first, logic [31:0] left);
    part_t out;
    out.first = first;
    out.bytes = 7'd64 - 7'(first);
    if (left < 32'(out.bytes)) out.bytes = left[6:0];
    return out;
  endfunction

  // ---- Instructions
  transfer_t setup_q;  ///< What dmsrc, dmdst, dmstr and dmrep have said.
  transfer_t queue_q[Transfers];
  logic [2:0] queue_in_q, queue_out_q;
  logic [3:0] queued_q;
  logic [31:0] next_id_q, done_id_q;

  wire [6:0] funct7 = offload_req.instr[31:25];
  wire is_copy = funct7 == 7'd2 || funct7 == 7'd3;
  wire is_status = funct7 == 7'd4 || funct7 == 7'd5;
  wire [1:0] option = funct7[0] ? offload_req.rs2[1:0] : offload_req.instr[21:20];
  wire queue_full = queued_q == 4'(Transfers);
  wire answer_free = !offload_rsp_valid || offload_rsp_ready;
  assign offload_ready = is_copy ? answer_free && !queue_full : is_status ? answer_free : 1'b1;
  wire taken = offload_valid && offload_ready;
  wire copies = taken && is_copy;

  wire work = queued_q != '0;
  logic rows_room, row_ends_transfer;
  wire row_made = work && rows_room;
  wire transfer_made = row_made && row_ends_transfer;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      offload_rsp_valid <= 1'b0;
      queue_in_q <= '0;
      queue_out_q <= '0;
      queued_q <= '0;
      next_id_q <= 32'd1;
      setup_q <= '0;
    end else if (taken || offload_rsp_valid || work) begin
      if (offload_rsp_ready) offload_rsp_valid <= 1'b0;
      queued_q <= queued_q + 4'(copies) - 4'(transfer_made);
      if (transfer_made) queue_out_q <= queue_out_q + 1'b1;
      if (taken) begin
        case (funct7)
          7'd0: setup_q.src <= offload_req.rs1;
          7'd1: setup_q.dst <= offload_req.rs1;
          7'd6: {setup_q.src_stride, setup_q.dst_stride} <= {offload_req.rs1, offload_req.rs2};
          7'd7: setup_q.rows <= offload_req.rs1;
          default: ;
        endcase
        if (is_copy) begin
          queue_q[queue_in_q] <= setup_q;
          queue_q[queue_in_q].size <= offload_req.rs1;
          if (!option[1]) queue_q[queue_in_q].rows <= 32'd1;
          queue_in_q <= queue_in_q + 1'b1;
          next_id_q <= next_id_q + 1;
        end
        if (is_copy || is_status) begin
          offload_rsp_valid <= offload_req.instr[11:7] != '0;
          offload_rsp.rd <= offload_req.instr[11:7];
          if (is_copy) offload_rsp.data <= next_id_q;
          else begin
            case (option)
              2'd0: offload_rsp.data <= done_id_q;
              2'd1: offload_rsp.data <= next_id_q;
              2'd2: offload_rsp.data <= 32'(busy);
              default: offload_rsp.data <= 32'(queue_full);
            endcase
          end
        end
      end
    end
  end

  // ---- Rows
  transfer_t current;
  assign current = queue_q[queue_out_q];
  logic [31:0] row_q, row_src_q, row_dst_q;  ///< Of the transfer at the head, where row_q > 0.
  wire row_t new_row = '{
      src: row_q == '0 ? current.src : row_src_q,
      dst: row_q == '0 ? current.dst : row_dst_q,
      // A transfer of no rows or of none but empty rows ends without a byte.
      size: current.rows == '0 ? '0 : current.size,
      last: row_ends_transfer
  };
  assign row_ends_transfer = row_q + 1 >= current.rows || current.size == '0;

  row_t rows_q[Rows];
  logic [3:0] row_in_q, row_read_q, row_write_q;
  logic [4:0] rows_unread_q, rows_unwritten_q;
  assign rows_room = rows_unwritten_q != 5'(Rows);
  logic row_read, row_written;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      row_q <= '0;
      row_in_q <= '0;
      row_read_q <= '0;
      row_write_q <= '0;
      rows_unread_q <= '0;
      rows_unwritten_q <= '0;
    end else if (work || rows_unwritten_q != '0) begin
      if (row_made) begin
        rows_q[row_in_q] <= new_row;
        row_in_q <= row_in_q + 1'b1;
        row_q <= row_ends_transfer ? '0 : row_q + 1;
        row_src_q <= new_row.src + current.src_stride;
        row_dst_q <= new_row.dst + current.dst_stride;
      end
      if (row_read) row_read_q <= row_read_q + 1'b1;
      if (row_written) row_write_q <= row_write_q + 1'b1;
      rows_unread_q <= rows_unread_q + 5'(row_made) - 5'(row_read);
      rows_unwritten_q <= rows_unwritten_q + 5'(row_made) - 5'(row_written);
    end
  end

  // ---- Reads
  row_t reading;
  logic [31:0] read_at_q;  ///< Bytes of the row asked for already.
  assign reading = rows_q[row_read_q];
  wire [31:0] read_from = reading.src + read_at_q;
  wire part_t read_part = part_of(read_from[5:0], reading.size - read_at_q);
  wire reads_tcdm = in_tcdm(read_from);
  logic [4:0] lines_q;     ///< Asked for, to the place where they are realigned.
  logic [4:0] on_way_q;    ///< Asked for, not answered.
  logic way_tcdm_q;        ///< Whom the last was asked of: answers keep their order.
  logic write_first_q;     ///< Of reads and writes of the scratchpad: whose turn it is.
  logic wants_write_tcdm;
  wire row_empty = reading.size == '0;
  wire may_read = rows_unread_q != '0 && !row_empty && lines_q != 5'(Lines)
      && (on_way_q == '0 || way_tcdm_q == reads_tcdm);
  wire turn_to_read = !wants_write_tcdm || !write_first_q;
  assign read_valid = may_read && !reads_tcdm;
  assign read_addr = read_from;
  wire asks_tcdm = may_read && reads_tcdm && turn_to_read;
  wire asked = (read_valid && read_ready) || (asks_tcdm && tcdm_ready);
  wire read_whole = read_at_q + 32'(read_part.bytes) == reading.size;
  assign row_read = rows_unread_q != '0 && (row_empty || (asked && read_whole));

  wire answered = tcdm_rsp_valid || read_rsp_valid;
  part_t parts_q[Lines];
  logic [511:0] lines_data_q[Lines];
  logic [3:0] part_in_q, line_in_q, line_out_q;
  logic [4:0] arrived_q;   ///< Answered, not realigned.
  logic line_used;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      read_at_q <= '0;
      lines_q <= '0;
      on_way_q <= '0;
      way_tcdm_q <= 1'b0;
      part_in_q <= '0;
      line_in_q <= '0;
      line_out_q <= '0;
      arrived_q <= '0;
    end else if (rows_unread_q != '0 || lines_q != '0) begin
      assert (lines_q <= 5'(Lines) && on_way_q <= lines_q && arrived_q <= lines_q);
      assert (!answered || on_way_q != '0);
      if (asked) begin
        read_at_q <= read_whole ? '0 : read_at_q + 32'(read_part.bytes);
        parts_q[part_in_q] <= read_part;
        part_in_q <= part_in_q + 1'b1;
        way_tcdm_q <= reads_tcdm;
      end
      if (answered) begin
        lines_data_q[line_in_q] <= tcdm_rsp_valid ? tcdm_rdata : read_rdata;
        line_in_q <= line_in_q + 1'b1;
      end
      if (line_used) line_out_q <= line_out_q + 1'b1;
      lines_q <= lines_q + 5'(asked) - 5'(line_used);
      on_way_q <= on_way_q + 5'(asked) - 5'(answered);
      arrived_q <= arrived_q + 5'(answered) - 5'(line_used);
    end
  end

  // ---- Realignment: a stream of bytes, filled by lines that were read, emptied by writes.
  logic [1023:0] bytes_q;
  logic [7:0] count_q;
  part_t used_part;
  assign used_part = parts_q[line_out_q];
  logic [6:0] write_bytes;  ///< That leave in this cycle.
  wire [7:0] kept = count_q - 8'(write_bytes);
  assign line_used = arrived_q != '0 && kept + 8'(used_part.bytes) <= 8'd128;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) count_q <= '0;
    else if (line_used || write_bytes != '0) begin
      automatic logic [1023:0] left = bytes_q;
      assert (count_q <= 8'd128 && 8'(write_bytes) <= count_q);
      if (write_bytes == 7'd64) left = 1024'(bytes_q[1023:512]);
      else if (write_bytes != '0) left = bytes_q >> {write_bytes, 3'b000};
      if (line_used) begin
        automatic logic [511:0] fresh = lines_data_q[line_out_q] >> {used_part.first, 3'b000};
        // What lies beyond the row's end in its last line must not stay.
        if (used_part.bytes != 7'd64) fresh &= ~({512{1'b1}} << {used_part.bytes[5:0], 3'b000});
        if (kept == '0) left = 1024'(fresh);
        else left |= 1024'(fresh) << {kept, 3'b000};
        count_q <= kept + 8'(used_part.bytes);
      end else begin
        count_q <= kept;
      end
      bytes_q <= left;
    end
  end

  // ---- Writes
  row_t writing;
  logic [31:0] written_q;  ///< Bytes of the row written already.
  assign writing = rows_q[row_write_q];
  wire [31:0] write_to = writing.dst + written_q;
  wire part_t write_part = part_of(write_to[5:0], writing.size - written_q);
  wire writes_tcdm = in_tcdm(write_to);
  wire write_empty = writing.size == '0;
  wire may_write = rows_unwritten_q != '0 && !write_empty && count_q != '0
      && count_q >= 8'(write_part.bytes);
  assign wants_write_tcdm = may_write && writes_tcdm;
  wire turn_to_write = !(may_read && reads_tcdm) || write_first_q;
  wire puts_tcdm = wants_write_tcdm && turn_to_write;
  assign write_valid = may_write && !writes_tcdm;
  assign write_addr = write_to;
  wire put = (write_valid && write_ready) || (puts_tcdm && tcdm_ready);
  wire written_whole = written_q + 32'(write_part.bytes) == writing.size;
  assign write_bytes = put ? write_part.bytes : '0;
  // A row without bytes must not overtake the reader.
  assign row_written = rows_unwritten_q != '0
      && (write_empty ? rows_unwritten_q != rows_unread_q : put && written_whole);

  logic [511:0] shifted;
  always_comb begin
    shifted = bytes_q[511:0];
    write_strobe = '1;
    if (may_write && (write_part.first != '0 || write_part.bytes != 7'd64)) begin
      shifted = bytes_q[511:0] << {write_part.first, 3'b000};
      write_strobe = ~(~64'b0 << write_part.bytes[5:0]) << write_part.first;
    end
  end
  assign write_data = shifted;
  assign tcdm_valid = asks_tcdm || puts_tcdm;
  assign tcdm_write = puts_tcdm;
  assign tcdm_addr = puts_tcdm ? write_to : read_from;
  assign tcdm_wdata = shifted;
  assign tcdm_strobe = write_strobe;

  // ---- The end of a transfer
  logic [OutsideAck-1:0] ending_q;
  wire ends = row_written && writing.last;
  assign busy = work || rows_unwritten_q != '0 || ending_q != '0;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      written_q <= '0;
      write_first_q <= 1'b0;
      ending_q <= '0;
      done_id_q <= '0;
    end else if (rows_unwritten_q != '0 || ending_q != '0) begin
      if (put) written_q <= written_whole ? '0 : written_q + 32'(write_part.bytes);
      if (tcdm_valid && tcdm_ready) write_first_q <= !tcdm_write;
      ending_q <= ending_q >> 1;
      if (ends) ending_q[writes_tcdm ? TcdmAck - 1 : OutsideAck - 1] <= 1'b1;
      done_id_q <= done_id_q + 32'(ending_q[0]);
    end
  end
endmodule
