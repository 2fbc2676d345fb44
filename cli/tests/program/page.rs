//! Result files of `bench` as a page.

use crate::binary::{files, folder, orthant, sweeps, text};

/// Checks that tags open and close in order.
fn balanced(html: &str) {
    const VOID: [&str; 2] = ["meta", "br"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = html;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("a tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        let name = tag.trim_start_matches('/').split_whitespace().next().unwrap_or_default().trim_end_matches('/');
        match tag {
            _ if tag.starts_with('!') || tag.ends_with('/') || VOID.contains(&name) => {}
            _ if tag.starts_with('/') => assert_eq!(open.pop(), Some(name), "</{name}> before {rest:.80}"),
            _ => open.push(name),
        }
        if matches!(tag, "style" | "script") {
            rest = &rest[rest.find(&format!("</{tag}>")).expect("it ends")..];
        }
    }
    assert_eq!(open, [""; 0]);
}

#[test]
fn the_small_sweeps_have_their_figures() {
    let folder = folder("report");
    let expected = [
        ("paper-ask-small", &["time-n", "speedup-n", "time-g", "time-B", "landscape-ask-sbr", "density"][..]),
        ("nvidia-blog-small", &["speedup-dwell", "throughput-dwell", "time-n"]),
        ("zhong-small", &["throughput-n", "throughput-dwell"]),
        ("encodings-small", &["encodings-time", "encodings-bytes"]),
        ("dimensions-small", &["dimensions-simplex", "dimensions-time"]),
        ("throttle-small", &["throttle-max-kernels"]),
    ];
    for (name, figures) in expected {
        let path = sweeps().into_iter().find(|path| path.file_stem().unwrap() == name).unwrap();
        let once = "--warm-up 0 --min-samples 1 --max-samples 1";
        let measured = orthant(&folder, &format!("bench {} {once} -o {name}.jsonl", path.display()));
        assert!(measured.status.success(), "{name}: {}", text(&measured.stderr));
        let output = orthant(&folder, &format!("report {name}.jsonl -o {name}.html --svg {name} --md {name}.md"));
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let drawn = files(&folder.join(name));
        for figure in figures {
            assert!(drawn.iter().any(|file| file.contains(figure)), "{name} lacks {figure}: {drawn:?}");
        }
        let html = std::fs::read_to_string(folder.join(format!("{name}.html"))).unwrap();
        balanced(&html);
        assert_eq!(html.matches("<svg").count(), drawn.len());
        assert_eq!(html.matches("<desc>").count(), drawn.len());
        for outside in ["src=", "href=", "@import", "url("] {
            assert!(!html.contains(outside), "{name}.html has {outside}");
        }
        let markdown = std::fs::read_to_string(folder.join(format!("{name}.md"))).unwrap();
        assert_eq!(markdown.matches("![").count(), drawn.len());
        for file in drawn {
            balanced(&std::fs::read_to_string(folder.join(name).join(file)).unwrap());
        }
    }
    let again = orthant(&folder, "report zhong-small.jsonl -o zhong-small.html");
    assert_eq!(again.status.code(), Some(2), "{}", text(&again.stderr));
}
