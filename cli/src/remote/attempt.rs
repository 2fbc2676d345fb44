//! Requests that are tried again where that may help.

use std::io::{self, ErrorKind};
use std::thread::sleep;
use std::time::Duration;

use orthant::disk::RemoteError;
use ureq::http::{HeaderName, Response, header};
use ureq::{Agent, Body};

use crate::remote::tally::{TALLY, count};
use crate::remote::tls;

/// How often something is asked for.
const TRIES: u32 = 4;

/// The pause before the second try; each later one is four times as long.
const PAUSE: Duration = Duration::from_millis(100);

/// The longest pause that a server can ask for.
const LONGEST: Duration = Duration::from_secs(10);

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How long a server may be silent.
const SILENT: Duration = Duration::from_secs(30);

/// How long a body may take, which has 4 MiB at most.
const BODY: Duration = Duration::from_secs(300);

/// What asks servers, `at_once` of them or one as often.
///
/// # Errors
/// Why there is no TLS, if that is needed.
pub(super) fn agent(secure: bool, at_once: usize) -> Result<Agent, String> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // They are followed where that is safe.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("orthant/", env!("CARGO_PKG_VERSION")))
        .max_idle_connections(at_once)
        .max_idle_connections_per_host(at_once)
        .timeout_resolve(Some(CONNECT))
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(SILENT))
        .timeout_per_read(Some(SILENT))
        .timeout_recv_body(Some(BODY));
    if secure {
        config = tls::with_certificates(config)?;
    }
    Ok(config.build().new_agent())
}

/// Why a try gave nothing.
pub(super) enum TryFailure {
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

/// Asks until something comes of it.
///
/// # Errors
/// What the server, or the way to it, did at last.
pub(super) fn tried<T>(mut once: impl FnMut() -> Result<T, TryFailure>) -> io::Result<T> {
    let mut pause = PAUSE;
    for this in 1.. {
        match once() {
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

/// A header that is text.
pub(super) fn text(answer: &Response<Body>, name: HeaderName) -> Option<&str> {
    answer.headers().get(name)?.to_str().ok()
}

/// How long a server wants to be left alone.
pub(super) fn patience(answer: &Response<Body>) -> Option<Duration> {
    let seconds = text(answer, header::RETRY_AFTER).and_then(|text| text.parse().ok());
    seconds.map(Duration::from_secs)
}
