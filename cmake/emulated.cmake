# Builds for another processor, and runs what was built under emulation. On Debian this takes qemu-user and g++-TRIPLE, of
# the triples below; the tests take the libgmp-dev of that processor, too.
#
#   cmake -S . -B build-s390x -DCMAKE_TOOLCHAIN_FILE=cmake/emulated.cmake -DNARROW_PROCESSOR=s390x
set(NARROW_PROCESSOR aarch64 CACHE STRING "The processor that is built for: one of the list below")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NARROW_PROCESSOR)

# processor | triple | options of the emulator | options of the compiler
set(processors
  "aarch64|aarch64-linux-gnu|-cpu max|"  # which has every instruction set
  "arm|arm-linux-gnueabihf||"
  "i386|i686-linux-gnu||-msse2 -mfpmath=sse"
  "ppc64le|powerpc64le-linux-gnu||"
  "riscv64|riscv64-linux-gnu||"
  "s390x|s390x-linux-gnu||")
list(FILTER processors INCLUDE REGEX "^${NARROW_PROCESSOR}[|]")
if(NOT processors MATCHES "^([^|]+)[|]([^|]+)[|]([^|]*)[|]([^|]*)$")
  message(FATAL_ERROR "cmake/emulated.cmake does not list the processor \"${NARROW_PROCESSOR}\"")
endif()
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${CMAKE_MATCH_1})
set(CMAKE_CXX_COMPILER ${CMAKE_MATCH_2}-g++)
set(CMAKE_CXX_FLAGS_INIT ${CMAKE_MATCH_4})
# The libraries that come with the compiler, and those of the processor's own packages where they are installed.
separate_arguments(CMAKE_CROSSCOMPILING_EMULATOR UNIX_COMMAND
  "qemu-${CMAKE_MATCH_1} -L /usr/${CMAKE_MATCH_2} ${CMAKE_MATCH_3}")
# An x86-64 processor runs programs of i386 itself; Debian 12's qemu-i386 hangs in a program that joins a thread.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "i386" AND CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL "x86_64")
  set(libraries /usr/${CMAKE_MATCH_2}/lib)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${libraries}/ld-linux.so.2 --library-path ${libraries})
endif()
