//! Numbers between commas. Most of a recording's bytes are these, so this is where its reading
//! time goes: with the standard library's parser alone, which looks for the comma first and then at
//! each byte again, all columns of a recording are read at two thirds to three quarters of the
//! speed (case `nmon` of `make bench`).
//! The answers are the same: what is not plain is given to that parser.

use memchr::memchr;

/// Powers of ten that a double holds exactly and that fit digits read as one integer.
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field {
    /// What reads as a number.
    Number(f64),
    /// Nothing.
    Blank,
    /// Something else.
    Other,
}

/// The field that begins at `at`, and where its comma or the end of the line is.
#[inline]
pub(crate) fn field(line: &[u8], at: usize) -> (Field, usize) {
    let bytes = &line[at..];
    let negative = bytes.first() == Some(&b'-');
    let mut next = usize::from(negative);
    let mut mantissa = 0u64;
    while let Some(digit) = digit(bytes, next) {
        mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
        next += 1;
    }
    let mut digits = next - usize::from(negative);
    let mut places = 0;
    if bytes.get(next) == Some(&b'.') {
        let point = next;
        next += 1;
        while let Some(digit) = digit(bytes, next) {
            mantissa = mantissa.wrapping_mul(10).wrapping_add(digit);
            next += 1;
        }
        places = next - point - 1;
        digits += places;
    }
    let ended = matches!(bytes.get(next), None | Some(b','));
    // Fifteen digits and their power of ten are exact, so that one division rounds correctly.
    if !ended || digits == 0 || digits > 15 {
        return unusual(line, at);
    }
    let size = mantissa as f64 / POWERS[places];
    (
        Field::Number(if negative { -size } else { size }),
        at + next,
    )
}

#[inline]
fn digit(bytes: &[u8], at: usize) -> Option<u64> {
    let digit = bytes.get(at)?.wrapping_sub(b'0');
    (digit < 10).then_some(u64::from(digit))
}

#[cold]
fn unusual(line: &[u8], at: usize) -> (Field, usize) {
    let end = memchr(b',', &line[at..]).map_or(line.len(), |comma| at + comma);
    (plain(&line[at..end]), end)
}

/// A field by itself: blanks around it do not count.
pub(crate) fn plain(field: &[u8]) -> Field {
    let text = field.trim_ascii();
    if text.is_empty() {
        return Field::Blank;
    }
    let numeric = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    let parsed = std::str::from_utf8(text)
        .ok()
        .filter(|_| text.iter().all(numeric))
        .and_then(|text| text.parse::<f64>().ok());
    parsed
        .filter(|value| value.is_finite())
        .map_or(Field::Other, Field::Number)
}

/// Digits behind the point of a field.
pub(crate) fn places(field: &[u8]) -> u8 {
    let point = memchr(b'.', field);
    let places = point.map_or(0, |point| field.trim_ascii_end().len() - point - 1);
    u8::try_from(places).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fields(line: &str) -> Vec<Field> {
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let (value, end) = field(line.as_bytes(), at);
            found.push(value);
            if end == line.len() {
                return found;
            }
            at = end + 1;
        }
    }

    #[test]
    fn fields_are_numbers_blanks_or_neither() {
        let numbers = [1.257, 7.0, -1.0, 0.05, 10_609_280.0, 1e5, 16.0];
        let numbers: Vec<Field> = numbers.into_iter().map(Field::Number).collect();
        assert_eq!(fields("1.257,7,-1.0,.05, 10609280.0,1e5,16. "), numbers);
        assert_eq!(fields(""), [Field::Blank]);
        assert_eq!(fields(",  ,"), [Field::Blank; 3]);
        for other in ["nan", "inf", "-", ".", "1.2.3", "--1", "12x", "nan%", "1 2"] {
            assert_eq!(fields(other), [Field::Other], "{other}");
        }
    }

    #[test]
    fn digits_are_counted_behind_the_point() {
        let counted: Vec<u8> = ["1.257", "7", "0.0 ", "1."]
            .map(|text| places(text.as_bytes()))
            .to_vec();
        assert_eq!(counted, [3, 0, 1, 0]);
    }

    proptest! {
        /// The quick way gives the nearest double, as the standard library does.
        #[test]
        fn numbers_are_rounded_correctly(digits in 0u64.., places in 0usize..12, sign in 0..2) {
            let text = format!("{digits:0>13}");
            let (whole, part) = text.split_at(text.len() - places);
            let text = format!("{}{whole}.{part}", if sign == 0 { "" } else { "-" });
            prop_assert_eq!(
                field(text.as_bytes(), 0),
                (Field::Number(text.parse().unwrap()), text.len())
            );
        }

        /// Of any few bytes of fields, the quick way says what the standard library says.
        #[test]
        fn both_ways_agree(line in "[-0-9., x]{0,12}", at in 0usize..4) {
            let at = at.min(line.len());
            prop_assert_eq!(field(line.as_bytes(), at), unusual(line.as_bytes(), at));
        }

        #[test]
        fn any_bytes_have_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let (_, end) = field(&bytes, 0);
            prop_assert!(end == bytes.len() || bytes[end] == b',');
        }
    }
}
