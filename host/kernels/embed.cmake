# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DOUTPUT=FILE -P embed.cmake -- FILE.dojo ...: writes the definition of embedded().
set(entries "")
set(past_separator OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(NOT past_separator)
    if(CMAKE_ARGV${i} STREQUAL "--")
      set(past_separator ON)
    endif()
    continue()
  endif()
  set(file "${CMAKE_ARGV${i}}")
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" text)
  string(APPEND entries "      {\"${name}\", R\"dojo(${text})dojo\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by host/kernels/embed.cmake from host/kernels/*.dojo.
#include \"kernels/embedded.h\"

namespace dojo::kernels {

const std::vector<Embedded>& embedded() {
  static const std::vector<Embedded> files = {
${entries}  };
  return files;
}

}  // namespace dojo::kernels
")
