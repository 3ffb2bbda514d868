// The only place where the version number is written; CMake reads it from here.
#pragma once

#define NARROW_VERSION_MAJOR 0
#define NARROW_VERSION_MINOR 1
#define NARROW_VERSION_PATCH 0
