// The panels of a factor that meets many others: packed by the first product that wants them in some form,
// and kept for the later ones.
#pragma once

#include <atomic>
#include <memory>

#include "../../runtime/scratch.hpp"
#include "pack.hpp"

NARROW_STRICT_BEGIN

namespace narrow::inline NARROW_ABI::kernel {

/// n objects of T, uninitialised, that live as long as this and begin a cache line.
template <class T>
requires std::is_trivially_copyable_v<T>
class aligned_array {
 public:
  explicit aligned_array(index n)
      : data_(static_cast<T*>(::operator new(static_cast<std::size_t>(n) * sizeof(T), cache_line))) {}
  ~aligned_array() { ::operator delete(static_cast<void*>(data_), cache_line); }
  aligned_array(const aligned_array&) = delete;
  aligned_array& operator=(const aligned_array&) = delete;
  T* data() const { return data_; }

 private:
  T* data_;
};

/// How the panels of one factor lie in memory.
enum class panel_order {
  columns,            // of a right factor
  decoded,            // of a left one that kernels read so: no panels, but elements as they are multiplied
  rows_side_by_side,  // of a left one
  rows_along,
  values  // no panels: elements of blocks times their scales
};

/// What panels are made of, and how: of equal forms the words are equal.
struct panel_form {
  kernel_set kernels;
  const void* data;  // of lines along the summed dimension
  index lines, depth, line_stride, depth_stride;
  packed_type packed;
  panel_order order;
  index width = 0, packs = 0, multiple = 0;
  limb first_limb = limb::whole;
  void (*split)(word*, index) = nullptr;

  bool operator==(const panel_form&) const = default;
};

/// The panels of a matrix that does not change, one set of words for each form that was wanted. Any number of
/// threads may ask at the same time.
class panel_store {
 public:
  panel_store() = default;
  ~panel_store() {
    for (const entry* e = newest_.load(std::memory_order_acquire); e != nullptr;)
      delete std::exchange(e, e->older);
  }
  panel_store(const panel_store&) = delete;
  panel_store& operator=(const panel_store&) = delete;

  /// The words of a form; `pack(to)` writes them if they are not there. Of several threads that find this at
  /// the same time each packs its own, which are alike.
  template <class Pack> const word* get(const panel_form& form, index words, const Pack& pack) const {
    for (const entry* e = newest_.load(std::memory_order_acquire); e != nullptr; e = e->older)
      if (e->form == form) return e->words.data();
    auto made = std::make_unique<entry>(form, words);
    pack(made->words.data());
    const entry* next = newest_.load(std::memory_order_relaxed);
    do {
      made->older = next;
    } while (!newest_.compare_exchange_weak(next, made.get(), std::memory_order_release,
                                            std::memory_order_relaxed));
    return made.release()->words.data();
  }
  /// Bytes of all panels.
  std::size_t bytes() const {
    std::size_t result = 0;
    for (const entry* e = newest_.load(std::memory_order_acquire); e != nullptr; e = e->older)
      result += static_cast<std::size_t>(e->count) * sizeof(word);
    return result;
  }

  /// Looks whether any product can pack the whole matrix, which is not to be looked at again then.
  template <class T> void examine(kernel_set t, matrix_view<const T> m) {
    fits_bf16_ = !kernel::needs_fallback<packed_type::bf16>(t, m);
    if constexpr (splits_in_bf16<T>()) fits_two_bf16_ = !kernel::needs_fallback<packed_type::two_bf16>(t, m);
  }
  template <packed_type P> bool fits() const {
    return P == packed_type::bf16 ? fits_bf16_ : P == packed_type::two_bf16 && fits_two_bf16_;
  }

 private:
  struct entry {
    panel_form form;
    index count;
    aligned_array<word> words;
    const entry* older = nullptr;

    entry(const panel_form& f, index n) : form(f), count(n), words(n) {}
  };
  mutable std::atomic<const entry*> newest_ = nullptr;
  bool fits_bf16_ = false, fits_two_bf16_ = false;
};

/// The stores of the factors of a product; null for a factor that has none.
struct kept_panels {
  const panel_store *a = nullptr, *b = nullptr;
  bool any() const { return a != nullptr || b != nullptr; }
  kept_panels transposed() const { return {b, a}; }
};

}  // namespace narrow::kernel

NARROW_STRICT_END
