//! The client: one request per range, tried again where that may help.

use std::collections::HashMap;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::sleep;
use std::time::Duration;

use orthant::disk::{Remote, RemoteError};
use ureq::http::{Response, header};
use ureq::{Agent, Body};

use crate::error::Error;
use crate::remote::answer::{Head, Identity, Verdict, range};
use crate::remote::tally::TALLY;
use crate::remote::tls;
use crate::remote::url::Url;

/// How often a range is asked for.
const TRIES: u32 = 4;

/// The pause before the second try; each later one is four times as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a server can ask for.
const LONGEST: Duration = Duration::from_secs(10);

/// Redirects that are followed.
const REDIRECTS: usize = 5;

/// Requests that are under way at once.
const AT_ONCE: usize = 16;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may be silent.
const SILENT: Duration = Duration::from_secs(30);

/// How long a body may take, which has 4 MiB at most.
const BODY: Duration = Duration::from_secs(300);

/// Opens what lies behind a URL; nothing is asked for yet.
pub(super) fn open(url: Url) -> Result<Arc<dyn Remote>, Error> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // They are followed here, so that none leads from https to http.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("orthant/", env!("CARGO_PKG_VERSION")))
        .max_idle_connections(AT_ONCE)
        .max_idle_connections_per_host(AT_ONCE)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(SILENT))
        .timeout_per_read(Some(SILENT))
        .timeout_recv_body(Some(BODY));
    if url.secure {
        config = tls::with_certificates(config).map_err(|why| Error::Input(format!("{}: {why}", url.shown())))?;
    }
    let shown = url.shown().into();
    let gate = Gate { free: Mutex::new(AT_ONCE), left: Condvar::new() };
    Ok(Arc::new(HttpRemote { url, shown, agent: config.build().new_agent(), seen: Mutex::default(), gate }))
}

/// Objects of a server.
#[derive(Debug)]
struct HttpRemote {
    url: Url,
    shown: PathBuf,
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

/// Why a try gave nothing.
enum TryFailure {
    /// Another may.
    Again {
        kind: ErrorKind,
        words: String,
        /// How long the server wants to be left alone.
        after: Option<Duration>,
    },
    Final(ErrorKind, String),
}

impl From<ureq::Error> for TryFailure {
    fn from(error: ureq::Error) -> Self {
        let again = |kind, words| Self::Again { kind, words, after: None };
        match error {
            ureq::Error::HostNotFound => {
                Self::Final(ErrorKind::NotFound, "no such host is known; look at its name".into())
            }
            ureq::Error::Timeout(what) => again(ErrorKind::TimedOut, format!("the server is silent ({what})")),
            // What TLS refuses comes so, too.
            ureq::Error::Io(error) if error.kind() == ErrorKind::InvalidData => Self::Final(
                ErrorKind::InvalidData,
                format!(
                    "no safe connection: {error}. SSL_CERT_FILE names a file of the certificates to trust, if not those of this machine"
                ),
            ),
            ureq::Error::Io(error) => again(ErrorKind::ConnectionAborted, format!("the connection failed: {error}")),
            ureq::Error::ConnectionFailed => again(ErrorKind::ConnectionAborted, "the connection failed".into()),
            // Half a header, for example.
            ureq::Error::Protocol(error) => {
                again(ErrorKind::ConnectionAborted, format!("the server's answer is no HTTP: {error}"))
            }
            error => Self::Final(ErrorKind::InvalidData, error.to_string()),
        }
    }
}

impl Remote for HttpRemote {
    fn path(&self) -> &Path {
        &self.shown
    }

    fn read_at(&self, name: &str, offset: u64, bytes: &mut [u8]) -> io::Result<Option<u64>> {
        let mut pause = PAUSE;
        for this in 1.. {
            match self.once(name, offset, bytes) {
                Ok(found) => return Ok(found),
                Err(TryFailure::Final(kind, words)) => return Err(RemoteError::of(kind, words)),
                Err(TryFailure::Again { kind, words, .. }) if this == TRIES => {
                    let words = format!("{words}; {TRIES} tries failed. Try again later");
                    return Err(RemoteError::of(kind, words));
                }
                Err(TryFailure::Again { after, .. }) => {
                    sleep(after.unwrap_or_default().clamp(pause, LONGEST));
                    count(&TALLY.again, 1);
                    pause *= 4;
                }
            }
        }
        unreachable!("the last try ends it")
    }
}

fn count(sum: &AtomicU64, more: usize) {
    sum.fetch_add(more as u64, Ordering::Relaxed);
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
            count(&TALLY.requests, 1);
            let answer = request.call()?;
            if !matches!(answer.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
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
            Verdict::Refuse(kind, words) => return Err(TryFailure::Final(kind, words)),
            Verdict::Again(words) => {
                let after = text(&answer, header::RETRY_AFTER).and_then(|text| text.parse().ok());
                let after = after.map(Duration::from_secs);
                return Err(TryFailure::Again { kind: ErrorKind::ConnectionAborted, words, after });
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

/// A header that is text.
fn text(answer: &Response<Body>, name: header::HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}
