// Whole programs, each as often as it is called.
#include "programs.hpp"

namespace narrow_bench {

namespace {

template <template <class, class> class Program> struct running {
  template <class T, class Format> struct data {
    Program<T, Format> program;
    double value = 0;

    Eigen::ArrayXd result() const { return Eigen::ArrayXd::Constant(1, value); }
  };
};

template <template <class, class> class Program>
void offer_program(operations& to, const std::string& name, double roundings) {
  offer<program_formats, running<Program>::template data>(
      to, {"program/" + name, "", {"runs/s", 1}, 0, roundings}, [](auto& x) { x.value = x.program(); });
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations programs() {
  operations result;
  offer_program<program::k_means>(result, "k_means", 2);
  offer_program<program::kalman>(result, "kalman", 8);
  offer_program<program::softmax_regression>(result, "softmax_regression", 4);
  offer_program<program::mlp>(result, "mlp", 4);
  offer_program<program::heat>(result, "heat", 4);
  offer_program<program::power_iteration>(result, "power_iteration", 4);
  offer_program<program::logistic>(result, "logistic", 4);
  offer_program<program::pca>(result, "pca", 4);
  offer_program<program::blur>(result, "blur", 4);
  offer_program<program::rigid>(result, "rigid", 4);
  offer_program<program::knn>(result, "knn", 4);
  offer_program<program::sgd>(result, "sgd", 4);
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
