// Threads for large products and conversions: a few of our own that wait for work. Parts of a result are
// shared out, never a sum, so that no result depends on how many there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <thread>
#include <utility>
#include <vector>
#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

#include "../config.hpp"
#include "../errors.hpp"
#include "environment.hpp"

namespace narrow::inline NARROW_ABI::kernel {

#if __has_include(<unistd.h>)
inline long this_process() { return getpid(); }
#else
inline long this_process() { return 0; }  // there is no fork
#endif

/// Threads that help the one that calls `run`.
class thread_pool {
 public:
  static thread_pool& instance();
  thread_pool() = default;
  ~thread_pool() { stop(); }

  /// Those of the pool and the caller; in a child process, where the pool's are not, and may have held its
  /// mutex, 1.
  int size() const {
    const int n = size_.load(std::memory_order_relaxed);
    return n > 1 && !is_here() ? 1 : n;
  }

  /// From now on so many. In a child process, which has none of its parent's threads, they begin anew.
  static void resize(int n);

  /// part(i) for 0 <= i < count, by all threads; by the caller alone if they are at work already, as they are
  /// when a part asks for help itself. Once a part has thrown no other begins; then that is rethrown.
  template <class Part> void run(index count, const Part& part) {
    run(
        count, [](const void* context, index i) { (*static_cast<const Part*>(context))(i); }, &part);
  }

 private:
  using call = void (*)(const void* context, index part);
  struct released_at_end {
    std::atomic_flag& flag;
    ~released_at_end() { flag.clear(std::memory_order_release); }
  };
  struct owner;
  static owner& the_one();

  bool is_here() const { return process_ == this_process(); }

  void start(int n) {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    const released_at_end release{busy_};
    stop();
    for (int i = 1; i < n; ++i) helpers_.emplace_back([this, job = job_.load()] { help(job); });
    size_ = n;
  }

  void run(index count, call part, const void* context) {
    if (count < 2 || size() < 2 || busy_.test_and_set(std::memory_order_acquire)) {
      for (index i = 0; i < count; ++i) part(context, i);
      return;
    }
    if (const std::exception_ptr thrown = share_out(count, part, context)) std::rethrow_exception(thrown);
  }

  /// What a part threw; then all is as before, so that nothing has to be put right while that goes on its
  /// way.
  std::exception_ptr share_out(index count, call part, const void* context) {
    const released_at_end release{busy_};
    {
      const std::lock_guard lock(mutex_);
      call_ = part;
      context_ = context;
      count_ = count;
      next_ = 0;
      ++job_;
      open_ = true;
    }
    wake_.notify_all();
    take_parts();
    // A helper that wakes up from now on finds no job.
    std::unique_lock lock(mutex_);
    open_ = false;
    lock.unlock();
    const auto done = [this] { return working_ == 0; };
    wait_awake(done);
    lock.lock();
    done_.wait(lock, done);
    return std::exchange(thrown_, nullptr);
  }

  /// Until something comes true, but no longer than falling asleep and being woken takes (20 to 40
  /// microseconds were seen): then waiting costs at most twice what it would if its length were known (Karlin
  /// et al., 1991, competitive spinning).
  template <class Condition> static void wait_awake(const Condition& is_true) {
    constexpr std::chrono::microseconds sleep_and_wake{50};
    const auto now = [] { return std::chrono::steady_clock::now(); };
    for (const auto end = now() + sleep_and_wake; !is_true() && now() < end;) std::this_thread::yield();
  }

  void take_parts() {
    for (index i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;)
      if (const std::exception_ptr thrown = detail::attempt([&] { call_(context_, i); })) {
        next_ = count_;
        const std::lock_guard lock(mutex_);
        if (!thrown_) thrown_ = thrown;
      }
  }

  /// Works on all jobs after `seen`.
  void help(std::uint64_t seen) {
    const detail::float_environment guard;
    std::unique_lock lock(mutex_);
    const auto called = [&] { return stopping_ || (job_ != seen && open_); };
    for (;;) {
      wake_.wait(lock, called);
      if (stopping_) return;
      seen = job_;
      ++working_;
      lock.unlock();
      take_parts();
      lock.lock();
      if (--working_ == 0) done_.notify_one();
      lock.unlock();
      wait_awake(called);
      lock.lock();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
    helpers_.clear();
    stopping_ = false;
    size_ = 1;
  }

  const long process_ = this_process();
  std::atomic_flag busy_;
  std::atomic<int> size_ = 1;
  std::vector<std::thread> helpers_;

  std::mutex mutex_;  // of all that follows, except that a job's own data stay while it runs
  std::condition_variable wake_, done_;
  // Atomic for those who wait awake, who look at them without the mutex.
  std::atomic<bool> stopping_ = false;
  std::atomic<int> working_ = 0;
  std::atomic<std::uint64_t> job_ = 0;
  std::atomic<bool> open_ = false;  // may be joined
  call call_ = nullptr;
  const void* context_ = nullptr;
  index count_ = 0;
  std::atomic<index> next_ = 0;
  std::exception_ptr thrown_;
};

/// Ends the threads with the program; not in a child process, which would wait for them forever.
struct thread_pool::owner {
  alignas(thread_pool) unsigned char memory[sizeof(thread_pool)];  // of the first one: who counts allocations
                                                                   // sees none
  thread_pool* pool = new (memory) thread_pool;
  ~owner() {
    if (pool->is_here()) pool->~thread_pool();
  }
};

inline thread_pool::owner& thread_pool::the_one() {
  static owner it;
  return it;
}
inline thread_pool& thread_pool::instance() { return *the_one().pool; }

inline void thread_pool::resize(int n) {
  if (!instance().is_here()) the_one().pool = new thread_pool;
  instance().start(n);
}

/// While one is alive, this thread runs a part of a user's loop.
class part_of_loop {
 public:
  part_of_loop() : outer_(std::exchange(running(), true)) {}
  ~part_of_loop() { running() = outer_; }
  part_of_loop(const part_of_loop&) = delete;
  part_of_loop& operator=(const part_of_loop&) = delete;
  static bool is_running() { return running(); }

 private:
  static bool& running() {
    thread_local bool it = false;
    return it;
  }
  bool outer_;
};

/// A result of rows x cols, computed in tiles, with sums of `depth` terms.
struct work_shape {
  index rows, cols;
  index tile_rows, tile_cols;
  index depth;
};

/// A result in parts of whole tiles.
class partition {
 public:
  /// One for each thread, if the result is large enough for them.
  explicit partition(const work_shape& w)
      : shape_(w), tiles_down_(tiles(w.rows, w.tile_rows)), tiles_across_(tiles(w.cols, w.tile_cols)) {
    constexpr index worthwhile = index{1} << 20;  // multiplications for a thread
    // Every part reads its rows and its columns: the split that reads least.
    for (index parts = std::min<index>(thread_pool::instance().size(),
                                       w.rows * w.cols / std::max<index>(worthwhile / w.depth, 1));
         parts > 1 && count() == 1; --parts)
      for (index d = 1, least = w.rows + w.cols + 1; d <= std::min(parts, tiles_down_); ++d)
        if (const index a = parts / d;
            d * a == parts && a <= tiles_across_ && w.rows / d + w.cols / a < least) {
          least = w.rows / d + w.cols / a;
          down_ = d;
          across_ = a;
        }
  }

  index count() const { return down_ * across_; }

  struct part {
    index top, left, height, width;
  };
  part operator[](index k) const {
    const auto from = [](index n, index all, index parts, index size, index total) {
      return std::min(n * all / parts * size, total);
    };
    const auto row = [&](index i) { return from(i, tiles_down_, down_, shape_.tile_rows, shape_.rows); };
    const auto col = [&](index j) { return from(j, tiles_across_, across_, shape_.tile_cols, shape_.cols); };
    const index i = k / across_, j = k % across_;
    return {row(i), col(j), row(i + 1) - row(i), col(j + 1) - col(j)};
  }

 private:
  static index tiles(index n, index size) { return (n + size - 1) / size; }

  work_shape shape_;
  index tiles_down_, tiles_across_, down_ = 1, across_ = 1;
};

/// use(i, j, height, width) for parts of a result in whole tiles, on all threads.
template <class Use> void parallel_for_tiles(const work_shape& w, const Use& use) {
  const partition parts(w);
  if (parts.count() == 1) return use(0, 0, w.rows, w.cols);
  thread_pool::instance().run(parts.count(), [&](index k) {
    const partition::part p = parts[k];
    use(p.top, p.left, p.height, p.width);
  });
}

/// use(first, count) for parts of `lines` lines of so many elements, on all threads. The parts, but for the
/// last one, are multiples of `together` lines.
template <class Use> void parallel_for_lines(index lines, index together, index elements, const Use& use) {
  constexpr index cost = 8;  // of an element, in multiplications
  parallel_for_tiles({lines, 1, together, 1, cost * std::max<index>(elements, 1)},
                     [&](index first, index, index count, index) { use(first, count); });
}

}  // namespace narrow::kernel
