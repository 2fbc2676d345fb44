// A stand-in for NVML: the card of the stand-in driver, which takes 250 W by its power and 200 W by its counter.
//
// The counter steps every 20 ms. STANDIN_NVML plays the parts of other cards: `counter` and `power` tell only that,
// `neither` tells nothing, `other` is a card with another UUID, `fails` does not start.
#include <chrono>
#include <cstdlib>
#include <cstring>

using Result = int;
enum : Result { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

static bool is(const char* part) {
    const char* value = getenv("STANDIN_NVML");
    return value && strcmp(value, part) == 0;
}

extern "C" {
Result nvmlInit_v2() { return is("fails") ? DRIVER_NOT_LOADED : SUCCESS; }
Result nvmlShutdown() { return SUCCESS; }
Result nvmlSystemGetDriverVersion(char* version, unsigned length) {
    strncpy(version, "580.00", length);
    return SUCCESS;
}
Result nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
    *device = (void*)1;
    const bool known = strcmp(uuid, "GPU-00010203-0405-0607-0809-0a0b0c0dfeff") == 0;
    return known && !is("other") ? SUCCESS : NOT_FOUND;
}
Result nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
    *milliwatts = 250000;
    return is("counter") || is("neither") ? NOT_SUPPORTED : SUCCESS;
}
Result nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
    using namespace std::chrono;
    const auto steps = duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count() / 20;
    *millijoules = steps * 20 * 200;
    return is("power") || is("neither") ? NOT_SUPPORTED : SUCCESS;
}
}
