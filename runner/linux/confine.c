/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* After start-up this process may do nothing but talk on its streams and wait. A system call from a
 * kernel's code raises SIGSYS, any other outside the list ends the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/linux.h"

static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_ppoll,
    SYS_futex,
    SYS_tgkill,
    SYS_getpid,
    SYS_rt_sigreturn,
    SYS_rt_sigprocmask,
    SYS_setitimer,
    SYS_clock_gettime,
    SYS_membarrier,
    SYS_restart_syscall,
    SYS_exit,
    SYS_exit_group,
/* What only some machines have. */
#ifdef SYS_poll
    SYS_poll,
#endif
#ifdef SYS_ppoll_time64
    SYS_ppoll_time64,
    SYS_clock_gettime64,
    SYS_futex_time64,
    SYS_sigreturn,
#endif
#ifdef __riscv
    259, /* riscv_flush_icache */
#endif
#ifdef __ARM_NR_cacheflush
    __ARM_NR_cacheflush,
#endif
};
enum { ALLOWED = sizeof allowed / sizeof *allowed };

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define WHERE_HIGH (offsetof(struct seccomp_data, instruction_pointer) + 4)

void dojo_confine(void) {
  struct sock_filter filter[16 + ALLOWED];
  unsigned short n = 0;
  uint32_t low = (uint32_t)dojo_code_base;
  uint32_t high = (uint32_t)(dojo_code_base + dojo_options.code_bytes);
  /* The code region lies below 4 GiB. */
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, WHERE_HIGH);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 4);
  filter[n++] = (struct sock_filter)LOAD(instruction_pointer);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, low, 0, 2);
  filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, high, 1, 0);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
  filter[n++] = (struct sock_filter)LOAD(nr);
  for (int i = 0; i < ALLOWED; ++i) {
    filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)allowed[i],
                                               (uint8_t)(ALLOWED - i), 0);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {.len = n, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0) {
    /* An emulator of user programs has no such thing: it's for it to confine. */
    if (errno != ENOSYS && errno != EINVAL) {
      dojo_die("can't confine kernels (--no-confine does without)", strerror(errno));
    }
    static const char told[] = "dojo-runner: this system can't confine kernels\n";
    if (write(2, told, sizeof told - 1) < 0) return;
  }
}
