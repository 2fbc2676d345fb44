//! What bad input is answered with, as docs/errors.md lists it.

use orthant_cli::Exit;
use serde_json::{Value, json};

use crate::binary::{files, folder, orthant, repository, text};

/// The page before the table of exit codes.
const PAGE: &str = "\
# Errors

The test `every_error_names_the_culprit` makes this page from the program; `BLESS=1` rewrites it.

## Exit codes

Every command ends with one of these codes. A row of `bench` holds the code that a run of its case would have had.

| code | meaning |
|---|---|
";

/// What stands between the tables.
const MESSAGES: &str = "\
A limit of the system is said with the command that raises it: `ulimit -f` for the size of a file, `ulimit -n` for open
files. A stdout that was closed by `>&-` is an error of the file `stdout`; `> /dev/null` discards the output.

## Messages

What the program answers to bad input.

| command | message (first line) | exit |
|---|---|---|
";

/// Every error case: arguments, exit code, and what the message must name.
const ERRORS: &[(&str, u8, &[&str])] = &[
    ("run mandelbrot -n 0", 2, &["--size", "0", "at least 1"]),
    ("run mandelbrot -n 64x0", 2, &["--size", "at least 1"]),
    ("run mandelbrot -n 16 -g 17", 2, &["-g 17", "axis 0", "between 1 and the 16"]),
    ("run mandelbrot -g 0", 2, &["-g 0", "between 1"]),
    ("run mandelbrot -r 1", 2, &["-r 1", "at least 2"]),
    ("run mandelbrot -r 2x0", 2, &["-r 0", "axis 1", "at least 1"]),
    ("run mandelbrot -B 0", 2, &["-B 0", "at least 1"]),
    ("run mandelbrot -r 2x1 -B 4x0", 2, &["-B 0", "axis 1", "at least 1"]),
    ("run mandelbrot -n 8x8x8", 2, &["--dim 3", "mandelbrot", "2 dimensions"]),
    ("run mandelbrot --dim 2 -n 8x8x8", 2, &["--size: 3 axes", "2 dimensions", "1 or 2"]),
    ("run cantor --dim 3 -g 3x3", 2, &["-g: 2 axes", "1 or 3"]),
    ("run cantor --dim 3 -r 3x3", 2, &["-r: 2 axes", "1 or 3"]),
    ("run cantor --dim 3 -B 3x3", 2, &["-B: 2 axes", "1 or 3"]),
    ("run nonsense", 2, &["nonsense", "mandelbrot", "cantor"]),
    ("run mandelbulb --dim 4", 2, &["--dim 4", "mandelbulb", "3 dimensions"]),
    ("run menger --dim 9", 2, &["--dim 9", "1, 2, 3"]),
    ("run mandelbrot --domain 0.5:-1.5,-1:1", 2, &["--domain", "axis 0", "0.5 to -1.5", "below"]),
    ("run mandelbrot --domain 0:0,-1:1", 2, &["--domain", "axis 0", "below"]),
    ("run mandelbrot --domain NaN:1,-1:1", 2, &["--domain", "axis 0", "NaN", "finite"]),
    ("run mandelbrot --domain 0:1,-1:inf", 2, &["--domain", "axis 1", "inf", "finite"]),
    ("run mandelbrot --domain 1e308:-1e308,-1:1", 2, &["--domain", "from 1e308 to -1e308", "finite"]),
    ("run mandelbrot --domain 0:1", 2, &["--domain: 1 intervals", "2 are needed"]),
    ("run mandelbrot --domain 0-1", 2, &["--domain", "lo:hi"]),
    ("run cantor --domain 0:1,0:1", 2, &["--domain", "cantor", "cell indices"]),
    ("run mandelbrot --dwell 0", 2, &["--dwell 0", "between 1 and 65535"]),
    ("run mandelbrot --dwell 65536", 2, &["--dwell 65536", "between 1 and 65535", "cells of type u16"]),
    ("run mandelbrot --cell u8", 2, &["--cell u8", "reach 512", "255", "another --cell", "smaller --dwell"]),
    ("run mandelbrot --cell f16", 2, &["--cell", "f16", "f32"]),
    ("run mandelbrot --cell complex128", 2, &["--cell", "complex128", "f64"]),
    ("run mandelbrot --cell i32 --dwell 2147483648", 2, &["--dwell 2147483648", "2147483647"]),
    ("run cantor --dwell 5", 2, &["--dwell 5", "cantor"]),
    ("run cantor --arithmetic plain", 2, &["--arithmetic plain", "cantor"]),
    ("run menger --dim 3 --precision f32", 2, &["--precision f32", "menger"]),
    ("model tune simplex --precision f64", 2, &["--precision f64", "simplex"]),
    ("run mandelbrot -n 4294967296", 2, &["--size", "4294967296", "2^32 - 1"]),
    ("run mandelbrot -n 512,512", 2, &["--size", "'512,512'", "write 512x512"]),
    ("run mandelbrot -n 10k", 2, &["--size", "'10k'", "write 10000"]),
    ("run mandelbrot -n 1.5", 2, &["--size", "1.5", "whole number"]),
    ("run simplex --dim 8 -n 2^12 -B 1 --keep counts", 2, &["bits", "64"]),
    ("run mandelbrot --curve hilbert -r 3", 2, &["--curve hilbert", "r 3", "power of two"]),
    ("run cantor --curve hilbert", 2, &["--curve hilbert", "r 3, the default of cantor"]),
    ("run mandelbrot --curve hilbert -r 2x4", 2, &["hilbert", "r must be the same"]),
    ("run mandelbrot --curve hilbert -r 2x1", 2, &["--curve hilbert", "r 1 on axis 1", "morton"]),
    ("run mandelbrot --curve peano", 2, &["peano", "canonical", "morton", "hilbert"]),
    ("run mandelbrot --explore proven", 2, &["proven", "border, closed, full, certified"]),
    ("run mandelbrot --explore certified --prove no --backend cpu", 2, &["--prove no", "proofs alone decide"]),
    ("run mandelbrot -o missing/m.png", 2, &["missing/m.png", "no folder missing", "`mkdir -p missing`"]),
    ("run mandelbrot -o there.png", 2, &["there.png", "exists", "--force"]),
    ("run mandelbrot -o .", 2, &["--output .", ".png, .npy, .tree.zarr or .tree.zarr.zip"]),
    ("run mandelbrot -o missing/m.tree.zarr", 2, &["missing/m.tree.zarr", "no folder missing", "`mkdir -p missing`"]),
    ("run mandelbrot --keep counts -o m.tree.zarr", 2, &["--keep counts", "dense or regions"]),
    ("run mandelbrot -o folder.png", 2, &["folder.png", "folder"]),
    ("run mandelbrot -o m.jpg", 2, &["--output m.jpg", ".png, .npy, .tree.zarr or"]),
    ("run mandelbrot -o - --report -", 2, &["-: named for two outputs"]),
    ("run mandelbrot --report r.json --json", 2, &["--report", "--json", "cannot be used with"]),
    ("run mandelbrot -o m.png --palette pink", 2, &["--palette", "pink", "viridis"]),
    ("run mandelbrot -o m.png --overlay m.png", 2, &["m.png", "two outputs"]),
    ("run mandelbrot --overlay m.npy", 2, &["--overlay m.npy", ".png"]),
    ("run mandelbrot --report r.txt", 2, &["--report r.txt", ".json"]),
    ("run mandelbrot --slice 2=0", 2, &["--slice 2=0", "x (0), y (1)"]),
    ("run mandelbulb --slice 2=256 -n 256", 2, &["--slice 2=256", "0 to 255"]),
    ("run mandelbulb --slice 0=1 --slice 1=1 -n 16", 2, &["--slice", "two of the 3 axes", "you left 1", "hold 1"]),
    ("run mandelbulb --slice 0=1 --slice 0=2 -n 16", 2, &["--slice 0=2", "twice"]),
    ("run mandelbrot --keep counts -o m.png", 2, &["--keep counts", "dense or regions"]),
    ("run mandelbrot --keep regions --strategy exhaustive", 2, &["--keep regions", "exhaustive"]),
    ("run mandelbrot --threads 0", 2, &["--threads", "'0'", "between 1 and 1024"]),
    ("run mandelbrot --max-kernels 0", 2, &["--max-kernels", "0"]),
    ("run mandelbrot --mem-limit lots", 2, &["--mem-limit", "lots", "512MiB"]),
    ("run mandelbrot --repeat 0", 2, &["--repeat", "'0'", "between 1"]),
    ("run mandelbrot --auto-scheme -g 4", 2, &["--auto-scheme", "-g", "cannot be used with"]),
    ("run mandelbrot --auto-scheme -r 2", 2, &["--auto-scheme", "-r", "cannot be used with"]),
    ("run mandelbrot --auto-scheme -B 8", 2, &["--auto-scheme", "-B", "cannot be used with"]),
    ("run mandelbrot --auto-scheme --strategy exhaustive", 2, &["--auto-scheme", "--strategy exhaustive", "ask or dp"]),
    ("model tune mandelbrot -n 3 --strategy ask --dry-run", 2, &["tune", "g r B <= n", "-g, -r and -B"]),
    ("run mandelbrot --auto-scheme --scheme stream --backend cpu", 2, &["--scheme stream", "the GPU's"]),
    ("run kernel --backend cpu", 2, &["kernel", "--source"]),
    ("run kernel --source there.png --backend cpu", 4, &["GPU", "--backend cuda"]),
    ("run kernel --source missing.cuh", 2, &["missing.cuh"]),
    ("run mandelbrot --source there.png", 2, &["--source", "mandelbrot", "kernel"]),
    ("run formula x^2+sqr(y)<1", 2, &["column 5", "'sqr'", "did you mean 'sqrt'"]),
    ("run formula tan(x)<1", 2, &["column 1", "'tan'", "sin(a)/cos(a)"]),
    ("run formula x**2<1", 2, &["column 2", "'**'", "'^'"]),
    ("run formula x<y<1", 2, &["column 4", "not chained"]),
    ("run formula 2x<1", 2, &["column 2", "2*x"]),
    ("run formula (x+1", 2, &["column 5", "')' is needed", "the text ends"]),
    ("run formula iterate", 2, &["column 8", "a name is needed", "the text ends"]),
    ("run formula x --dwell 9", 2, &["--dwell 9", "no dwell", "`cap`"]),
    ("run formula x+i<1", 2, &["column 1", "complex", "re(..)"]),
    ("run formula z<1 --dim 2", 2, &["3 dimensions", "the run has 2"]),
    ("run formula x<1 --source there.png", 2, &["[TEXT]", "--source"]),
    ("run formula --source missing.txt", 2, &["missing.txt"]),
    ("run formula --set a=1", 2, &["--set", "--source"]),
    ("run formula x<1 --set a", 2, &["--set", "a=0.3"]),
    ("run formula x<1 --set a=1", 2, &["no parameter 'a'", "param a"]),
    ("run mandelbrot x<1", 2, &["mandelbrot takes no text", "orthant run formula"]),
    ("run mandelbrot --set a=1", 2, &["--set", "mandelbrot"]),
    ("run array x<1 --input there.png", 2, &["array takes no text"]),
    ("run mandelbrot --block 20x2", 2, &["--block", "20x2", "multiple of 32"]),
    ("run mandelbrot --block 64x64", 2, &["--block", "64x64", "1024"]),
    ("run mandelbrot --backend cpu --block 16x16", 4, &["--block", "--backend cuda"]),
    ("run mandelbrot --backend cpu --block 8x8", 4, &["--block: understood", "--backend cuda"]),
    ("run mandelbrot --backend cpu --device 7", 4, &["--device 7", "--backend cuda"]),
    ("model tune mandelbrot -n 64 --backend cpu --blocks 8x8", 4, &["--blocks", "--backend cuda"]),
    ("run mandelbrot --palette viridis", 2, &["--palette", "no picture", "-o PATH.png"]),
    ("run mandelbrot --backend cpu --strategy dp --dp-budget 4 --ask-loop paper", 4, &["--dp-budget", "--ask-loop"]),
    ("run mandelbrot -n 2^20 --mem-limit 1G", 5, &["the dense array", "2.0 TiB", "1.0 GiB", "--mem-limit"]),
    ("run mandelbulb -n 2^31 -B 2^12 --mem-limit 64G", 5, &["the dense array", "more than 1024 YiB"]),
    ("run mandelbulb -n 2^14 -g 2^12 -B 1 --keep counts --mem-limit 1M", 5, &["tables", "1.0 MiB"]),
    (
        "run mandelbrot -n 2^20 --keep regions --mem-limit 1M",
        5,
        &["tables and terminal regions", "larger -B, a larger --mem-limit, or --keep counts without -o"],
    ),
    ("run mandelbrot -n 2^20 --keep counts --mem-limit 1M", 5, &["the tables (est", "larger -B, or a larger"]),
    (
        "run mandelbrot -n 2^12 --keep regions --mem-limit 16M -o m.png",
        5,
        &["made of the regions", "no picture but .npy"],
    ),
    ("curves walk --dim 0", 2, &["--dim 0", "between 1 and 8"]),
    ("curves walk --dim 3 --g 1x2", 2, &["--g has 2 axes"]),
    ("curves walk --r 0", 2, &["--r 0", "axis 0", "at least 1"]),
    ("curves walk --r 2x1", 2, &["--curve hilbert", "r 1 on axis 1", "morton"]),
    ("curves walk --g 0", 2, &["--g 0", "at least 1"]),
    ("curves walk --curve hilbert --r 6", 2, &["power of two"]),
    ("curves walk --level 40", 2, &["2^32"]),
    ("curves compare -r 3", 2, &["--curve hilbert", "r 3", "power of two"]),
    ("curves compare -n 1", 2, &["one region", "larger -g or -n"]),
    ("curves compare kernel", 2, &["kernel", "on the CPU"]),
    ("curves compare mandelbulb --dim 2", 2, &["--dim 2", "mandelbulb", "3"]),
    ("balance run --balancer warps", 2, &["warps", "threads, virtual-warps"]),
    ("balance run --balancer threads:block=33", 2, &["threads", "block=33", "multiple of 32"]),
    ("balance run regular8 --balancer multi-phase --backend cpu", 2, &["multi-phase", "two-phase and merge-path"]),
    ("balance run nowhere", 2, &["nowhere", "regular8"]),
    ("balance run --sizes nowhere.txt --backend cpu", 2, &["nowhere.txt", "No such file"]),
    ("balance run --sizes torn.jsonl --backend cpu", 2, &["--sizes torn.jsonl", "line 1", "2^32 - 1"]),
    ("balance run --samples 0", 2, &["--samples", "0"]),
    ("balance run -o rows.txt --backend cpu", 2, &["--output rows.txt", ".jsonl"]),
    ("model predict -n 0", 2, &["--size 0", "at least 1"]),
    ("model predict -n 1.5", 2, &["--size", "1.5", "whole number"]),
    ("model predict -n 16 -g 17", 2, &["-g 17", "axis 0", "between 1 and the 16"]),
    ("model predict -n 8x8x8 --dim 2", 2, &["--size has 3 axes", "1 or 2"]),
    ("model predict --dim 9", 2, &["--dim 9", "between 1 and 8"]),
    ("model predict -g 0", 2, &["-g 0", "at least 1"]),
    ("model predict -g 2,y", 2, &["-g", "'y'", "whole number"]),
    ("model predict -r 2,1", 2, &["-r 1", "at least 2"]),
    ("model predict -r 2x0", 2, &["-r 0", "at least 1"]),
    ("model predict -B 2x2x2", 2, &["-B has 3 axes", "1 or 2"]),
    ("model predict -B 0", 2, &["-B 0", "at least 1"]),
    ("model predict -P 1.5", 2, &["-P 1.5", "between 0 and 1"]),
    ("model predict -P 1e308", 2, &["-P 1e308", "between 0 and 1"]),
    ("model predict -P -0.1", 2, &["-P -0.1", "between 0 and 1"]),
    ("model predict -P nan", 2, &["-P NaN", "between 0 and 1"]),
    ("model predict --profile 0.5,0.7", 2, &["--profile", "P has 2 values", "tau = 7", "6 levels"]),
    ("model predict --box-dim 3", 2, &["--box-dim 3", "between 0 and k"]),
    ("model predict -P 0.5 --box-dim 1", 2, &["-P", "--box-dim", "cannot be used with"]),
    ("model predict -A 0.5", 2, &["-A 0.5", "at least 1"]),
    ("model predict -A inf", 2, &["-A inf", "finite"]),
    ("model predict --lambda -1", 2, &["--lambda -1", "at least 0"]),
    ("model predict --q 0", 2, &["--q 0", "at least 1"]),
    ("model predict --c 0", 2, &["--c 0", "at least 1"]),
    ("model predict --surface round", 2, &["--surface", "faces", "exact"]),
    ("model predict -n 64 -g 32 -B 8 --tau-policy strict", 2, &["--tau-policy", "tau = -2", "clamp"]),
    ("model predict -n 64 -g 32 -B 8 -P 0 --tau-policy raw", 2, &["tau = -2", "undefined"]),
    ("model plan -r 1", 2, &["-r 1", "at least 2"]),
    ("model plan --objective fun", 2, &["--objective", "fun", "work, sbr, mbr"]),
    ("model plan -A 0", 2, &["-A 0", "at least 1"]),
    ("model fit", 2, &["<FILES>"]),
    ("model fit missing.json", 2, &["missing.json"]),
    ("model fit there.png", 2, &["there.png", "not JSON"]),
    ("model fit empty.json", 2, &["empty.json", "no report", "--report"]),
    ("model fit object.json", 2, &["object.json", "line 1", "key 'schema' is missing"]),
    ("model fit lacks.json", 2, &["lacks.json", "line 1", "threads"]),
    ("model fit strategy.json", 2, &["strategy.json", "line 1", "guess"]),
    ("model fit schema.json", 2, &["schema.json", "key 'schema' is 2", "schema 1"]),
    ("model fit report.json level.json", 2, &["level.json", "line 1", "level 0", "key 'filled'", "\"six\""]),
    ("model fit grid.json", 2, &["grid.json", "line 1", "level 0", "key 'grid' is [4]", "2 positive numbers"]),
    ("model fit split.json", 2, &["split.json", "line 1", "key 'g' is \"4x4\"", "2 positive numbers"]),
    ("model fit stop.json", 2, &["stop.json", "line 1", "key 'B' is [4,4,1]", "2 of them"]),
    ("model fit seconds.json", 2, &["seconds.json", "key 'seconds' is 0", "positive"]),
    ("model fit report.json", 2, &["toy, k 2", "runs = 1", "more reports"]),
    ("model fit report.json --hold-out x", 2, &["--hold-out", "'x'"]),
    ("model tune nonsense", 2, &["nonsense", "mandelbrot"]),
    ("model tune mandelbrot -g 4", 2, &["unexpected argument '-g'"]),
    ("model tune mandelbrot -o m.png", 2, &["unexpected argument '-o'"]),
    ("model tune mandelbrot --strategy exhaustive", 2, &["tune", "--strategy exhaustive", "ask or dp"]),
    ("model tune mandelbrot --strategy ask -n 3", 2, &["tune", "g r B <= n"]),
    ("model tune mandelbrot --budget 0", 2, &["--budget", "'0'", "positive number of seconds"]),
    ("model tune mandelbrot --budget soon", 2, &["--budget", "'soon'", "positive number of seconds"]),
    ("model tune mandelbrot --patience 0", 2, &["--patience", "0"]),
    ("model tune mandelbrot --all --patience 3", 2, &["--all", "--patience", "cannot be used with"]),
    ("model tune mandelbrot --blocks 8x8,20x2", 2, &["--blocks", "20x2", "multiple of 32"]),
    ("model plot fig3 -o f.png", 2, &["--output f.png", ".svg"]),
    ("model plot fig4 -o there.svg", 2, &["there.svg", "exists", "--force"]),
    ("model plot landscape -n 4 -o l.svg", 2, &["landscape", "g B r <= n"]),
    ("bench", 2, &["SWEEP.toml", "-a"]),
    ("bench missing.toml", 2, &["missing.toml"]),
    ("bench axis.toml", 2, &["axis.toml", "axes.size_of", "unknown axis 'size_of'", "workload, dim, n"]),
    ("bench value.toml", 2, &["value.toml", "base.curve", "peano", "canonical, morton, hilbert"]),
    ("bench key.toml", 2, &["key.toml", "line 2", "samples", "min-samples"]),
    ("bench constraint.toml", 2, &["constraint.toml", "constraints", "'g <= m'", "unknown axis 'm'"]),
    ("bench -a n", 2, &["--axis n", "axis=values"]),
    ("bench -a n=8:4", 2, &["--axis n=8:4", "8 is above 4"]),
    ("bench -a n=64,many", 2, &["--axis n=64,many", "'many' is not a whole number"]),
    ("bench -a n=64", 2, &["no workload", "-a workload=mandelbrot"]),
    ("bench -a repeat=3", 2, &["--axis repeat=3", "unknown axis"]),
    ("bench -a auto-scheme=true", 2, &["--axis auto-scheme=true", "unknown axis"]),
    ("bench -a output=m.png", 2, &["--axis output=m.png", "unknown axis"]),
    ("bench -a workload=mandelbrot --max-samples 0", 2, &["--max-samples 0", "at least one"]),
    ("bench -a workload=mandelbrot --min-samples 9 --max-samples 3", 2, &["--min-samples 9", "--max-samples 3"]),
    ("bench -a workload=mandelbrot --timeout -1", 2, &["--timeout -1", "at least 0"]),
    ("bench -a workload=mandelbrot --energy -1", 2, &["--energy -1", "at least 0"]),
    ("bench -a workload=mandelbrot -a backend=cpu --energy 3", 4, &["--energy 3", "every case runs on the CPU"]),
    ("bench -a workload=mandelbrot --error -1", 2, &["--error -1", "at least 0"]),
    ("bench -a workload=mandelbrot --resume", 2, &["--output"]),
    ("bench -a workload=mandelbrot -a backend=cpu -o b.txt", 2, &["--output b.txt", ".jsonl"]),
    ("bench -a workload=mandelbrot -a backend=cpu -o there.jsonl", 2, &["there.jsonl", "exists", "--force"]),
    ("bench -a workload=mandelbrot -a backend=cpu -o there.jsonl --resume", 2, &["there.jsonl", "line 1", "not a row"]),
    (
        "bench -a workload=mandelbrot -a backend=cpu -o missing/b.jsonl",
        2,
        &["missing/b.jsonl", "no folder missing", "`mkdir -p missing`"],
    ),
    ("shard plan mandelbrot -n 64 -o missing/m.pieces", 2, &["missing/m.pieces", "`mkdir -p missing`"]),
    ("demo missing/demo", 2, &["missing/demo", "`mkdir -p missing`"]),
    ("bench -a workload=cantor -a n=1:100000 -a g=1:100000", 2, &["10000000000 cases", "1000000"]),
    ("bench none.toml --list", 2, &["none: there is no workload", "-a workload=mandelbrot"]),
    ("bench -a workload=cantor -a backend=cpu -o torn.jsonl --resume", 2, &["torn.jsonl", "line 1", "not a row"]),
    ("compare torn.jsonl torn.jsonl", 2, &["torn.jsonl", "line 1", "not a row"]),
    ("compare there.jsonl missing.jsonl", 2, &["there.jsonl", "line 1", "not a row"]),
    ("compare none.jsonl none.jsonl", 2, &["none.jsonl", "no case in common"]),
    ("compare none.jsonl none.jsonl --fail-above much", 2, &["--fail-above", "much", "5%"]),
    ("compare none.jsonl none.jsonl --rounds --threshold much", 2, &["--threshold", "much", "5%"]),
    ("compare none.jsonl none.jsonl --rounds --alpha 0.1", 2, &["--rounds", "--alpha"]),
    ("compare none.jsonl none.jsonl --alpha 2", 2, &["--alpha", "between 0 and 1"]),
    ("compare none.jsonl none.jsonl --ignore speed", 2, &["--ignore", "unknown axis 'speed'", "strategy"]),
    ("report none.jsonl -o r.html", 2, &["none.jsonl", "no rows"]),
    ("report there.jsonl -o r.html", 2, &["there.jsonl", "line 1"]),
    ("report none.jsonl", 2, &["--output"]),
    ("run array", 2, &["--input", "file of the array"]),
    (
        "run array --input there.png",
        2,
        &["orthant: there.png is of a format that is not read", "ImageMagick", "--size"],
    ),
    ("run array --input there.png --dtype u8", 2, &["--size: there.png", "--dtype and --size"]),
    ("run array --input there.png --dtype u8 -n 3", 2, &["--size 3 of --dtype u8", "4 bytes", "needs 3"]),
    ("run array --input there.png --dtype u16 -n 2 --offset 1", 2, &["byte 1: 3 bytes", "needs 4"]),
    ("run array --input there.png --dtype u8 -n 2 --dim 2 -B 0", 2, &["-B 0", "at least 1"]),
    ("run array --input there.png --dtype u8 -n 2x2 -g 3", 2, &["-g 3", "between 1 and the 2"]),
    ("run array --input there.png --dtype f16 -n 2", 2, &["--dtype", "f16", "f32"]),
    ("run array --input missing.npy", 2, &["missing.npy"]),
    ("run array --input missing.nii.gz", 2, &["missing.nii.gz"]),
    ("run array --input a.nrrd --dtype u8 -n 4", 2, &["--dtype", "a.nrrd says so itself"]),
    ("run array --input out.mhd", 2, &["out.mhd: line 4: ElementDataFile '../x'", "lies outside", "--follow"]),
    ("run array --input .", 2, &[".: a folder without .tif or .tiff files"]),
    ("run array --input half.zarr", 2, &["half.zarr/.zarray: line 1: dtype '<f2'"]),
    ("run array --input half.zarr::/a", 2, &["half.zarr: there is no /a: it is one array itself"]),
    ("run array --input tree.zarr", 2, &["tree.zarr: a tree, and no array", "tree convert tree.zarr"]),
    ("run array --input missing.zarr", 2, &["missing.zarr"]),
    ("run array --input there.npz:a", 2, &["there.npz"]),
    ("run array --strategy ask", 2, &["--input: name the file"]),
    (
        "run array --input there.png --dtype u8 -n 4 --precision f64",
        2,
        &["precision f64", "array", "nothing is iterated"],
    ),
    ("run array --input there.png --dtype u8 -n 4 --strategy ask --tolerance 3", 2, &["--tolerance", "--strategy"]),
    ("run array --input there.png --dtype u8 -n 4 --strategy ask --source missing.cuh", 2, &["missing.cuh"]),
    ("run array --input there.png --source missing.cuh", 2, &["--source", "--input"]),
    ("run array --strategy ask x<1 --input there.png", 2, &["array takes no text", "--input"]),
    ("run array --input there.png --dtype u8 -n 4 --keep counts -o m.npy", 2, &["--keep counts", "--keep regions"]),
    ("run array --input there.png --dtype u8 -n 4 -o there.png --force", 2, &["there.png: is read"]),
    ("run array --input there.png --dtype u8 -n 4 --tolerance -1", 2, &["--tolerance -1", "0 or more"]),
    ("run array --input there.png --dtype u8 -n 4 --tolerance x", 2, &["--tolerance", "'x'", "finite number"]),
    ("run array --input there.png --dtype u8 -n 4 --threshold 300", 2, &["--threshold 300", "u8", "up to 255"]),
    ("run array --input there.png --dtype u8 -n 4 --iso 0", 2, &["--iso 0", "u8", "above 0"]),
    ("run array --input there.png --dtype u8 -n 4 --step 0", 2, &["--step 0,0", "greater than 0"]),
    ("run array --input there.png --dtype u8 -n 4 --step 1,y", 2, &["--step", "'y'", "finite number"]),
    ("run array --input there.png --dtype u8 -n 4 --nan fill=x", 2, &["--nan", "fill=x", "equal, error and fill=V"]),
    ("run array --input there.png --dtype u8 -n 4 --nan fill=-1", 2, &["--nan fill=-1", "u8"]),
    ("run array --input there.png --dtype u8 -n 4 --nodata -1", 2, &["--nodata -1", "u8"]),
    (
        "run array --input there.png --dtype u8 -n 4 --tolerance 2 --iso 3",
        2,
        &["--tolerance", "--iso", "cannot be used with"],
    ),
    (
        "run array --input there.png --dtype u8 -n 4 --step 2 --threshold 3",
        2,
        &["--step", "--threshold", "cannot be used with"],
    ),
    ("run mandelbrot --tolerance 2 --nodata 0", 2, &["--tolerance, --nodata", "mandelbrot", "run array"]),
    ("run mandelbrot --kind labels --label-table there.png", 2, &["--kind, --label-table", "mandelbrot", "run array"]),
    ("run mandelbrot --input there.png --endian big", 2, &["--input, --endian", "mandelbrot", "run array"]),
    ("run array --input open.off", 2, &["open.off is a mesh", "orthant run mesh --input", "orthant tree build"]),
    ("run open.off", 2, &["a mesh, not a field", "orthant tree build open.off"]),
    ("run mesh", 2, &["--input", ".stl, .obj, .ply, .off", "orthant run mesh"]),
    ("run mesh --input a.npy", 2, &["--input a.npy", ".stl, .obj, .ply, .off", "run array"]),
    ("run mesh --input missing.stl", 2, &["missing.stl"]),
    ("run mesh --input torn.off -n 8", 2, &["torn.off: line 3", "vertex 2 of 3"]),
    ("run mesh --input far.off -n 8", 2, &["far.off: line 6", "face with vertex '3'", "3 vertices"]),
    ("run mesh --input nan.obj -n 8", 2, &["nan.obj: line 2", "NaN", "finite"]),
    ("run mesh --input flat.obj -n 8", 2, &["flat.obj", "three different corners"]),
    ("run mesh --input open.off -n 8", 2, &["open.off: open: 3 edges", "from (0, 0, 0) to (", "write --value surface"]),
    ("run mesh --input open.off --value around", 2, &["--value", "around", "inside, surface"]),
    ("run mesh --input open.off --value surface --dim 2", 2, &["--dim 2", "mesh", "3 dimensions"]),
    (
        "run mesh --input open.off --value surface --domain 0:1e-13,0:1,0:1",
        2,
        &["--domain", "span", "compared exactly"],
    ),
    ("run mesh --input open.off --precision f64", 2, &["--precision f64", "nothing is iterated"]),
    ("run mesh --input open.off --tolerance 2", 2, &["--tolerance", "of arrays", "mesh"]),
    ("run mandelbrot --value inside", 2, &["--value inside", "mandelbrot", "mesh"]),
    ("tree build a.npy --value inside -o m.tree.zarr", 2, &["--value inside", "of a mesh"]),
    ("tree build open.off --threshold 2 -o m.tree.zarr", 2, &["--threshold", "of arrays"]),
    ("tree build open.off -o m.npy", 2, &["--output m.npy", "orthant run mesh --input open.off"]),
    ("tree info gs://bucket/x.tree.zarr", 2, &["gs://bucket/x.tree.zarr: gs://", "https://", "aws s3 presign"]),
    ("tree info http://me:word@host/x.tree.zarr", 2, &["http://host/x.tree.zarr: ", "presigned URL"]),
    ("tree info http:///x.tree.zarr.zip?sig=a", 2, &["http:///x.tree.zarr.zip: ", "needs a host"]),
    (
        "run mandelbrot -o https://host/m.npy?sig=a",
        2,
        &["https://host/m.npy: nothing is written to a URL", "aws s3 cp"],
    ),
    ("curves compare mesh", 2, &["--input", ".stl"]),
    ("shard run missing", 2, &["missing: no folder of pieces", "orthant shard plan"]),
    ("shard plan mandelbrot --curve canonical -o m.pieces", 2, &["--curve canonical", "morton"]),
    ("shard plan mandelbrot -o there.png", 2, &["there.png: a file"]),
    ("shard plan mandelbrot -o folder.png/x --pieces 0", 2, &["--pieces", "0"]),
    ("frobnicate", 2, &["frobnicate"]),
    ("run array --input tiff.nii", 2, &["tiff.nii: this is a TIFF file", ".tif"]),
    ("run points --input names.csv -n 8", 2, &["names.csv: line 2: column 2 'ball'", "--label-table names.csv"]),
    ("tree info tree.zar", 2, &["tree.zar: there is no such tree", "did you mean tree.tree.zarr?"]),
    ("run mandelbrot -n 16 -o m.png --axis 1=3", 2, &["--axis: a picture shows both"]),
    ("run array --input there.png --dtype u8 -n 4 --spacing 0mm", 2, &["--spacing", "'0mm'", "0.5mm"]),
    ("run array --input there.png --dtype u8 -n 4 --voxel 1,2mm", 2, &["--voxel 1,2mm: 2 lengths", "1 axes"]),
    (
        "run array --input there.png --dtype u8 -n 4 --spacing 1mm --domain 0:1",
        2,
        &["--spacing 1mm: --domain", "leave one"],
    ),
    ("run mandelbrot --spacing 1mm", 2, &["--spacing", "mandelbrot", "run array"]),
    ("run formula x^2+y^2+z^2<1 -n 100000 -o big.tree.zarr", 2, &["a tree of these cells has", "fits", "smaller -n"]),
    ("run formula x<1 -n 1000000000 -o big.png", 2, &["--output: a picture of 1000000000 x 1", "--scale"]),
    (
        "run mandelbrot -n 2^16 --keep dense --mem-limit 1G -o m.png",
        5,
        &["the dense array", "a tree (-o X.tree.zarr) instead of a picture"],
    ),
    ("labels.npy", 2, &["labels.npy is a file", "`orthant tree build labels.npy -o X.tree.zarr`"]),
    ("tree labels.npy", 2, &["labels.npy is a file", "`orthant tree build labels.npy -o X.tree.zarr`"]),
    ("build labels.npy", 2, &["`orthant tree build`"]),
    ("biuld a.npy -o X.tree.zarr", 2, &["biuld", "there is `orthant tree build`"]),
    ("mandelbrot", 2, &["`orthant run mandelbrot`"]),
    ("run gyroid", 2, &["gyroid", "`orthant run formula '"]),
    ("run mandelbrot -b 4", 2, &["'-b'", "there is '-B'"]),
    ("run formula -x<y", 2, &["comes after --", "`orthant run formula -- '-x<y'`"]),
    ("tree build a.npy -o a.tree", 2, &["as in `-o a.tree.zarr`"]),
    ("tree build a.npy -o b.zarr", 2, &["as in `-o b.tree.zarr`"]),
    ("tree build a.npy -o b.c", 2, &["as in `-o b.c.tree.zarr`"]),
    ("run mandelbrot -o a.tree", 2, &["--output a.tree", "as in `a.tree.zarr`"]),
    ("tree build a.npy --axis z", 2, &["'--axis <AXIS=INDEX>'", "`orthant tree slice X.tree.zarr --axis z=48`"]),
    ("run mandelbulb -n 16 --axis 2=16", 2, &["--axis 2=16", "0 to 15"]),
    ("", 2, &["Usage"]),
    ("verify --ranks 0", 2, &["--ranks", "0"]),
    ("verify --ranks 2 --brief", 2, &["--ranks", "--brief", "cannot be used with"]),
    ("verify --ranks 2 --once", 2, &["--ranks", "--once", "cannot be used with"]),
    ("verify --once --brief", 2, &["--once", "--brief", "cannot be used with"]),
];

/// Files that the error cases read or must not touch.
fn files_there() -> Vec<(&'static str, String)> {
    let texts = [
        ("there.png", "mine"),
        ("there.svg", "mine"),
        ("tiff.nii", "II*\0"),
        ("names.csv", "value,name\n1,ball\n"),
        ("object.json", r#"{"case": []}"#),
        ("empty.json", ""),
        ("schema.json", r#"{"schema": 2}"#),
        ("none.jsonl", ""),
        ("there.jsonl", "mine\n"),
        ("torn.jsonl", "mine, without an end"),
        ("open.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"),
        ("far.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n"),
        ("torn.off", "OFF\n3 1 0\n0 0 0\n"),
        ("nan.obj", "v 0 0 0\nv 1 NaN 0\nv 0 1 0\nf 1 2 3\n"),
        ("flat.obj", "v 0 0 0\nv 1 0 0\nf 1 2 2\n"),
        ("none.toml", ""),
        ("out.mhd", "NDims = 1\nDimSize = 4\nElementType = MET_UCHAR\nElementDataFile = ../x\n"),
        ("axis.toml", "[axes]\nsize_of = 3\n"),
        ("value.toml", "[base]\ncurve = \"peano\"\n"),
        ("key.toml", "[measure]\nsamples = 3\n"),
        ("constraint.toml", "constraints = [\"g <= m\"]\n"),
    ];
    let report = |change: fn(&mut Value)| {
        let mut report: Value = serde_json::from_str(include_str!("toy.json")).unwrap();
        change(&mut report);
        report.to_string()
    };
    let reports = [
        ("report.json", report(|_| {})),
        ("lacks.json", report(|report| drop(report.as_object_mut().unwrap().remove("threads")))),
        ("grid.json", report(|report| report["levels"][0]["grid"] = json!([4]))),
        ("level.json", report(|report| report["levels"][0]["filled"] = "six".into())),
        ("split.json", report(|report| report["g"] = "4x4".into())),
        ("stop.json", report(|report| report["B"] = json!([4, 4, 1]))),
        ("seconds.json", report(|report| report["seconds"] = 0.into())),
        ("strategy.json", report(|report| report["strategy"] = "guess".into())),
    ];
    texts.map(|(name, text)| (name, text.to_owned())).into_iter().chain(reports).collect()
}

#[test]
fn every_error_names_the_culprit() {
    let folder = folder("errors");
    let there = files_there();
    for (name, content) in &there {
        std::fs::write(folder.join(name), content).unwrap();
    }
    std::fs::create_dir(folder.join("folder.png")).unwrap();
    for (name, file, content) in [
        ("half.zarr", ".zarray", r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f2"}"#),
        ("tree.tree.zarr", "zarr.json", "{}"),
        ("tree.zarr", "zarr.json", r#"{"zarr_format": 3, "node_type": "group", "attributes": {"orthant_tree": {}}}"#),
    ] {
        std::fs::create_dir(folder.join(name)).unwrap();
        std::fs::write(folder.join(name).join(file), content).unwrap();
    }
    let (mut table, mut wrong) = (String::new(), Vec::new());
    for (arguments, code, names) in ERRORS {
        let output = orthant(&folder, arguments);
        let message = text(&output.stderr);
        let named = names.iter().all(|name| message.contains(name)) && !message.contains("panicked");
        if !named || output.status.code() != Some(i32::from(*code)) || !output.stdout.is_empty() {
            wrong.push(format!("orthant {arguments}: {code} {names:?}, not {:?}: {message}", output.status.code()));
        }
        // What is said before is no error; what clap says goes on below its first line.
        let said = message.lines().rfind(|line| line.starts_with("orthant: ")).or(message.lines().next());
        let said = said.unwrap_or_default().replace('|', "\\|");
        table += &format!("| `orthant {arguments}` | {said} | {code} |\n");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Whatever went wrong, it left nothing behind and touched nothing.
    let mut names: Vec<_> =
        there.iter().map(|(name, _)| *name).chain(["folder.png", "half.zarr", "tree.tree.zarr", "tree.zarr"]).collect();
    names.sort();
    assert_eq!(files(&folder), names);
    for (name, content) in &there {
        assert_eq!(std::fs::read_to_string(folder.join(name)).unwrap(), *content);
    }
    let codes = Exit::ALL.map(|exit| format!("| {} | {} |\n", exit.code(), exit.meaning())).concat();
    let head = format!("{PAGE}{codes}\n{MESSAGES}");
    document("errors.md", &head, &table);
}

/// Compares a page of docs/ with what the program really says.
fn document(page: &str, head: &str, body: &str) {
    let path = repository("docs").join(page);
    let wanted = format!("{head}{body}");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == wanted, "docs/{page} is out of date: run this test with BLESS=1");
}
