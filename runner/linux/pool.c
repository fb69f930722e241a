/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The harts: hart 0 is the main thread, the others are workers, each pinned to a core. A worker
 * waits for the next job by spinning for a while, then in the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "linux/linux.h"
#include "linux/machine.h"

static unsigned harts;             /* there are */
static unsigned active;            /* serve the present batch */
static int cores[DOJO_MOST_HARTS]; /* on which each is pinned */
static pid_t threads[DOJO_MOST_HARTS];
static __thread int inside; /* a body of dojo_parallel_for */

static struct {
  dojo_body_fn body;
  void* context;
  int64_t count;
  unsigned harts;
} job;
/* Changes with each job: a count above the number of harts that it takes. */
static uint32_t generation __attribute__((aligned(64)));
#define HARTS_MASK 0xfffu
static uint32_t left __attribute__((aligned(64))); /* workers that haven't finished it */
static uint32_t sleepers __attribute__((aligned(64)));
static int failed; /* a hart left the job by a fault */

static void futex_wait(uint32_t* at, uint32_t value, const struct timespec* limit) {
  syscall(SYS_futex, at, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0);
}
static void futex_wake(uint32_t* at) {
  syscall(SYS_futex, at, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

static void run_share(unsigned hart) {
  int64_t chunk = job.count / job.harts, rest = job.count % job.harts;
  int64_t n = (int64_t)hart;
  int64_t first = n * chunk + (n < rest ? n : rest);
  int64_t last = first + chunk + (n < rest ? 1 : 0);
  for (int64_t i = first; i < last; ++i) job.body(job.context, i);
}

static void worker_share(uintptr_t hart) { run_share((unsigned)hart); }

/* Spins about `ticks`, true as soon as *at differs from `value`. */
static int spin(const uint32_t* at, uint32_t value, uint64_t ticks) {
  uint64_t start = dojo_machine_ticks();
  do {
    for (int i = 0; i < 16; ++i) {
      if (__atomic_load_n(at, __ATOMIC_ACQUIRE) != value) return 1;
      dojo_machine_pause();
    }
  } while (dojo_machine_ticks() - start < ticks);
  return 0;
}

static void pin(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  (void)sched_setaffinity(0, sizeof set, &set);
}

static void* worker(void* argument) {
  unsigned hart = (unsigned)(uintptr_t)argument;
  pin(cores[hart]);
  dojo_kernel_thread_init(hart);
  uint32_t seen = 0;
  __atomic_store_n(&threads[hart], (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
  uint64_t patience = (uint64_t)(dojo_ticks_hz * 100e-6);
  for (;;) {
    while (!spin(&generation, seen, patience)) {
      __atomic_fetch_add(&sleepers, 1, __ATOMIC_SEQ_CST);
      futex_wait(&generation, seen, NULL);
      __atomic_fetch_sub(&sleepers, 1, __ATOMIC_SEQ_CST);
    }
    seen = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    if (hart >= (seen & HARTS_MASK)) continue; /* not ours, and may change under our eyes */
    dojo_machine_settle();
    dojo_guard.entry = (uintptr_t)worker_share;
    dojo_guard.argument = hart;
    inside = 1;
    int how = dojo_machine_protected();
    inside = 0;
    if (how == DOJO_STACK_MOVED) {
      dojo_report(&(struct dojo_fault){.cause = DOJO_CAUSE_STACK, .hart = (uint16_t)hart});
    }
    if (how != DOJO_RETURNED) __atomic_store_n(&failed, 1, __ATOMIC_RELEASE);
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL) == 0) futex_wake(&left);
  }
  return NULL;
}

static int wait_for_others(double seconds) {
  uint64_t patience = (uint64_t)(dojo_ticks_hz * 100e-6);
  uint32_t start = dojo_port_micros();
  uint32_t now;
  while ((now = __atomic_load_n(&left, __ATOMIC_ACQUIRE)) != 0) {
    if (spin(&left, now, patience)) continue;
    const struct timespec limit = {.tv_nsec = 10000000};
    futex_wait(&left, now, &limit);
    if (seconds > 0 && dojo_port_micros() - start > seconds * 1e6) return 0;
  }
  return 1;
}

void dojo_parallel_for(dojo_body_fn body, void* context, int64_t count) {
  unsigned use = active;
  if (count < (int64_t)use) use = count < 1 ? 1 : (unsigned)count;
  if (inside || use == 1) {
    for (int64_t i = 0; i < count; ++i) body(context, i);
    return;
  }
  job.body = body;
  job.context = context;
  job.count = count;
  job.harts = use;
  __atomic_store_n(&left, use - 1, __ATOMIC_RELAXED);
  __atomic_store_n(&generation, ((generation & ~HARTS_MASK) + HARTS_MASK + 1) | use,
                   __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST) != 0) futex_wake(&generation);
  inside = 1;
  run_share(0);
  inside = 0;
  wait_for_others(0);
  if (__atomic_load_n(&failed, __ATOMIC_ACQUIRE)) dojo_machine_escape();
}

void dojo_pool_select(unsigned count) {
  active = count;
  failed = 0;
  inside = 0;
}

int dojo_pool_quiet(void) {
  inside = 0;
  if (wait_for_others(0.01)) return 1;
  for (unsigned hart = 1; hart < harts; ++hart) {
    syscall(SYS_tgkill, getpid(), threads[hart], DOJO_SIGNAL_LEAVE);
  }
  return wait_for_others(1);
}

void dojo_pool_init(void) {
  cpu_set_t set;
  int usable[CPU_SETSIZE], count = 0;
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    dojo_die("can't ask for the cores", strerror(errno));
  }
  /* From the last one down: the first is where everything else tends to run. */
  for (int core = CPU_SETSIZE - 1; core >= 0; --core) {
    if (CPU_ISSET(core, &set) && core != dojo_options.core) usable[count++] = core;
  }
  if (dojo_options.core >= 0) {
    if (dojo_options.core >= CPU_SETSIZE || !CPU_ISSET(dojo_options.core, &set)) {
      dojo_die("--core", "not one that this process may run on");
    }
    memmove(usable + 1, usable, (size_t)count * sizeof *usable);
    usable[0] = dojo_options.core;
    ++count;
  }
  harts = dojo_options.harts != 0 ? (unsigned)dojo_options.harts : (unsigned)count;
  if (harts > DOJO_MOST_HARTS) harts = DOJO_MOST_HARTS;
  for (unsigned hart = 0; hart < harts; ++hart) cores[hart] = usable[hart % (unsigned)count];
  pin(cores[0]);
  sigset_t all, old;
  sigemptyset(&all);
  sigaddset(&all, SIGALRM); /* the time limit is hart 0's */
  pthread_sigmask(SIG_BLOCK, &all, &old);
  for (unsigned hart = 1; hart < harts; ++hart) {
    pthread_t thread;
    int error = pthread_create(&thread, NULL, worker, (void*)(uintptr_t)hart);
    if (error != 0) dojo_die("can't start a thread", strerror(error));
    while (__atomic_load_n(&threads[hart], __ATOMIC_ACQUIRE) == 0) sched_yield();
  }
  pthread_sigmask(SIG_SETMASK, &old, NULL);
}

uint32_t dojo_port_harts(void) { return harts; }

void dojo_pool_items(void) {
  uint8_t list[2 * DOJO_MOST_HARTS];
  for (unsigned hart = 0; hart < harts; ++hart) dojo_put(list + 2 * hart, (uint64_t)cores[hart], 2);
  dojo_item(DOJO_ITEM_CORES, list, (uint16_t)(2 * harts), NULL, 0);
}
