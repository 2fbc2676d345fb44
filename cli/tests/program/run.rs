//! One run: what it writes, and what does not change it.

use std::io::BufRead;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::binary::{command, files, folder, json, orthant, report, text};

#[test]
fn a_run_writes_what_it_was_asked_for() {
    let folder = folder("outputs");
    let arguments = "run mandelbrot -n 200x100 -g 5 -B 3 -o m.png -o m.npy --overlay o.png --report r.json";
    let output = orthant(&folder, arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(files(&folder), ["m.npy", "m.png", "o.png", "r.json"]);

    let report = json(&folder.join("r.json"));
    assert_eq!(report["schema"], 1);
    assert_eq!(report["size"], serde_json::json!([200, 100]));
    assert_eq!(report["g"], serde_json::json!([5, 5]));
    assert_eq!((&report["B"], &report["k"], &report["curve"]), (&3.into(), &2.into(), &"morton".into()));
    for level in report["levels"].as_array().unwrap() {
        let of = |key: &str| level[key].as_u64().unwrap();
        assert_eq!(of("subdivided") + of("filled") + of("leaves"), of("regions"));
    }
    let cells = &report["cells"];
    assert_eq!(cells["filled"].as_u64().unwrap() + cells["leaf"].as_u64().unwrap(), 20_000);
    let checksum = report["checksum"].as_str().unwrap();
    assert!(text(&output.stdout).contains(checksum));

    // The array: its header, and a checksum of its data that is the report's.
    let npy = std::fs::read(folder.join("m.npy")).unwrap();
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    assert_eq!(header % 64, 0);
    assert_eq!(&npy[..8], b"\x93NUMPY\x01\x00");
    let described = std::str::from_utf8(&npy[10..header]).unwrap();
    assert!(described.starts_with("{'descr': '<u2', 'fortran_order': False, 'shape': (100, 200,), }"), "{described}");
    assert_eq!(npy.len() - header, 40_000);
    assert_eq!(format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(&npy[header..])), checksum);

    let size = |name: &str| {
        let file = std::io::BufReader::new(std::fs::File::open(folder.join(name)).unwrap());
        let mut reader = png::Decoder::new(file).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        (frame.width, frame.height)
    };
    assert_eq!(size("m.png"), (200, 100));
    // Small pictures are magnified until their regions can be seen.
    assert_eq!(size("o.png"), (1000, 500));

    let again = orthant(&folder, arguments);
    assert_eq!(again.status.code(), Some(2));
    assert!(orthant(&folder, &format!("{arguments} --force -q")).stdout.is_empty());
}

#[test]
fn the_last_of_a_repeated_option_counts() {
    let folder = folder("repeated");
    let run = |arguments: &str| text(&orthant(&folder, &format!("run mandelbrot {arguments}")).stdout);
    assert!(run("-n 32 -n 48 --curve morton --curve hilbert -q --json").contains("\"curve\":\"hilbert\""));
    assert!(run("-n 32 -n 48 -g 2 -g 3").starts_with("mandelbrot 48x48 cells"));
}

#[test]
fn results_go_into_pipes() {
    let folder = folder("pipes");
    let out = |arguments: &str| {
        let output = orthant(&folder, &format!("run mandelbrot -n 64 {arguments}"));
        assert!(output.status.success() && output.stderr.is_empty(), "{arguments}: {}", text(&output.stderr));
        output.stdout
    };
    out("-q -o m.npy");
    assert_eq!(out("-o -"), std::fs::read(folder.join("m.npy")).unwrap());
    for arguments in ["--report -", "--json", "--json -q"] {
        let report: serde_json::Value = serde_json::from_slice(&out(arguments)).unwrap();
        assert_eq!(report["size"], serde_json::json!([64, 64]));
    }
    assert_eq!(files(&folder), ["m.npy"]);
}

#[test]
fn arrays_are_written_from_regions_without_being_in_memory() {
    let folder = folder("layers");
    let run = |arguments: &str| {
        let output = orthant(&folder, &format!("run {arguments} -q --force"));
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    };
    for field in [
        "mandelbrot -n 300x200 -g 3 -B 2",
        "julibrot -n 20x18x9x7 -g 2 -B 1",
        "cantor --dim 1",
        "mandelbrot --cell i32",
    ] {
        run(&format!("{field} -o dense.npy"));
        run(&format!("{field} -o regions.npy --keep regions"));
        let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
        assert!(read("dense.npy") == read("regions.npy"), "{field}");
    }
    // 32 MiB of cells.
    run("mandelbrot -n 2^12 --keep regions --mem-limit 16M -o large.npy");
    assert!(std::fs::metadata(folder.join("large.npy")).unwrap().len() > 1 << 25);
}

/// 256^3 cells of two bytes take 32 MiB, those of a slice 128 KiB. The colours of values span the slice, whatever is kept.
#[test]
fn a_picture_of_regions_takes_the_memory_of_its_slice() {
    let folder = folder("picture-memory");
    for field in ["mandelbulb -n 256", "formula x+2*y+9*z*z --dim 3 -n 48 --slice z=3"] {
        for (keep, name) in [("regions --mem-limit 30M", "regions"), ("dense", "dense")] {
            let paths = format!("-o {name}.png --overlay {name}-o.png --force");
            let output = orthant(&folder, &format!("run {field} --backend cpu -q --keep {keep} {paths}"));
            assert!(output.status.success(), "{}", text(&output.stderr));
        }
        let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
        assert!(read("regions.png") == read("dense.png"), "{field}");
        assert!(read("regions-o.png") == read("dense-o.png"), "{field}");
    }
}

#[test]
fn pictures_say_what_they_show() {
    let folder = folder("captions");
    let output = orthant(&folder, "run julibrot -n 16 --slice 0=3,1=2 -o M.PNG --overlay o.png --palette viridis -q");
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in ["M.PNG", "o.png"] {
        let file = std::io::BufReader::new(std::fs::File::open(folder.join(name)).unwrap());
        let reader = png::Decoder::new(file).read_info().unwrap();
        let texts = &reader.info().uncompressed_latin1_text;
        let of = |key: &str| &texts.iter().find(|text| text.keyword == key).unwrap().text;
        assert!(of("Software").starts_with("orthant ") && of("Description").contains("axis 3 upwards"));
        let keys: serde_json::Value = serde_json::from_str(of("orthant")).unwrap();
        assert_eq!(
            (&keys["workload"], &keys["sample"], &keys["g"][0]),
            (&"julibrot".into(), &"centre".into(), &4.into())
        );
        assert_eq!((&keys["axes"], &keys["through"]), (&serde_json::json!([2, 3]), &serde_json::json!([3, 2, 0, 0])));
        assert_eq!(keys["domain"][2], serde_json::json!([-1.5, 0.5]));
        if let Some(palette) = &reader.info().palette {
            // The brightest of viridis is yellow.
            assert_eq!(palette[255 * 3..], [253, 231, 37]);
        }
    }
}

#[test]
fn slices_show_any_plane() {
    let folder = folder("slices");
    for (arguments, name) in [
        ("run julibrot -n 12x10x8x6 -g 2 -B 1 --slice 1=3 --slice 3=2", "plane.png"),
        ("run mandelbulb -n 16", "bulb.png"),
        ("run diagonal --dim 1 -n 64", "line.png"),
    ] {
        let output = orthant(&folder, &format!("{arguments} -o {name} --overlay over-{name}"));
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
    }
}

#[test]
fn a_run_names_a_pass_that_is_not_the_default() {
    let folder = folder("passes");
    for (chosen, named) in [
        ("--scheme mbr", "ask mbr morton"),
        ("--scheme mbr --pass level", "ask mbr level morton"),
        ("--scheme mbr --pass in-place", "ask mbr morton"),
        ("--pass in-place", "ask sbr morton"),
        ("--strategy dp --scheme mbr --pass level", "dp mbr level morton"),
        ("--strategy exhaustive --pass level", "exhaustive sbr morton"),
    ] {
        let table = text(&orthant(&folder, &format!("run mandelbrot -n 64 --backend cpu {chosen}")).stdout);
        let header = table.lines().next().unwrap_or_default();
        assert!(header.contains(&format!(" cells, {named} on cpu (")), "{chosen}: {table}");
    }
}

#[test]
fn every_choice_gives_one_checksum() {
    let folder = folder("choices");
    let checksum = |arguments: &str| {
        let output = orthant(&folder, &format!("run mandelbrot -n 300 -g 3 -B 2 {arguments}"));
        assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        text(&output.stdout).lines().find(|line| line.starts_with("checksum")).unwrap().to_owned()
    };
    let first = checksum("");
    for arguments in [
        "--curve canonical",
        "--curve hilbert --insertion atomic",
        "--strategy dp --max-kernels 1",
        "--strategy dp --scheme mbr --threads 1",
        "--scheme mbr --insertion atomic --threads 3",
        "--explore-order paper",
        "--backend auto",
    ] {
        assert_eq!(checksum(arguments), first, "{arguments}");
    }
    let environment = command(&folder, "run mandelbrot -n 300 -B 2").env("ORTHANT_G", "3").output().unwrap();
    assert!(text(&environment.stdout).contains(&first));
}

#[test]
fn repeated_runs_report_every_time_and_the_median() {
    let folder = folder("repeat");
    let once = report(&folder, "mandelbrot -n 100");
    let report = report(&folder, "mandelbrot -n 100 --repeat 3");
    let mut samples: Vec<f64> = report["samples"].as_array().unwrap().iter().map(|t| t.as_f64().unwrap()).collect();
    samples.sort_by(f64::total_cmp);
    assert_eq!((samples.len(), report["seconds"].as_f64().unwrap()), (3, samples[1]));
    assert_eq!((&once["samples"][0], once["samples"].as_array().unwrap().len()), (&once["seconds"], 1));
    // The buffers of one run serve the next, and show nothing of it.
    assert_eq!((&report["checksum"], &report["cells"]), (&once["checksum"], &once["cells"]));
    let sum = |key: &str| -> u64 {
        report["levels"].as_array().unwrap().iter().map(|level| level["cells"][key].as_u64().unwrap()).sum()
    };
    for key in ["explored", "filled", "leaf", "evaluated"] {
        assert_eq!(sum(key), report["cells"][key].as_u64().unwrap());
    }
}

#[test]
fn progress_says_how_long_there_is_to_wait() {
    let line = first_line(
        "progress",
        "run mandelbrot -n 2^17 --strategy exhaustive --keep counts --threads 1 --precision f64",
    );
    assert!(line.contains("% of cells settled after 1 s, about ") && line.trim_end().ends_with(" left"), "{line}");
}

/// One region that takes minutes, all of it inside the set.
#[test]
fn progress_says_that_a_long_region_is_being_explored() {
    for strategy in ["ask", "dp"] {
        let options = "-n 2^17 -g 1 --domain -0.1:0.1,-0.1:0.1 --explore full --prove no --keep counts";
        let line = first_line("exploring", &format!("run mandelbrot {options} --strategy {strategy}"));
        let looked = line.trim_end().strip_prefix("orthant: 0.0 % of cells settled after 1 s, exploring, ");
        let looked = looked.and_then(|rest| rest.strip_suffix(" cells looked at")).and_then(|n| n.parse::<f64>().ok());
        assert!(looked.is_some_and(|cells| cells >= 1e3), "{strategy}: {line}");
    }
}

/// The first line on stderr of a command that goes on for long.
fn first_line(name: &str, arguments: &str) -> String {
    let mut child = command(&folder(name), arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    line
}

#[test]
#[cfg_attr(not(unix), ignore = "needs signals")]
fn an_interrupted_run_leaves_no_half_file() {
    let folder = folder("interrupted");
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let mut child = command(&folder, "run mandelbrot -n 30000 --strategy exhaustive -o m.png --mem-limit 4G")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(500));
        Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code), "SIG{signal}");
        assert_eq!(files(&folder), [""; 0]);
    }
}

/// Strategies, curves, threads and what is kept leave the sum over regions as it is; without regions there is none.
#[test]
fn a_report_has_a_checksum_of_regions() {
    let folder = folder("regions-checksum");
    let of = |arguments: &str| report(&folder, &format!("mandelbrot -n 100 {arguments}"))["regions_checksum"].clone();
    let sum = of("");
    assert!(sum.as_str().unwrap().starts_with("xxh3sum:"), "{sum}");
    for arguments in ["--keep regions --curve hilbert", "--strategy dp --threads 1", "--scheme mbr --curve canonical"] {
        assert_eq!(of(arguments), sum, "{arguments}");
    }
    assert_ne!(of("--dwell 511"), sum);
    assert!(of("--keep counts").is_null() && of("--strategy exhaustive").is_null());
}
