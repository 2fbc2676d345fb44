//! Text that says what it must be: a list of a digest and of what it is the digest of.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

/// A list of the digest of what follows, and what follows.
pub(super) fn digested<T: Serialize>(what: &T) -> (String, String) {
    let text = serde_json::to_string(what).expect("it has names for keys");
    let digest = format!("xxh3:{:016x}", xxh3_64(text.as_bytes()));
    let list = format!("[\"{digest}\",\n{text}]\n");
    (digest, list)
}

/// What such a list says; None if it is not the one that was written.
pub(super) fn undigested<T: DeserializeOwned>(list: &[u8]) -> Option<(String, T)> {
    let text = std::str::from_utf8(list).ok()?.trim_end();
    let (digest, what) = text.strip_prefix("[\"")?.strip_suffix(']')?.split_once("\",\n")?;
    (digest == format!("xxh3:{:016x}", xxh3_64(what.as_bytes()))).then_some(())?;
    Some((digest.to_owned(), serde_json::from_str(what).ok()?))
}
