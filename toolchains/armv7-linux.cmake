# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Linux on armv7, by the packaged GNU cross compiler (gcc-arm-linux-gnueabihf, libc6-dev-*-cross).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_ASM_COMPILER arm-linux-gnueabihf-gcc)
set(CMAKE_C_FLAGS_INIT "-march=armv7-a+fp -marm")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Tried when the file was written: CMake needn't try again for every image.
set(CMAKE_C_COMPILER_WORKS ON)
set(CMAKE_ASM_COMPILER_WORKS ON)
