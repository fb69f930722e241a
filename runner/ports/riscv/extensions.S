/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * One short function for each extension that no register tells of: it returns where the extension
 * is there and raises an illegal instruction where it isn't. Each is DOJO_EXTENSION_BYTES long. The
 * names stand in the same order, each ended by a zero, the list by another. */
        .option norvc

        .macro  extension name, second, first=0x00000013
        .section .text.dojo_extensions, "ax"
        .4byte  \first
        .4byte  \second
        ret
        .section .rodata.dojo_extensions, "a"
        .asciz  "\name"
        .endm

        .section .text.dojo_extensions, "ax"
        .p2align 2
        .globl  dojo_extension_code
dojo_extension_code:
        .section .rodata.dojo_extensions, "a"
        .globl  dojo_extension_names
dojo_extension_names:

        extension "zba", 0x2052a2b3                 /* sh1add t0, t0, t0 */
        extension "zbb", 0x60029293                 /* clz t0, t0 */
        extension "zbc", 0x0a52a2b3                 /* clmulr t0, t0, t0 */
        extension "zbs", 0x4852d2b3                 /* bext t0, t0, t0 */
        extension "zicond", 0x0e52d2b3              /* czero.eqz t0, t0, t0 */
        extension "zfa", 0xf0180053                 /* fli.s ft0, 1.0 */
        extension "zfh", 0x04007053                 /* fadd.h ft0, ft0, ft0 */
        extension "zve32x", 0x02000057, 0xcd00f057  /* vsetivli of e32; vadd.vv v0, v0, v0 */
        extension "v", 0x02001057, 0xcd80f057       /* vsetivli of e64; vfadd.vv v0, v0, v0 */
        extension "zvfh", 0x02001057, 0xcc80f057    /* vsetivli of e16; vfadd.vv v0, v0, v0 */
        extension "zvbb", 0x4a062057, 0xcc00f057    /* vsetivli of e8; vclz.v v0, v0 */

        .section .rodata.dojo_extensions, "a"
        .byte   0

        .section .note.GNU-stack, "", @progbits
