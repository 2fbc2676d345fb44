//! Trees behind URLs: what is read of them over a good connection, a bad one, and from servers that lie.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::OnceLock;

use crate::binary::{command, folder, orthant, text};
use crate::server::{Asked, Manner, Server};

/// The arguments to which `TREE` stands for the tree.
fn ask(folder: &Path, tree: &str, question: &str) -> Output {
    let mut command = command(folder, &question.replace("TREE", tree));
    // A proxy would be asked for this machine.
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        command.env_remove(name);
    }
    command.output().unwrap()
}

/// A folder with a tree of many shards and one of a single shard, each as a zip and as a folder; made once.
fn trees() -> &'static Path {
    static TREES: OnceLock<PathBuf> = OnceLock::new();
    TREES.get_or_init(|| {
        let folder = folder("remote");
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let points: String = (0..20_000).map(|_| format!("{},{}\n", next(), next())).collect();
        std::fs::write(folder.join("points.csv"), format!("x,y\n{points}")).unwrap();
        for arguments in [
            "tree build points.csv -n 32768 -o x.tree.zarr.zip",
            "tree convert x.tree.zarr.zip x.tree.zarr",
            "run mandelbrot -n 256 -o small.tree.zarr.zip",
            "tree convert small.tree.zarr.zip small.tree.zarr",
        ] {
            let output = orthant(&folder, arguments);
            assert!(output.status.success(), "{arguments}: {}", text(&output.stderr));
        }
        folder
    })
}

const QUESTIONS: &[&str] = &[
    "tree info TREE",
    "tree info TREE --json",
    "tree print TREE --csv",
    "tree sample TREE --at 100,90 --at 3,250",
    "tree box TREE 10:90,20:70 -o -",
    "tree slice TREE --axis y=128 -o -",
    "tree lod TREE --level 1 -o -",
    "tree stats TREE",
    "tree validate TREE",
    "tree convert TREE -",
    "tree diff TREE small.tree.zarr",
    "tree validate small.tree.zarr --against TREE",
];

/// The number that `-v` says before some words.
fn said(output: &Output, words: &str) -> u64 {
    let text = text(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("orthant: fetched")).unwrap_or_else(|| panic!("{text}"));
    line.split(words).next().unwrap().split(' ').next_back().unwrap().parse().unwrap()
}

#[test]
#[cfg_attr(not(feature = "http"), ignore = "needs the feature http")]
fn answers_are_those_of_the_file() {
    let folder = trees();
    // The first try of every range goes wrong, and all others go well: threads may ask for the same range at once.
    let mut servers = 0;
    let mut flaky = || {
        servers += 1;
        let first = servers;
        Server::start(folder, move |asked| match (asked.again, (first + asked.number) % 5) {
            (1.., _) => Manner::Good,
            (_, 0) => Manner::Drop,
            (_, 1) => Manner::Cut,
            (_, 2) => Manner::Slow(20),
            (_, 3) => Manner::Status(503, "Retry-After: 0"),
            _ => Manner::Status(429, "X-A: b"),
        })
    };
    let good = Server::good(folder);
    for question in QUESTIONS {
        let right = ask(folder, "small.tree.zarr.zip", question);
        assert!(right.status.success(), "{question}: {}", text(&right.stderr));
        let bad = [flaky(), flaky()];
        for (server, name) in [
            (&good, "small.tree.zarr.zip?sv=1&sig=a%2Fb"),
            (&good, "small.tree.zarr"),
            (&good, "small.tree.zarr/"),
            (&bad[0], "small.tree.zarr.zip"),
            (&bad[1], "small.tree.zarr"),
        ] {
            let found = ask(folder, &server.url(name), question);
            assert!(found.status.success(), "{question}: {name}: {}", text(&found.stderr));
            // No server says how many bytes its folder has.
            let same = found.stdout == right.stdout || question.contains("info") && !name.contains("zip");
            assert!(same, "{question}: {name}: {}", String::from_utf8_lossy(&found.stdout));
        }
    }
    let output = ask(folder, &flaky().url("small.tree.zarr"), "-v tree print TREE");
    assert!(said(&output, " of them tries again") > 0);
}

#[test]
#[cfg_attr(not(feature = "http"), ignore = "needs the feature http")]
fn only_what_an_answer_needs_is_fetched() {
    let folder = trees();
    let server = Server::good(folder);
    let whole = std::fs::metadata(folder.join("x.tree.zarr.zip")).unwrap().len();
    for (question, most) in [
        ("tree info TREE", 16),
        ("tree sample TREE --at 7,9", 12),
        ("tree box TREE 0:64,0:64 -o -", 12),
        ("tree slice TREE --axis y=9000 -o -", 4),
    ] {
        for name in ["x.tree.zarr.zip", "x.tree.zarr"] {
            server.fetched();
            let output = ask(folder, &server.url(name), &format!("-v {question}"));
            let (requests, bytes) = server.fetched();
            assert_eq!((said(&output, " bytes in"), said(&output, " requests")), (bytes, requests));
            // The end of a zip comes with its directory.
            let most = whole / most + if name.ends_with("zip") { 1 << 16 } else { 0 };
            assert!(bytes <= most, "{question}: {name}: {bytes} of {whole} bytes in {requests} requests");
        }
    }
}

#[test]
#[cfg_attr(not(feature = "http"), ignore = "needs the feature http")]
fn requests_are_under_way_together() {
    let folder = trees();
    let server = Server::start(folder, |_| Manner::Slow(100));
    let output = ask(folder, &server.url("small.tree.zarr"), "tree print TREE");
    let (requests, _) = server.fetched();
    assert!(output.status.success() && requests == 14, "{requests}: {}", text(&output.stderr));
    // zarr.json, those of seven arrays, six shards.
    let most = server.most_waiting();
    assert!(most.iter().all(|&most| most >= 4), "{most:?}");
}

/// What a server does from a request on must end a command with exit code 2 and these words.
fn is_refused(manner: Manner, words: &str, questions: &[(&str, Vec<u8>)]) {
    let folder = trees();
    for name in ["small.tree.zarr.zip?sig=secret", "small.tree.zarr"] {
        for (question, right) in questions {
            // The first request, one of metadata, one of a shard.
            for since in [0, 5, 9] {
                let server =
                    Server::start(folder, move |asked| if asked.number < since { Manner::Good } else { manner });
                let output = ask(folder, &server.url(name), question);
                let error = text(&output.stderr);
                // A small object may come as a whole.
                if output.status.success() && manner == Manner::NoRanges {
                    assert_eq!(&output.stdout, right);
                    continue;
                }
                // Another tag or length from the first request on is no change.
                if output.status.success() && since == 0 && matches!(manner, Manner::OtherTag | Manner::Grown) {
                    continue;
                }
                // In a folder objects have states of their own.
                if output.status.success()
                    && matches!(manner, Manner::OtherTag | Manner::NoTag)
                    && !name.contains("zip")
                {
                    assert_eq!(&output.stdout, right);
                    continue;
                }
                // A damaged tree is what validate looks for.
                let damage = question.contains("validate")
                    && matches!(manner, Manner::OtherByte | Manner::Grown | Manner::Status(404, _));
                let code = output.status.code();
                assert!(
                    code == Some(2) || damage && code == Some(3),
                    "{manner:?} {since} {question}: {code:?} {error}"
                );
                assert!(error.contains(words) && error.contains("http://127.0.0.1:"), "{manner:?} {since}: {error}");
                assert!(!error.contains("secret") && !error.contains("panicked"), "{error}");
                assert!(right.starts_with(&output.stdout), "{manner:?} {since}: {}", text(&output.stdout));
            }
        }
    }
}

#[test]
#[cfg_attr(not(feature = "http"), ignore = "needs the feature http")]
fn servers_that_lie_are_refused() {
    let questions = ["tree sample TREE --at 100,90", "tree box TREE 10:90,20:70 -o -", "tree validate TREE"]
        .map(|question| (question, ask(trees(), "small.tree.zarr.zip", question).stdout));
    for (manner, words) in [
        (Manner::NoRanges, "no range requests"),
        (Manner::Short, "the server was asked for bytes"),
        (Manner::Elsewhere, "the server was asked for bytes"),
        (Manner::Long, "which they are not"),
        (Manner::Unsaid, "no Content-Range"),
        (Manner::OtherTag, "changed while it was read"),
        (Manner::NoTag, ""),
        (Manner::Grown, ""),
        (Manner::OtherByte, ""),
        (Manner::Status(403, "X-A: b"), "make a new presigned URL"),
        (Manner::Status(404, "X-A: b"), ""),
        (Manner::Status(418, "X-A: b"), "418"),
    ] {
        is_refused(manner, words, &questions);
    }
}

#[test]
#[cfg_attr(not(feature = "http"), ignore = "needs the feature http")]
fn tries_end_and_redirects_are_followed() {
    let folder = trees();
    for (manner, words) in [
        (Manner::Drop, "4 tries failed"),
        (Manner::Cut, "4 tries failed"),
        (Manner::Status(500, "X-A: b"), "the server says 500; 4 tries failed"),
    ] {
        let server = Server::start(folder, move |asked| if asked.number < 3 { Manner::Good } else { manner });
        let output = ask(folder, &server.url("small.tree.zarr.zip"), "tree print TREE");
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(1) && error.contains(words), "{error}");
    }
    let nobody = ask(folder, "http://127.0.0.1:1/x.tree.zarr.zip?secret", "tree info TREE");
    let error = text(&nobody.stderr);
    assert!(nobody.status.code() == Some(1) && error.contains("the connection failed"), "{error}");
    assert!(error.contains("http://127.0.0.1:1/x.tree.zarr.zip:") && !error.contains("secret"), "{error}");

    let moved = |asked: &Asked<'_>| match asked.path.starts_with("/old") {
        true => Manner::Status(307, "Location: /small.tree.zarr.zip?sig=2"),
        false => Manner::Good,
    };
    let server = Server::start(folder, moved);
    let output = ask(folder, &server.url("old.zip?sig=1"), "tree info TREE");
    assert_eq!(text(&output.stdout), text(&ask(folder, "small.tree.zarr.zip", "tree info TREE").stdout));
    assert!(server.paths().contains(&"/small.tree.zarr.zip?sig=2".into()));
    let server = Server::start(folder, |_| Manner::Status(302, "Location: /again.zip"));
    let error = text(&ask(folder, &server.url("old.zip"), "tree info TREE").stderr);
    assert!(error.contains("redirects more than 5 times"), "{error}");
}

#[test]
fn urls_that_are_not_read_are_refused() {
    let folder = trees();
    let refused = |arguments: &str, words: &str| {
        let output = orthant(folder, arguments);
        let error = text(&output.stderr);
        assert!(output.status.code() == Some(2) && error.contains(words), "{arguments}: {error}");
        assert!(!error.contains("secret"), "{error}");
    };
    refused("tree info gs://bucket/x.tree.zarr", "gs:// is not read, but https:// and http:// are");
    refused("tree info http://me:secret@host/x.tree.zarr", "presigned");
    let outputs = "nothing is written to a URL";
    refused("tree convert small.tree.zarr https://host/x.tree.zarr?sig=secret", outputs);
    refused("tree convert small.tree.zarr https://host/x.npy", outputs);
    refused("tree slice small.tree.zarr --axis y=3 -o https://host/x.npy", outputs);
    refused("run mandelbrot -n 64 -o https://host/x.png", outputs);
    refused("run mandelbrot -n 64 -o https://host/x.tree.zarr", outputs);
    if !cfg!(feature = "https") {
        refused("tree info https://host/x.tree.zarr.zip?sig=secret", "--features https");
    }
    if !cfg!(feature = "http") {
        refused("tree info http://host/x.tree.zarr.zip?sig=secret", "--features http");
    }
}
