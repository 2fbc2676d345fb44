//! Reads that the system fails.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use orthant::disk::{Call, Layer, install};
use orthant_formats::input::{Endian, InputError};

use crate::images::{Folder, open};
use crate::samples::{self, Packed};

/// Fails reads of files that are called `fails`, behind the first so many. It stays for the other tests, whose files have other names.
#[derive(Debug)]
struct Failing(AtomicUsize);

static FAILING: Failing = Failing(AtomicUsize::new(0));

/// The error of a failing disk.
fn failed() -> io::Error {
    io::Error::from_raw_os_error(5)
}

impl Layer for Failing {
    fn call(&self, call: &Call<'_>, system: &mut dyn FnMut(usize) -> io::Result<usize>) -> io::Result<usize> {
        if let Call::Read(path) = call
            && path.file_stem().is_some_and(|stem| stem == "fails")
            && self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
        {
            return Err(failed());
        }
        system(usize::MAX)
    }
}

/// What is wrong with a file if all its reads but the first so many fail; None if that is nothing.
fn wrong(path: &Path, reads: usize) -> Option<String> {
    FAILING.0.store(reads, Ordering::Relaxed);
    let InputError { path, wrong } = open(path).err()?;
    assert!(path.file_stem().is_some_and(|stem| stem == "fails"), "{}: {wrong}", path.display());
    Some(wrong.to_string())
}

#[test]
fn an_error_says_at_which_byte() {
    install(&FAILING);
    let folder = Folder::new("unread");
    let half = [0; 77 + 24];
    folder.put("fails.raw", &half);
    folder.put("whole.raw", &half);
    let header = "NRRD0004\ntype: unsigned short\ndimension: 3\nsizes: 4 3 2\nendian: little\nencoding: raw\n\
        byte skip: 77\ndata file: LIST\nfails.raw\nwhole.raw\n";
    let header = folder.put("a.nhdr", header.as_bytes());
    let says = |byte: u64| format!("byte {byte}: cannot be read: {}", failed());
    assert_eq!(wrong(&header, 0), Some(says(77)));
    assert_eq!(wrong(&header, 100), None);
    // On its way through what unpacks it: whichever read fails. The first chunk lies behind the header.
    let image = folder.put("fails.tif", &samples::tiff(false, Endian::Little, Packed::Deflate, false));
    let found: BTreeSet<String> = (0..).map_while(|reads| wrong(&image, reads)).collect();
    for wrong in &found {
        let rest = wrong.strip_prefix("byte ").and_then(|rest| rest.split_once(':'));
        assert_eq!(rest.and_then(|(byte, _)| byte.parse().ok()).map(says).as_ref(), Some(wrong));
    }
    assert!(found.contains(&says(0)) && found.contains(&says(8)), "{found:?}");
}
