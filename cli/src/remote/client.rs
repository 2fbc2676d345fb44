//! The client: one request per range, tried again where that may help.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use orthant::disk::Remote;
use ureq::http::{Response, header};
use ureq::{Agent, Body};

use crate::error::Error;
use crate::remote::access::Access;
use crate::remote::answer::{Head, Identity, Verdict, range};
use crate::remote::attempt::{TryFailure, agent, patience, text, tried};
use crate::remote::tally::{TALLY, count};
use crate::remote::url::Url;

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// Requests that are under way at once.
const AT_ONCE: usize = 16;

/// Opens what lies behind a URL that says all; nothing is asked for yet.
pub(super) fn open(url: Url) -> Result<Arc<dyn Remote>, Error> {
    let printable = url.printable().into();
    open_as(url, printable, Access::Url)
}

/// The same by another right. Errors call it `printable`.
pub(super) fn open_as(url: Url, printable: PathBuf, access: Access) -> Result<Arc<dyn Remote>, Error> {
    let agent = agent(url.secure, AT_ONCE).map_err(|why| Error::Input(format!("{}: {why}", printable.display())))?;
    let gate = Gate { free: Mutex::new(AT_ONCE), left: Condvar::new() };
    Ok(Arc::new(HttpRemote { url, printable, access, agent, seen: Mutex::default(), gate }))
}

/// Objects of a server.
#[derive(Debug)]
struct HttpRemote {
    url: Url,
    printable: PathBuf,
    access: Access,
    agent: Agent,
    /// Of each object the state that the first answer was about.
    seen: Mutex<HashMap<String, Identity>>,
    gate: Gate,
}

/// Lets so many in at once.
#[derive(Debug)]
struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

impl Gate {
    fn enter(&self) -> Inside<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Inside(self)
    }
}

/// One who is in.
struct Inside<'g>(&'g Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}

impl Remote for HttpRemote {
    fn path(&self) -> &Path {
        &self.printable
    }

    fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
        tried(|| self.once(name, offset, bytes))
    }
}

impl HttpRemote {
    fn seen(&self) -> MutexGuard<'_, HashMap<String, Identity>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One try.
    fn once(&self, name: &str, offset: u64, bytes: &mut [u8]) -> Result<Option<u64>, TryFailure> {
        let _inside = self.gate.enter();
        let mut url = self.url.object(name);
        let tag = self.seen().get(name).and_then(|first| first.strong().map(str::to_owned));
        for _ in 0..=REDIRECTS {
            let mut request = self
                .agent
                .get(url.request())
                .header(header::RANGE, format!("bytes={}", range(offset, bytes.len())))
                .header(header::ACCEPT_ENCODING, "identity");
            if let Some(tag) = &tag {
                request = request.header(header::IF_MATCH, tag);
            }
            for (name, value) in self.access.headers("GET", &url, "", &[], b"") {
                request = request.header(name, value);
            }
            count(&TALLY.requests, 1);
            let answer = request.call()?;
            // A bucket that is elsewhere says where, and a signature is good for one host.
            if self.access.is_bucket() || !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
                return self.take(name, offset, bytes, answer);
            }
            let refuse = |words: String| TryFailure::Final(ErrorKind::InvalidData, words);
            let location = text(&answer, header::LOCATION).ok_or(refuse("the server redirects to nowhere".into()))?;
            url = url.redirected(location).map_err(refuse)?;
        }
        Err(TryFailure::Final(ErrorKind::InvalidData, format!("the server redirects more than {REDIRECTS} times")))
    }

    /// Takes the bytes of an answer, if it is what was asked for.
    fn take(
        &self,
        name: &str,
        offset: u64,
        bytes: &mut [u8],
        mut answer: Response<Body>,
    ) -> Result<Option<u64>, TryFailure> {
        let head = Head {
            status: answer.status().as_u16(),
            range: text(&answer, header::CONTENT_RANGE),
            length: answer.body().content_length(),
            encoding: text(&answer, header::CONTENT_ENCODING),
        };
        let (wanted, total) = match head.judge(offset, bytes.len()) {
            Verdict::Bytes { count, total } => (count, total),
            Verdict::Absent => return Ok(None),
            Verdict::Refuse(_, _) if self.access.is_bucket() && head.status >= 300 && head.status != 412 => {
                return Err(self.access.refusal(answer));
            }
            Verdict::Refuse(kind, words) => return Err(TryFailure::Final(kind, words)),
            Verdict::Again(words) => {
                return Err(TryFailure::Again { kind: ErrorKind::ConnectionAborted, words, after: patience(&answer) });
            }
        };
        let owned = |name| text(&answer, name).map(str::to_owned);
        // The refusal of a range beyond the end is about no state.
        let now = (head.status != 416).then(|| Identity {
            etag: owned(header::ETAG),
            modified: owned(header::LAST_MODIFIED),
            total,
        });
        // Of one object ranges are unpacked that no checksum ties to each other. Objects of a folder are tied by those of shards.
        if name.is_empty() && now.as_ref().is_some_and(Identity::is_unknown) {
            let words = "the server says neither ETag nor Last-Modified, so that nobody would see a change while it is read; \
                         use another server, or download the tree";
            return Err(TryFailure::Final(ErrorKind::InvalidData, words.into()));
        }
        if let Some(now) = now
            && let Some(change) = self.seen().entry(name.to_owned()).or_insert(now.clone()).change(&now)
        {
            return Err(TryFailure::Final(ErrorKind::InvalidData, change));
        }
        if wanted > 0 {
            fill(&mut bytes[..wanted], &mut answer)?;
        }
        Ok(Some(total))
    }
}

/// Reads a body that has exactly these bytes.
fn fill(bytes: &mut [u8], answer: &mut Response<Body>) -> Result<(), TryFailure> {
    let (mut body, mut have, wanted) = (answer.body_mut().as_reader(), 0, bytes.len());
    let cut = |have: usize, why: String| {
        let words = format!("the connection ended after {have} of {wanted} bytes{why}");
        TryFailure::Again { kind: ErrorKind::ConnectionAborted, words, after: None }
    };
    while have < wanted {
        match body.read(&mut bytes[have..]) {
            Ok(0) => return Err(cut(have, String::new())),
            Ok(read) => {
                count(&TALLY.bytes, read);
                have += read;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(cut(have, format!(" ({error})"))),
        }
    }
    // To see the end is what lets the next request have the connection.
    match body.read(&mut [0]) {
        Ok(0) => Ok(()),
        Ok(_) => Err(TryFailure::Final(
            ErrorKind::InvalidData,
            format!("the server gives more than the {wanted} bytes asked for"),
        )),
        Err(error) => Err(cut(have, format!(" ({error})"))),
    }
}
