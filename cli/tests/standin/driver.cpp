// A stand-in for the CUDA driver: memory is the host's, launches run on a thread of their own, modules are shared libraries.
//
// Fresh memory is poisoned; copies and memsets outside an allocation are errors. Environment variables play the parts of
// other drivers: STANDIN_VERSION, STANDIN_STUB, STANDIN_DEVICES, STANDIN_MEMORY (bytes), STANDIN_MAX_GRID (blocks),
// STANDIN_FAIL_LAUNCH (that launch, counted from 1, fails), STANDIN_SLOW (milliseconds that every launch takes at least),
// STANDIN_SEED (order of threads). More of them are in grid.h.
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <elf.h>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "grid.h"

using Result = int;
enum : Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, STUB = 34, NO_DEVICE = 100, NOT_FOUND = 500, NOT_READY = 600, LAUNCH = 719 };

static uint64_t variable(const char* name, uint64_t otherwise) {
    const char* value = getenv(name);
    return value ? strtoull(value, nullptr, 10) : otherwise;
}

static uint64_t memory() { return variable("STANDIN_MEMORY", 4ull << 30); }
// Two threads with a device each share what follows.
static std::recursive_mutex books;
static std::map<uint64_t, uint64_t> allocations;
static uint64_t used = 0;
static std::atomic<uint64_t> launches = 0;

static Result allocate(uint64_t* address, size_t bytes) {
    if (bytes == 0) return INVALID_VALUE;
    std::lock_guard<std::recursive_mutex> held(books);
    if (used + bytes > memory()) return OUT_OF_MEMORY;
    void* block = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!block) return OUT_OF_MEMORY;
    memset(block, 0xa5, bytes);
    *address = (uint64_t)block;
    allocations[*address] = bytes;
    used += bytes;
    return SUCCESS;
}

// What streams do, one thing after the other in the order in which it was asked for, on a thread of its own. What a stream
// is asked for that has nothing to wait for is done at once, beside the others.
struct Stream {
    uint64_t last = 0;
};
struct Queue {
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    uint64_t asked = 0, done = 0;

    Queue() {
        std::thread([this] {
            std::unique_lock<std::mutex> held(lock);
            while (true) {
                changed.wait(held, [&] { return !work.empty(); });
                const auto next = std::move(work.front());
                work.pop_front();
                held.unlock();
                next();
                held.lock();
                done++;
                changed.notify_all();
            }
        }).detach();
    }
    uint64_t add(std::function<void()> what) {
        std::lock_guard<std::mutex> held(lock);
        work.push_back(std::move(what));
        changed.notify_all();
        return ++asked;
    }
    bool reached(uint64_t number) {
        std::lock_guard<std::mutex> held(lock);
        return done >= number;
    }
    void wait(uint64_t number) {
        std::unique_lock<std::mutex> held(lock);
        changed.wait(held, [&] { return done >= number; });
    }
};
// Never destroyed: its thread ends with the process.
static Queue& queue = *new Queue;

static Result in(Stream* stream, std::function<void()> what) {
    if (queue.reached(stream->last)) what();
    else stream->last = queue.add(std::move(what));
    return SUCCESS;
}

static Result release(uint64_t address, Stream* stream) {
    std::lock_guard<std::recursive_mutex> held(books);
    auto found = allocations.find(address);
    if (found == allocations.end()) return INVALID_VALUE;
    used -= found->second;
    allocations.erase(found);
    return in(stream, [=] { free((void*)address); });
}

static bool inside(uint64_t address, size_t bytes) {
    std::lock_guard<std::recursive_mutex> held(books);
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return false;
    auto block = std::prev(after);
    return address + bytes <= block->first + block->second;
}

static size_t pending_launches = 2048;

struct Event {
    std::chrono::steady_clock::time_point time;
    Stream at;
};
struct Function {
    standin::Kernel kernel;
};

extern "C" {
Result cuInit(unsigned) {
    if (getenv("STANDIN_STUB")) return STUB;
    return variable("STANDIN_DEVICES", 1) == 0 ? NO_DEVICE : SUCCESS;
}
Result cuDriverGetVersion(int* version) {
    *version = int(variable("STANDIN_VERSION", 13000));
    return SUCCESS;
}
Result cuDeviceGetCount(int* count) {
    *count = int(variable("STANDIN_DEVICES", 1));
    return SUCCESS;
}
Result cuDeviceGet(int* device, int ordinal) {
    *device = ordinal;
    return SUCCESS;
}
Result cuDeviceGetName(char* name, int length, int) {
    snprintf(name, length, "stand-in");
    return SUCCESS;
}
Result cuDeviceGetUuid_v2(unsigned char* uuid, int) {
    for (int i = 0; i < 14; ++i) uuid[i] = i;
    uuid[14] = 0xfe, uuid[15] = 0xff; // negative as characters
    return SUCCESS;
}
Result cuDeviceGetAttribute(int* value, int attribute, int) {
    switch (attribute) {
    case 5: *value = int(variable("STANDIN_MAX_GRID", 2147483647)); break; // MAX_GRID_DIM_X
    case 16: *value = 4; break;                                            // MULTIPROCESSOR_COUNT
    case 39: *value = 2048; break;                                         // MAX_THREADS_PER_MULTIPROCESSOR
    case 75: *value = 9; break;                                            // COMPUTE_CAPABILITY_MAJOR
    case 76: *value = 0; break;                                            // COMPUTE_CAPABILITY_MINOR
    case 115: *value = 1; break;                                           // MEMORY_POOLS_SUPPORTED
    default: *value = 0;
    }
    return SUCCESS;
}
Result cuDevicePrimaryCtxRetain(void** context, int) {
    *context = (void*)1;
    return SUCCESS;
}
Result cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
Result cuCtxGetCurrent(void** context) {
    *context = (void*)1;
    return SUCCESS;
}
Result cuCtxSetCurrent(void*) { return SUCCESS; }
Result cuCtxSynchronize() {
    queue.wait(queue.asked);
    return SUCCESS;
}
Result cuCtxSetLimit(int limit, size_t value) {
    if (limit == 4) pending_launches = value; // DEV_RUNTIME_PENDING_LAUNCH_COUNT
    return SUCCESS;
}
Result cuCtxGetLimit(size_t* value, int limit) {
    *value = limit == 4 ? pending_launches : 0;
    return SUCCESS;
}
Result cuMemGetInfo_v2(size_t* free, size_t* total) {
    *free = memory() - used;
    *total = memory();
    return SUCCESS;
}
Result cuMemAlloc_v2(uint64_t* address, size_t bytes) { return allocate(address, bytes); }
Result cuMemAllocAsync(uint64_t* address, size_t bytes, void*) { return allocate(address, bytes); }
Result cuMemFree_v2(uint64_t address) {
    Stream idle;
    cuCtxSynchronize();
    return release(address, &idle);
}
Result cuMemFreeAsync(uint64_t address, Stream* stream) { return release(address, stream); }
Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
    *pointer = malloc(bytes);
    return *pointer ? SUCCESS : OUT_OF_MEMORY;
}
Result cuMemFreeHost(void* pointer) {
    free(pointer);
    return SUCCESS;
}
Result cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, Stream* stream) {
    if (!inside(address, bytes)) return INVALID_VALUE;
    return in(stream, [=] { memset((void*)address, value, bytes); });
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, Stream* stream) {
    if (!inside(to, bytes)) return INVALID_VALUE;
    return in(stream, [=] { memcpy((void*)to, from, bytes); });
}
Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, Stream* stream) {
    if (!inside(from, bytes)) return INVALID_VALUE;
    return in(stream, [=] { memcpy(to, (void*)from, bytes); });
}
Result cuStreamCreate(Stream** stream, unsigned) {
    *stream = new Stream;
    return SUCCESS;
}
Result cuStreamDestroy_v2(Stream* stream) {
    delete stream;
    return SUCCESS;
}
Result cuStreamQuery(Stream* stream) { return queue.reached(stream->last) ? SUCCESS : NOT_READY; }
Result cuStreamSynchronize(Stream* stream) {
    queue.wait(stream->last);
    return SUCCESS;
}
Result cuStreamWaitEvent(Stream* stream, Event* event, unsigned) {
    if (stream->last < event->at.last) stream->last = event->at.last;
    return SUCCESS;
}
Result cuEventCreate(Event** event, unsigned) {
    *event = new Event;
    return SUCCESS;
}
Result cuEventDestroy_v2(Event* event) {
    Stream at = event->at;
    return in(&at, [=] { delete event; });
}
Result cuEventRecord(Event* event, Stream* stream) {
    in(stream, [=] { event->time = std::chrono::steady_clock::now(); });
    event->at = *stream;
    return SUCCESS;
}
Result cuEventQuery(Event* event) { return cuStreamQuery(&event->at); }
Result cuEventSynchronize(Event* event) { return cuStreamSynchronize(&event->at); }
Result cuEventElapsedTime_v2(float* ms, Event* from, Event* to) {
    if (cuEventQuery(from) != SUCCESS || cuEventQuery(to) != SUCCESS) return NOT_READY;
    *ms = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return SUCCESS;
}
Result cuModuleLoadData(void** module, const void* image) {
    const auto* elf = (const Elf64_Ehdr*)image;
    if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0) return INVALID_VALUE;
    const size_t bytes = elf->e_shoff + size_t(elf->e_shnum) * elf->e_shentsize;
    const int file = memfd_create("kernel", 0);
    if (file < 0 || write(file, image, bytes) != ssize_t(bytes)) return OUT_OF_MEMORY;
    *module = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!*module) fprintf(stderr, "stand-in: %s\n", dlerror());
    return *module ? SUCCESS : INVALID_VALUE;
}
// A link is the relocatable image itself.
struct Link {
    std::string image;
};
Result cuLinkCreate_v2(unsigned, void*, void*, Link** link) {
    *link = new Link;
    return SUCCESS;
}
Result cuLinkAddData_v2(Link* link, int kind, void* data, size_t bytes, const char*, unsigned, void*, void*) {
    if (kind == 0) link->image.assign((const char*)data, bytes); // CU_JIT_INPUT_CUBIN
    return SUCCESS;
}
Result cuLinkComplete(Link* link, void** image, size_t* bytes) {
    *image = link->image.data();
    *bytes = link->image.size();
    return SUCCESS;
}
Result cuLinkDestroy(Link* link) {
    delete link;
    return SUCCESS;
}
Result cuModuleUnload(void*) { return SUCCESS; }
Result cuModuleGetFunction(Function** function, void* module, const char* name) {
    void* kernel = dlsym(module, (std::string(name) + "_standin").c_str());
    if (!kernel) return NOT_FOUND;
    *function = new Function{(standin::Kernel)kernel};
    return SUCCESS;
}
Result cuLaunchKernel(Function* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                      unsigned, Stream* stream, void** arguments, void**) {
    const uint64_t most = variable("STANDIN_MAX_GRID", 2147483647);
    if (x == 0 || y == 0 || z == 0 || x > most || y > 65535 || z > 65535 || threads > 1024) return INVALID_VALUE;
    if (++launches == variable("STANDIN_FAIL_LAUNCH", 0)) return LAUNCH;
    // Every kernel takes three values, given in 512 bytes each.
    std::array<std::array<uint64_t, 64>, 3> values;
    for (int i = 0; i < 3; i++) memcpy(&values[i], arguments[i], 512);
    const uint64_t seed = variable("STANDIN_SEED", 1) + launches;
    const std::chrono::milliseconds least(variable("STANDIN_SLOW", 0));
    stream->last = queue.add([=]() mutable {
        std::this_thread::sleep_for(least);
        void* pointers[] = {&values[0], &values[1], &values[2]};
        standin::run(function->kernel, pointers, {x, y, z}, threads, seed);
    });
    return SUCCESS;
}
Result cuGetErrorName(Result result, const char** text) {
    switch (result) {
    case INVALID_VALUE: *text = "CUDA_ERROR_INVALID_VALUE"; break;
    case OUT_OF_MEMORY: *text = "CUDA_ERROR_OUT_OF_MEMORY"; break;
    case LAUNCH: *text = "CUDA_ERROR_LAUNCH_FAILED"; break;
    default: *text = "CUDA_ERROR_UNKNOWN";
    }
    return SUCCESS;
}
Result cuGetErrorString(Result result, const char** text) {
    switch (result) {
    case INVALID_VALUE: *text = "invalid argument"; break;
    case OUT_OF_MEMORY: *text = "out of memory"; break;
    case LAUNCH: *text = "unspecified launch failure"; break;
    default: *text = "unknown error";
    }
    return SUCCESS;
}
}
