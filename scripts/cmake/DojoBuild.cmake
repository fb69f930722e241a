# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler settings, packages, and the functions that declare our libraries and tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")

option(DOJO_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
add_compile_options(-Wall -Wextra -Werror -Wshadow=local -fno-math-errno -ffp-contract=off)
if(DOJO_SANITIZE)
  # Instrumented code makes this warning fire on correct code of the standard library.
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -g1
                      -Wno-maybe-uninitialized)
  add_link_options(-fsanitize=address,undefined)
endif()

find_program(DOJO_CCACHE ccache)
if(DOJO_CCACHE)
  foreach(lang C CXX)
    set(CMAKE_${lang}_COMPILER_LAUNCHER
        env CCACHE_SLOPPINESS=pch_defines,time_macros "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
        "${DOJO_CCACHE}")
  endforeach()
  # Lets ccache handle precompiled headers.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CURL REQUIRED)
find_package(Catch2 2 REQUIRED)
include(Catch)
find_library(DOJO_ISL isl REQUIRED)
find_library(DOJO_MPFR mpfr REQUIRED)

# The newest LLVM from 19 on.
if(NOT LLVM_DIR)
  file(GLOB llvm_dirs "/usr/lib/llvm-*/lib/cmake/llvm")
  list(SORT llvm_dirs COMPARE NATURAL ORDER DESCENDING)
  list(GET llvm_dirs 0 LLVM_DIR)
endif()
find_package(LLVM REQUIRED CONFIG)
if(LLVM_VERSION_MAJOR LESS 19)
  message(FATAL_ERROR "LLVM ${LLVM_VERSION} in ${LLVM_DIR} is too old: 19 or newer is needed")
endif()
message(STATUS "LLVM ${LLVM_VERSION} from ${LLVM_DIR}")
add_library(dojo_llvm INTERFACE)
target_include_directories(dojo_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_compile_definitions(dojo_llvm INTERFACE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(dojo_llvm INTERFACE LLVM)
target_link_directories(dojo_llvm INTERFACE ${LLVM_LIBRARY_DIRS})

# dojo_library(NAME DEPS ...): the library dojo_NAME from every source in host/NAME.
function(dojo_library name)
  cmake_parse_arguments(arg "" "" "DEPS;SOURCES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources AND NOT arg_SOURCES)
    add_library(dojo_${name} INTERFACE)
    return()
  endif()
  add_library(dojo_${name} STATIC ${sources} ${arg_SOURCES})
  target_include_directories(dojo_${name} PUBLIC "${CMAKE_SOURCE_DIR}/host" "${CMAKE_SOURCE_DIR}/runner")
  target_link_libraries(dojo_${name} PUBLIC ${arg_DEPS})
endfunction()

# dojo_test(NAME DEPS ...): the Catch2 program test_NAME from tests/NAME/*.cpp, each case a ctest.
function(dojo_test name)
  cmake_parse_arguments(arg "" "" "DEPS;LABELS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp")
  if(NOT sources)
    return()
  endif()
  string(REPLACE "/" "_" target "test_${name}")
  add_executable(${target} ${sources})
  target_link_libraries(${target} PRIVATE dojo_test_main ${arg_DEPS})
  target_precompile_headers(${target} REUSE_FROM dojo_test_main)
  target_compile_definitions(${target} PRIVATE DOJO_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                               DOJO_BINARY_DIR="${CMAKE_BINARY_DIR}")
  catch_discover_tests(${target} TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 900)
endfunction()
