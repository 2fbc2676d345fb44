//! Trees behind URLs: `http(s)://`, with range requests, and `s3://`, which is written, too.
//!
//! The library says which ranges it needs (`orthant::disk::Remote`); this is who asks a server for them. Nothing that a server says is
//! believed: an answer has exactly the range that was asked for, of the same state of the object as all before it, or it is an error.

#[cfg(feature = "http")]
mod access;
#[cfg(any(feature = "http", test))]
mod answer;
#[cfg(feature = "http")]
mod attempt;
#[cfg(feature = "cloud")]
mod bucket;
#[cfg_attr(not(feature = "http"), path = "absent.rs")]
mod client;
#[cfg(feature = "cloud")]
mod sign;
mod tally;
#[cfg(feature = "http")]
#[cfg_attr(not(feature = "https"), path = "tls_absent.rs")]
mod tls;
#[cfg_attr(not(feature = "cloud"), path = "upload_absent.rs")]
mod upload;
mod url;

use std::path::Path;
use std::sync::Arc;

use orthant::disk::Remote;

use crate::error::Error;
use url::Url;

pub(crate) use tally::tell;
pub(crate) use upload::Upload;
pub(crate) use url::{printable, refuse_output, refuse_url};

/// What lies behind a URL; None if the path is none.
///
/// # Errors
/// [`Error::Input`] if it is no URL of a tree, or one that this build does not read.
pub fn open(path: &Path) -> Result<Option<Arc<dyn Remote>>, Error> {
    #[cfg(feature = "cloud")]
    if let Some(place) = bucket::ObjectPlace::of(path) {
        let bucket::ObjectPlace { url, printable, access, .. } = place?;
        return client::open_as(url, printable, access).map(Some);
    }
    match Url::of(path) {
        None => Ok(None),
        Some(url) => client::open(url?).map(Some),
    }
}
