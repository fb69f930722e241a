// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The lines of instructions nearest to a hart: eight of 16 words. A word of one of them is there in
/// the cycle in which it is asked for. While the hart runs in a line, the line that it is going to
/// next is fetched: where the first jump or branch backwards from here leads, else the following
/// one. One fetch is on its way at a time.
module snitch_icache_l0 (
    input logic clk,
    input logic rst_n,
    input logic fetch_valid,
    input logic [31:0] fetch_addr,
    output logic fetch_ready,
    output logic [31:0] fetch_instr,
    output logic fetch_error,
    input logic flush,
    // Lines, from what all harts share.
    output logic line_valid,
    input logic line_ready,
    output logic [31:6] line_addr,
    input logic line_rsp_valid,
    input logic [511:0] line_rdata,
    input logic line_rsp_error
);
  localparam int unsigned Lines = 8;
  typedef logic [2:0] way_t;
  typedef logic [31:6] line_t;

  line_t tags_q[Lines];
  logic [Lines-1:0] valid_q, error_q;
  logic [31:0] words_q[16*Lines];
  logic [15:0] leaves_q[Lines];  // The words that jump, or branch backwards.
  way_t last_q, victim_q;

  function automatic logic [3:0] find(line_t line);
    find = '0;
    for (int w = 0; w < Lines; ++w) begin
      if (valid_q[w] && tags_q[w] == line) find = {1'b1, way_t'(w)};
    end
  endfunction

  // A line that was asked for (or is about to be).
  logic pending_q, asks_q, stale_q;
  line_t pending_line_q;
  way_t pending_way_q;

  wire line_t line = fetch_addr[31:6];
  wire [3:0] word = fetch_addr[5:2];
  logic hit;
  way_t way;
  always_comb begin
    hit = 1'b0;
    way = last_q;
    if (fetch_valid) begin
      hit = valid_q[last_q] && tags_q[last_q] == line;
      if (!hit) {hit, way} = find(line);
    end
  end
  assign fetch_ready = hit;
  assign fetch_instr = words_q[{way, word}];
  assign fetch_error = error_q[way];

  wire miss = fetch_valid && !hit && !pending_q;
  assign line_valid = miss || asks_q;
  assign line_addr = asks_q ? pending_line_q : line;

  // What comes next: found anew where the hart leaves the stretch that it was found for.
  logic known_q;
  way_t known_way_q;
  logic [3:0] known_first_q, known_last_q;
  wire known = known_q && way == known_way_q && word >= known_first_q && word <= known_last_q;
  wire looks = hit && !known && !pending_q;
  line_t next;
  logic [3:0] exit_word;
  logic next_there;
  always_comb begin
    automatic logic [31:0] code = '0;
    automatic logic [31:0] from = '0;
    automatic logic [31:0] target = '0;
    next = line + 1'b1;
    exit_word = 4'd15;
    next_there = 1'b0;
    if (looks) begin
      for (int i = 15; i >= 0; --i) begin
        if (leaves_q[way][i] && 4'(i) >= word) exit_word = 4'(i);
      end
      if (leaves_q[way][exit_word]) begin
        code = words_q[{way, exit_word}];
        from = {line, exit_word, 2'b00};
        target = from + (code[3] ? {{12{code[31]}}, code[19:12], code[20],
            code[30:21], 1'b0} : {{20{code[31]}}, code[7], code[30:25], code[11:8], 1'b0});
        next = target[31:6];
      end
      next_there = next == line || (find(next) & 4'b1000) != 0;
    end
  end
  wire ahead = looks && !next_there;
  // The line in use isn't given up for the one that comes next.
  wire way_t free = (ahead && victim_q == way) ? victim_q + 1'b1 : victim_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      valid_q <= '0;
      error_q <= '0;
      last_q <= '0;
      victim_q <= '0;
      pending_q <= 1'b0;
      asks_q <= 1'b0;
      stale_q <= 1'b0;
      pending_line_q <= '0;
      pending_way_q <= '0;
      known_q <= 1'b0;
      known_way_q <= '0;
      known_first_q <= '0;
      known_last_q <= '0;
    end else if (fetch_valid || pending_q || flush) begin
      if (hit) last_q <= way;
      if (looks && next_there) begin
        known_q <= 1'b1;
        known_way_q <= way;
        known_first_q <= word;
        known_last_q <= exit_word;
      end
      if (asks_q && line_ready) asks_q <= 1'b0;
      if ((miss && line_ready) || ahead) begin
        pending_q <= 1'b1;
        asks_q <= ahead;
        pending_line_q <= ahead ? next : line;
        pending_way_q <= free;
        valid_q[free] <= 1'b0;
        victim_q <= free + 1'b1;
        known_q <= 1'b0;
      end
      if (line_rsp_valid) begin
        pending_q <= 1'b0;
        stale_q <= 1'b0;
        valid_q[pending_way_q] <= !stale_q;
        error_q[pending_way_q] <= line_rsp_error;
        tags_q[pending_way_q] <= pending_line_q;
        for (int i = 0; i < 16; ++i) begin
          words_q[{pending_way_q, 4'(i)}] <= line_rdata[32*i+:32];
          leaves_q[pending_way_q][i] <= line_rdata[32*i+:7] == 7'h6f
              || (line_rdata[32*i+:7] == 7'h63 && line_rdata[32*i+31]);
        end
      end
      if (flush) begin
        valid_q <= '0;
        known_q <= 1'b0;
        stale_q <= pending_q && !line_rsp_valid;
      end
    end
  end
endmodule
