# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Writes OUTPUT, which includes every source that Verilator left in FOLDER.
get_filename_component(self "${OUTPUT}" NAME)
file(GLOB sources RELATIVE "${FOLDER}" "${FOLDER}/*.cpp")
list(REMOVE_ITEM sources "${self}")
list(SORT sources)
set(text "")
foreach(source IN LISTS sources)
  string(APPEND text "#include \"${source}\"\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
