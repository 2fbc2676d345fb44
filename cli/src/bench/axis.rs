//! The values of an axis as people write them: lists, ranges, powers.
//!
//! ```text
//! 1024,2^12,8192        a list; a^b is a power
//! 1024:4096             every number from .. to ..; 1024:4096:512 in steps of 512
//! 1024:65536:x2         each the double of the one before; x1.25 rounds to whole numbers
//! n[pow2]=10:16:2       the powers of two with these exponents, as nvbench writes it; [10:16:2] is understood
//! ```

/// The most values that one axis may have.
const MOST: usize = 100_000;

/// An axis as given to `-a`: its name and its values.
pub(super) fn axis(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, list) = text.split_once('=').ok_or_else(|| format!("'{text}' is not axis=values, as in n=2^10,2^12"))?;
    let (name, list) = (name.trim(), list.trim());
    match name.strip_suffix("[pow2]") {
        Some(name) => Ok((name.to_owned(), powers(&values(list)?)?)),
        None => Ok((name.to_owned(), if whole(name) { vec![list.to_owned()] } else { values(list)? })),
    }
}

/// True for options whose single values hold commas and colons: they are never split.
pub(super) fn whole(name: &str) -> bool {
    matches!(name, "domain" | "source")
}

/// A list of values, with ranges written out.
pub(super) fn values(text: &str) -> Result<Vec<String>, String> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let mut values = Vec::new();
    for item in bare.split(',').map(str::trim) {
        match item {
            "" => return Err(format!("'{text}' has an empty value")),
            _ if item.contains(':') && !item.contains('=') => values.extend(range(item)?),
            _ => values.push(value(item)),
        }
        if values.len() > MOST {
            return Err(format!("'{text}' has more than {MOST} values"));
        }
    }
    Ok(values)
}

/// One value: numbers, alone or joined by x, with their powers worked out; anything else as it is.
pub(super) fn value(text: &str) -> String {
    let numbers: Option<Vec<u64>> = text.split(['x', 'X']).map(number).collect();
    numbers.map_or_else(|| text.to_owned(), |numbers| orthant::per_axis::text(&numbers))
}

/// `N` or `a^b`.
fn number(text: &str) -> Option<u64> {
    match text.split_once('^') {
        Some((base, exponent)) => base.trim().parse::<u64>().ok()?.checked_pow(exponent.trim().parse().ok()?),
        None => text.trim().parse().ok(),
    }
}

/// `from:to`, `from:to:step`, `from:to:xfactor`.
fn range(text: &str) -> Result<Vec<String>, String> {
    let wrong = |why: &str| format!("'{text}' is not a range from:to, from:to:step or from:to:xfactor: {why}");
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let (from, to, step) = match parts[..] {
        [from, to] => (from, to, "1"),
        [from, to, step] => (from, to, step),
        _ => return Err(wrong("it has too many parts")),
    };
    let end = |text| number(text).ok_or_else(|| wrong(&format!("'{text}' is not a whole number")));
    let (from, to) = (end(from)?, end(to)?);
    if from > to {
        return Err(wrong(&format!("{from} is above {to}")));
    }
    let factor = step.strip_prefix(['x', '*']);
    let mut values = Vec::new();
    match factor {
        Some(factor) => {
            let factor: f64 = factor.parse().map_err(|_| wrong(&format!("'{factor}' is not a factor")))?;
            if from == 0 || !(factor > 1.0 && factor.is_finite()) {
                return Err(wrong("a factor is above 1, and what it multiplies above 0"));
            }
            let mut value = from as f64;
            while value.round() <= to as f64 && values.len() <= MOST {
                values.push(value.round() as u64);
                value *= factor;
            }
            values.dedup();
        }
        None => {
            let step = end(step.strip_prefix('+').unwrap_or(step))?;
            if step == 0 {
                return Err(wrong("a step is at least 1"));
            }
            // One more than allowed is enough to be told so.
            values.extend((0..=(to - from) / step).take(MOST + 1).map(|i| from + i * step));
        }
    }
    Ok(values.iter().map(u64::to_string).collect())
}

/// 2 to the power of every value.
fn powers(exponents: &[String]) -> Result<Vec<String>, String> {
    let power = |text: &String| match text.parse::<u32>() {
        Ok(exponent @ 0..=31) => Ok((1u64 << exponent).to_string()),
        _ => Err(format!("[pow2]: '{text}' is not an exponent between 0 and 31")),
    };
    exponents.iter().map(power).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> String {
        axis(&format!("n={text}")).map_or_else(|error| error, |(_, values)| values.join(" "))
    }

    #[test]
    fn lists_ranges_and_powers() {
        assert_eq!(list("2^10, 2^12,7"), "1024 4096 7");
        assert_eq!(list("1024:4096:x2"), "1024 2048 4096");
        assert_eq!(list("2048:5000:x1.25"), "2048 2560 3200 4000 5000");
        assert_eq!(list("3:6,8:16:4"), "3 4 5 6 8 12 16");
        assert_eq!(list("2^3x2^4,sbr"), "8x16 sbr");
        assert_eq!(axis("n[pow2]=[10:14:2]"), Ok(("n".into(), vec!["1024".into(), "4096".into(), "16384".into()])));
        assert_eq!(axis("domain=-1.5:0.5,-1:1"), Ok(("domain".into(), vec!["-1.5:0.5,-1:1".into()])));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, named) in [
            ("", "empty value"),
            ("1,,2", "empty value"),
            ("4:2", "4 is above 2"),
            ("1:2:3:4", "too many parts"),
            ("1:a", "'a' is not a whole number"),
            ("1:8:x1", "above 1"),
            ("0:8:x2", "above 0"),
            ("1:8:0", "at least 1"),
            ("1:4000000000", "more than 100000"),
        ] {
            assert!(list(text).contains(named), "{text}: {}", list(text));
        }
        assert!(axis("n").is_err() && axis("n[pow2]=40").is_err());
    }
}
