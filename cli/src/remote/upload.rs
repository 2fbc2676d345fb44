//! Uploads: a tree that was made here goes to a bucket.
//!
//! A tree is what can be opened, so the object by which it is opened comes last: the group's `zarr.json` of a folder, the zip itself. What
//! is not complete has no such object, and what is replaced loses it first.

use std::collections::HashSet;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use orthant::Control;
use orthant::disk::{Folder, RemoteError};

use crate::error::Error;
use crate::remote::access::tag;
use crate::remote::bucket::{Bucket, MADE_BY, ObjectPlace, Sent};
use crate::remote::sign::encoded;
use crate::remote::url::Url;

/// Requests that are under way at once, each with a part in memory.
const AT_ONCE: usize = 8;

/// What is sent by one request at most; S3 wants at least 5 MiB, and no more than 10000 parts.
const PART: u64 = 1 << 23;

/// The object that makes a folder a tree.
const LAST: &str = "zarr.json";

/// A tree on its way to a bucket.
#[derive(Debug)]
pub(crate) struct Upload {
    bucket: Bucket,
    force: bool,
    /// Which command makes the objects.
    id: String,
}

impl Upload {
    /// What goes to `s3://`, if nothing is there or `force`; None of any other path.
    ///
    /// # Errors
    /// [`Error::Exists`]; [`Error::Input`] if it is no name of an object; what the server says.
    pub(crate) fn of(path: &Path, force: bool) -> Result<Option<Self>, Error> {
        let Some(place) = ObjectPlace::of(path) else { return Ok(None) };
        let id = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        let upload = Self { bucket: Bucket::new(place?, AT_ONCE)?, force, id };
        if !force && upload.is_there().map_err(|error| upload.bucket.wrong(error))? {
            return Err(Error::Exists { path: upload.bucket.place.printable.clone() });
        }
        Ok(Some(upload))
    }

    /// The last part of its name.
    pub(crate) fn name(&self) -> &str {
        let key = &self.bucket.place.key;
        key.rsplit_once('/').map_or(key, |(_, name)| name)
    }

    /// Its URL.
    pub(crate) fn printable(&self) -> &Path {
        &self.bucket.place.printable
    }

    fn is_zip(&self) -> bool {
        self.name().to_ascii_lowercase().ends_with(".zip")
    }

    /// The names of what is below it begin so.
    fn prefix(&self) -> String {
        format!("{}/", self.bucket.place.key)
    }

    fn is_there(&self) -> io::Result<bool> {
        match self.is_zip() {
            true => Ok(self.made_by(&self.bucket.place.url)?.is_some()),
            false => Ok(!self.bucket.list(&self.prefix(), true)?.is_empty()),
        }
    }

    /// Which command made an object, "" if that is not known; None if it is not there.
    fn made_by(&self, url: &Url) -> io::Result<Option<String>> {
        let reply = self.bucket.send(Sent { method: "HEAD", url, query: &[], headers: &[], body: &[] })?;
        Ok(reply.is_success().then(|| reply.made_by.unwrap_or_default()))
    }

    /// Sends what was made here.
    ///
    /// # Errors
    /// [`Error::Exists`] if somebody made such a tree meanwhile and it is not to be replaced, an interruption, what the server says.
    pub(crate) fn send(&self, stage: &Path, control: &Control) -> Result<(), Error> {
        let here = |source| Error::File { path: stage.to_owned(), source };
        let url = &self.bucket.place.url;
        if self.is_zip() {
            return self.file(stage, url, !self.force, control);
        }
        let mut files = Folder::open(stage).and_then(|folder| folder.files()).map_err(here)?;
        files.retain(|name| name != LAST);
        let prefix = self.prefix();
        let old = match self.force {
            true => self.bucket.list(&prefix, false).map_err(|error| self.bucket.wrong(error))?,
            false => Vec::new(),
        };
        let delete = |key: &str| self.bucket.delete(key).map_err(|error| self.bucket.wrong(error));
        let last = format!("{prefix}{LAST}");
        if old.contains(&last) {
            delete(&last)?;
        }
        let target = |name: &str| url.object(&encoded(name, true));
        let length = |name: &String| stage.join(name).metadata().map(|facts| facts.len());
        let lengths = files.iter().map(length).collect::<io::Result<Vec<_>>>().map_err(here)?;
        let (small, large): (Vec<_>, Vec<_>) = files.iter().zip(lengths).partition(|(_, length)| *length <= PART);
        each(small.len(), &|i| self.file(&stage.join(small[i].0), &target(small[i].0), false, control))?;
        for (name, _) in &large {
            self.file(&stage.join(name), &target(name), false, control)?;
        }
        // What the old tree had and the new one has not would be read as part of it.
        let new: HashSet<String> = files.iter().map(|name| format!("{prefix}{name}")).collect();
        let stale: Vec<&String> = old.iter().filter(|key| **key != last && !new.contains(*key)).collect();
        each(stale.len(), &|i| control.check().map_err(Error::from).and_then(|()| delete(stale[i])))?;
        self.file(&stage.join(LAST), &target(LAST), !self.force, control)
    }

    /// Sends a file; `new`: not over what is there.
    fn file(&self, file: &Path, url: &Url, new: bool, control: &Control) -> Result<(), Error> {
        control.check()?;
        let here = |source| Error::File { path: file.to_owned(), source };
        let length = file.metadata().map_err(here)?.len();
        if length > PART {
            return self.large(file, length, url, new, control);
        }
        let body = std::fs::read(file).map_err(here)?;
        let mut headers = vec![(MADE_BY, self.id.clone())];
        headers.extend(new.then(|| ("if-none-match", "*".to_owned())));
        let sent = Sent { method: "PUT", url, query: &[], headers: &headers, body: &body };
        let put = || match self.bucket.send(sent)? {
            reply if reply.is_success() => Ok(()),
            reply if reply.status == 412 => self.ours(url),
            reply => Err(refusal(reply.status, &reply.text)),
        };
        put().map_err(|error| self.bucket.wrong(error))
    }

    /// If an object is there that must not be, it is ours where the answer to an earlier try was lost.
    fn ours(&self, url: &Url) -> io::Result<()> {
        match self.made_by(url)? {
            Some(id) if id == self.id => Ok(()),
            _ => Err(ErrorKind::AlreadyExists.into()),
        }
    }

    /// Sends a large file in parts.
    fn large(&self, file: &Path, length: u64, url: &Url, new: bool, control: &Control) -> Result<(), Error> {
        let wrong = |error| self.bucket.wrong(error);
        let headers = [(MADE_BY, self.id.clone())];
        let begin = Sent { method: "POST", url, query: &[("uploads", "")], headers: &headers, body: &[] };
        let reply = self.bucket.send(begin).map_err(wrong)?;
        let id = tag(&reply.text, "UploadId").ok_or_else(|| wrong(refusal(reply.status, &reply.text)))?;
        let done = self.parts(file, length, url, id, control).and_then(|tags| {
            control.check()?;
            self.complete(url, id, &tags, new).map_err(wrong)
        });
        if done.is_err() {
            // Parts of what is never complete would stay, and cost.
            let _ =
                self.bucket.send(Sent { method: "DELETE", url, query: &[("uploadId", id)], headers: &[], body: &[] });
        }
        done
    }

    /// Sends all parts; their tags.
    fn parts(&self, file: &Path, length: u64, url: &Url, id: &str, control: &Control) -> Result<Vec<String>, Error> {
        let each_part = PART.max(length.div_ceil(9000));
        let count = length.div_ceil(each_part) as usize;
        let tags: Vec<Mutex<String>> = (0..count).map(|_| Mutex::default()).collect();
        each(count, &|i| {
            control.check()?;
            let start = i as u64 * each_part;
            let body = range(file, start, each_part.min(length - start) as usize)
                .map_err(|source| Error::File { path: file.to_owned(), source })?;
            let number = (i + 1).to_string();
            let query = [("partNumber", &*number), ("uploadId", id)];
            let reply = self.bucket.send(Sent { method: "PUT", url, query: &query, headers: &[], body: &body });
            let tag = reply.and_then(|reply| match reply {
                reply if reply.is_success() => {
                    reply.etag.ok_or_else(|| refusal(reply.status, "it gives a part no ETag"))
                }
                reply => Err(refusal(reply.status, &reply.text)),
            });
            *tags[i].lock().unwrap_or_else(PoisonError::into_inner) = tag.map_err(|error| self.bucket.wrong(error))?;
            Ok(())
        })?;
        Ok(tags.into_iter().map(|tag| tag.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
    }

    /// Makes an object of its parts.
    fn complete(&self, url: &Url, id: &str, tags: &[String], new: bool) -> io::Result<()> {
        let part =
            |(i, tag): (usize, &String)| format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", i + 1);
        let parts: String = tags.iter().enumerate().map(part).collect();
        let body = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
        let headers: Vec<_> = new.then(|| ("if-none-match", "*".to_owned())).into_iter().collect();
        let query = [("uploadId", id)];
        let sent = Sent { method: "POST", url, query: &query, headers: &headers, body: body.as_bytes() };
        let reply = self.bucket.send(sent)?;
        match reply.status {
            // The head of the answer comes before the work is done.
            200 if tag(&reply.text, "Code").is_none() => Ok(()),
            // 404: it was complete already.
            404 | 412 => self.ours(url),
            status => Err(refusal(status, &reply.text)),
        }
    }
}

/// What a server said that cannot be.
fn refusal(status: u16, text: &str) -> io::Error {
    let words = tag(text, "Message").or(tag(text, "Code")).unwrap_or(text);
    let words: String = words.chars().take(200).collect();
    RemoteError::of(ErrorKind::InvalidData, format!("the server says {status} {words}"))
}

/// Bytes of a file.
fn range(file: &Path, start: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = vec![0; length];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Does tasks, several at once, until one fails.
fn each(tasks: usize, task: &(dyn Fn(usize) -> Result<(), Error> + Sync)) -> Result<(), Error> {
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= tasks || failed().is_some() {
                return;
            }
            if let Err(error) = task(i) {
                failed().get_or_insert(error);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..tasks.min(AT_ONCE) {
            // Where the system gives no other thread, this one does all.
            let _ = std::thread::Builder::new().name("orthant-upload".into()).spawn_scoped(scope, work);
        }
        work();
    });
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}
