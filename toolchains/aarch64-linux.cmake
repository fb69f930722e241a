# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Linux on aarch64, by the packaged GNU cross compiler (gcc-aarch64-linux-gnu, libc6-dev-*-cross).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_ASM_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tried when the file was written: CMake needn't try again for every image.
set(CMAKE_C_COMPILER_WORKS ON)
set(CMAKE_ASM_COMPILER_WORKS ON)
