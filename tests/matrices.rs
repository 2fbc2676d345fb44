//! Sparse matrices of Matrix Market: how long their rows are.

use orthant_formats::input::matrix_rows;

use crate::images::Folder;

/// The lengths of the rows that a file says, or what is wrong with it, without its name.
fn outcome(folder: &Folder, text: &str) -> String {
    let rows = matrix_rows(&folder.put("a.mtx", text.as_bytes()));
    rows.map_or_else(|error| error.wrong.to_string(), |rows| format!("{rows:?}"))
}

#[test]
fn rows_are_counted() {
    let folder = Folder::new("rows");
    let outcome = |text: &str| outcome(&folder, text);
    let header = "%%MatrixMarket matrix coordinate";
    assert_eq!(
        outcome(&format!("{header} real general\n% a comment\n\n2 3 3\n1 1 5e-1\n 2 3 7 \r\n1 2 0\n")),
        "[2, 1]"
    );
    assert_eq!(outcome(&format!("{header} pattern symmetric\n3 3 3\n1 1\n3 1\n3 2")), "[2, 1, 2]");
    assert_eq!(outcome(&format!("{header} COMPLEX Hermitian\n2 2 1\n2 1 0 -1\n")), "[1, 1]");
    assert_eq!(outcome(&format!("{header} integer general\n0 0 0\n")), "[]");
}

#[test]
fn what_is_wrong_has_a_line() {
    let folder = Folder::new("no-rows");
    let outcome = |text: &str| outcome(&folder, text);
    let header = "%%MatrixMarket matrix coordinate real general\n";
    for (text, words) in [
        ("", "line 1: banner"),
        ("1 1 1\n", "'%%MatrixMarket matrix coordinate'"),
        ("%%MatrixMarket matrix array real general\n", "this one is dense"),
        ("%%MatrixMarket matrix coordinate real odd\n", "skew-symmetric or hermitian"),
        (&format!("{header}2 2\n"), "line 2: sizes"),
        (&format!("{header}4294967296 2 1\n"), "rows below 2^32"),
        (&format!("{header}2 2 2\n1 1 1\n"), "2 entries in all"),
        (&format!("{header}2 2 1\n1 1 1\n2 2 1\n"), "line 4: entry"),
        (&format!("{header}2 2 1\n0 1 1\n"), "from 1 on"),
        (&format!("{header}2 2 1\n3 1 1\n"), "a row up to 2"),
        (&format!("{header}2 2 1\n1 1\n"), "and a value"),
        (&format!("{header}2 2 1\n1 1 1 1\n"), "and a value"),
        (&format!("{header}2 2 1\n1 1 banana\n"), "and a value"),
        (&format!("{header}2 2 1 junk\n"), "line 2: sizes"),
    ] {
        assert!(outcome(text).contains(words), "{text}: {}", outcome(text));
    }
}
