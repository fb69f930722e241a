# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# cmake -DINPUT=FILE -DOUTPUT=FILE.cpp -P embed.cmake: the bytes of a file as a C++ array.
file(READ "${INPUT}" hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE "${OUTPUT}" "// Generated from arithmetic.c.
#include <cstddef>
namespace dojo::codegen {
extern const unsigned char kArithmetic[];
extern const std::size_t kArithmeticBytes;
const unsigned char kArithmetic[] = {${bytes}0};
const std::size_t kArithmeticBytes = sizeof kArithmetic - 1;
}  // namespace dojo::codegen
")
