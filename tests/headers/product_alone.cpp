// A program that includes one header: what that header needs, it includes, the limits of formats too.
#include <narrow/product.hpp>
#include <vector>

int main() {
  using number = narrow::fixed<8, 4>;
  constexpr int n = 64;
  const std::vector<number> ones(n * n, number(1));
  std::vector<number> product(n * n);
  narrow::gemm(narrow::row_major(ones, n, n), narrow::row_major(ones, n, n),
               narrow::row_major(product, n, n));
  return double(product[0]) == 7.9375 ? 0 : 1;  // 64, saturated
}
