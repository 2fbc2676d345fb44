//! What stands for the client where the feature `http` is off.

use std::sync::Arc;

use orthant::disk::Remote;

use crate::error::Error;
use crate::remote::url::Url;

/// Refuses the URL.
pub(super) fn open(url: Url) -> Result<Arc<dyn Remote>, Error> {
    let features = if url.secure { "https" } else { "http" };
    Err(Error::Input(format!(
        "{}: to read a URL takes an orthant that is built with the feature {features}: `cargo build --release --features \
         {features}`; or download the tree",
        url.printable()
    )))
}
