//! Buckets of S3, and of servers that speak as it does: where an object is, who asks for it, and what is asked beside ranges.
//!
//! The environment says who asks, in the variables of AWS's own programs. Its files of profiles are not read.

use std::env::var;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use ureq::http::{Request, Response, header};
use ureq::{Agent, Body};

use crate::error::Error;
use crate::remote::access::{Access, tag};
use crate::remote::attempt::{TryFailure, agent, patience, text, tried};
use crate::remote::sign::{Keys, encoded, query};
use crate::remote::tally::{TALLY, count};
use crate::remote::url::{Url, printable};

/// The most that is read of a list.
const MOST_TEXT: u64 = 1 << 24;

/// A header of objects that says which command made them.
pub(super) const MADE_BY: &str = "x-amz-meta-orthant";

/// Where an object is, or a folder of them.
#[derive(Debug)]
pub(super) struct ObjectPlace {
    /// The object.
    pub(super) url: Url,
    /// The bucket.
    pub(super) bucket: Url,
    /// Its name in the bucket.
    pub(super) key: String,
    /// What errors call it.
    pub(super) printable: PathBuf,
    pub(super) access: Access,
}

/// A variable that is set, and not to nothing.
fn set(name: &str) -> Option<String> {
    var(name).ok().filter(|value| !value.is_empty())
}

impl ObjectPlace {
    /// What `s3://BUCKET/KEY` is; None of any other path.
    ///
    /// # Errors
    /// [`Error::Input`] if it has no key, or the environment says half of what is needed.
    pub(super) fn of(path: &Path) -> Option<Result<Self, Error>> {
        let text = path.to_str()?;
        let (scheme, rest) = text.split_once("://")?;
        let is_s3 = scheme.eq_ignore_ascii_case("s3");
        is_s3.then(|| {
            Self::parts(path, rest).map_err(|why| Error::Input(format!("{}: {why}", printable(path).display())))
        })
    }

    fn parts(path: &Path, rest: &str) -> Result<Self, String> {
        let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
        let key = key.trim_end_matches('/');
        let is_plain = bucket.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        if bucket.is_empty() || !is_plain || key.is_empty() || key.split('/').any(|part| part.is_empty()) {
            return Err("a bucket and a name are needed, as in s3://bucket/folder/x.tree.zarr".into());
        }
        let region = set("AWS_REGION").or_else(|| set("AWS_DEFAULT_REGION")).unwrap_or_else(|| "us-east-1".into());
        if !region.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            return Err(format!("AWS_REGION is '{region}', which is no region; us-east-1 is one"));
        }
        let access = match (set("AWS_ACCESS_KEY_ID"), set("AWS_SECRET_ACCESS_KEY")) {
            (Some(id), Some(secret)) => {
                Access::Signed(Keys { id, secret, token: set("AWS_SESSION_TOKEN"), region: region.clone() })
            }
            (None, None) => Access::Open,
            (Some(_), None) => {
                return Err("AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not; set both".into());
            }
            (None, Some(_)) => {
                return Err("AWS_SECRET_ACCESS_KEY is set, and AWS_ACCESS_KEY_ID is not; set both".into());
            }
        };
        let home = if region.starts_with("cn-") { "amazonaws.com.cn" } else { "amazonaws.com" };
        let named = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"].into_iter().find_map(|name| Some((name, set(name)?)));
        let bucket = match named {
            Some((name, endpoint)) => {
                let wrong = || {
                    format!(
                        "{name} is '{}', which is no URL as http://127.0.0.1:9000 is",
                        printable(Path::new(&endpoint)).display()
                    )
                };
                let url = Url::of(Path::new(&endpoint)).and_then(Result::ok).ok_or_else(wrong)?;
                url.object(bucket)
            }
            // Certificates are good for one name before the region.
            None if bucket.contains('.') => Url::at(format!("s3.{region}.{home}"), format!("/{bucket}")),
            None => Url::at(format!("{bucket}.s3.{region}.{home}"), String::new()),
        };
        Ok(Self {
            url: bucket.object(&encoded(key, true)),
            bucket,
            key: key.to_owned(),
            printable: printable(path),
            access,
        })
    }
}

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sent<'s> {
    pub(super) method: &'s str,
    pub(super) url: &'s Url,
    pub(super) query: &'s [(&'s str, &'s str)],
    /// Beside those of the signature.
    pub(super) headers: &'s [(&'s str, String)],
    pub(super) body: &'s [u8],
}

/// What came back: of success, of an object that is not there (404), or of a condition that does not hold (412).
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) etag: Option<String>,
    /// Which command made the object.
    pub(super) made_by: Option<String>,
    pub(super) text: String,
}

impl Reply {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// A bucket that is asked.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) place: ObjectPlace,
    agent: Agent,
}

impl Bucket {
    /// Asks `at_once` things at once.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no TLS.
    pub(super) fn new(place: ObjectPlace, at_once: usize) -> Result<Self, Error> {
        let wrong = |why| Error::Input(format!("{}: {why}", place.printable.display()));
        let agent = agent(place.url.secure, at_once).map_err(wrong)?;
        Ok(Self { place, agent })
    }

    /// An error about what the bucket says.
    pub(super) fn wrong(&self, source: io::Error) -> Error {
        match source.kind() {
            ErrorKind::AlreadyExists => Error::Exists { path: self.place.printable.clone() },
            _ => Error::File { path: self.place.printable.clone(), source },
        }
    }

    /// Sends something, again and again where that may help.
    ///
    /// # Errors
    /// What the server says.
    pub(super) fn send(&self, sent: Sent<'_>) -> io::Result<Reply> {
        tried(|| self.once(sent))
    }

    fn once(&self, Sent { method, url, query: pairs, headers, body }: Sent<'_>) -> Result<Reply, TryFailure> {
        let query = query(pairs);
        let address = if query.is_empty() { url.request() } else { format!("{}?{query}", url.request()) };
        let mut request = Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        for (name, value) in self.place.access.headers(method, url, &query, headers, body) {
            request = request.header(name, value);
        }
        let no_request = |error: ureq::http::Error| TryFailure::Final(ErrorKind::InvalidInput, error.to_string());
        count(&TALLY.requests, 1);
        let answer = match method {
            "PUT" | "POST" => self.agent.run(request.body(body).map_err(no_request)?),
            _ => self.agent.run(request.body(()).map_err(no_request)?),
        };
        self.take(method, answer?)
    }

    fn take(&self, method: &str, mut answer: Response<Body>) -> Result<Reply, TryFailure> {
        let status = answer.status().as_u16();
        match status {
            200..300 | 404 | 412 => {}
            // 409: another request for the same object is under way.
            408 | 409 | 429 | 500 | 502 | 503 | 504 => {
                let words = format!("the server says {status}");
                let after = patience(&answer);
                return Err(TryFailure::Again { kind: ErrorKind::ConnectionAborted, words, after });
            }
            _ => return Err(self.place.access.refusal(answer)),
        }
        let owned = |name: &str| answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let (etag, made_by) = (text(&answer, header::ETAG).map(str::to_owned), owned(MADE_BY));
        let read = match method {
            "HEAD" => Ok(String::new()),
            _ => answer.body_mut().with_config().limit(MOST_TEXT).read_to_string(),
        };
        Ok(Reply { status, etag, made_by, text: read? })
    }

    /// The names of all objects that begin with a text, or of one of them.
    ///
    /// # Errors
    /// What the server says.
    pub(super) fn list(&self, prefix: &str, one: bool) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        let mut from: Option<String> = None;
        loop {
            let most = if one { "1" } else { "1000" };
            let mut pairs = vec![("list-type", "2"), ("prefix", prefix), ("encoding-type", "url"), ("max-keys", most)];
            pairs.extend(from.as_deref().map(|from| ("continuation-token", from)));
            let sent = Sent { method: "GET", url: &self.place.bucket, query: &pairs, headers: &[], body: &[] };
            let reply = self.send(sent)?;
            if !reply.is_success() {
                let code = tag(&reply.text, "Code").unwrap_or("no such bucket");
                return Err(io::Error::new(ErrorKind::NotFound, format!("the server says {} {code}", reply.status)));
            }
            let objects = reply.text.split("<Contents>").skip(1);
            found.extend(objects.filter_map(|object| tag(object, "Key")).map(decoded));
            from = tag(&reply.text, "NextContinuationToken").map(unescaped);
            if one || from.is_none() || tag(&reply.text, "IsTruncated") != Some("true") {
                return Ok(found);
            }
        }
    }

    /// Removes an object, if it is there.
    ///
    /// # Errors
    /// What the server says.
    pub(super) fn delete(&self, key: &str) -> io::Result<()> {
        let url = self.place.bucket.object(&encoded(key, true));
        self.send(Sent { method: "DELETE", url: &url, query: &[], headers: &[], body: &[] }).map(drop)
    }
}

/// A name as a list has it, with `%20` and so on.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = match (first, after.get(..2)) {
            (b'%', Some(digits)) => {
                std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok())
            }
            _ => None,
        };
        (rest, _) = match code {
            Some(byte) => (&after[2..], bytes.push(byte)),
            None => (after, bytes.push(if *first == b'+' { b' ' } else { *first })),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text of XML.
fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&apos;", "'");
    text.replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_lists_are_decoded() {
        assert_eq!(decoded("a%20b+c/%C3%BC%2B%"), "a b c/ü+%");
        assert_eq!(unescaped("a&amp;lt;&lt;"), "a&lt;<");
        assert_eq!(tag("<A><Key>b</Key></A>", "Key"), Some("b"));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["s3://", "s3://bucket", "s3://bucket/", "s3:///x.tree.zarr", "s3://b?x/k", "s3://b/a//k"] {
            let error = ObjectPlace::of(Path::new(text)).unwrap().unwrap_err().to_string();
            assert!(error.contains("s3://bucket/folder/x.tree.zarr"), "{error}");
        }
        assert!(ObjectPlace::of(Path::new("https://b/k")).is_none() && ObjectPlace::of(Path::new("a/b")).is_none());
    }
}
