// The door to conversions: lines of numbers from one format to another.
#pragma once

#include "convert/encode.hpp"
#include "convert/streaming.hpp"
