// What check.cmake has gdb print.
#include <vector>

#include <narrow/narrow.hpp>

using namespace narrow;

void stop(const std::vector<fp16>& numbers, bf16 infinite, fp8_e4m3fn no_number, fp8_e4m3fnuz other_nan,
          fp4_e2m1 six, fixed<8, 4> fraction, fixed<32, 16, rounding::stochastic> large,
          floating<5, 10, specials::ieee, rounding::upward> up) {
  asm volatile(""
               :
               : "r"(&numbers), "r"(&infinite), "r"(&no_number), "r"(&other_nan), "r"(&six), "r"(&fraction),
                 "r"(&large), "r"(&up));
}

int main() {
  stop({0.1, -65504, 6e-8}, -std::numeric_limits<bf16>::infinity(),
       std::numeric_limits<fp8_e4m3fn>::quiet_NaN(), std::numeric_limits<fp8_e4m3fnuz>::quiet_NaN(), 6,
       -2.0625, 1.5, 0.5);
}
