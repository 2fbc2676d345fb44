//! What a server answers to a request for a range, and what can be believed of it.

use std::io::ErrorKind;

/// The head of an answer.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Head<'h> {
    pub(super) status: u16,
    /// `Content-Range`.
    pub(super) range: Option<&'h str>,
    /// `Content-Length`.
    pub(super) length: Option<u64>,
    /// `Content-Encoding`.
    pub(super) encoding: Option<&'h str>,
}

/// What to do with an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The body has these bytes, of an object that has `total`.
    Bytes {
        /// Bytes of the body.
        count: usize,
        /// Bytes of the object.
        total: u64,
    },
    /// There is no such object.
    Absent,
    /// It may go well next time.
    Again(String),
    /// It will not.
    Refuse(ErrorKind, String),
}

impl Head<'_> {
    /// What it comes to, if `wanted` bytes from `offset` on were asked for.
    pub(super) fn judge(&self, offset: u64, wanted: usize) -> Verdict {
        let lie = |words: String| Verdict::Refuse(ErrorKind::InvalidData, words);
        let denied = |words: String| Verdict::Refuse(ErrorKind::PermissionDenied, words);
        match self.status {
            200 | 206 if self.encoding.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("identity")) => {
                lie(format!("the server packs its answers ({}), of which no ranges can be read", self.encoding.unwrap_or("")))
            }
            206 => self.partial(offset, wanted),
            200 => match self.length {
                // It answers with all of it, which is what was wanted.
                Some(total) if offset == 0 && total <= wanted as u64 => Verdict::Bytes { count: total as usize, total },
                _ => lie(
                    "the server answers a request for a range with the whole object (200): it has no range requests; use another \
                     server, or download the tree"
                        .into(),
                ),
            },
            401 | 403 => denied(format!(
                "the server does not give it ({}): it is private, is not there, or the URL has expired; make a new presigned URL",
                self.status
            )),
            404 | 410 => Verdict::Absent,
            412 => lie("changed while it was read (412); run the command again".into()),
            416 => match self.range.and_then(|range| range.strip_prefix("bytes */")?.parse().ok()) {
                Some(total) if total <= offset => Verdict::Bytes { count: 0, total },
                _ => lie(format!(
                    "the server says that there are no bytes {} (416), which it had before, or that it does not say how many it has",
                    range(offset, wanted)
                )),
            },
            408 | 429 | 500 | 502 | 503 | 504 => Verdict::Again(format!("the server says {}", self.status)),
            status => lie(format!("the server answers {status}, where 206 must be")),
        }
    }

    /// An answer that says that it is a part.
    fn partial(&self, offset: u64, wanted: usize) -> Verdict {
        let lie = |words: String| Verdict::Refuse(ErrorKind::InvalidData, words);
        let asked = range(offset, wanted);
        let Some(said) = self.range else {
            return lie(format!(
                "the server was asked for bytes {asked}, and does not say which it gives (no Content-Range)"
            ));
        };
        let Some((first, last, total)) = parsed(said) else {
            return lie(format!(
                "the server was asked for bytes {asked}, and gives '{said}', not bytes FIRST-LAST/TOTAL"
            ));
        };
        // An object that ends before the range does gives what it has.
        let end = total.min(offset.saturating_add(wanted as u64));
        if first != offset || last.checked_add(1) != Some(end) || first > last {
            return lie(format!("the server was asked for bytes {asked}, and gives '{said}'"));
        }
        let count = (end - offset) as usize;
        match self.length {
            Some(length) if length != count as u64 => {
                lie(format!("the server says '{said}', and that these are {length} bytes, which they are not"))
            }
            _ => Verdict::Bytes { count, total },
        }
    }
}

/// Bytes as `Range` has them.
pub(super) fn range(offset: u64, wanted: usize) -> String {
    format!("{offset}-{}", offset.saturating_add(wanted.saturating_sub(1) as u64))
}

/// The first byte, the last and the total that `Content-Range` says.
fn parsed(said: &str) -> Option<(u64, u64, u64)> {
    let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    let (bytes, total) = said.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (first, last) = bytes.split_once('-')?;
    Some((number(first)?, number(last)?, number(total)?))
}

/// Which state of an object an answer is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) etag: Option<String>,
    pub(super) modified: Option<String>,
    pub(super) total: u64,
}

impl Identity {
    /// True if nothing but the length would tell another state from this one.
    pub(super) fn is_unknown(&self) -> bool {
        self.etag.is_none() && self.modified.is_none()
    }

    /// The tag that a server compares byte by byte.
    pub(super) fn strong(&self) -> Option<&str> {
        self.etag.as_deref().filter(|etag| etag.starts_with('"'))
    }

    /// What tells another state from this one.
    pub(super) fn change(&self, now: &Self) -> Option<String> {
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
        let (what, before, now) = if self.total != now.total {
            ("length", self.total.to_string(), now.total.to_string())
        } else if self.etag != now.etag {
            ("ETag", text(&self.etag), text(&now.etag))
        } else if self.etag.is_none() && self.modified != now.modified {
            ("Last-Modified", text(&self.modified), text(&now.modified))
        } else {
            return None;
        };
        Some(format!("changed while it was read: its {what} was {before}, and is {now}; run the command again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, range: Option<&'static str>, length: Option<u64>) -> Head<'static> {
        Head { status, range, length, encoding: None }
    }

    #[test]
    fn only_what_was_asked_for_is_taken() {
        let bytes = |count, total| Verdict::Bytes { count, total };
        for (head, expected) in [
            (head(206, Some("bytes 100-149/1000"), Some(50)), bytes(50, 1000)),
            (head(206, Some("bytes 100-149/1000"), None), bytes(50, 1000)),
            // The object ends within the range.
            (head(206, Some("bytes 100-119/120"), Some(20)), bytes(20, 120)),
            (head(416, Some("bytes */90"), None), bytes(0, 90)),
            (head(404, None, Some(9)), Verdict::Absent),
        ] {
            assert_eq!(head.judge(100, 50), expected, "{head:?}");
        }
        // All of a small object, from a server without ranges.
        assert_eq!(head(200, None, Some(7)).judge(0, 50), bytes(7, 7));
        for head in [
            head(200, None, Some(1000)),
            head(200, None, None),
            head(206, None, Some(50)),
            head(206, Some("bytes 0-49/1000"), Some(50)),
            head(206, Some("bytes 100-148/1000"), Some(49)),
            head(206, Some("bytes 100-150/1000"), Some(51)),
            head(206, Some("bytes 100-149/1000"), Some(49)),
            head(206, Some("bytes 100-149/*"), Some(50)),
            head(206, Some("bytes 100-149/120"), Some(50)),
            head(206, Some("bytes 100-149/99"), Some(50)),
            head(206, Some("bytes +100-149/1000"), Some(50)),
            head(206, Some("bytes 100-18446744073709551615/1000"), None),
            head(206, Some("items 100-149/1000"), Some(50)),
            head(416, Some("bytes */1000"), None),
            head(412, None, None),
            head(304, None, None),
            Head { encoding: Some("gzip"), ..head(206, Some("bytes 100-149/1000"), Some(50)) },
        ] {
            assert!(matches!(head.judge(100, 50), Verdict::Refuse(ErrorKind::InvalidData, _)), "{head:?}");
        }
        assert!(matches!(head(403, None, None).judge(0, 1), Verdict::Refuse(ErrorKind::PermissionDenied, _)));
        assert!(matches!(head(503, None, None).judge(0, 1), Verdict::Again(_)));
    }

    #[test]
    fn another_state_is_told() {
        let state = |etag: Option<&str>, modified: Option<&str>, total| Identity {
            etag: etag.map(str::to_owned),
            modified: modified.map(str::to_owned),
            total,
        };
        let first = state(Some("\"a\""), Some("monday"), 9);
        // The tag says it; the time may be that of a copy.
        assert_eq!(first.change(&state(Some("\"a\""), Some("tuesday"), 9)), None);
        for now in [state(Some("\"b\""), None, 9), state(None, Some("monday"), 9), state(Some("\"a\""), None, 8)] {
            assert!(first.change(&now).unwrap().contains("changed while it was read"));
        }
        let dated = state(None, Some("monday"), 9);
        assert!(dated.change(&state(None, Some("tuesday"), 9)).is_some());
        assert_eq!(dated.change(&dated), None);
        assert!(state(None, None, 9).is_unknown() && !first.is_unknown() && !dated.is_unknown());
        assert_eq!((first.strong(), dated.strong()), (Some("\"a\""), None));
        assert_eq!(state(Some("W/\"a\""), None, 9).strong(), None);
    }
}
