//! Signatures of requests to S3: AWS's Signature Version 4.
//!
//! By hand, since `ring` is there for TLS and has what it takes: a hash, and a code of a text under a key. Crates that sign bring
//! some 60 others (docs/design.md).

use std::fmt::{self, Write};
use std::time::SystemTime;

use ring::{digest, hmac};

use crate::utc::utc;

/// Who asks, and where.
#[derive(Clone)]
pub(super) struct Keys {
    pub(super) id: String,
    pub(super) secret: String,
    /// Of keys that are good for some hours.
    pub(super) token: Option<String>,
    pub(super) region: String,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("region", &self.region).finish_non_exhaustive()
    }
}

/// A request, as far as it is signed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request<'r> {
    pub(super) method: &'r str,
    /// The host, and its port if it has one.
    pub(super) authority: &'r str,
    /// As it is sent.
    pub(super) path: &'r str,
    /// As [`query`] writes it.
    pub(super) query: &'r str,
    /// Others that are signed, in the order of their names, which are in small letters.
    pub(super) headers: &'r [(&'r str, String)],
    pub(super) body: &'r [u8],
}

impl Keys {
    /// The headers that go with a request beside its own.
    pub(super) fn sign(&self, request: &Request<'_>, now: SystemTime) -> Vec<(&'static str, String)> {
        let time: String = utc(now).chars().filter(|c| !matches!(c, '-' | ':')).collect();
        let body = hex(digest::digest(&digest::SHA256, request.body).as_ref());
        let mut added = vec![("x-amz-content-sha256", body.clone()), ("x-amz-date", time.clone())];
        added.extend(self.token.iter().map(|token| ("x-amz-security-token", token.clone())));
        let own = request.headers.iter().map(|(name, value)| (*name, &**value));
        let mut signed: Vec<(&str, &str)> = own.chain(added.iter().map(|(name, value)| (*name, &**value))).collect();
        signed.push(("host", request.authority));
        signed.sort_unstable();
        let names: Vec<_> = signed.iter().map(|(name, _)| *name).collect();
        let names = names.join(";");
        let headers: String = signed.iter().map(|(name, value)| format!("{name}:{}\n", value.trim())).collect();
        let Request { method, path, query, .. } = request;
        let canonical = format!("{method}\n{path}\n{query}\n{headers}\n{names}\n{body}");
        let day = &time[..8];
        let scope = format!("{day}/{}/s3/aws4_request", self.region);
        let hash = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hash}");
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in [day, &self.region, "s3", "aws4_request", &text] {
            key = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), part.as_bytes()).as_ref().to_vec();
        }
        let (id, signature) = (&self.id, hex(&key));
        let authorization =
            format!("AWS4-HMAC-SHA256 Credential={id}/{scope},SignedHeaders={names},Signature={signature}");
        added.push(("authorization", authorization));
        added
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A text as a path or a query has it: `/` stays if `slashes`.
pub(super) fn encoded(text: &str, slashes: bool) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(byte.into()),
            b'/' if slashes => encoded.push('/'),
            _ => {
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
        encoded
    })
}

/// A query as it is sent and signed.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    let mut pairs: Vec<_> =
        pairs.iter().map(|(key, value)| format!("{}={}", encoded(key, false), encoded(value, false))).collect();
    pairs.sort_unstable();
    pairs.join("&")
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    /// The examples of AWS's page "Signature Calculations for the Authorization Header".
    #[test]
    fn signatures_are_those_of_the_documentation() {
        let keys = Keys {
            id: "AKIAIOSFODNN7EXAMPLE".into(),
            secret: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".into(),
            token: None,
            region: "us-east-1".into(),
        };
        // 2013-05-24 00:00:00.
        let now = UNIX_EPOCH + Duration::from_secs(1_369_353_600);
        let of = |method, path, query, headers: &[(&str, String)], body| {
            let authority = "examplebucket.s3.amazonaws.com";
            let signed = keys.sign(&Request { method, authority, path, query, headers, body }, now);
            let (_, authorization) = signed.last().unwrap();
            authorization.rsplit_once('=').unwrap().1.to_owned()
        };
        let range = [("range", "bytes=0-9".to_owned())];
        assert_eq!(
            of("GET", "/test.txt", "", &range, b""),
            "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let path = encoded("/test$file.text", true);
        let put = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT".to_owned()),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY".to_owned()),
        ];
        assert_eq!(
            of("PUT", &path, "", &put, b"Welcome to Amazon S3."),
            "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        );
        let list = query(&[("prefix", "J"), ("max-keys", "2")]);
        assert_eq!(of("GET", "/", &list, &[], b""), "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
        assert!(!format!("{keys:?}").contains("wJal"));
    }

    #[test]
    fn names_are_encoded() {
        assert_eq!(encoded("a b/ü+~.zip", true), "a%20b/%C3%BC%2B~.zip");
        assert_eq!(query(&[("uploads", ""), ("a/b", "c&d")]), "a%2Fb=c%26d&uploads=");
    }
}
