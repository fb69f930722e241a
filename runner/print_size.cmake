# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints how large IMAGE is, by the program SIZE.
execute_process(COMMAND "${SIZE}" -A -d "${IMAGE}" OUTPUT_VARIABLE table)
foreach(section text rodata console bss)
  set(${section} 0)
  if(table MATCHES "\n\\.${section} +([0-9]+)")
    set(${section} ${CMAKE_MATCH_1})
  endif()
endforeach()
math(EXPR code "${text} + ${rodata}")
cmake_path(GET IMAGE FILENAME name)
message(NOTICE "${name}: ${code} bytes of code and constants, ${console} more of the console, ${bss} of variables")
