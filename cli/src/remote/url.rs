//! URLs as people paste them, and what may be said of them: a query holds the signature that opens an object to whoever has it.

use std::path::{Path, PathBuf};

use crate::error::Error;

/// A URL of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Url {
    /// True of `https`.
    pub(super) secure: bool,
    /// The host, and its port if it has one.
    authority: String,
    /// From the first `/` on, without one at its end.
    path: String,
    /// What follows the `?`.
    query: Option<String>,
}

/// The scheme of a text that is a URL, and what follows `://`.
fn split(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some((scheme, rest))
}

/// A path as it may be said: a URL has neither its query nor a user's name and password.
pub(crate) fn printable(path: &Path) -> PathBuf {
    let Some((scheme, rest)) = path.to_str().and_then(split) else { return path.to_owned() };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (authority, after) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{after}").into()
}

/// Refuses to write to a URL, but for a tree to a bucket.
///
/// # Errors
/// [`Error::Input`] says what to do instead.
pub(crate) fn refuse_output(path: &Path) -> Result<(), Error> {
    let is_tree = |rest: &str| {
        let name = rest.trim_end_matches('/').to_ascii_lowercase();
        name.ends_with(".tree.zarr") || name.ends_with(".tree.zarr.zip")
    };
    let wrong = |why: &str| Err(Error::Input(format!("{}: {why}", printable(path).display())));
    match path.to_str().and_then(split) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("s3") => match (is_tree(rest), cfg!(feature = "cloud")) {
            (true, true) => Ok(()),
            (true, false) => wrong(NO_CLOUD),
            (false, _) => wrong(
                "only trees are written to s3://, X.tree.zarr or X.tree.zarr.zip; write a file, and copy it there, as `aws s3 cp` does",
            ),
        },
        _ => refuse_url(path),
    }
}

/// Refuses to write to any URL.
///
/// # Errors
/// [`Error::Input`] says what to do instead.
pub(crate) fn refuse_url(path: &Path) -> Result<(), Error> {
    match path.to_str().and_then(split) {
        None => Ok(()),
        Some(_) => Err(Error::Input(format!(
            "{}: nothing is written to a URL but trees to s3://; write a file, and copy it there, as `aws s3 cp`, `rclone copy` or `curl -T` do",
            printable(path).display()
        ))),
    }
}

/// What a build without the feature `cloud` says of `s3://`.
const NO_CLOUD: &str = "s3:// takes an orthant that is built with the feature cloud: `cargo install --path cli --locked --features cloud`; \
                        or copy the tree by `aws s3 cp --recursive`";

impl Url {
    /// The URL that a path is; None if it is a path.
    ///
    /// # Errors
    /// [`Error::Input`] if it is one that no tree is read from.
    pub(super) fn of(path: &Path) -> Option<Result<Self, Error>> {
        let (scheme, rest) = split(path.to_str()?)?;
        let wrong = |why: &str| Error::Input(format!("{}: {why}", printable(path).display()));
        Some(Self::parts(scheme, rest).map_err(|why| wrong(&why)))
    }

    fn parts(scheme: &str, rest: &str) -> Result<Self, String> {
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            "file" => return Err("file:// is not read; give the path without it".into()),
            "s3" => return Err(NO_CLOUD.into()),
            other => {
                return Err(format!(
                    "{other}:// is not read, but https:// and http:// are; give the object's https URL, and a presigned one if \
                     it is private (`aws s3 presign`, `gcloud storage sign-url`, an SAS of Azure)"
                ));
            }
        };
        // A fragment is nothing to a server.
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query.to_owned())));
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if authority.is_empty() {
            return Err("a URL needs a host, as in https://host/x.tree.zarr.zip".into());
        }
        if authority.contains('@') {
            return Err("a URL with a user's name is not read; give a presigned URL".into());
        }
        let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
        if !plain(authority) || !plain(path) || !query.as_deref().is_none_or(plain) {
            return Err("a URL has no spaces and nothing beyond ASCII; write them as %20 and so on".into());
        }
        let path = path.trim_end_matches('/').to_owned();
        Ok(Self { secure, authority: authority.to_owned(), path, query })
    }

    /// A host behind TLS, and a path that is encoded.
    #[cfg(feature = "cloud")]
    pub(super) fn at(authority: String, path: String) -> Self {
        Self { secure: true, authority, path, query: None }
    }

    /// The host, and its port if it has one.
    #[cfg(feature = "cloud")]
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// The path as it is sent.
    #[cfg(feature = "cloud")]
    pub(super) fn path_or_root(&self) -> &str {
        if self.path.is_empty() { "/" } else { &self.path }
    }

    fn base(&self) -> String {
        let scheme = if self.secure { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority, self.path)
    }

    /// What may be said of it.
    pub(super) fn printable(&self) -> String {
        self.base()
    }

    /// The object of a name below it, or itself: the query goes with every one, as an SAS of a whole container does.
    #[cfg(any(feature = "http", test))]
    pub(super) fn object(&self, name: &str) -> Self {
        match name {
            "" => self.clone(),
            name => Self { path: format!("{}/{name}", self.path), ..self.clone() },
        }
    }

    /// What is asked for.
    #[cfg(any(feature = "http", test))]
    pub(super) fn request(&self) -> String {
        let path = if self.path.is_empty() { "/" } else { "" };
        let query = self.query.as_ref().map_or(String::new(), |query| format!("?{query}"));
        format!("{}{path}{query}", self.base())
    }

    /// Where a redirect leads.
    ///
    /// # Errors
    /// Why it is not followed.
    #[cfg(any(feature = "http", test))]
    pub(super) fn redirected(&self, location: &str) -> Result<Self, String> {
        let scheme = if self.secure { "https" } else { "http" };
        let found = match split(location) {
            Some((scheme, rest)) => Self::parts(scheme, rest)?,
            None => match (location.strip_prefix("//"), location.starts_with('/')) {
                (Some(rest), _) => Self::parts(scheme, rest)?,
                (None, true) => Self::parts(scheme, &format!("{}{location}", self.authority))?,
                (None, false) => {
                    let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
                    Self::parts(scheme, &format!("{}{folder}/{location}", self.authority))?
                }
            },
        };
        match self.secure && !found.secure {
            true => Err("the server redirects from https to http, which is not followed".into()),
            false => Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::of(Path::new(text)).unwrap().unwrap()
    }

    #[test]
    fn secrets_are_not_shown() {
        for (text, expected) in [
            ("https://host/b/x.tree.zarr.zip?sig=abc/def", "https://host/b/x.tree.zarr.zip"),
            ("https://user:word@host:9/x.zip#top", "https://host:9/x.zip"),
            ("s3://bucket/x.tree.zarr", "s3://bucket/x.tree.zarr"),
            ("folder/x.tree.zarr", "folder/x.tree.zarr"),
            ("a?b", "a?b"),
        ] {
            assert_eq!(printable(Path::new(text)), Path::new(expected));
        }
        assert_eq!(url("https://h/x.zip?sig=1").printable(), "https://h/x.zip");
        for refused in ["https://me:secret@h/x.zip", "ftp://h/x?secret", "https:///x?secret", "http://h/a b?secret"] {
            let error = Url::of(Path::new(refused)).unwrap().unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
        assert!(Url::of(Path::new("x.tree.zarr")).is_none() && Url::of(Path::new("./a://b")).is_none());
    }

    #[test]
    fn objects_lie_below_and_keep_the_query() {
        let folder = url("HTTP://h:80/a/x.tree.zarr/?sv=1&sig=2");
        assert_eq!(folder.request(), "http://h:80/a/x.tree.zarr?sv=1&sig=2");
        assert_eq!(folder.object("c/0").request(), "http://h:80/a/x.tree.zarr/c/0?sv=1&sig=2");
        assert_eq!(url("http://h").request(), "http://h/");
    }

    #[test]
    fn redirects_lead_on_but_not_to_less() {
        let from = url("https://h/a/x.zip?sig=1");
        let to = |location| from.redirected(location).map(|to| to.request());
        assert_eq!(to("https://other/y?b").unwrap(), "https://other/y?b");
        assert_eq!(to("//other/y").unwrap(), "https://other/y");
        assert_eq!(to("/y").unwrap(), "https://h/y");
        assert_eq!(to("y").unwrap(), "https://h/a/y");
        assert!(to("http://h/a/x.zip").unwrap_err().contains("from https to http"));
        assert!(url("http://h/x").redirected("https://h/x").is_ok());
    }
}
