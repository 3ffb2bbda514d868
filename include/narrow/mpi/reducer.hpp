// Gradients summed over ranks while others are still computed.
#pragma once

#include <deque>
#include <exception>
#include <memory>
#include <span>
#include <utility>

#include "../train/array_access.hpp"
#include "../train/state_io.hpp"
#include "channels.hpp"
#include "exact_bucket.hpp"
#include "messages.hpp"
#include "reduced_array.hpp"

namespace narrow::inline NARROW_ABI::mpi {

namespace detail {

/// A part of an array in a bucket.
struct bucket_part {
  reduced* array;
  std::ptrdiff_t first, n;
};
struct bucket_contents {
  std::vector<bucket_part> parts;
  std::ptrdiff_t n = 0;
};
/// A bucket that has no slot yet.
struct waiting_bucket {
  std::size_t number;
  bucket_contents what;
};
/// Where one bucket after another is worked on.
template <class Bucket> struct bucket_slot {
  bucket_slot(MPI_Comm comm, const term_counts& counts, std::ptrdiff_t capacity)
      : stages(comm, counts, capacity) {}

  Bucket stages;
  bool active = false;
  bucket_contents holds;
  std::vector<std::vector<float>> copies;  // of terms, where a bucket holds several arrays
};
/// What ranks compare of a whole step.
struct step_totals {
  std::array<std::int64_t, 4> values{};
  MPI_Request request = MPI_REQUEST_NULL;
  bool pending = false, agree = true;
  std::size_t buckets = 0;  // of the rank that has most
};

}  // namespace detail

/// How a `reducer` cuts up its work.
struct reducer_options {
  /// Gradients of each array that this rank adds itself, at least 1; ranks may have different numbers of
  /// them.
  int terms = 1;
  /// Elements that go through the ranks at a time: a multiple of 1024.
  std::ptrdiff_t bucket = 256 * 1024;
  /// Buckets that are on their way at a time, at least 1.
  int in_flight = 4;
  /// What becomes of what rounding cuts off.
  error_feedback feedback = error_feedback::dropped;
};

/// What error feedback carries from one step to the next, of all ranks: see `reducer::carried`. Written and
/// read as one line of text by << and >>, which behave as those of the training helpers.
struct carried_gradients : narrow::detail::streamable<carried_gradients> {
  std::vector<std::vector<float>>
      terms;               ///< for each gradient of all ranks, in the order of the ranks, all elements
  std::vector<float> sum;  ///< of the sums, all elements

  friend bool operator==(const carried_gradients&, const carried_gradients&) = default;

 private:
  friend narrow::detail::saved_state;
  static std::string state_type() { return "narrow::mpi::carried_gradients"; }
  template <class Field, class Self> static void fields(Field& field, Self& self) {
    field("terms", self.terms);
    field("sum", self.sum);
  }
};

/// Sums of gradients over the ranks of a communicator, in one of the forms `wide`, `rounded<T>`, `exact<M>`.
///
/// A step: `add` each gradient as soon as back-propagation has it, in the same order on all ranks, then
/// `wait`. What was added goes on its way in buckets, which are worked on within these calls and `progress`,
/// between which MPI may move data. An object serves one step after another; several may be at work at a
/// time.
///
/// Terms     a rank may add several gradients of each array, of micro-batches, say. In the form `exact` the result depends
///           on all gradients of all ranks, but not on which rank adds which: with eight micro-batches, one rank that adds
///           eight, two that add four each and eight that add one give the same bits.
/// Bytes     a rank sends about (P - 1) / P of its elements in the width of the form to be added up, and as much to be known
///           to all; `exact` needs 16 or 32 bits for the first where a rank adds more than one gradient.
/// Memory    for each bucket in flight what it sends and what it receives; `carried` gradients take a float for each element
///           of each term, and one more.
/// Threads   an object belongs to one thread at a time. MPI_THREAD_FUNNELED suffices.
template <class Form> class reducer {
 public:
  /// Collective: all ranks name the same form, bucket, in_flight and feedback.
  ///
  /// Throws  std::invalid_argument on every rank where they do not, or an option is out of its range; std::length_error on
  ///         every rank if all of them together have more terms than the sums of the form are exact for.
  explicit reducer(Form = {}, const reducer_options& options = {}, MPI_Comm comm = MPI_COMM_WORLD)
      : options_(options), comm_(comm) {
    detail::require_same(Form::name(),
                         "buckets of " + std::to_string(options.bucket) + ", " +
                             std::to_string(options.in_flight) + " at a time, what is cut off " +
                             (options.feedback == error_feedback::carried ? "carried" : "dropped"),
                         comm);
    detail::require_all(refusal(options), comm);
    const std::int64_t own = options.terms;
    counts_.own = own;
    detail::check(MPI_Allreduce(&own, &counts_.most, 1, MPI_INT64_T, MPI_MAX, comm), "MPI_Allreduce");
    detail::check(MPI_Allreduce(&own, &counts_.all, 1, MPI_INT64_T, MPI_SUM, comm), "MPI_Allreduce");
    if constexpr (requires { bucket::max_terms; })
      if (counts_.all > bucket::max_terms)
        detail::fail<std::length_error>("narrow::mpi::reducer: the ranks add " + std::to_string(counts_.all) +
                                        " gradients, " + Form::name() + " is exact for " +
                                        std::to_string(bucket::max_terms));
    carried_counts_ = bucket::rounds_each_term ? counts_ : detail::term_counts{1, 1, ranks(comm)};
    const std::span channels = detail::channels_of(comm, 1 + options.in_flight);
    totals_channel_ = channels[0];
    for (const MPI_Comm channel : channels.subspan(1))
      slots_.push_back(std::make_unique<slot>(channel, counts_, options.bucket));
  }
  reducer(const reducer&) = delete;
  reducer& operator=(const reducer&) = delete;
  /// Waits for what is on its way. Not where an exception ends a step, which the other ranks need not learn
  /// of: then what MPI still writes to stays in memory until the program ends.
  ~reducer() {
    if (std::uncaught_exceptions() > exceptions_) {
      for (auto& s : slots_) static_cast<void>(s.release());
      for (auto& array : arrays_) static_cast<void>(array.release());
      return;
    }
    while (any_active()) progress_one();
  }

  const reducer_options& options() const { return options_; }

  /// Adds an array to the step: `sum` becomes the sum of the `terms` of all ranks at `wait`. Both stay where
  /// they are, and as they are, until then; `sum` may be one of the terms.
  ///
  /// Shapes  as many terms as the options say, all of one shape; `sum` takes it, or has it. Elements of any narrow or
  ///         built-in type, which become floats first, as the sum is a float that is rounded to its type.
  /// Throws  std::invalid_argument, on this rank alone, if a shape or the number of terms is wrong.
  template <readable_array Term, readable_array Sum> void add(std::span<const Term> terms, Sum& sum) {
    if (std::ssize(terms) != options_.terms)
      detail::fail<std::invalid_argument>("narrow::mpi::reducer::add: " + std::to_string(terms.size()) +
                                          " terms must be " + std::to_string(options_.terms) +
                                          ", as many as the options say");
    enqueue(std::make_unique<detail::reduced_of<Term, Sum>>(terms, sum));
  }
  /// The same of a rank's only gradient, which its sum replaces.
  template <readable_array X> void add(X& gradient) { add(std::span<const X>(&gradient, 1), gradient); }
  /// The same of a rank's only gradient, or of an expression.
  template <readable_array Term, readable_array Sum> void add(const Term& gradient, Sum& sum) {
    add(std::span<const Term>(&gradient, 1), sum);
  }

  /// Works on what MPI has brought, without waiting for more.
  void progress() {
    for (auto& s : slots_) {
      int done = 1;
      while (s->active && done != 0) {
        detail::check(MPI_Test(&s->stages.request(), &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) proceed(*s);
      }
    }
  }

  /// Ends the step: all sums are in their places. Collective.
  ///
  /// Throws  std::invalid_argument on every rank if the ranks added different arrays in this step, or other ones than in the
  ///         step that they carry gradients from; then the sums mean nothing.
  void wait() {
    if (filling_.n > 0) start_bucket();
    const std::size_t added = std::exchange(next_bucket_, 0);
    compare_totals(added);
    // Ranks that added less take part in the first stage of the others' buckets, which then end.
    for (std::size_t missing = added; missing < totals_.buckets; ++missing) waiting_.push_back({missing, {}});
    start_waiting();
    while (any_active()) progress_one();
    const auto arrays = std::exchange(arrays_, {});
    const auto sizes = std::exchange(sizes_, {});
    if (!totals_.agree) detail::require_same("narrow::mpi::reducer: a step", detail::text_of(sizes), comm_);
    if (std::exchange(changed_, false))
      detail::fail<std::invalid_argument>(
          "narrow::mpi::reducer::wait: the gradients of this step have other sizes than those that were "
          "carried");
    for (const auto& array : arrays) array->commit();
  }

  /// What error feedback carries now, of all ranks, on rank 0; empty on the others. Between steps.
  /// Collective.
  carried_gradients carried() const;
  /// Goes on from what `carried` gave, which rank 0 has. With as many terms in all as there were the
  /// gradients that follow are the same as if nothing had happened, whatever the number of ranks; with
  /// another number of terms the first one takes what was carried for all of them. Between steps. Collective.
  /// Throws std::invalid_argument on every rank if the arrays in `from` are not all of one size, or nothing
  /// is carried by the options.
  void carry(const carried_gradients& from);

 private:
  using bucket = detail::bucket<Form>;
  using reduced = detail::reduced;
  using contents = detail::bucket_contents;
  using slot = detail::bucket_slot<bucket>;

  static std::optional<std::string> refusal(const reducer_options& o) {
    const auto out_of = [](const char* name, auto value, const std::string& allowed) {
      return "narrow::mpi::reducer: " + std::string(name) + " = " + std::to_string(value) + " must be " +
             allowed;
    };
    constexpr std::ptrdiff_t most = std::ptrdiff_t{1} << 26;
    if (o.terms < 1) return out_of("terms", o.terms, "at least 1");
    if (o.in_flight < 1 || o.in_flight > 64) return out_of("in_flight", o.in_flight, "1 to 64");
    if (o.bucket < 1 || o.bucket > most || o.bucket % detail::block_size != 0)
      return out_of("bucket", o.bucket,
                    "a multiple of " + std::to_string(detail::block_size) + " of at most 2^26");
    return std::nullopt;
  }

  slot& slot_of(std::size_t number) { return *slots_[number % slots_.size()]; }

  void enqueue(std::unique_ptr<reduced> array) {
    const std::ptrdiff_t size = array->size();
    sizes_.push_back(size);
    reduced* const its = arrays_.emplace_back(std::move(array)).get();
    for (std::ptrdiff_t first = 0, n; first < size; first += n) {
      n = std::min(options_.bucket - filling_.n, size - first);
      filling_.parts.push_back({its, first, n});
      filling_.n += n;
      if (filling_.n == options_.bucket) start_bucket();
    }
    progress();
  }

  void start_bucket() {
    waiting_.push_back({next_bucket_++, std::exchange(filling_, {})});
    start_waiting();
  }

  /// Starts the buckets whose slots are free. Each slot takes its buckets in their order, so that all ranks
  /// make the calls on a slot's channel in the same order. Nobody waits here: a rank that adds more than the
  /// others is to get to the end of the step, where that is found out.
  void start_waiting() {
    while (!waiting_.empty()) {
      slot& s = slot_of(waiting_.front().number);
      if (s.active) return;
      const std::size_t number = waiting_.front().number;
      contents what = std::move(waiting_.front().what);
      waiting_.pop_front();
      start_in(s, std::move(what), number);
    }
  }

  void start_in(slot& s, contents what, std::size_t number) {
    s.holds = std::move(what);
    detail::bucket_arrays arrays;
    arrays.n = s.holds.n;
    if (s.holds.parts.size() == 1) {
      const detail::bucket_part& only = s.holds.parts.front();
      for (int t = 0; t < options_.terms; ++t) arrays.terms.push_back(only.array->term(t) + only.first);
      arrays.sum = only.array->sum() + only.first;
    } else {
      copy_terms(s);
      for (const auto& copy : s.copies) arrays.terms.push_back(copy.data());
      arrays.sum = s.copies.front().data();
    }
    if (options_.feedback == error_feedback::carried && arrays.n > 0)
      arrays.carried = carried_of(number, s.holds.n);
    s.stages.start(arrays);
    s.active = true;
  }

  void copy_terms(slot& s) {
    s.copies.resize(static_cast<std::size_t>(options_.terms));
    for (int t = 0; t < options_.terms; ++t) {
      auto& copy = s.copies[static_cast<std::size_t>(t)];
      copy.resize(static_cast<std::size_t>(std::max<std::ptrdiff_t>(s.holds.n, 1)));
      std::ptrdiff_t at = 0;
      for (const detail::bucket_part& p : s.holds.parts) {
        std::copy_n(p.array->term(t) + p.first, p.n, copy.data() + at);
        at += p.n;
      }
    }
  }

  detail::carried_parts* carried_of(std::size_t number, std::ptrdiff_t n) {
    if (carried_.size() <= number) carried_.resize(number + 1);
    detail::carried_parts& here = carried_[number];
    const auto size = static_cast<std::size_t>(n);
    if (here.sum.size() != size) {
      changed_ = changed_ || !here.sum.empty();
      here.terms.assign(static_cast<std::size_t>(carried_counts_.own), std::vector<float>(size));
      here.sum.assign(size, 0);
    }
    return &here;
  }

  void proceed(slot& s) {
    if (s.stages.proceed()) return;
    s.active = false;
    if (s.holds.parts.size() > 1) {
      const float* from = s.copies.front().data();
      for (const detail::bucket_part& p : s.holds.parts) {
        std::copy_n(from, p.n, p.array->sum() + p.first);
        from += p.n;
      }
    }
    s.holds = {};
    start_waiting();
  }

  bool any_active() const {
    return std::ranges::any_of(slots_, [](const auto& s) { return s->active; });
  }

  /// Waits until one bucket, or the comparison of totals, gets further.
  void progress_one() {
    std::vector<MPI_Request> requests;
    std::vector<slot*> whose;
    for (auto& s : slots_)
      if (s->active) {
        requests.push_back(s->stages.request());
        whose.push_back(s.get());
      }
    if (totals_.pending) requests.push_back(totals_.request);
    int which = MPI_UNDEFINED;
    detail::check(MPI_Waitany(static_cast<int>(requests.size()), requests.data(), &which, MPI_STATUS_IGNORE),
                  "MPI_Waitany");
    const auto done = static_cast<std::size_t>(which);
    if (done == whose.size()) {
      totals_.pending = false;
    } else {
      whose[done]->stages.request() = MPI_REQUEST_NULL;
      proceed(*whose[done]);
    }
  }

  void compare_totals(std::size_t buckets) {
    // Each number and what is missing to the greatest: where both maxima belong together, all ranks have the
    // same one.
    constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
    const auto count = static_cast<std::int64_t>(buckets);
    const auto digest = static_cast<std::int64_t>(detail::digest_of(sizes_) >> 1);
    totals_.values = {count, greatest - count, digest, greatest - digest};
    detail::check(MPI_Iallreduce(MPI_IN_PLACE, totals_.values.data(), static_cast<int>(totals_.values.size()),
                                 MPI_INT64_T, MPI_MAX, totals_channel_, &totals_.request),
                  "MPI_Iallreduce");
    totals_.pending = true;
    while (totals_.pending) progress_one();
    totals_.buckets = static_cast<std::size_t>(totals_.values[0]);
    totals_.agree = totals_.values[0] == greatest - totals_.values[1] &&
                    totals_.values[2] == greatest - totals_.values[3];
  }

  detail::step_totals totals_;

  int exceptions_ = std::uncaught_exceptions();
  reducer_options options_;
  MPI_Comm comm_, totals_channel_ = MPI_COMM_NULL;
  detail::term_counts counts_, carried_counts_;
  std::vector<std::unique_ptr<slot>> slots_;
  std::vector<std::unique_ptr<reduced>> arrays_;  // of this step
  std::vector<std::ptrdiff_t> sizes_;
  contents filling_;
  std::deque<detail::waiting_bucket> waiting_;  // for their slots
  std::size_t next_bucket_ = 0;
  std::deque<detail::carried_parts> carried_;  // of each bucket, where the stages of others may go on working
  bool changed_ = false;                       // its size, since it was carried
};

}  // namespace narrow::mpi
