//! A file in the address space, whose bytes others may change or take away.
//!
//! Two things follow from that. First, no reference to such bytes is handed out: a reference promises that nobody changes what it
//! points to, and another process can. [`SharedBytes`] reads them by volatile loads, whose value may be anything. Second, bytes can
//! be gone: the file was cut, or its disk failed. The system then sends SIGBUS. Within [`FileMap::reading`] a handler puts zeros in
//! their place, and [`FileMap::missing`] says afterwards at which byte.

#[cfg(unix)]
mod fault;
mod file_map;
mod shared;

pub use file_map::FileMap;
pub use shared::SharedBytes;
pub(crate) use shared::{SHORT, SharedCells};

#[cfg(all(test, unix))]
mod tests {
    use std::fs::File;

    use super::*;

    fn file(bytes: usize) -> File {
        let file = tempfile::tempfile().unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &vec![7; bytes], 0).unwrap();
        file
    }

    /// A file that is cut while it is mapped: without the handler the first read beyond its end kills the process.
    #[test]
    fn what_is_gone_is_zeros_and_is_told() {
        let page = fault::page().unwrap();
        let file = file(9 * page + 5);
        let map = FileMap::new(&file).unwrap();
        let mut all = vec![0; map.len()];
        map.reading(|| SharedBytes::mapped(&map, 0..map.len()).copy_to(&mut all));
        assert!(map.missing().is_none() && all.iter().all(|&byte| byte == 7));
        file.set_len(3 * page as u64).unwrap();
        // Before that byte everything is there still.
        let mut some = vec![0; 2 * page];
        map.reading(|| SharedBytes::mapped(&map, page..3 * page).copy_to(&mut some));
        assert!(map.missing().is_none() && some.iter().all(|&byte| byte == 7));
        let found = std::thread::scope(|threads| {
            let read = |from: usize| {
                let mut bytes = vec![1; 2 * page];
                map.reading(|| SharedBytes::mapped(&map, from..from + 2 * page).copy_to(&mut bytes));
                (bytes[0], *bytes.last().unwrap())
            };
            let found = [5 * page, 2 * page, 7 * page].map(|from| threads.spawn(move || read(from)));
            found.map(|thread| thread.join().unwrap())
        });
        assert_eq!((found, map.missing()), ([(0, 0), (7, 0), (0, 0)], Some(3 * page as u64)));
        // Others are not touched.
        let whole = self::file(page);
        let other = FileMap::new(&whole).unwrap();
        other.reading(|| SharedBytes::mapped(&other, 0..4).copy_to(&mut all[..4]));
        assert_eq!((other.missing(), &all[..4]), (None, &[7; 4][..]));
    }

    #[test]
    fn bytes_are_copied_from_and_to_any_place() {
        let file = tempfile::tempfile().unwrap();
        let bytes: Vec<u8> = (0..97).collect();
        std::os::unix::fs::FileExt::write_all_at(&file, &bytes, 0).unwrap();
        let map = FileMap::new(&file).unwrap();
        for start in 0..20 {
            for length in 0..40 {
                let mut copy = vec![255; length + 1];
                SharedBytes::mapped(&map, start..start + length).copy_to(&mut copy[1..]);
                assert_eq!(copy[1..], bytes[start..start + length]);
            }
        }
    }

    /// Who ignored the signal when others send it, and who handled it, does so still; the number of the last error stays.
    #[test]
    #[cfg(target_os = "linux")]
    #[allow(unsafe_code)]
    fn what_was_done_before_is_done_still() {
        const CHILD: &str = "ORTHANT_TEST_BEFORE";
        extern "C" fn other(_: libc::c_int) {
            // SAFETY: a number of this thread.
            unsafe { *libc::__errno_location() = libc::ENOENT };
        }
        let test = "mapping::tests::what_was_done_before_is_done_still";
        let Ok(before) = std::env::var(CHILD) else {
            let ended = ["ignores", "handles"].map(|before| {
                let mut child = std::process::Command::new(std::env::current_exe().unwrap());
                child.args(["--exact", test]).env(CHILD, before);
                child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap()
            });
            assert!(ended.iter().all(std::process::ExitStatus::success), "{ended:?}");
            return;
        };
        let handler = if before == "ignores" { libc::SIG_IGN } else { other as extern "C" fn(libc::c_int) as usize };
        // SAFETY: the handler writes a number of its thread alone.
        unsafe { libc::signal(libc::SIGBUS, handler) };
        let _map = FileMap::new(&file(1)).unwrap();
        // SAFETY: a number of this thread, and a signal that is handled.
        let after = unsafe {
            *libc::__errno_location() = libc::EDOM;
            libc::raise(libc::SIGBUS);
            *libc::__errno_location()
        };
        assert_eq!(after, libc::EDOM);
    }

    /// A fault that is not of a mapping that is read goes to whoever listened before, which ends the process.
    #[test]
    fn other_faults_are_not_ours() {
        const CHILD: &str = "ORTHANT_TEST_FAULT";
        if std::env::var_os(CHILD).is_some() {
            let page = fault::page().unwrap();
            let file = file(2 * page);
            let map = FileMap::new(&file).unwrap();
            file.set_len(0).unwrap();
            let mut byte = [0];
            // Not within `reading`.
            SharedBytes::mapped(&map, page..page + 1).copy_to(&mut byte);
            return;
        }
        use std::os::unix::process::ExitStatusExt;
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "mapping::tests::other_faults_are_not_ours"]).env(CHILD, "1");
        let status = child.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).status().unwrap();
        assert_eq!(status.signal(), Some(libc::SIGBUS), "{status}");
    }
}
