// As kernels.hpp, of matrices: products of the format that counts, expressions of few numbers, and Eigen's
// products of doubles, which are what tests compare with.
#pragma once

#include <narrow/eigen.hpp>

#include "counted.hpp"
#include "kernels.hpp"

/// The kernels that store a program of lanes.
#define SHARED_STORED(how, To, Shape, ...) \
  how stored_program<__VA_ARGS__, To, Shape>::function* job_kernel<stored_program<__VA_ARGS__, To, Shape>>();
#define SHARED_EXPRESSIONS(how)                                                              \
  SHARED_SMALL_PRODUCT(how, counted, counted, float)                                         \
  SHARED_SMALL_PRODUCT(how, counted, float, float)                                           \
  SHARED_SMALL_PRODUCT(how, float, counted, float)                                           \
  SHARED_PRODUCT(how, counted, counted, float, rounding::nearest_even)                       \
  SHARED_PRODUCT(how, counted, counted, counted, test::counting_nearest)                     \
  SHARED_PRODUCT(how, counted, float, counted, test::counting_nearest)                       \
  SHARED_PRODUCT(how, float, counted, counted, test::counting_nearest)                       \
  SHARED_STORED(how, fp16, one_line, lane_numbers<float>)                                    \
  SHARED_STORED(how, fp16, line_shape, lane_numbers<float>)                                  \
  SHARED_STORED(how, fp16, one_line, lane_spread_numbers<fp16>)                              \
  SHARED_STORED(how, double, line_shape, lane_numbers<fp16>)                                 \
  SHARED_STORED(how, float, line_shape, lane_numbers<fp16>)                                  \
  SHARED_STORED(how, float, line_shape, lane_numbers<counted>)                               \
  SHARED_STORED(how, fp16, line_shape, lane_unary<lane_rounded<fp16>, lane_numbers<double>>) \
  SHARED_STORED(how, fp16, one_line, lane_unary<lane_rounded<fp16>, lane_numbers<double>>)   \
  how found_anywhere<different_numbers<lane_numbers<fp16>>>::function*                       \
  job_kernel<found_anywhere<different_numbers<lane_numbers<fp16>>>>();                       \
  how found_anywhere<different_numbers<lane_single<fp16>>>::function*                        \
  job_kernel<found_anywhere<different_numbers<lane_single<fp16>>>>();

namespace narrow::inline NARROW_ABI::kernel {
using counted = test::counted_fp16;
template <class Right>
using different_numbers = lane_unary<lane_not, lane_binary<lane_equal, lane_numbers<fp16>, Right>>;

NARROW_STRICT_BEGIN
SHARED_EXPRESSIONS(SHARED)
NARROW_STRICT_END
}  // namespace narrow::kernel

namespace Eigen::internal {
template <int Order> using shared_mapper = const_blas_data_mapper<double, Index, Order>;
using shared_tile = blas_data_mapper<double, Index, ColMajor, Unaligned, 1>;
SHARED struct gebp_kernel<double, double, Index, shared_tile, 4, 4, false, false>;
SHARED struct gemm_pack_rhs<double, Index, shared_mapper<ColMajor>, 4, ColMajor, false, false>;
SHARED struct general_matrix_matrix_product<Index, double, ColMajor, false, double, ColMajor, false, ColMajor,
                                            1>;
SHARED struct general_matrix_vector_product<Index, double, shared_mapper<ColMajor>, ColMajor, false, double,
                                            shared_mapper<RowMajor>, false, 0>;
SHARED struct general_matrix_vector_product<Index, double, shared_mapper<RowMajor>, RowMajor, false, double,
                                            shared_mapper<ColMajor>, false, 0>;
SHARED struct general_matrix_vector_product<Index, float, const_blas_data_mapper<float, Index, ColMajor>,
                                            ColMajor, false, float,
                                            const_blas_data_mapper<float, Index, RowMajor>, false, 0>;
}  // namespace Eigen::internal
