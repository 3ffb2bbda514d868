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

/// Programs round hundreds of times, which has no bound that is worth testing: `roundings` is more than they
/// were found to lose, and less than a mistake would cost.
template <template <class, class> class Program>
void offer_program(operations& to, const std::string& name, double roundings = 2) {
  offer<program_formats, running<Program>::template data>(
      to, {"program/" + name, "", {"runs/s", 1}, 0, roundings}, [](auto& x) { x.value = x.program(); });
}

}  // namespace

namespace NARROW_BENCH_SIDE {

NARROW_BENCH_OFFERED operations programs() {
  operations result;
  offer_program<program::k_means>(result, "k_means");
  offer_program<program::kalman>(result, "kalman", 6);
  offer_program<program::softmax_regression>(result, "softmax_regression");
  offer_program<program::mlp>(result, "mlp");
  offer_program<program::heat>(result, "heat");
  offer_program<program::power_iteration>(result, "power_iteration");
  offer_program<program::logistic>(result, "logistic");
  offer_program<program::pca>(result, "pca");
  offer_program<program::blur>(result, "blur");
  offer_program<program::rigid>(result, "rigid");
  offer_program<program::knn>(result, "knn");
  offer_program<program::sgd>(result, "sgd");
  return result;
}

}  // namespace NARROW_BENCH_SIDE

}  // namespace narrow_bench
