//! Names in a store.

/// The name without what says nothing, `/` between folders; None if it leads out of the store, or is no name.
pub(super) fn tidy(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let out = parts.iter().any(|part| *part == ".." || part.contains(['\\', ':']) || part.contains(char::is_control));
    (!out).then(|| parts.join("/"))
}

/// The folder of a name, and its last part.
pub(super) fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}
