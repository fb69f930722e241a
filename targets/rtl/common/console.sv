// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The characters of the model: what software uses of a 16550. A byte written at 0 goes out, a
/// byte read at 0 is the next that came in; the line status at 5 has bit 0 set when there is one
/// and says that the transmitter is empty. A word read at 8 is the next character or, with bit 31 set,
/// none: one access instead of two. Everything else reads as zero and ignores writes.
module console (
    input logic clk,
    input logic rst_n,
    bus_if.slave bus
);
  import "DPI-C" function void console_put(input byte unsigned character);
  /// The next character without taking it; -1: none.
  import "DPI-C" function int console_peek();
  import "DPI-C" function void console_take();

  assign bus.ready = 1'b1;
  assign bus.error = 1'b0;

  wire first_word = bus.addr[11:2] == 10'd0;
  wire second_word = bus.addr[11:2] == 10'd1;
  wire third_word = bus.addr[11:2] == 10'd2;

  always_ff @(posedge clk or negedge rst_n) begin
    if (!rst_n) begin
      bus.done  <= 1'b0;
      bus.rdata <= '0;
    end else begin
      bus.done <= bus.valid;
      if (bus.valid) begin
        bus.rdata <= '0;
        if (first_word && bus.strobe[0]) begin
          if (bus.write) console_put(bus.wdata[7:0]);
          else if (console_peek() >= 0) begin
            bus.rdata[7:0] <= 8'(console_peek());
            console_take();
          end
        end
        if (third_word && !bus.write) begin
          bus.rdata <= 32'(console_peek());
          if (console_peek() >= 0) console_take();
        end
        if (second_word && !bus.write) begin
          bus.rdata[15:8] <= {7'b0110000, console_peek() >= 0};
        end
      end
    end
  end
endmodule
