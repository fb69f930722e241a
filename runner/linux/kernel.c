/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Running foreign code: batches, the signals that it raises, the time limit. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "linux/linux.h"
#include "linux/machine.h"

__thread struct dojo_guard dojo_guard;
static __thread unsigned this_hart;
static volatile sig_atomic_t expired;
struct dojo_fault dojo_first_fault;
static int fault_taken;

void dojo_report(const struct dojo_fault* fault) {
  if (__atomic_exchange_n(&fault_taken, 1, __ATOMIC_ACQ_REL) != 0) return;
  dojo_first_fault = *fault;
}

static uint8_t cause_of(int signal_number) {
  switch (signal_number) {
    case SIGILL:
      return DOJO_CAUSE_ILLEGAL;
    case SIGSEGV:
      return DOJO_CAUSE_ACCESS;
    case SIGBUS:
      return DOJO_CAUSE_MISALIGNED;
    case SIGFPE:
      return DOJO_CAUSE_ARITHMETIC;
    case SIGALRM:
      return DOJO_CAUSE_TIMEOUT;
    case SIGSYS:
      return DOJO_CAUSE_SYSTEM_CALL;
    default:
      return DOJO_CAUSE_TRAP;
  }
}

static void on_signal(int number, siginfo_t* info, void* context) {
  if (number == SIGALRM) expired = 1;
  if (!dojo_guard.active) {
    if (number == SIGALRM || number == DOJO_SIGNAL_LEAVE) return;
    dojo_die("the runner itself failed", strsignal(number));
  }
  if (number != DOJO_SIGNAL_LEAVE) {
    int addressed = number == SIGSEGV || number == SIGBUS;
    struct dojo_fault fault = {
        .pc = dojo_machine_pc(context),
        .address = addressed ? (uintptr_t)info->si_addr : 0,
        .native = (uint32_t)number,
        .hart = (uint16_t)this_hart,
        .cause = cause_of(number),
    };
    dojo_report(&fault);
  }
  dojo_machine_redirect(context);
}

void dojo_kernel_thread_init(unsigned hart) {
  this_hart = hart;
  size_t size = 64 << 10;
  stack_t stack = {.ss_size = size};
  stack.ss_sp = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0) {
    dojo_die("can't make a signal stack", strerror(errno));
  }
  dojo_guard.kernel_sp = dojo_stack_make();
}

void dojo_kernel_init(void) {
  static const int signals[] = {SIGILL,  SIGSEGV, SIGBUS,  SIGFPE,           SIGALRM,
                                SIGTRAP, SIGSYS,  SIGABRT, DOJO_SIGNAL_LEAVE};
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) {
    sigaction(signals[i], &action, NULL);
  }
  signal(SIGPIPE, SIG_IGN);
  /* From a terminal these reach the whole group; ending is the host's business. */
  signal(SIGINT, SIG_IGN);
  dojo_kernel_thread_init(0);
}

uint32_t dojo_port_micros(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}

void dojo_port_limit(uint32_t us) {
  /* Again and again: the first may come between two batches, or just before foreign code begins. */
  struct itimerval timer = {
      .it_value = {.tv_sec = us / 1000000, .tv_usec = us % 1000000},
      .it_interval = {.tv_usec = us != 0 ? 20000 : 0},
  };
  setitimer(ITIMER_REAL, &timer, NULL);
  expired = 0;
}

static int failed(struct dojo_fault* fault, uint32_t calls) {
  if (!dojo_pool_quiet()) {
    dojo_first_fault.cause = DOJO_CAUSE_LOST;
  } else if (dojo_first_fault.cause == 0) {
    dojo_first_fault.cause = DOJO_CAUSE_TRAP;
  }
  *fault = dojo_first_fault;
  fault->repeat = calls - (uint32_t)dojo_guard.left;
  return -1;
}

int dojo_port_batch(const struct dojo_batch* batch, struct dojo_counts* counts,
                    struct dojo_fault* fault) {
  uint64_t before[DOJO_EXTRA_COUNTERS], chain = 0;
  memset(&dojo_first_fault, 0, sizeof dojo_first_fault);
  __atomic_store_n(&fault_taken, 0, __ATOMIC_RELEASE);
  dojo_guard.entry = batch->entry;
  dojo_guard.argument = batch->table;
  dojo_guard.left = batch->calls;
  if (batch->calls == 0) return memset(counts, 0, sizeof *counts), 0;
  dojo_pool_select(batch->harts);
  if (batch->flags & DOJO_CALL_FLAG_CHAIN) chain = dojo_machine_chain();
  dojo_counters_read(batch->counters, before);
  dojo_machine_settle();
  if (expired) {
    dojo_report(&(struct dojo_fault){.cause = DOJO_CAUSE_TIMEOUT, .native = SIGALRM});
    return failed(fault, batch->calls);
  }
  int how = dojo_machine_batch();
  dojo_machine_settle();
  if (how == DOJO_STACK_MOVED) {
    dojo_report(&(struct dojo_fault){.cause = DOJO_CAUSE_STACK});
  }
  if (how != DOJO_RETURNED) return failed(fault, batch->calls);
  dojo_counters_read(batch->counters, counts->extra);
  for (unsigned i = 0; i < DOJO_EXTRA_COUNTERS && batch->counters >> 1 >> i != 0; ++i) {
    counts->extra[i] -= before[i];
  }
  if (batch->flags & DOJO_CALL_FLAG_CHAIN) chain += dojo_machine_chain();
  counts->ticks = dojo_guard.end - dojo_guard.start;
  counts->chain = chain;
  return 0;
}

void dojo_port_evict(uintptr_t address, uintptr_t size) { dojo_machine_evict(address, size); }

void dojo_port_reset(void) { _exit(0); }
