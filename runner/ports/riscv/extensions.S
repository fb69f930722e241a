/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * One short function for each extension that no register tells of: it returns where the extension
 * is there and raises an illegal instruction where it isn't. Each is DOJO_EXTENSION_BYTES long. The
 * names stand in the same order, each ended by a zero. */
#include "port_config.h"

        /* name "": makes the next one possible */
        .macro  extension name, word
        .section .text.dojo_extensions, "ax"
        .4byte  \word
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

        extension "m", 0x025282b3       /* mul t0, t0, t0 */
        extension "a", 0x100122af       /* lr.w t0, (sp) */
        extension "f", 0x00007053       /* fadd.s ft0, ft0, ft0 */
        extension "d", 0x02007053       /* fadd.d ft0, ft0, ft0 */
        extension "c", 0x00010001       /* c.nop, c.nop */
        extension "zba", 0x2052a2b3     /* sh1add t0, t0, t0 */
        extension "zbb", 0x60029293     /* clz t0, t0 */
        extension "zbc", 0x0a52a2b3     /* clmulr t0, t0, t0 */
        extension "zbs", 0x4852d2b3     /* bext t0, t0, t0 */
        extension "zicond", 0x0e52d2b3  /* czero.eqz t0, t0, t0 */
        extension "zfa", 0xf0180053     /* fli.s ft0, 1.0 */
        extension "zfh", 0x04007053     /* fadd.h ft0, ft0, ft0 */
#if DOJO_STREAMS
        extension "xssr", 0x7c0022f3    /* csrr t0, 0x7c0 */
#endif
#if DOJO_VECTORS
        extension "", 0xcd00f057        /* vsetivli zero, 1, e32, m1, ta, ma */
        extension "zve32x", 0x02000057  /* vadd.vv v0, v0, v0 */
        extension "", 0xcd80f057        /* vsetivli zero, 1, e64, m1, ta, ma */
        extension "v", 0x02001057       /* vfadd.vv v0, v0, v0 */
        extension "", 0xcc80f057        /* vsetivli zero, 1, e16, m1, ta, ma */
        extension "zvfh", 0x02001057    /* vfadd.vv v0, v0, v0 */
        extension "", 0xcc00f057        /* vsetivli zero, 1, e8, m1, ta, ma */
        extension "zvbb", 0x4a062057    /* vclz.v v0, v0 */
#endif
        .section .rodata.dojo_extensions, "a"
        .globl  dojo_extension_names_end
dojo_extension_names_end:

        .section .note.GNU-stack, "", @progbits
