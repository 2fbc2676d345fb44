//! Text from files and from the command line on its way to a terminal.
//!
//! A name may hold bytes that move the cursor, colour the screen or turn the direction of the text. They are shown as Rust
//! writes them in a literal. Output in JSON, CSV and other formats for programs stays as it is.

/// A text of one line: line feeds are escaped, too.
pub(crate) fn line(text: &str) -> String {
    escaped(text, is_hostile)
}

/// A text of several lines.
pub(crate) fn lines(text: &str) -> String {
    escaped(text, |letter| letter != '\n' && is_hostile(letter))
}

fn escaped(text: &str, escape: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match escape(letter) {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    shown
}

/// True if a terminal may act on a letter: controls of ASCII and of Latin-1, and what sets the direction of text.
fn is_hostile(letter: char) -> bool {
    let turns =
        matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || letter.is_control()
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn terminals_see_no_controls() {
        let hostile = "a\u{1b}[31mb\u{9b}2Jc\u{202e}d\u{7f}\re\u{2067}";
        assert_eq!(lines(hostile), "a\\u{1b}[31mb\\u{9b}2Jc\\u{202e}d\\u{7f}\\u{d}e\\u{2067}");
        assert_eq!([line("a\nb"), lines("a\nb")], ["a\\u{a}b", "a\nb"]);
        assert_eq!(line("ä × 256³ — 漢字 🦀"), "ä × 256³ — 漢字 🦀");
    }
}
