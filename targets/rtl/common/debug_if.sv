// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// Between the debug module and one hart.
interface debug_if;
  logic        halt_req;       ///< Level: halt before the next instruction.
  logic        halt_on_reset;  ///< Level, read by the first instruction after reset.
  logic        resume_req;     ///< One cycle, of a halted hart only.
  logic        halted;
  logic        reset;          ///< The hart is in reset.
  // A register access of a halted hart: answered in the same cycle.
  logic        reg_valid;
  logic        reg_write;
  logic [15:0] reg_addr;       ///< As in the abstract command: 0x0000 CSRs, 0x1000 x, 0x1020 f.
  logic [31:0] reg_wdata;
  logic [31:0] reg_rdata;
  logic        reg_error;      ///< There is no such register.

  modport module_side(output halt_req, halt_on_reset, resume_req, reg_valid, reg_write, reg_addr,
                      reg_wdata, input halted, reset, reg_rdata, reg_error);
  modport hart_side(input halt_req, halt_on_reset, resume_req, reg_valid, reg_write, reg_addr,
                    reg_wdata, output halted, reset, reg_rdata, reg_error);
endinterface
