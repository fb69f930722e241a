// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// A bus with one request at a time. A request is taken in the cycle where valid and ready are
/// both set; its answer (done, with rdata or error) comes in a later cycle. The next request may
/// be taken in the cycle of the answer, not before.
interface bus_if;
  logic        valid;
  logic        ready;
  logic        write;
  logic [31:0] addr;    ///< Of the word; the low two bits are ignored.
  logic [ 3:0] strobe;  ///< Bytes of the word that are written or read.
  logic [31:0] wdata;
  logic        done;
  logic        error;
  logic [31:0] rdata;

  modport master(output valid, write, addr, strobe, wdata, input ready, done, error, rdata);
  modport slave(input valid, write, addr, strobe, wdata, output ready, done, error, rdata);
endinterface
