//! The commands of docs/gallery.md, with few cells.

use std::process::Command;

use crate::binary::{command, folder, repository, text};

/// The arguments of a line of a shell, in which quotes hold together what is in them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

#[test]
fn every_command_draws_its_picture() {
    let folder = folder("gallery");
    let page = std::fs::read_to_string(repository("docs/gallery.md")).unwrap();
    let (mut pictures, mut bytes) = (0, 0);
    for line in page.lines().filter_map(|line| line.strip_prefix("$ orthant ")) {
        let mut words = words(line);
        let after = |words: &[String], name: &str| words.iter().position(|word| word == name).map(|at| at + 1);
        let name = words[after(&words, "-o").expect("a picture")].clone();
        let kept = repository("docs/images/gallery").join(&name);
        assert!(page.contains(&format!("(images/gallery/{name})")), "{name}");
        bytes += std::fs::metadata(&kept).unwrap_or_else(|error| panic!("{}: {error}", kept.display())).len();
        let cells = after(&words, "-n").expect("a size");
        words[cells] = "20".into();
        // Its place is one of more cells.
        if let Some(slice) = after(&words, "--slice") {
            words.drain(slice - 1..=slice);
        }
        words.extend(["-o", "cells.npy", "--cell", "f32", "--force"].map(String::from));
        let mut command: Command = command(&folder, "-q");
        let output = command.args(&words).output().unwrap();
        assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        assert!(folder.join(&name).exists(), "{name}");
        let npy = std::fs::read(folder.join("cells.npy")).unwrap();
        let cells = &npy[128..];
        assert!(cells.chunks(4).any(|cell| cell != &cells[..4]), "{line}: all cells are equal");
        pictures += 1;
    }
    assert_eq!(pictures, 12);
    assert!(bytes < 400_000, "{bytes} bytes of pictures");
}
