//! By what right objects are asked for: a URL that says all, or a bucket of S3 with keys or without.

use std::io::ErrorKind;

use ureq::Body;
use ureq::http::Response;

use crate::remote::attempt::TryFailure;
use crate::remote::url::Url;

#[cfg(feature = "cloud")]
use crate::remote::sign::{Keys, Request};

/// By what right objects are asked for.
#[derive(Debug)]
pub(super) enum Access {
    /// The URL says it.
    Url,
    /// Whoever has a key of a bucket.
    #[cfg(feature = "cloud")]
    Signed(Keys),
    /// A bucket that is open to all.
    #[cfg(feature = "cloud")]
    Open,
}

impl Access {
    /// True of a bucket.
    pub(super) fn is_bucket(&self) -> bool {
        !matches!(self, Self::Url)
    }

    /// The headers that go with a request beside its own, of which `headers` are signed.
    #[cfg_attr(not(feature = "cloud"), allow(unused_variables))]
    pub(super) fn headers(
        &self,
        method: &str,
        url: &Url,
        query: &str,
        headers: &[(&str, String)],
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        match self {
            #[cfg(feature = "cloud")]
            Self::Signed(keys) => {
                let request =
                    Request { method, authority: url.authority(), path: url.path_or_root(), query, headers, body };
                keys.sign(&request, std::time::SystemTime::now())
            }
            _ => Vec::new(),
        }
    }

    /// What a bucket says that gives nothing.
    pub(super) fn refusal(&self, mut answer: Response<Body>) -> TryFailure {
        let status = answer.status().as_u16();
        let region =
            answer.headers().get("x-amz-bucket-region").and_then(|region| region.to_str().ok()).map(str::to_owned);
        let body = answer.body_mut().with_config().limit(1 << 16).read_to_string().unwrap_or_default();
        let code = tag(&body, "Code").map_or(String::new(), |code| format!(" {code}"));
        let message = tag(&body, "Message").map_or(String::new(), |message| format!(": {message}"));
        if let (300..=400, Some(region)) = (status, &region) {
            let words = format!("the bucket is in the region {region}; set AWS_REGION={region} ({status}{code})");
            return TryFailure::Final(ErrorKind::InvalidInput, words);
        }
        let kind = match status {
            401 | 403 => ErrorKind::PermissionDenied,
            404 | 410 => ErrorKind::NotFound,
            _ => ErrorKind::InvalidData,
        };
        let advice = match (kind, self) {
            #[cfg(feature = "cloud")]
            (ErrorKind::PermissionDenied, Self::Signed(keys)) => format!(
                "; look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN and AWS_REGION ({}), and at what the key may do",
                keys.region
            ),
            #[cfg(feature = "cloud")]
            (ErrorKind::PermissionDenied, Self::Open) => {
                "; no key was given: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY".into()
            }
            _ => String::new(),
        };
        TryFailure::Final(kind, format!("the server says {status}{code}{message}{advice}"))
    }
}

/// What an element of XML holds, the first of its name.
pub(super) fn tag<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    Some(rest.split_once(&format!("</{name}>"))?.0)
}
