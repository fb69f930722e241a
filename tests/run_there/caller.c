/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A process of another machine, under its user-mode emulator, that does what it reads: writes to
 * its memory, reads of it, and calls. Freestanding, so that one source serves every instruction
 * set. For tests of the code generator alone: the product runs kernels in a runner. */
#include <stddef.h>
#include <stdint.h>

enum { kWrite = 0, kCall = 1, kRead = 2 };

struct request {
  uint64_t what, address, size;
};

typedef void kernel_fn(void* const* buffers);
typedef void body_fn(void* context, int64_t iteration);

#if defined(__riscv)
enum { kSysRead = 63, kSysWrite = 64, kSysExit = 93, kSysMap = 222 };
static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r7 __asm__("a7") = number;
  register long r0 __asm__("a0") = a;
  register long r1 __asm__("a1") = b;
  register long r2 __asm__("a2") = c;
  register long r3 __asm__("a3") = d;
  register long r4 __asm__("a4") = e;
  register long r5 __asm__("a5") = f;
  __asm__ volatile("ecall"
                   : "+r"(r0)
                   : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r7)
                   : "memory");
  return r0;
}
#elif defined(__aarch64__)
enum { kSysRead = 63, kSysWrite = 64, kSysExit = 93, kSysMap = 222 };
static long call(long number, long a, long b, long c, long d, long e, long f) {
  register long r8 __asm__("x8") = number;
  register long r0 __asm__("x0") = a;
  register long r1 __asm__("x1") = b;
  register long r2 __asm__("x2") = c;
  register long r3 __asm__("x3") = d;
  register long r4 __asm__("x4") = e;
  register long r5 __asm__("x5") = f;
  __asm__ volatile("svc 0"
                   : "+r"(r0)
                   : "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5), "r"(r8)
                   : "memory");
  return r0;
}
#elif defined(__arm__)
enum { kSysRead = 3, kSysWrite = 4, kSysExit = 1, kSysMap = 192 };
__attribute__((naked)) static long call(long number, long a, long b, long c, long d, long e,
                                        long f) {
  __asm__(
      "push {r4-r7, lr}\n"
      "mov r7, r0\n"
      "mov r0, r1\n"
      "mov r1, r2\n"
      "mov r2, r3\n"
      "ldr r3, [sp, #20]\n"
      "ldr r4, [sp, #24]\n"
      "ldr r5, [sp, #28]\n"
      "svc 0\n"
      "pop {r4-r7, pc}\n");
}
#endif

static void leave(int status) {
  for (;;) call(kSysExit, status, 0, 0, 0, 0, 0);
}

static void take(void* into, size_t size) {
  char* at = into;
  while (size > 0) {
    long got = call(kSysRead, 0, (long)(uintptr_t)at, (long)size, 0, 0, 0);
    if (got <= 0) leave(got == 0 ? 0 : 2);
    at += got;
    size -= (size_t)got;
  }
}

static void give(const void* from, size_t size) {
  const char* at = from;
  while (size > 0) {
    long put = call(kSysWrite, 1, (long)(uintptr_t)at, (long)size, 0, 0, 0);
    if (put <= 0) leave(3);
    at += put;
    size -= (size_t)put;
  }
}

/* Backwards, so that an order that isn't free shows. */
static void parallel_for(body_fn* body, void* context, int64_t count) {
  for (int64_t i = count; i-- > 0;) body(context, i);
}

static void serve(void) {
  uint64_t service = (uintptr_t)&parallel_for;
  void* memory = (void*)(uintptr_t)DOJO_REGION;
  long mapped = call(kSysMap, (long)(uintptr_t)memory, DOJO_REGION_BYTES, 7, 0x32, -1, 0);
  if (mapped != (long)(uintptr_t)memory) leave(4);
  give(&service, sizeof service);
  for (;;) {
    struct request request;
    take(&request, sizeof request);
    void* address = (void*)(uintptr_t)request.address;
    if (request.what == kWrite) {
      take(address, (size_t)request.size);
    } else if (request.what == kRead) {
      give(address, (size_t)request.size);
    } else if (request.what == kCall) {
      ((kernel_fn*)address)((void* const*)(uintptr_t)request.size);
      give(&request, 8);
    } else {
      leave(5);
    }
  }
}

#if defined(__riscv)
__asm__(
    ".globl _start\n_start:\n.option push\n.option norelax\nandi sp, sp, -16\ncall enter\n.option "
    "pop\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\nbl enter\n");
#else
__asm__(".globl _start\n.thumb_func\n_start:\nmov r0, sp\nbic r0, r0, #15\nmov sp, r0\nbl enter\n");
#endif

__attribute__((used)) void enter(void) {
  serve();
  leave(0);
}
