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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_within() {
        assert_eq!(tidy("/a//b/./c/").as_deref(), Some("a/b/c"));
        assert_eq!(tidy("/").as_deref(), Some(""));
        assert_eq!([tidy("../a"), tidy("a/.."), tidy("c:\\a"), tidy("a\n")], [None, None, None, None]);
        assert_eq!((split("a/b/c"), split("c")), (("a/b", "c"), ("", "c")));
    }
}
