/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The runner as a process: options, the link over standard input and output, facts. */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/core.h"
#include "linux/linux.h"
#include "linux/machine.h"

struct dojo_options dojo_options = {
    .memory_fd = -1,
    .code_bytes = (uint64_t)64 << 20,
    .data_bytes = (uint64_t)1 << 30,
    .core = -1,
    .harts = 0,
    .confine = 1,
};

/* By write(2) alone: it's also called from signal handlers. */
void dojo_die(const char* what, const char* reason) {
  const char* pieces[] = {"dojo-runner: ", what, ": ", reason, "\n"};
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i) {
    if (write(2, pieces[i], strlen(pieces[i])) < 0) break;
  }
  _exit(70);
}

size_t dojo_port_receive(uint8_t* into, size_t most, int wait) {
  struct pollfd in = {.fd = 0, .events = POLLIN};
  uint32_t start = wait ? dojo_port_micros() : 0;
  /* The next command mostly follows soon, and waking up takes long. */
  while (poll(&in, 1, 0) == 0) {
    if (!wait) return 0;
    if (dojo_port_micros() - start > 100) break;
  }
  ssize_t count;
  do {
    count = read(0, into, most);
  } while (count < 0 && errno == EINTR);
  if (count <= 0) _exit(0); /* the host has gone */
  return (size_t)count;
}

static uint8_t outgoing[65536];
static size_t pending;
static uint32_t pending_since;

static void drain(void) {
  for (size_t done = 0; done < pending;) {
    ssize_t count = write(1, outgoing + done, pending - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) _exit(0);
    done += (size_t)count;
  }
  pending = 0;
}

void dojo_port_send(const uint8_t* bytes, size_t count) {
  while (count != 0) {
    if (pending == 0) pending_since = dojo_port_micros();
    size_t take = sizeof outgoing - pending < count ? sizeof outgoing - pending : count;
    memcpy(outgoing + pending, bytes, take);
    pending += take;
    bytes += take;
    count -= take;
    if (pending == sizeof outgoing) drain();
  }
}

void dojo_port_flush(int urgent) {
  if (pending != 0 && (urgent || dojo_port_micros() - pending_since > 1000)) drain();
}

/* Everything of ours that is loaded and can't be written: code and constants. */
static struct {
  const void* at;
  size_t bytes;
} image[8];
static unsigned images;

static int find_image(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  for (unsigned i = 0; i < info->dlpi_phnum && images < 8; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
    image[images].at = (const void*)(info->dlpi_addr + header->p_vaddr);
    image[images++].bytes = header->p_filesz;
  }
  return 1; /* the program itself comes first */
}

uint32_t dojo_port_image_crc(void) {
  uint32_t crc = 0;
  for (unsigned i = 0; i < images; ++i) crc = dojo_crc32(crc, image[i].at, image[i].bytes);
  return crc;
}

static uint32_t boot;

void dojo_port_facts(struct dojo_info* info) {
  info->timer_hz = (uint64_t)dojo_ticks_hz;
  info->boot = boot;
}

static void service(const char* name, uintptr_t address) {
  uint8_t head[8];
  dojo_put(head, address, 8);
  dojo_item(DOJO_ITEM_SERVICE, head, sizeof head, name, (uint16_t)strlen(name));
}

static char isa[512];

void dojo_port_items(void) {
  dojo_item(DOJO_ITEM_PORT, "linux", 5, NULL, 0);
  dojo_item(DOJO_ITEM_ISA, isa, (uint16_t)strlen(isa), NULL, 0);
  dojo_memory_items();
  dojo_counters_items();
  dojo_pool_items();
  uint8_t cycles[4];
  dojo_put(cycles, dojo_machine_chain_cycles(), 4);
  dojo_item(DOJO_ITEM_CHAIN, cycles, sizeof cycles, NULL, 0);
  service("dojo_parallel_for", (uintptr_t)dojo_parallel_for);
  service("dojo_empty_kernel", (uintptr_t)dojo_empty_kernel);
}

void dojo_port_sync(void) {
  dojo_memory_sync();
  syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
}

static uint64_t number(const char* option, const char* text) {
  char* end;
  errno = 0;
  unsigned long long value = text != NULL ? strtoull(text, &end, 10) : 0;
  if (text == NULL || *text < '0' || *text > '9' || *end != 0 || errno != 0) {
    dojo_die(option, "a number must follow");
  }
  return value;
}

static const char usage[] =
    "usage: dojo-runner-linux [--memory-fd N] [--code-bytes N] [--data-bytes N]\n"
    "                         [--core N] [--harts N] [--no-confine]\n"
    "Runs compiled kernels for a host that speaks frames on standard input and output;\n"
    "see runner/protocol/PROTOCOL.md.\n";

static void parse(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const char *option = argv[i], *next = argv[i + 1];
    if (strcmp(option, "--help") == 0) {
      fputs(usage, stdout);
      exit(0);
    } else if (strcmp(option, "--no-confine") == 0) {
      dojo_options.confine = 0;
      continue;
    } else if (strcmp(option, "--memory-fd") == 0) {
      dojo_options.memory_fd = (int)number(option, next);
    } else if (strcmp(option, "--code-bytes") == 0) {
      dojo_options.code_bytes = number(option, next);
    } else if (strcmp(option, "--data-bytes") == 0) {
      dojo_options.data_bytes = number(option, next);
    } else if (strcmp(option, "--core") == 0) {
      dojo_options.core = (int)number(option, next);
    } else if (strcmp(option, "--harts") == 0) {
      dojo_options.harts = (int)number(option, next);
    } else {
      dojo_die(option, "unknown option; --help lists them");
    }
    ++i;
  }
}

int main(int argc, char** argv) {
  parse(argc, argv);
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  boot = (uint32_t)now.tv_nsec ^ (uint32_t)getpid() << 12;
  dl_iterate_phdr(find_image, NULL);
  (void)syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
  dojo_machine_init();
  dojo_machine_isa(isa, sizeof isa);
  dojo_memory_init();
  dojo_kernel_init();
  /* Whatever else runs on the core would be measured too; without the right to it, as we are. */
  (void)setpriority(PRIO_PROCESS, 0, -5);
  dojo_counters_init();
  dojo_pool_init();
  if (dojo_options.confine) dojo_confine();
  dojo_run();
}
