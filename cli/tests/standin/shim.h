// CUDA on a CPU, as far as the kernels need it: one fiber per thread of a block, blocks over two operating-system threads.
//
// Fibers run one at a time until they meet a barrier or a warp operation, in an order shuffled by STANDIN_SEED, so that a
// missing barrier shows as a wrong result. A barrier that some lanes never reach aborts with a message.
#pragma once

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <vector>

#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local

namespace standin {

struct Index {
    unsigned x = 0, y = 0, z = 0;
};

enum class State { Ready, Warp, Block, Done };

struct Fiber {
    void* stack_pointer = nullptr;
    State state = State::Done;
    Index thread;
    unsigned warp_parity = 0, block_parity = 0;
};

constexpr size_t STACK = 128 << 10;
constexpr unsigned MOST = 1024;

// A block in the hands of one operating-system thread.
struct Block {
    Fiber fibers[MOST];
    void* scheduler = nullptr;
    unsigned threads = 0, current = 0;
    uint64_t exchange[2][MOST];
    bool gathered = false, result[2] = {};
    void (*kernel)(void**) = nullptr;
    void** arguments = nullptr;
    char* stacks = nullptr;
    uint64_t random = 1;
};

inline thread_local Block* block = nullptr;

extern "C" void standin_swap(void** save, void* load) __attribute__((visibility("hidden")));
asm(R"(
.text
.hidden standin_swap
.globl standin_swap
.type standin_swap, @function
standin_swap:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size standin_swap, .-standin_swap
)");

inline void yield(State state) {
    Fiber& fiber = block->fibers[block->current];
    fiber.state = state;
    standin_swap(&fiber.stack_pointer, block->scheduler);
}

inline void fiber_main() {
    block->kernel(block->arguments);
    yield(State::Done);
    std::abort();
}

} // namespace standin

inline thread_local standin::Index threadIdx, blockIdx, blockDim, gridDim;

namespace standin {

inline void run_block(unsigned index) {
    Block& b = *block;
    for (unsigned t = 0; t < b.threads; t++) {
        Fiber& fiber = b.fibers[t];
        fiber = Fiber{};
        fiber.thread.x = t;
        // The first switch pops six registers and returns to fiber_main, with the stack as after a call.
        uint64_t* top = (uint64_t*)(b.stacks + (t + 1) * STACK) - 2;
        top[0] = (uint64_t)&fiber_main;
        top[1] = 0;
        fiber.stack_pointer = top - 6;
        fiber.state = State::Ready;
    }
    b.gathered = false;
    unsigned order[MOST];
    for (unsigned t = 0; t < b.threads; t++) order[t] = t;
    for (unsigned done = 0; done < b.threads;) {
        for (unsigned t = b.threads; t > 1; t--) {
            b.random = b.random * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(order[t - 1], order[(b.random >> 33) % t]);
        }
        bool ran = false;
        for (unsigned i = 0; i < b.threads; i++) {
            Fiber& fiber = b.fibers[order[i]];
            if (fiber.state != State::Ready) continue;
            ran = true;
            b.current = order[i];
            threadIdx = fiber.thread;
            standin_swap(&b.scheduler, fiber.stack_pointer);
            done += fiber.state == State::Done;
        }
        // Warps of which every lane waits go on.
        for (unsigned w = 0; w < b.threads; w += 32) {
            bool all = true;
            for (unsigned t = w; t < w + 32; t++) all = all && b.fibers[t].state == State::Warp;
            for (unsigned t = w; all && t < w + 32; t++) b.fibers[t].state = State::Ready;
            ran = ran || all;
        }
        unsigned waiting = 0;
        for (unsigned t = 0; t < b.threads; t++) waiting += b.fibers[t].state == State::Block;
        if (waiting > 0 && waiting + done == b.threads) {
            for (unsigned t = 0; t < b.threads; t++) {
                if (b.fibers[t].state != State::Block) continue;
                b.result[b.fibers[t].block_parity] = b.gathered;
                b.fibers[t].state = State::Ready;
            }
            b.gathered = false;
            ran = true;
        }
        if (!ran && done < b.threads) {
            fprintf(stderr, "stand-in: block %u: a barrier that some lanes never reach\n", index);
            std::abort();
        }
    }
}

} // namespace standin

namespace standin {

// Blocks per axis.
struct Grid {
    unsigned x, y, z;
    Grid(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
    unsigned blocks() const { return x * y * z; }
};

// Runs the blocks of a grid over `workers` operating-system threads.
inline void run_grid(void (*kernel)(void**), void** arguments, Grid grid, unsigned threads, uint64_t seed,
                     unsigned workers) {
    const unsigned blocks = grid.blocks();
    std::atomic<unsigned> next{0};
    auto work = [&](unsigned worker) {
        Block* b = new Block;
        b->stacks = (char*)mmap(nullptr, STACK * threads, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (b->stacks == MAP_FAILED) std::abort();
        b->threads = threads;
        b->kernel = kernel;
        b->arguments = arguments;
        b->random = seed * 2654435761u + worker + 1;
        block = b;
        gridDim = {grid.x, grid.y, grid.z};
        blockDim = {b->threads, 1, 1};
        for (unsigned index; (index = next++) < blocks;) {
            blockIdx = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
            run_block(index);
        }
        munmap(b->stacks, STACK * threads);
        delete b;
    };
    if (blocks < 2 || workers < 2) return work(0);
    std::thread other(work, 1);
    work(0);
    other.join();
}

// Grids launched from the device. They run after the grid that launched them, in any order, and tails when nothing else
// is left; STANDIN_PENDING is how many may wait, STANDIN_FAIL_CHILDREN the percentage of launches that fail. With
// STANDIN_EAGER they run on two threads of their own, beside the grid that launched them, as on a GPU.
struct Child {
    void (*kernel)(void**);
    Grid grid;
    alignas(16) char arguments[3][32];
};
inline std::vector<Child> children;
inline std::vector<Child> tails;
// Of those that were taken from a list and are not done.
inline unsigned running = 0;
inline std::mutex lock;
inline uint64_t dice = 1;

template <class A, class B, class C>
unsigned enqueue(std::vector<Child>& queue, void (*kernel)(void**), Grid grid, A a, B b, C c) {
    static const uint64_t pending = getenv("STANDIN_PENDING") ? strtoull(getenv("STANDIN_PENDING"), nullptr, 10) : 2048;
    static const uint64_t failing =
        getenv("STANDIN_FAIL_CHILDREN") ? strtoull(getenv("STANDIN_FAIL_CHILDREN"), nullptr, 10) : 0;
    std::lock_guard<std::mutex> guard(lock);
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    if (children.size() + tails.size() >= pending || (dice >> 33) % 100 < failing) return 69;
    static_assert(sizeof a <= 32 && sizeof b <= 32 && sizeof c <= 32, "arguments are small");
    if (grid.y > 65535 || grid.z > 65535) return 1;
    Child child{kernel, grid, {}};
    memcpy(child.arguments[0], &a, sizeof a);
    memcpy(child.arguments[1], &b, sizeof b);
    memcpy(child.arguments[2], &c, sizeof c);
    queue.push_back(child);
    return 0;
}

// Runs one that waits, if there is one; a tail only if nothing else is left.
inline bool run_child(unsigned threads, uint64_t& seed, bool alone) {
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    Child child;
    {
        std::lock_guard<std::mutex> guard(lock);
        const bool tail = children.empty() && alone && running == 0;
        std::vector<Child>& queue = tail ? tails : children;
        if (queue.empty()) return false;
        std::swap(queue[(seed >> 33) % queue.size()], queue.back());
        child = queue.back();
        queue.pop_back();
        running++;
    }
    void* pointers[3] = {child.arguments[0], child.arguments[1], child.arguments[2]};
    run_grid(child.kernel, pointers, child.grid, threads, seed, 1);
    std::lock_guard<std::mutex> guard(lock);
    running--;
    return true;
}

inline bool idle() {
    std::lock_guard<std::mutex> guard(lock);
    return children.empty() && tails.empty() && running == 0;
}

} // namespace standin

// Runs a grid, and those it launches. The driver calls it.
extern "C" void standin_grid(void (*kernel)(void**), void** arguments, const unsigned* grid, unsigned threads, uint64_t seed) {
    std::atomic<bool> parent{true};
    auto serve = [&](uint64_t seed) {
        while (parent || !standin::idle()) {
            if (!standin::run_child(threads, seed, !parent)) std::this_thread::yield();
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i <= 2 && getenv("STANDIN_EAGER"); i++) others.emplace_back(serve, seed + i);
    standin::run_grid(kernel, arguments, {grid[0], grid[1], grid[2]}, threads, seed, 2);
    parent = false;
    serve(seed);
    for (std::thread& other : others) other.join();
}

inline void __syncthreads() { standin::yield(standin::State::Block); }

inline bool __syncthreads_or(bool value) {
    standin::Block& b = *standin::block;
    standin::Fiber& fiber = b.fibers[b.current];
    b.gathered = b.gathered || value;
    fiber.block_parity ^= 1;
    standin::yield(standin::State::Block);
    return b.result[fiber.block_parity];
}

// Lanes run one after the other: each is alone, and one that is alone waits for nobody.
inline unsigned __activemask() { return 1u << (standin::block->fibers[standin::block->current].thread.x % 32); }

inline void __syncwarp(unsigned lanes = 0xffffffffu) {
    if ((lanes & (lanes - 1)) != 0) standin::yield(standin::State::Warp);
}

// Every lane's value, once all lanes have given theirs. Two buffers take turns: a lane can be one operation ahead at most.
inline const uint64_t* standin_exchange(uint64_t value) {
    standin::Block& b = *standin::block;
    standin::Fiber& fiber = b.fibers[b.current];
    const unsigned me = fiber.thread.x;
    fiber.warp_parity ^= 1;
    b.exchange[fiber.warp_parity][me] = value;
    const unsigned parity = fiber.warp_parity;
    standin::yield(standin::State::Warp);
    return &b.exchange[parity][me / 32 * 32];
}

template <class T> T __shfl_sync(unsigned, T value, unsigned from) { return T(standin_exchange(value)[from % 32]); }
template <class T> T __shfl_up_sync(unsigned, T value, unsigned distance) {
    const unsigned me = threadIdx.x % 32;
    return T(standin_exchange(value)[me >= distance ? me - distance : me]);
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
    const unsigned me = threadIdx.x % 32;
    return T(standin_exchange(value)[me ^ mask]);
}
inline unsigned __ballot_sync(unsigned, bool value) {
    const uint64_t* votes = standin_exchange(value);
    unsigned bits = 0;
    for (unsigned i = 0; i < 32; i++) bits |= unsigned(votes[i]) << i;
    return bits;
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }

template <class T> T atomicAdd(T* at, T value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }

inline unsigned atomicExch(unsigned* at, unsigned value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }
inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
    unsigned before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (before < value && !__atomic_compare_exchange_n(at, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned picked = 0;
    for (int i = 0; i < 4; i++) picked |= unsigned(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
    return picked;
}
inline int __ffs(unsigned x) { return __builtin_ffs(int(x)); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long y = 0;
    for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i);
    return y;
}
inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }

inline unsigned __float_as_uint(float x) {
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline long long __double_as_longlong(double x) {
    long long bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }

inline float __uint_as_float(unsigned bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

inline double __longlong_as_double(long long bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// What the hardware is within a unit in the last place of (kernels/unchecked.cuh), correctly rounded.
#define SEEDS
inline float reciprocal_seed(float a) { return 1 / a; }
inline float inverse_root_seed(float a) { return float(1 / std::sqrt(double(a))); }

#define __noinline__ __attribute__((noinline))

#define KERNEL(name, Launch)                                                                                           \
    static void name(const RunArgs& run, const Launch& launch, const FieldArgs& args);                                \
    extern "C" void name##_standin(void** arguments) {                                                                 \
        name(*(const RunArgs*)arguments[0], *(const Launch*)arguments[1], *(const FieldArgs*)arguments[2]);            \
    }                                                                                                                  \
    static void name(const RunArgs& run, const Launch& launch, const FieldArgs& args)
#define KERNEL_OF(threads, name, Launch) KERNEL(name, Launch)

#define ENTRY_AHEAD(name, A, B, C) extern "C" void name##_standin(void** arguments)
#define ENTRY(name, A, a, B, b, C, c)                                                                                  \
    static void name(A a, B b, C c);                                                                                   \
    extern "C" void name##_standin(void** arguments) {                                                                 \
        name(*(A*)arguments[0], *(B*)arguments[1], *(C*)arguments[2]);                                                 \
    }                                                                                                                  \
    static void name(A a, B b, C c)
using GridShape = standin::Grid;
#define DEV_LAUNCH(kernel, grid, ...) standin::enqueue(standin::children, &kernel##_standin, grid, __VA_ARGS__)
#define DEV_TAIL_LAUNCH(kernel, grid, ...) standin::enqueue(standin::tails, &kernel##_standin, grid, __VA_ARGS__)
