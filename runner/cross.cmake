# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runners of other machines, each built by a CMake of its own.
file(GLOB_RECURSE runner_sources CONFIGURE_DEPENDS
     "${CMAKE_CURRENT_SOURCE_DIR}/core/*" "${CMAKE_CURRENT_SOURCE_DIR}/protocol/*.h"
     "${CMAKE_CURRENT_SOURCE_DIR}/linux/*" "${CMAKE_CURRENT_SOURCE_DIR}/ports/*"
     "${CMAKE_CURRENT_SOURCE_DIR}/*.cmake" "${CMAKE_CURRENT_SOURCE_DIR}/CMakeLists.txt")

# dojo_cross(IMAGE TOOLCHAIN COMPILER [option...] [DEPENDS file...]): the runner IMAGE, where COMPILER
# is installed.
function(dojo_cross image toolchain compiler)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  find_program(DOJO_FOUND_${compiler} ${compiler})
  if(NOT DOJO_FOUND_${compiler})
    message(STATUS "${image} is not built: there is no ${compiler}")
    return()
  endif()
  set(build "${CMAKE_BINARY_DIR}/runner/${image}")
  set(output "${CMAKE_BINARY_DIR}/bin/${image}")
  set(toolchain "${CMAKE_SOURCE_DIR}/toolchains/${toolchain}.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_SOURCE_DIR}" -B "${build}" -G "${CMAKE_GENERATOR}"
            --log-level=NOTICE "-DCMAKE_TOOLCHAIN_FILE=${toolchain}" -DCMAKE_BUILD_TYPE=None
            "-DCMAKE_C_COMPILER_LAUNCHER=${CMAKE_C_COMPILER_LAUNCHER}"
            "-DDOJO_BIN=${CMAKE_BINARY_DIR}/bin" "-DDOJO_IMAGE=${image}"
            ${arg_UNPARSED_ARGUMENTS}
    COMMAND "${CMAKE_COMMAND}" --build "${build}" -- --quiet
    DEPENDS ${runner_sources} "${toolchain}" ${arg_DEPENDS}
    COMMENT "Building ${image}" VERBATIM)
  add_custom_target(${image} ALL DEPENDS "${output}")
  set_property(GLOBAL APPEND PROPERTY DOJO_IMAGES ${image})
endfunction()

dojo_cross(dojo-runner-linux-riscv64 riscv64-linux riscv64-linux-gnu-gcc)
dojo_cross(dojo-runner-linux-aarch64 aarch64-linux aarch64-linux-gnu-gcc)
dojo_cross(dojo-runner-linux-armv7 armv7-linux arm-linux-gnueabihf-gcc)

# dojo_bare(TARGET): the firmware of a bare-metal target.
function(dojo_bare target)
  set(json "${CMAKE_SOURCE_DIR}/targets/${target}.json")
  dojo_cross(dojo-runner-${target}.elf bare-metal-clang clang-${LLVM_VERSION_MAJOR}
             "-DDOJO_TARGET=${json}" "-DDOJO_PORT_TOOL=$<TARGET_FILE:dojo-port>"
             DEPENDS "${json}" dojo-port)
endfunction()

dojo_bare(qemu-rv64gcv)
dojo_bare(qemu-rv64gcv-serial)
dojo_bare(qemu-rv32)
dojo_bare(rv32-jtag)
dojo_bare(cortex-m4)
dojo_bare(cortex-m7)
dojo_bare(cortex-m33)
dojo_bare(cortex-m55)
dojo_bare(aarch64-virt)
dojo_bare(qemu-rv32-gdb)
dojo_bare(qemu-rv32-batch)
dojo_bare(qemu-rv64gcv-batch)
dojo_bare(snitch)
dojo_bare(snitch-openocd)
dojo_bare(snitch-batch)
