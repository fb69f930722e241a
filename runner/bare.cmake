# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The runner of a bare-metal target, from what dojo-port writes of its description.
set(generated "${CMAKE_CURRENT_BINARY_DIR}/generated")
execute_process(COMMAND "${DOJO_PORT_TOOL}" "${DOJO_TARGET}" "${generated}" RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "no firmware for ${DOJO_TARGET}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${DOJO_TARGET}")
include("${generated}/port.cmake")

set(here "${CMAKE_CURRENT_SOURCE_DIR}")
set(port "${here}/ports/${DOJO_PORT}")
set(timer "${here}/ports/bare/timer_${DOJO_TIMER}.c")
if(NOT EXISTS "${timer}")
  set(timer "${port}/timer_${DOJO_TIMER}.c")
endif()
file(GLOB port_sources CONFIGURE_DEPENDS "${port}/*.[cS]")
list(FILTER port_sources EXCLUDE REGEX "/timer_[^/]*$")
set(core_sources ${DOJO_CORE_SOURCES})
if(DOJO_BATCH)
  set(core_sources ${DOJO_BATCH_SOURCES})
endif()
# What a port's folder has a file for is not taken from those that all share.
set(shared_sources "")
foreach(shared core/crc32.c core/counter.c ports/bare/bare.c ports/bare/harts.c ports/bare/image.c
        ports/bare/memory.c)
  cmake_path(GET shared FILENAME name)
  if(NOT EXISTS "${port}/${name}")
    list(APPEND shared_sources "${here}/${shared}")
  endif()
endforeach()
# port.cmake: files of another port that this one has too, and how it is compiled.
set(DOJO_BORROWED "")
set(DOJO_OPTIMISE -Oz)
include("${port}/port.cmake" OPTIONAL)
add_executable(${DOJO_IMAGE} ${core_sources} ${shared_sources} ${port_sources} ${DOJO_BORROWED}
               "${here}/ports/bare/console_${DOJO_CONSOLE}.c" "${timer}" "${generated}/items.S")
target_include_directories(${DOJO_IMAGE} PRIVATE "${here}" "${generated}")
separate_arguments(flags UNIX_COMMAND "${DOJO_FLAGS}")
target_compile_options(${DOJO_IMAGE} PRIVATE ${flags}
  $<$<COMPILE_LANGUAGE:C>:${DOJO_OPTIMISE};-ffreestanding;-fno-builtin;-ffunction-sections;-fdata-sections>
  $<$<COMPILE_LANGUAGE:C>:-fno-pic;-fno-stack-protector>)
target_link_options(${DOJO_IMAGE} PRIVATE ${flags} -nostdlib -static
  -Wl,--gc-sections,-T,${generated}/link.ld,-z,noexecstack)
# Optimised as one, but for what compilers call by themselves and for the console, whose size is
# counted apart.
target_compile_options(${DOJO_IMAGE} PRIVATE $<$<COMPILE_LANGUAGE:C>:-flto>)
set_source_files_properties("${here}/ports/bare/memory.c"
                            "${here}/ports/bare/console_${DOJO_CONSOLE}.c"
                            PROPERTIES COMPILE_OPTIONS -fno-lto)
target_link_options(${DOJO_IMAGE} PRIVATE -flto)
if(DOJO_FLAGS MATCHES "--target=riscv")
  target_link_options(${DOJO_IMAGE} PRIVATE -Wl,--relax-gp)
endif()
set_target_properties(${DOJO_IMAGE} PROPERTIES LINK_DEPENDS "${generated}/link.ld")
add_custom_command(TARGET ${DOJO_IMAGE} POST_BUILD
  COMMAND "${CMAKE_COMMAND}" "-DIMAGE=$<TARGET_FILE:${DOJO_IMAGE}>" "-DSIZE=${DOJO_SIZE}"
          -P "${here}/print_size.cmake" VERBATIM)
