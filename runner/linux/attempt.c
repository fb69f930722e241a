/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Trying out whether an instruction is there. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>

#include "linux/machine.h"

static sigjmp_buf back;

static void on_signal(int number) { siglongjmp(back, number); }

int dojo_fails(void (*attempt)(uintptr_t argument), uintptr_t argument) {
  static const int signals[] = {SIGILL, SIGSEGV, SIGBUS};
  enum { SIGNALS = sizeof signals / sizeof *signals };
  struct sigaction action = {.sa_handler = on_signal}, before[SIGNALS];
  for (int i = 0; i < SIGNALS; ++i) sigaction(signals[i], &action, &before[i]);
  volatile int failed = 1;
  if (sigsetjmp(back, 1) == 0) {
    attempt(argument);
    failed = 0;
  }
  for (int i = 0; i < SIGNALS; ++i) sigaction(signals[i], &before[i], NULL);
  return failed;
}
