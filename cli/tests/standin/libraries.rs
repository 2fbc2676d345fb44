//! The stand-in's libraries, compiled when they are first needed and kept from then on.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::binary::scratch;

/// What kernels are compiled with, and what runs them.
const HEADERS: [(&str, &str); 2] = [("shim.h", include_str!("shim.h")), ("grid.h", include_str!("grid.h"))];

/// What is compiled into what, and its other name. The program looks for that first, and would find the library of a GPU, where there is one.
const LIBRARIES: [(&str, &str, [&str; 2]); 3] = [
    ("driver.cpp", include_str!("driver.cpp"), ["libcuda.so.1", "libcuda.so"]),
    ("nvrtc.cpp", include_str!("nvrtc.cpp"), ["libnvrtc.so.13", "libnvrtc.so"]),
    ("nvml.cpp", include_str!("nvml.cpp"), ["libnvidia-ml.so.1", "libnvidia-ml.so"]),
];

/// How kernels are compiled, and what they all begin with: a header that is compiled ahead serves the same flags alone. Variables
/// of one name in two of them are two. Nothing throws, and without tables for it a kernel takes a tenth less to compile.
const KERNEL_FLAGS: &str = "-fPIC -fno-gnu-unique -Og -std=c++17 -ffp-contract=off -mfma -fno-strict-aliasing -w -pthread \
     -fno-exceptions -fno-rtti -fno-asynchronous-unwind-tables";

/// Why the stand-in cannot run here, if it cannot.
pub(super) fn lacking() -> Option<&'static str> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Some("the stand-in is for x86-64 Linux");
    }
    if !cfg!(feature = "cuda") {
        return Some("the feature 'cuda' is off");
    }
    let found = Command::new("g++").arg("--version").output().is_ok_and(|output| output.status.success());
    (!found).then_some("there is no g++ to build the stand-in with")
}

/// The folder of the libraries. Its name is of what they are made from, so that one that exists is right.
pub(super) fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let mut hasher = DefaultHasher::new();
        (HEADERS, KERNEL_FLAGS, LIBRARIES).hash(&mut hasher);
        let folder = scratch(&format!("libraries-{:016x}", hasher.finish()));
        if !folder.exists() {
            // Under another name first, so that it is whole; another process may be as far.
            let fresh = scratch(&format!("libraries-of-{}", std::process::id()));
            build(&fresh, &folder);
            if std::fs::rename(&fresh, &folder).is_err() {
                assert!(folder.exists(), "{} cannot be made", folder.display());
                std::fs::remove_dir_all(&fresh).unwrap();
            }
        }
        folder
    })
}

/// Builds in `fresh` what will be used in `folder`.
fn build(fresh: &Path, folder: &Path) {
    // What a killed process of this number left.
    let _ = std::fs::remove_dir_all(fresh);
    std::fs::create_dir_all(fresh).unwrap();
    for (name, text) in HEADERS {
        std::fs::write(fresh.join(name), text).unwrap();
    }
    let compile = |what: &str, command: &mut Command| {
        assert!(command.current_dir(fresh).status().unwrap().success(), "{what} does not compile");
    };
    compile("shim.h", Command::new("g++").args(KERNEL_FLAGS.split(' ')).args(["-x", "c++-header", "shim.h"]));
    let shim = format!("-DSHIM=\"{}\"", folder.join("shim.h").display());
    let driver = format!("-DDRIVER=\"{}\"", folder.join("libcuda.so.1").display());
    let flags = format!("-DKERNEL_FLAGS=\"{KERNEL_FLAGS}\"");
    for (source, text, [library, other]) in LIBRARIES {
        std::fs::write(fresh.join(source), text).unwrap();
        let fixed = [
            "-shared",
            "-fPIC",
            "-O2",
            "-std=c++17",
            "-Wall",
            &shim,
            &driver,
            &flags,
            // Kernels are linked with the driver, which is loaded under this name.
            &format!("-Wl,-soname,{library}"),
            // A thread of the driver runs until the process ends, so its code must stay when the program closes the library.
            "-Wl,-z,nodelete",
            "-pthread",
            "-o",
            library,
            source,
            "-ldl",
        ];
        compile(source, Command::new("g++").args(fixed));
        #[cfg(unix)]
        std::os::unix::fs::symlink(library, fresh.join(other)).unwrap();
    }
}
