//! Words and lines as they stand in reports.

use crate::number::Number;

/// A value of a row; a dash, or what stands for an undefined quotient, is not a number.
pub(crate) fn value(word: &str) -> Option<f64> {
    let plain = word
        .strip_suffix('%')
        .or_else(|| word.strip_suffix("GHz"))
        .unwrap_or(word);
    if matches!(plain, "-" | "nan" | "-nan" | "NaN") {
        return Some(f64::NAN);
    }
    short(plain).or_else(|| Number::parse(plain).map(Number::to_f64))
}

/// Digits that a float holds exactly, and powers of ten that it does: their quotient is the nearest
/// float, as it is of the slow way.
const EXACT_DIGITS: usize = 15;

/// Almost all values: a few digits with a point or a comma.
fn short(word: &str) -> Option<f64> {
    if word.is_empty() || word.len() > EXACT_DIGITS {
        return None;
    }
    let (mut digits, mut scale, mut behind, mut last) = (0_u64, 1_u64, false, b'.');
    for byte in word.bytes() {
        last = byte;
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                scale *= if behind { 10 } else { 1 };
            }
            b'.' | b',' if !behind => behind = true,
            _ => return None,
        }
    }
    let sound = last.is_ascii_digit() && word.as_bytes()[0].is_ascii_digit();
    sound.then(|| digits as f64 / scale as f64)
}

/// A row without what stands in brackets behind a value: `3.6GHz[ 97%]`.
pub(crate) fn without_brackets(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut depth = 0_u32;
    for character in line.chars() {
        match character {
            '[' => depth += 1,
            ']' if depth > 0 => {
                depth -= 1;
                out.push(' ');
            }
            _ if depth == 0 => out.push(character),
            _ => {}
        }
    }
    out
}

/// Whether a line is drawn of dashes. Recorders write their own letter over the first dash.
pub(crate) fn is_ruler(words: &[&str]) -> bool {
    let dashes = |text: &str| text.bytes().all(|byte| byte == b'-' || byte == b'=');
    match words {
        [first, rest @ ..] => {
            let first = first.strip_prefix('n').unwrap_or(first);
            first.len() > 2 && dashes(first) && rest.iter().all(|word| dashes(word))
        }
        [] => false,
    }
}

/// Words with one blank between them.
pub(crate) fn joined(words: &[&str]) -> String {
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_points_commas_and_units() {
        for (word, expected) in [
            ("1.30", 1.3),
            ("1,30", 1.3),
            ("18.57%", 18.57),
            ("3.6GHz", 3.6),
        ] {
            assert_eq!(value(word), Some(expected), "{word}");
        }
        assert!(value("-").is_some_and(f64::is_nan));
        assert!(value("-nan").is_some_and(f64::is_nan));
        for word in ["", "x", "%", "1.2.3", "1e9", "inf"] {
            assert_eq!(value(word), None, "{word}");
        }
    }

    #[test]
    fn the_short_way_gives_what_the_long_one_gives() {
        for word in [
            "0",
            "0.1",
            "199.6",
            "99999999999999",
            "1234567890.123",
            "7,25",
            "0.30",
        ] {
            let long = Number::parse(word).map(Number::to_f64);
            assert_eq!(short(word), long, "{word}");
        }
        for word in ["", ".", "1.", ".5", "1.2.3", "-1", "1234567890123456"] {
            assert_eq!(short(word), None, "{word}");
        }
    }

    #[test]
    fn brackets_are_taken_out_with_all_within() {
        assert_eq!(without_brackets("1 3.6GHz[ 97%] 2"), "1 3.6GHz  2");
        assert_eq!(without_brackets("1 ] 2 [3"), "1 ] 2 ");
    }

    #[test]
    fn rulers_may_have_lost_their_first_dash() {
        assert!(is_ruler(&["-----", "--"]));
        assert!(is_ruler(&["n------"]));
        assert!(!is_ruler(&["-", "-"]));
        assert!(!is_ruler(&[]));
    }
}
