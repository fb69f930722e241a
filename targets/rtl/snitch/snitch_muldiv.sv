// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Products and quotients, in order among themselves up to where they part: a queue of two, then
/// one step of multiplier or the divider, then two results that wait for the register file.
/// A product taken in cycle t is offered in t+3, a quotient in t+4 and one more for each bit that
/// the dividend is longer than the divisor (t+3 where it is shorter).
module snitch_muldiv (
    input logic clk,
    input logic rst_n,
    input logic in_valid,
    output logic in_ready,
    input logic in_divides,
    input logic [1:0] in_operation,  ///< div, divu, rem, remu
    input logic [31:0] in_a,         ///< The product where it doesn't divide.
    input logic [31:0] in_b,
    input logic [4:0] in_rd,
    output logic out_valid,
    input logic out_ready,
    output logic [4:0] out_rd,
    output logic [31:0] out_value
);
  typedef struct packed {
    logic divides;
    logic [1:0] operation;
    logic [4:0] rd;
    logic [31:0] a;
    logic [31:0] b;
  } task_t;
  typedef struct packed {
    logic [4:0] rd;
    logic [31:0] value;
  } result_t;
  typedef enum logic [1:0] {
    Idle,
    Divide,
    Finish
  } state_e;

  task_t first_q, second_q;
  result_t product_q, offered_q, behind_q;
  logic [1:0] tasks_q, results_q;
  logic product_there_q;

  state_e state_q;
  logic [4:0] quotient_rd_q;
  logic [5:0] left_q;
  logic [32:0] divisor_q;
  logic [31:0] remainder_q, quotient_q;
  logic smaller_q, negative_q, wants_remainder_q;

  /// How many bits it takes to write a number: of negative ones, what the divider's shift is
  /// computed from, which is one more than the magnitude's for dividends at times.
  function automatic logic [5:0] bits(input logic [31:0] value);
    bits = '0;
    for (int i = 0; i < 32; ++i) begin
      if (value[i]) bits = 6'(i) + 6'd1;
    end
  endfunction

  assign in_ready = tasks_q != 2'd2;
  assign out_valid = results_q != 0;
  assign out_rd = offered_q.rd;
  assign out_value = offered_q.value;

  wire room = results_q != 2'd2;
  wire take_product = product_there_q && room;
  wire quotient_there = state_q == Finish || (state_q == Divide && smaller_q);
  wire take_quotient = quotient_there && room && !take_product;
  wire [31:0] plain = wants_remainder_q ? remainder_q : quotient_q;
  wire result_t quotient = '{quotient_rd_q, negative_q ? -plain : plain};

  wire begin_product = tasks_q != 0 && !first_q.divides && (!product_there_q || take_product);
  wire begin_divide = tasks_q != 0 && first_q.divides && state_q == Idle;
  wire begins = begin_product || begin_divide;
  wire takes = in_valid && in_ready;
  wire gives = out_valid && out_ready;
  wire adds = take_product || take_quotient;
  wire busy = takes || tasks_q != 0 || results_q != 0 || product_there_q || state_q != Idle;

  wire fits = {1'b0, remainder_q} >= divisor_q;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      first_q <= '0;
      second_q <= '0;
      tasks_q <= '0;
      product_q <= '0;
      product_there_q <= 1'b0;
      offered_q <= '0;
      behind_q <= '0;
      results_q <= '0;
      state_q <= Idle;
      quotient_rd_q <= '0;
      left_q <= '0;
      divisor_q <= '0;
      remainder_q <= '0;
      quotient_q <= '0;
      smaller_q <= 1'b0;
      negative_q <= 1'b0;
      wants_remainder_q <= 1'b0;
    end else if (busy) begin
      tasks_q <= tasks_q + 2'(takes) - 2'(begins);
      if (takes) begin
        if (tasks_q == 0 || begins) first_q <= '{in_divides, in_operation, in_rd, in_a, in_b};
        else second_q <= '{in_divides, in_operation, in_rd, in_a, in_b};
      end
      if (begins && tasks_q == 2'd2) first_q <= second_q;

      if (begin_product) begin
        product_q <= '{first_q.rd, first_q.a};
        product_there_q <= 1'b1;
      end else if (take_product) begin
        product_there_q <= 1'b0;
      end

      results_q <= results_q + 2'(adds) - 2'(gives);
      if (gives) offered_q <= behind_q;
      if (adds) begin
        if (results_q == 0 || gives) offered_q <= take_product ? product_q : quotient;
        else behind_q <= take_product ? product_q : quotient;
      end

      if (begin_divide) begin : start
        automatic logic is_signed = !first_q.operation[0];
        automatic logic a_negative = is_signed && first_q.a[31];
        automatic logic b_negative = is_signed && first_q.b[31];
        automatic logic [31:0] a = a_negative ? -first_q.a : first_q.a;
        automatic logic [31:0] b = b_negative ? -first_q.b : first_q.b;
        automatic logic [5:0] a_bits = bits(a_negative ? {~first_q.a[30:0], 1'b1} : first_q.a);
        automatic logic [5:0] b_bits = bits(b_negative ? ~first_q.b : first_q.b);
        automatic logic [5:0] shift = b_bits == 0 ? 6'd32 : a_bits - b_bits;
        state_q <= Divide;
        quotient_rd_q <= first_q.rd;
        smaller_q <= b_bits > a_bits;
        left_q <= shift;
        divisor_q <= {1'b0, b} << shift;
        remainder_q <= a;
        quotient_q <= '0;
        wants_remainder_q <= first_q.operation[1];
        negative_q <= first_q.operation[1] ? a_negative : (a_negative != b_negative && b != 0);
      end else if (take_quotient) begin
        state_q <= Idle;
      end else if (state_q == Divide && !smaller_q) begin
        if (fits) remainder_q <= remainder_q - divisor_q[31:0];
        quotient_q <= {quotient_q[30:0], fits};
        divisor_q <= divisor_q >> 1;
        left_q <= left_q - 1;
        if (left_q == 0) state_q <= Finish;
      end
    end
  end
endmodule
