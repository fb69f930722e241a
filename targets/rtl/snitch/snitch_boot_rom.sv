// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// The boot ROM: every hart waits for a software or a cluster interrupt and then calls the address
/// that lies in scratch register 1 of the peripherals; after its return it waits again.
package snitch_boot_rom;
  import map_pkg::*;

  localparam logic [31:0] Scratch1 = PeripheralsOrigin + 32'h188;
  localparam int unsigned Words = 12;
  localparam logic [31:0] Code[16] = '{
      32'h0000_0297,                         // wait: auipc t0, 0
      32'h0202_8293,                         //       addi  t0, t0, 0x20
      32'h3052_9073,                         //       csrw  mtvec, t0
      32'h0008_0337,                         //       lui   t1, 0x80
      32'h0083_0313,                         //       addi  t1, t1, 8
      32'h3043_1073,                         //       csrw  mie, t1        (cluster, software)
      32'h3004_6073,                         //       csrsi mstatus, 8
      32'h1050_0073,                         //       wfi
      {Scratch1[31:12], 12'h2b7},            // go:   lui   t0, %hi(scratch 1)
      {Scratch1[11:0], 20'h2a283},           //       lw    t0, %lo(scratch 1)(t0)
      32'h0002_80e7,                         //       jalr  ra, 0(t0)
      32'hfd5f_f06f,                         //       j     wait
      32'h0, 32'h0, 32'h0, 32'h0
  };

  /// Double word `index` of the ROM.
  function automatic logic [63:0] double_word(logic [8:0] index);
    if (index >= 9'(Words / 2)) return '0;
    return {Code[{index[2:0], 1'b1}], Code[{index[2:0], 1'b0}]};
  endfunction
  /// Line `index`, of 64 bytes.
  function automatic logic [511:0] line(logic [5:0] index);
    logic [511:0] out;
    for (int i = 0; i < 8; ++i) out[64*i+:64] = double_word({index, 3'(i)});
    return out;
  endfunction
endpackage
