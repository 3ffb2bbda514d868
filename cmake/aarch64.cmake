# Builds for AArch64 elsewhere, and runs what was built under emulation of a processor that has everything. On Debian this
# takes g++-aarch64-linux-gnu, qemu-user and, after `dpkg --add-architecture arm64`, libgmp-dev:arm64 for the tests: with it
# come the libraries of the system that is emulated.
#
#   cmake -S . -B build-aarch64 -DCMAKE_TOOLCHAIN_FILE=cmake/aarch64.cmake
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -cpu max)
