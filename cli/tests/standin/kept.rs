//! What is kept between runs: compiled kernels, fits, tuned schemes.

use std::path::Path;

use crate::binary::{empty, line, orthant, text};

/// What a fit needs of a GPU's reports, and what the model does with them.
pub(super) fn times_of_a_gpu_are_fitted_and_tuned(folder: &Path) {
    let data = empty("learnt");
    let variables = [("ORTHANT_DATA_DIR", data.to_str().unwrap()), ("ORTHANT_BACKEND", "cuda")];
    let succeed = |arguments: &str| {
        let output = orthant(folder, arguments, &variables);
        let (out, err) = text(&output);
        assert!(output.status.success(), "{arguments}: {out}{err}");
        out
    };
    let report = |name: &str, arguments: &str| -> (String, serde_json::Value) {
        let path = data.join(name);
        succeed(&format!("run mandelbrot -q --repeat 2 --report {} {arguments}", path.display()));
        let page = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        (path.display().to_string(), page)
    };
    let mut files = Vec::new();
    for n in [16, 32, 64] {
        for (i, splits) in ["-g 2 -r 2 -B 2", "-g 8 -r 2 -B 1", "-g 2 -r 4 -B 2"].iter().enumerate() {
            for scheme in ["sbr", "mbr"] {
                let arguments = format!("-n {n} {splits} --scheme {scheme}");
                let (file, page) = report(&format!("{n}-{i}-{scheme}.json"), &arguments);
                assert_eq!((&page["multiprocessors"], &page["multiprocessor_threads"]), (&4.into(), &2048.into()));
                assert_eq!(page["samples"].as_array().unwrap().len(), 2);
                let iterations = |level: &serde_json::Value| level["iterations"].as_u64().unwrap();
                let levels = page["levels"].as_array().unwrap();
                assert_eq!(levels.iter().map(iterations).sum::<u64>(), page["iterations"].as_u64().unwrap());
                files.push(file);
            }
        }
    }
    let fit = succeed(&format!("model fit {}", files.join(" ")));
    assert!(fit.contains("cuda, stand-in, mandelbrot, k 2") && fit.contains("held out: n = 64"), "{fit}");
    assert!(data.join("fits/cuda-stand-in.json").exists());
    let (_, chosen) = report("auto.json", "-n 64 --auto-scheme --block 16x8");
    assert_eq!((&chosen["auto_scheme"]["by"], &chosen["backend"]), (&"fit".into(), &"cuda".into()));
    let tuned = succeed("model tune mandelbrot -n 16 --repeat 1 --patience 2 --scheme sbr --blocks 8x8,16x8 --json");
    let tuned: serde_json::Value = serde_json::from_str(&tuned).unwrap();
    assert!(tuned["best"]["block"].is_array() && tuned["tried"].as_array().unwrap().len() >= 3, "{tuned}");
}

pub(super) fn compiled_kernels_are_kept_and_mended(folder: &Path) {
    let cache = empty("kept");
    let run = || {
        let variables = [("ORTHANT_CACHE_DIR", cache.to_str().unwrap())];
        line(&orthant(folder, "run diagonal --dim 3 -n 16 --backend cuda", &variables), "checksum")
    };
    let files = || std::fs::read_dir(&cache).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let first = run();
    let kept = files();
    assert_eq!(kept.len(), 1);
    let image = std::fs::read(&kept[0]).unwrap();
    std::fs::write(&kept[0], &image[..image.len() / 2]).unwrap();
    assert_eq!(run(), first);
    assert_eq!((files(), std::fs::read(&kept[0]).unwrap().len()), (kept.clone(), image.len()));
    let before = std::fs::metadata(&kept[0]).unwrap().modified().unwrap();
    assert_eq!(run(), first);
    assert_eq!(std::fs::metadata(&kept[0]).unwrap().modified().unwrap(), before);
}
