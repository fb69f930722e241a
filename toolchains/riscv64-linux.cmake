# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Linux on riscv64, by the packaged GNU cross compiler (gcc-riscv64-linux-gnu, libc6-dev-*-cross).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER riscv64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tried when the file was written: CMake needn't try again for every image.
set(CMAKE_C_COMPILER_WORKS ON)
set(CMAKE_ASM_COMPILER_WORKS ON)
