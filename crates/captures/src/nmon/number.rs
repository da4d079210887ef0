//! Numbers between commas. Most of a recording's bytes are these, so this is where its reading
//! time goes.

use memchr::memchr;

/// Powers of ten that a double holds exactly and that fit digits read as one integer.
const POWERS: [f64; 16] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// What stands in a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Field {
    /// A number.
    Number(f64),
    /// Nothing.
    Blank,
    /// Something else.
    Other,
}

/// The field that begins at `at`, and where its comma or the end of the line is.
#[inline(always)]
pub(crate) fn field(line: &[u8], at: usize) -> (Field, usize) {
    match short(eight(line, at)) {
        Some((number, length)) => (Field::Number(number), at + length),
        None => long(line, at),
    }
}

/// Eight bytes from `at` on, as if commas followed the line.
#[inline(always)]
fn eight(line: &[u8], at: usize) -> u64 {
    let rest = &line[at..];
    if let Some(eight) = rest.first_chunk::<8>() {
        return u64::from_le_bytes(*eight);
    }
    let commas = each(b',');
    match line.last_chunk::<8>() {
        Some(_) if rest.is_empty() => commas,
        Some(last) => {
            let there = 8 * rest.len() as u32;
            (u64::from_le_bytes(*last) >> (64 - there)) | (commas << there)
        }
        None => {
            let mut eight = [b','; 8];
            eight[..rest.len()].copy_from_slice(rest);
            u64::from_le_bytes(eight)
        }
    }
}

/// A byte in each of the eight of a word.
const fn each(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// The place, 0 to 7, of the first of eight bytes that is this one; 8 if none is.
#[inline(always)]
const fn place_of(eight: u64, byte: u8) -> u32 {
    let difference = eight ^ each(byte);
    let zeros = difference.wrapping_sub(each(1)) & !difference & each(0x80);
    zeros.trailing_zeros() / 8
}

/// A number of up to seven bytes with no sign, and how many bytes it has; all eight are looked at
/// together, without a branch a digit, whose outcome no processor can foresee.
#[inline(always)]
fn short(eight: u64) -> Option<(f64, usize)> {
    let length = place_of(eight, b',');
    if length == 0 || length == 8 {
        return None;
    }
    let field = eight & (u64::MAX >> (64 - 8 * length));
    let point = place_of(field, b'.').min(length);
    let has_point = u32::from(point < length);
    let places = length - point - has_point;
    let digits = length - has_point;
    let whole = field & !(u64::MAX << (8 * point));
    // Shifted in two steps, for the point may stand in the last of eight bytes.
    let part = ((field >> (8 * point)) >> (8 * has_point)) << (8 * point);
    if digits == 0 {
        return None;
    }
    let values = (whole | part) ^ (each(b'0') >> (64 - 8 * digits));
    if (values.wrapping_add(each(6)) | values) & each(0xf0) != 0 {
        return None;
    }
    let mantissa = eight_digits(values << (64 - 8 * digits));
    Some((
        mantissa as f64 / POWERS[places as usize % POWERS.len()],
        length as usize,
    ))
}

/// The number that eight digits make, the first in the lowest byte: pairs, then pairs of pairs.
#[inline(always)]
const fn eight_digits(digits: u64) -> u64 {
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let low = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let high = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    low.wrapping_add(high) >> 32
}

/// Any field, digit by digit.
#[inline(never)]
fn long(line: &[u8], at: usize) -> (Field, usize) {
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

        /// Of any few bytes of fields, the quick way says what the slow one says.
        #[test]
        fn both_ways_agree(line in "[-0-9., x]{0,12}", at in 0usize..4) {
            let at = at.min(line.len());
            prop_assert_eq!(field(line.as_bytes(), at), long(line.as_bytes(), at));
        }

        #[test]
        fn any_bytes_have_an_end(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let (_, end) = field(&bytes, 0);
            prop_assert!(end == bytes.len() || bytes[end] == b',');
        }
    }
}
