// A stand-in for NVRTC: g++ compiles kernels with shim.h and links them with the stand-in driver, which loads them. A test of tests may
// have it plant a fault.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

struct Program {
    std::string source, image, log;
    std::map<std::string, std::string> headers;
};

static std::string slurp(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// Plants the fault that STANDIN_FAULT describes, if it does: "header|text|what stands there instead".
static bool plant(Program& program) {
    const char* fault = getenv("STANDIN_FAULT");
    if (!fault) return true;
    std::stringstream parts(fault);
    std::string name, from, to;
    getline(parts, name, '|'), getline(parts, from, '|'), getline(parts, to, '|');
    std::string& text = program.headers[name];
    const size_t at = text.find(from);
    if (at == std::string::npos || text.find(from, at + 1) != std::string::npos) return false;
    text.replace(at, from.size(), to);
    return true;
}

extern "C" {
int nvrtcVersion(int* major, int* minor) {
    *major = 13;
    *minor = 0;
    return 0;
}

int nvrtcCreateProgram(Program** program, const char* source, const char*, int count, const char** headers,
                       const char** names) {
    *program = new Program;
    (*program)->source = source;
    for (int i = 0; i < count; i++) (*program)->headers[names[i]] = headers[i];
    return 0;
}

int nvrtcDestroyProgram(Program** program) {
    delete *program;
    return 0;
}

int nvrtcCompileProgram(Program* program, int, const char**) {
    if (!plant(*program)) {
        program->log = "nothing to plant a fault in";
        return 6;
    }
    // In memory where there is such a folder: a kernel has a file for each of its headers.
    std::string root = access("/dev/shm", W_OK) == 0 ? "/dev/shm/standin-XXXXXX" : "/tmp/standin-XXXXXX";
    if (!mkdtemp(root.data())) return 1;
    for (auto& [name, text] : program->headers) {
        if (name.find('/') != std::string::npos) mkdir((root + "/" + name.substr(0, name.find('/'))).c_str(), 0700);
        std::ofstream(root + "/" + name) << text;
    }
    std::ofstream(root + "/kernel.cpp") << program->source;
    const std::string command = "g++ -shared " KERNEL_FLAGS " -include " SHIM " -I " + root + " -o " + root + "/kernel.so " +
                                root + "/kernel.cpp " DRIVER " > " + root + "/log 2>&1";
    const int status = system(command.c_str());
    program->log = slurp(root + "/log");
    program->image = slurp(root + "/kernel.so");
    (void)!system(("rm -r " + root).c_str());
    return status == 0 ? 0 : 6;
}

int nvrtcGetProgramLogSize(Program* program, size_t* size) {
    *size = program->log.size() + 1;
    return 0;
}

int nvrtcGetProgramLog(Program* program, char* log) {
    program->log.copy(log, program->log.size());
    log[program->log.size()] = 0;
    return 0;
}

int nvrtcGetCUBINSize(Program* program, size_t* size) {
    *size = program->image.size();
    return 0;
}

int nvrtcGetCUBIN(Program* program, char* image) {
    program->image.copy(image, program->image.size());
    return 0;
}
}
