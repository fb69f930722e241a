# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The runner as a Linux process.
find_package(Threads REQUIRED)
set(here "${CMAKE_CURRENT_LIST_DIR}")
file(GLOB linux_sources CONFIGURE_DEPENDS "${here}/*.c" "${here}/${CMAKE_SYSTEM_PROCESSOR}/*.[cS]")
if(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  list(REMOVE_ITEM linux_sources "${here}/ticks.c" "${here}/sweep.c" "${here}/attempt.c")
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL riscv64)
  list(APPEND linux_sources "${here}/../ports/riscv/extensions.S")
endif()
add_executable(${DOJO_IMAGE} ${DOJO_CORE_SOURCES} ${linux_sources})
target_include_directories(${DOJO_IMAGE} PRIVATE "${here}/.." "${here}")
# At fixed addresses, with its own code within reach of a placed kernel's calls; never sanitized:
# the sanitizers' signal handlers and shadow memory would stand in a kernel's way.
target_compile_options(${DOJO_IMAGE} PRIVATE $<$<COMPILE_LANGUAGE:C>:-O2 -fno-pie>
                                             $<$<COMPILE_LANGUAGE:C>:-fno-sanitize=all>)
target_link_options(${DOJO_IMAGE} PRIVATE -no-pie -fno-sanitize=all)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
  # For any system of that machine, and for an emulator of user programs here.
  target_link_options(${DOJO_IMAGE} PRIVATE -static)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm)$")
  # Just below the region for code: a call reaches 32 MiB (arm) or 128 MiB (aarch64).
  target_link_options(${DOJO_IMAGE} PRIVATE -Wl,-Ttext-segment=0x0f000000)
elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL riscv64)
  # No addressing by gp, which foreign code may have changed.
  target_link_options(${DOJO_IMAGE} PRIVATE -Wl,--no-relax)
endif()
target_link_libraries(${DOJO_IMAGE} PRIVATE Threads::Threads)
