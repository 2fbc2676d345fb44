//! A server of files with range requests, which misbehaves as it is told.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server does to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// As it should be.
    Good,
    /// It thinks for so many milliseconds.
    Slow(u64),
    /// It ends the connection without an answer.
    Drop,
    /// It ends the connection in the midst of the body.
    Cut,
    /// Another status, with one more header.
    Status(u16, &'static str),
    /// The whole object, with 200.
    NoRanges,
    /// Fewer bytes than were asked for, and it says so.
    Short,
    /// It says that they are others than were asked for.
    Elsewhere,
    /// `Content-Length` is far more than the range.
    Long,
    /// Another ETag.
    OtherTag,
    /// Nothing says which state of the object it is.
    NoTag,
    /// The object is a byte longer.
    Grown,
    /// The right head, and another byte.
    OtherByte,
    /// It has no `Content-Range`.
    Unsaid,
}

/// What was asked of it.
#[derive(Debug, Default)]
struct Counts {
    requests: AtomicU64,
    bytes: AtomicU64,
    /// Paths with their queries.
    paths: Mutex<Vec<String>>,
    /// How often each range was asked for.
    ranges: Mutex<HashMap<String, u64>>,
    /// Requests that wait for a slow answer, and the most that did at once: for metadata, and for shards.
    waiting: [AtomicU64; 2],
    most_waiting: [AtomicU64; 2],
}

/// A request.
#[derive(Debug)]
pub(super) struct Asked<'r> {
    /// How many came before.
    pub(super) number: u64,
    /// How many of them asked for the same range of the same object.
    pub(super) again: u64,
    /// With the query.
    pub(super) path: &'r str,
}

/// What is done to a request.
type Manners = dyn Fn(&Asked<'_>) -> Manner + Send + Sync;

/// A server on a port of its own, until the test ends.
#[derive(Debug)]
pub(super) struct Server {
    port: u16,
    counts: Arc<Counts>,
}

impl Server {
    /// Serves the files of a folder.
    pub(super) fn start(root: &Path, manners: impl Fn(&Asked<'_>) -> Manner + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (counts, root) = (Arc::new(Counts::default()), root.to_owned());
        let manners: Arc<Manners> = Arc::new(manners);
        let server = Self { port, counts: counts.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (root, counts, manners) = (root.clone(), counts.clone(), manners.clone());
                // Who hangs up is gone.
                std::thread::spawn(move || drop(serve(&stream.unwrap(), &root, &counts, &*manners)));
            }
        });
        server
    }

    /// Serves them well.
    pub(super) fn good(root: &Path) -> Self {
        Self::start(root, |_| Manner::Good)
    }

    /// The URL of a name.
    pub(super) fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }

    /// Requests and bytes of bodies since the last time.
    pub(super) fn fetched(&self) -> (u64, u64) {
        self.counts.paths.lock().unwrap().clear();
        (self.counts.requests.swap(0, Ordering::SeqCst), self.counts.bytes.swap(0, Ordering::SeqCst))
    }

    /// The most requests for metadata, and for shards, that waited for a slow answer at once.
    pub(super) fn most_waiting(&self) -> [u64; 2] {
        [0, 1].map(|kind: usize| self.counts.most_waiting[kind].load(Ordering::SeqCst))
    }

    /// What was asked for since then.
    pub(super) fn paths(&self) -> Vec<String> {
        self.counts.paths.lock().unwrap().clone()
    }
}

/// Answers the requests of a connection.
fn serve(stream: &TcpStream, root: &Path, counts: &Counts, manners: &Manners) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream);
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                return Ok(());
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let path = head[0].split(' ').nth(1).unwrap().to_owned();
        let header = |name: &str| {
            head.iter().find_map(|line| line.split_once(": ").filter(|(found, _)| found.eq_ignore_ascii_case(name)))
        };
        let range = header("range").and_then(|(_, range)| range.strip_prefix("bytes=")?.split_once('-'));
        let (from, to): (usize, usize) = range.map(|(a, b)| (a.parse().unwrap(), b.parse().unwrap())).unwrap();
        let number = counts.requests.fetch_add(1, Ordering::SeqCst);
        counts.paths.lock().unwrap().push(path.clone());
        let mut ranges = counts.ranges.lock().unwrap();
        let times = ranges.entry(format!("{path} {from}-{to}")).or_default();
        let again = std::mem::replace(times, *times + 1);
        drop(ranges);
        let manner = manners(&Asked { number, again, path: &path });
        let mut out = stream;
        if let Manner::Slow(millis) = manner {
            let kind = usize::from(!path.ends_with(".json"));
            let waiting = counts.waiting[kind].fetch_add(1, Ordering::SeqCst) + 1;
            counts.most_waiting[kind].fetch_max(waiting, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(millis));
            counts.waiting[kind].fetch_sub(1, Ordering::SeqCst);
        }
        if let Manner::Drop = manner {
            return Ok(());
        }
        if let Manner::Status(status, header) = manner {
            write!(out, "HTTP/1.1 {status} So\r\nContent-Length: 5\r\n{header}\r\n\r\nsorry")?;
            continue;
        }
        let file = path.split('?').next().unwrap().trim_start_matches('/');
        let Ok(mut all) = std::fs::read(root.join(file)) else {
            write!(out, "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone")?;
            continue;
        };
        let tag = if manner == Manner::OtherTag { "\"other\"" } else { "\"one\"" };
        if header("if-match").is_some_and(|(_, wanted)| wanted != tag) && number.is_multiple_of(2) {
            write!(out, "HTTP/1.1 412 Changed\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        }
        if manner == Manner::Grown {
            all.push(0);
        }
        let total = all.len();
        if manner == Manner::NoRanges {
            write!(out, "HTTP/1.1 200 OK\r\nContent-Length: {total}\r\nETag: {tag}\r\n\r\n")?;
            counts.bytes.fetch_add(total as u64, Ordering::SeqCst);
            out.write_all(&all)?;
            continue;
        }
        if from >= total {
            write!(out, "HTTP/1.1 416 No\r\nContent-Range: bytes */{total}\r\nContent-Length: 0\r\n\r\n")?;
            continue;
        }
        let mut body = all[from..total.min(to + 1)].to_vec();
        match manner {
            Manner::Short if body.len() > 1 => drop(body.pop()),
            Manner::OtherByte => body[0] ^= 1,
            _ => {}
        }
        let first = if manner == Manner::Elsewhere { from + 1 } else { from };
        let range = match manner {
            Manner::Unsaid => String::new(),
            _ => format!("Content-Range: bytes {first}-{}/{total}\r\n", first + body.len() - 1),
        };
        let length = if manner == Manner::Long { 1 << 40 } else { body.len() };
        let tag = if manner == Manner::NoTag { String::new() } else { format!("ETag: {tag}\r\n") };
        write!(out, "HTTP/1.1 206 Partial\r\nContent-Length: {length}\r\n{tag}{range}\r\n")?;
        if manner == Manner::Cut {
            counts.bytes.fetch_add(body.len() as u64 / 2, Ordering::SeqCst);
            return out.write_all(&body[..body.len() / 2]);
        }
        counts.bytes.fetch_add(body.len() as u64, Ordering::SeqCst);
        out.write_all(&body)?;
    }
}
