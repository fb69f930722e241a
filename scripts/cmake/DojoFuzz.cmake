# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Fuzzing with libFuzzer: clang compiles what a target reads once more, with sanitizers, beside the
# ordinary build.

set(DOJO_FUZZ_FLAGS -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined
                    -fno-sanitize-recover=all -Wno-deprecated-declarations
                    "-I${CMAKE_SOURCE_DIR}/host" "-I${CMAKE_SOURCE_DIR}/runner"
                    "-I${CMAKE_SOURCE_DIR}/tests/firmware"
                    "-DDOJO_TARGETS_DIR=\"${CMAKE_SOURCE_DIR}/targets\"")

# The clang of LLVM's version, where it and its libFuzzer are installed.
set(dojo_fuzz_clang "${LLVM_TOOLS_BINARY_DIR}/clang++")
if(NOT DEFINED DOJO_FUZZ_WORKS OR NOT DOJO_FUZZ_WORKS STREQUAL dojo_fuzz_clang)
  set(probe "${CMAKE_BINARY_DIR}/fuzz/probe")
  file(WRITE "${probe}.cpp" "extern \"C\" int LLVMFuzzerTestOneInput(const unsigned char*, \
unsigned long) { return 0; }\n")
  execute_process(COMMAND "${dojo_fuzz_clang}" -fsanitize=fuzzer,address,undefined "${probe}.cpp"
                          -o "${probe}"
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed EQUAL 0)
    set(DOJO_FUZZ_WORKS "${dojo_fuzz_clang}" CACHE INTERNAL "")
  else()
    unset(DOJO_FUZZ_WORKS CACHE)
  endif()
endif()

# The object of one source; every target that needs it shares it.
function(dojo_fuzz_object source out)
  file(RELATIVE_PATH name "${CMAKE_SOURCE_DIR}" "${source}")
  set(object "${CMAKE_BINARY_DIR}/fuzz/${name}.o")
  set(${out} "${object}" PARENT_SCOPE)
  get_property(known GLOBAL PROPERTY dojo_fuzz_objects)
  if(object IN_LIST known)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY dojo_fuzz_objects "${object}")
  get_filename_component(folder "${object}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  set(language -std=c++20)
  if(source MATCHES "\\.c$")
    set(language -x c -std=c11)
  endif()
  add_custom_command(OUTPUT "${object}"
    COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} "${dojo_fuzz_clang}" ${DOJO_FUZZ_FLAGS}
            -fsanitize=fuzzer-no-link ${language} -MD -MF "${object}.d" -MT "${object}"
            -c "${source}" -o "${object}"
    DEPENDS "${source}" DEPFILE "${object}.d" VERBATIM
    COMMENT "Compiling ${name} for fuzzing")
endfunction()

# dojo_fuzz(NAME SOURCES glob... SEEDS folder... LIBRARIES name...): fuzz_NAME from tests/fuzz/NAME.cpp
# and the sources, and the test "fuzz: NAME", which is short, always the same, and starts from the
# seeds (tests/fuzz/seeds/NAME where it is there, and the folders given).
function(dojo_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;SEEDS;LIBRARIES" ${ARGN})
  if(NOT DOJO_FUZZ_WORKS)
    message(STATUS "left out: the test 'fuzz: ${name}'; there is no ${dojo_fuzz_clang} with "
                   "libFuzzer (scripts/setup.sh installs it)")
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  set(objects "")
  foreach(source "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/${name}.cpp" ${sources})
    dojo_fuzz_object("${source}" object)
    list(APPEND objects "${object}")
  endforeach()
  set(program "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/fuzz_${name}")
  add_custom_command(OUTPUT "${program}"
    COMMAND "${dojo_fuzz_clang}" -fsanitize=fuzzer,address,undefined ${objects} ${arg_LIBRARIES}
            -lpthread -o "${program}"
    DEPENDS ${objects} VERBATIM COMMENT "Linking fuzz_${name}")
  add_custom_target(fuzz_${name} ALL DEPENDS "${program}")
  add_test(NAME "fuzz: ${name}"
           COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/run.sh" "${program}"
                   "${CMAKE_CURRENT_SOURCE_DIR}/fuzz/seeds/${name}" ${arg_SEEDS})
  set_tests_properties("fuzz: ${name}" PROPERTIES TIMEOUT 100000)
endfunction()
