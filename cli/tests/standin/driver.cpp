// A stand-in for the CUDA driver: memory is the host's, launches run at once, modules are shared libraries.
//
// Fresh memory is poisoned; copies and memsets outside an allocation are errors. Environment variables play the parts of
// other drivers: STANDIN_VERSION, STANDIN_STUB, STANDIN_DEVICES, STANDIN_MEMORY (bytes), STANDIN_MAX_GRID (blocks),
// STANDIN_FAIL_LAUNCH (that launch, counted from 1, fails), STANDIN_SEED (order of threads).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>

using Result = int;
enum : Result { SUCCESS = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, STUB = 34, NO_DEVICE = 100, NOT_FOUND = 500, LAUNCH = 719 };

static uint64_t variable(const char* name, uint64_t otherwise) {
    const char* value = getenv(name);
    return value ? strtoull(value, nullptr, 10) : otherwise;
}

static uint64_t memory() { return variable("STANDIN_MEMORY", 4ull << 30); }
static std::map<uint64_t, uint64_t> allocations;
static uint64_t used = 0, launches = 0;

static Result allocate(uint64_t* address, size_t bytes) {
    if (bytes == 0) return INVALID_VALUE;
    if (used + bytes > memory()) return OUT_OF_MEMORY;
    void* block = aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (!block) return OUT_OF_MEMORY;
    memset(block, 0xa5, bytes);
    *address = (uint64_t)block;
    allocations[*address] = bytes;
    used += bytes;
    return SUCCESS;
}

static Result release(uint64_t address) {
    auto found = allocations.find(address);
    if (found == allocations.end()) return INVALID_VALUE;
    used -= found->second;
    allocations.erase(found);
    free((void*)address);
    return SUCCESS;
}

static bool inside(uint64_t address, size_t bytes) {
    auto after = allocations.upper_bound(address);
    if (after == allocations.begin()) return false;
    auto block = std::prev(after);
    return address + bytes <= block->first + block->second;
}

static size_t pending_launches = 2048;

struct Event {
    std::chrono::steady_clock::time_point time;
};
struct Function {
    void (*kernel)(void**);
    void (*grid)(void (*)(void**), void**, unsigned, unsigned, uint64_t);
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
Result cuCtxSynchronize() { return SUCCESS; }
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
Result cuMemFree_v2(uint64_t address) { return release(address); }
Result cuMemFreeAsync(uint64_t address, void*) { return release(address); }
Result cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
    *pointer = malloc(bytes);
    return *pointer ? SUCCESS : OUT_OF_MEMORY;
}
Result cuMemFreeHost(void* pointer) {
    free(pointer);
    return SUCCESS;
}
Result cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void*) {
    if (!inside(address, bytes)) return INVALID_VALUE;
    memset((void*)address, value, bytes);
    return SUCCESS;
}
Result cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    if (!inside(to, bytes)) return INVALID_VALUE;
    memcpy((void*)to, from, bytes);
    return SUCCESS;
}
Result cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    if (!inside(from, bytes)) return INVALID_VALUE;
    memcpy(to, (void*)from, bytes);
    return SUCCESS;
}
Result cuStreamCreate(void** stream, unsigned) {
    *stream = malloc(1);
    return SUCCESS;
}
Result cuStreamDestroy_v2(void* stream) {
    free(stream);
    return SUCCESS;
}
Result cuStreamSynchronize(void*) { return SUCCESS; }
Result cuStreamWaitEvent(void*, void*, unsigned) { return SUCCESS; }
Result cuEventCreate(Event** event, unsigned) {
    *event = new Event;
    return SUCCESS;
}
Result cuEventDestroy_v2(Event* event) {
    delete event;
    return SUCCESS;
}
Result cuEventRecord(Event* event, void*) {
    event->time = std::chrono::steady_clock::now();
    return SUCCESS;
}
Result cuEventQuery(Event*) { return SUCCESS; }
Result cuEventSynchronize(Event*) { return SUCCESS; }
Result cuEventElapsedTime_v2(float* ms, Event* from, Event* to) {
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
    void* grid = dlsym(module, "standin_grid");
    if (!kernel || !grid) return NOT_FOUND;
    *function = new Function{(void (*)(void**))kernel,
                             (void (*)(void (*)(void**), void**, unsigned, unsigned, uint64_t))grid};
    return SUCCESS;
}
Result cuLaunchKernel(Function* function, unsigned x, unsigned y, unsigned z, unsigned threads, unsigned, unsigned,
                      unsigned, void*, void** arguments, void**) {
    if (x == 0 || y != 1 || z != 1 || x > variable("STANDIN_MAX_GRID", 2147483647) || threads > 1024) return INVALID_VALUE;
    if (++launches == variable("STANDIN_FAIL_LAUNCH", 0)) return LAUNCH;
    function->grid(function->kernel, arguments, x, threads, variable("STANDIN_SEED", 1) + launches);
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
