// Runs grids of kernels on a CPU: one fiber per thread of a block, blocks over two operating-system threads.
//
// Fibers run one at a time until they meet a barrier or a warp operation, in an order shuffled by STANDIN_SEED, so that a
// missing barrier shows as a wrong result. A barrier that some lanes never reach aborts with a message.
#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <utility>
#include <vector>

#include "shim.h"

FAST_THREAD standin::Index threadIdx, blockIdx, blockDim, gridDim;

namespace standin {

// What a fiber that does not run waits for.
enum class State { Warp, Block, Done };

struct Fiber {
    void* stack_pointer = nullptr;
    State state = State::Done;
    Index thread;
    unsigned warp_parity = 0, block_parity = 0;
};

// A little more than a power of two: else the tops of all stacks would fall into the same sets of the cache.
constexpr size_t STACK = (128 << 10) + 192;
constexpr unsigned MOST = 1024;

// A block in the hands of one operating-system thread.
struct Block {
    Fiber fibers[MOST];
    void* scheduler = nullptr;
    unsigned threads = 0, current = 0;
    // The fibers of this round in their order, how many they are, and which one is next.
    unsigned ready[MOST], count = 0, turn = 0;
    // How many fibers wait for the block, how many are done, and how many lanes of each warp wait for their warp.
    unsigned waiting = 0, done = 0, lanes_waiting[MOST / 32];
    uint64_t exchange[2][MOST];
    unsigned votes[2][MOST / 32];
    bool gathered = false, result[2] = {};
    Kernel kernel = nullptr;
    void** arguments = nullptr;
    char* stacks = nullptr;
    uint64_t random = 1;

    Fiber& fiber() { return fibers[current]; }
    // The stack of the fiber whose turn it is.
    void* next() {
        current = ready[turn++];
        threadIdx = fiber().thread;
        return fiber().stack_pointer;
    }
};

static FAST_THREAD Block* block = nullptr;

// Those that no grid has: to map stacks and to touch them takes longer than a small grid does. Never destroyed, as the lists below: a grid
// may run while the process ends.
static std::vector<Block*>& spare = *new std::vector<Block*>;
static std::mutex spare_lock;

static Block* take_block() {
    std::lock_guard<std::mutex> guard(spare_lock);
    if (!spare.empty()) {
        Block* b = spare.back();
        spare.pop_back();
        return b;
    }
    Block* b = new Block;
    void* stacks = mmap(nullptr, STACK * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stacks == MAP_FAILED) std::abort();
    b->stacks = (char*)stacks;
    return b;
}

static void put_back(Block* b) {
    std::lock_guard<std::mutex> guard(spare_lock);
    spare.push_back(b);
}

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

// The next fiber runs, or the scheduler where it was the last of its round.
static void yield(State state) {
    Block& b = *block;
    Fiber& fiber = b.fiber();
    fiber.state = state;
    switch (state) {
    case State::Warp: b.lanes_waiting[b.current / 32]++; break;
    case State::Block: b.waiting++; break;
    case State::Done: b.done++; break;
    }
    standin_swap(&fiber.stack_pointer, b.turn < b.count ? b.next() : b.scheduler);
}

static void fiber_main() {
    block->kernel(block->arguments);
    yield(State::Done);
    std::abort();
}

bool meet_block(bool value) {
    Block& b = *block;
    Fiber& fiber = b.fiber();
    b.gathered = b.gathered || value;
    fiber.block_parity ^= 1;
    yield(State::Block);
    return b.result[fiber.block_parity];
}

void meet_warp() { yield(State::Warp); }

// Two buffers take turns: a lane can be one operation ahead at most.
static unsigned buffer_of(Fiber& fiber) { return fiber.warp_parity ^= 1; }

const uint64_t* exchange(uint64_t value) {
    Block& b = *block;
    Fiber& fiber = b.fiber();
    const unsigned me = fiber.thread.x;
    uint64_t* values = b.exchange[buffer_of(fiber)];
    values[me] = value;
    yield(State::Warp);
    return &values[me / 32 * 32];
}

unsigned ballot(bool value) {
    Block& b = *block;
    Fiber& fiber = b.fiber();
    const unsigned me = fiber.thread.x, lane = 1u << me % 32;
    unsigned& votes = b.votes[buffer_of(fiber)][me / 32];
    votes = value ? votes | lane : votes & ~lane;
    yield(State::Warp);
    return votes;
}

static void run_block(unsigned index) {
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
        b.ready[t] = t;
    }
    for (unsigned& lanes : b.lanes_waiting) lanes = 0;
    b.gathered = false;
    b.count = b.threads, b.waiting = 0, b.done = 0;
    while (b.done < b.threads) {
        for (unsigned t = b.count; t > 1; t--) {
            b.random = b.random * 6364136223846793005ull + 1442695040888963407ull;
            std::swap(b.ready[t - 1], b.ready[(b.random >> 32) * t >> 32]);
        }
        b.turn = 0;
        void* first = b.next();
        standin_swap(&b.scheduler, first);
        b.count = 0;
        // Warps of which every lane waits go on.
        for (unsigned w = 0; w * 32 < b.threads; w++) {
            if (b.lanes_waiting[w] < 32) continue;
            for (unsigned lane = 0; lane < 32; lane++) b.ready[b.count++] = w * 32 + lane;
            b.lanes_waiting[w] = 0;
        }
        if (b.waiting > 0 && b.waiting + b.done == b.threads) {
            for (unsigned t = 0; t < b.threads; t++) {
                if (b.fibers[t].state != State::Block) continue;
                b.result[b.fibers[t].block_parity] = b.gathered;
                b.ready[b.count++] = t;
            }
            b.gathered = false;
            b.waiting = 0;
        }
        if (b.count == 0 && b.done < b.threads) {
            fprintf(stderr, "stand-in: block %u: a barrier that some lanes never reach\n", index);
            std::abort();
        }
    }
}

// Runs the blocks of a grid over `workers` operating-system threads.
static void run_grid(Kernel kernel, void** arguments, Grid grid, unsigned threads, uint64_t seed, unsigned workers) {
    const unsigned blocks = grid.x * grid.y * grid.z;
    std::atomic<unsigned> next{0};
    auto work = [&](unsigned worker) {
        Block* b = take_block();
        b->threads = threads;
        b->kernel = kernel;
        b->arguments = arguments;
        b->random = seed * 2654435761u + worker + 1;
        block = b;
        gridDim = {grid.x, grid.y, grid.z};
        blockDim = {threads, 1, 1};
        for (unsigned index; (index = next++) < blocks;) {
            blockIdx = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
            run_block(index);
        }
        put_back(b);
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
    Kernel kernel;
    Grid grid;
    Arguments arguments;
};
static std::vector<Child>& children = *new std::vector<Child>;
static std::vector<Child>& tails = *new std::vector<Child>;
// Of those that were taken from a list and are not done.
static unsigned running = 0;
static std::mutex lock;
static uint64_t dice = 1;

unsigned launch(bool tail, Kernel kernel, Grid grid, const Arguments& arguments) {
    static const uint64_t pending = getenv("STANDIN_PENDING") ? strtoull(getenv("STANDIN_PENDING"), nullptr, 10) : 2048;
    static const uint64_t failing =
        getenv("STANDIN_FAIL_CHILDREN") ? strtoull(getenv("STANDIN_FAIL_CHILDREN"), nullptr, 10) : 0;
    std::lock_guard<std::mutex> guard(lock);
    dice = dice * 6364136223846793005ull + 1442695040888963407ull;
    if (children.size() + tails.size() >= pending || (dice >> 33) % 100 < failing) return 69;
    if (grid.y > 65535 || grid.z > 65535) return 1;
    (tail ? tails : children).push_back({kernel, grid, arguments});
    return 0;
}

// Runs one that waits, if there is one; a tail only if nothing else is left.
static bool run_child(unsigned threads, uint64_t& seed, bool alone) {
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
    void* pointers[3] = {child.arguments.bytes[0], child.arguments.bytes[1], child.arguments.bytes[2]};
    run_grid(child.kernel, pointers, child.grid, threads, seed, 1);
    std::lock_guard<std::mutex> guard(lock);
    running--;
    return true;
}

static bool idle() {
    std::lock_guard<std::mutex> guard(lock);
    return children.empty() && tails.empty() && running == 0;
}

// Runs a grid, and those it launches.
static void run(Kernel kernel, void** arguments, Grid grid, unsigned threads, uint64_t seed) {
    std::atomic<bool> parent{true};
    auto serve = [&](uint64_t seed) {
        while (parent || !idle()) {
            if (!run_child(threads, seed, !parent)) std::this_thread::yield();
        }
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i <= 2 && getenv("STANDIN_EAGER"); i++) others.emplace_back(serve, seed + i);
    run_grid(kernel, arguments, grid, threads, seed, 2);
    parent = false;
    serve(seed);
    for (std::thread& other : others) other.join();
}

} // namespace standin
