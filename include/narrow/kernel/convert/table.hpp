// What an instruction set offers for conversions between floats and the codes of narrow numbers.
#pragma once

#include "../shapes.hpp"

namespace narrow::inline NARROW_ABI::kernel {

/// A floating-point format, as the conversion from float sees it.
struct encoding {
  int dropped_bits;          // of float's mantissa
  std::uint32_t half;        // the first of them
  std::uint32_t rebias;      // between the exponents, in units of the code
  std::uint32_t min_normal;  // as a float's bits
  float magic;               // what is added to smaller ones
  std::uint32_t last_code;   // of a finite number, or the next one, which is that of what is beyond
  std::uint32_t last_bits;   // of the float that it stands for; 0 where that is among float's last ones
  int sign_shift;
  std::uint32_t zero_sign;  // the code of -0
  bool is_upper_half;       // of float's code, rounded: bf16
};

/// A rounding mode other than to nearest even, and what becomes of the numbers that a format has not.
struct other_mode {
  // What is added before the last bits are cut off: half of the unit of the last bit that is kept, or all of
  // it but the smallest part, to positive and to negative numbers. All ones if it is, zero if not.
  std::uint32_t half_unit, unit_if_positive, unit_if_negative;
  std::uint32_t sticky;  // 1, if the last bit is set where something was cut off
  // The magnitudes of codes: of what is beyond the finite numbers, at most, and of infinities.
  std::uint32_t last_positive, last_negative, infinity;
};

/// How codes of 8 bits, moved to the fields of fp16, become numbers: all that an instruction does not do.
struct fp16_fields {
  int unused_bits = 0;           // of a code: above its sign
  int lacking_bits = 0;          // of its exponent field, to have those of fp16
  std::uint16_t mask = 0;        // of the sign and of what is below the bits that are lacking
  std::int16_t last_finite = 0;  // magnitudes above it
  std::uint16_t special_bits =
      0;             // differ by these from infinity or NaN of fp16; 0 if there are none or they do not
  float factor = 0;  // between the exponents; 0 if a format is not decoded so

  /// Whether there is nothing to do.
  constexpr bool is_upper_half() const {
    return unused_bits == 0 && lacking_bits == 0 && special_bits == 0 && factor == 1;
  }
};

/// A floating-point format, as the conversion to float sees it.
struct decoding {
  int dropped_bits, sign_shift;
  float factor;  // between the exponents
  std::uint32_t magnitude_mask, max_code, infinity, payload_mask;
  const std::uint16_t* as_bf16 = nullptr;  // of 8 bits: the numbers of the lower codes, which all are bf16
  fp16_fields as_fp16 = {};
};

/// Between floats and codes of so many bits.
struct code_kernels {
  /// To nearest even. False if something was NaN, whose code then means nothing.
  using encoder = bool (*)(const float* from, const tile_shape&, void* to, const encoding&);
  /// A line, rounded stochastically; likewise.
  using stochastic_encoder = bool (*)(const float* from, void* to, index n, const encoding&,
                                      const element_draws&);
  /// In another mode; likewise.
  using mode_encoder = bool (*)(const float* from, const tile_shape&, void* to, const encoding&,
                                const other_mode&);
  using decoder = void (*)(const void* from, float* to, index n, const decoding&);

  encoder encode = nullptr;
  stochastic_encoder encode_stochastic = nullptr;
  mode_encoder encode_in_mode = nullptr;
  decoder decode = nullptr;

  constexpr code_kernels() = default;
  constexpr code_kernels(encoder to_nearest, stochastic_encoder to_random, mode_encoder to_mode,
                         decoder to_float)
      : encode(to_nearest), encode_stochastic(to_random), encode_in_mode(to_mode), decode(to_float) {}
  constexpr explicit operator bool() const { return encode && encode_stochastic && encode_in_mode && decode; }
};

/// Codes of 16 bits: those that have `first` or one of the `count` numbers from there on in the bits of the
/// mask.
struct code_range {
  std::uint16_t mask, first, count;
};

/// The kernels of conversions; one that an instruction set has not is null, a group that it has not holds
/// nulls.
struct convert_table {
  code_kernels codes8 = {}, codes16 = {}, codes32 = {};

  /// Whether there is such a code.
  bool (*has_code16)(const void* codes, index n, const code_range&) = nullptr;

  /// to[i] = values[code] for the lower 7 bits of the code; its upper bit is the result's.
  void (*look_up8)(const void* from, void* to, index n, const std::uint16_t* values) = nullptr;

  void (*fp16_to_float)(const void* from, float* to, index n) = nullptr;
  /// To nearest even, overflow as IEEE has it; NaN too.
  void (*float_to_fp16)(const float* from, const tile_shape&, void* to) = nullptr;
};

}  // namespace narrow::kernel
