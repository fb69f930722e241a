# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DOUTPUT=FILE "-DINPUTS=A;B" -P embed.cmake: writes the definition of timingTexts().
set(entries "")
foreach(file IN LISTS INPUTS)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" text)
  string(APPEND entries "      {\"${name}\", R\"dojo(${text})dojo\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by host/bringup/timing/embed.cmake from the files of that folder.
#include \"bringup/timing_rows.h\"

namespace dojo::bringup {

const std::map<std::string, std::string_view>& timingTexts() {
  static const std::map<std::string, std::string_view> files = {
${entries}  };
  return files;
}

}  // namespace dojo::bringup
")
