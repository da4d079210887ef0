//! Numbers of snapshots and the times of `ZZZZ` lines.

use crate::nmon::number::{plain, Field};

const MONTHS: [&[u8]; 12] = [
    b"JAN", b"FEB", b"MAR", b"APR", b"MAY", b"JUN", b"JUL", b"AUG", b"SEP", b"OCT", b"NOV", b"DEC",
];
const DAY_S: i64 = 86_400;

/// The number in `T0001` if a field begins with it, and where the field ends.
#[inline]
pub(crate) fn snapshot(field: &[u8]) -> Option<(i64, usize)> {
    if field.first() != Some(&b'T') {
        return None;
    }
    let digits = field[1..].iter().take_while(|byte| byte.is_ascii_digit());
    let end = 1 + digits.count();
    if !(2..=10).contains(&end) || !matches!(field.get(end), None | Some(b',')) {
        return None;
    }
    let number = field[1..end].iter().fold(0, |number, digit| {
        number * 10 + i64::from(digit.wrapping_sub(b'0'))
    });
    Some((number, end))
}

/// Seconds since midnight, of `17:28:10` or `10:24.25`.
pub(crate) fn time_of_day(text: &[u8]) -> Option<i64> {
    let mut parts = text
        .trim_ascii()
        .split(|byte| matches!(byte, b':' | b'.'))
        .map(two_digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let sound = parts.next().is_none() && hour < 24 && minute < 60 && second < 61;
    sound.then_some(hour * 3600 + minute * 60 + second)
}

/// Days since 1970, of `10-FEB-2016` or `2016-02-10`.
pub(crate) fn day(text: &[u8]) -> Option<i64> {
    let mut parts = text.trim_ascii().split(|byte| *byte == b'-');
    let (first, middle, last) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let named = MONTHS
        .iter()
        .position(|month| month.eq_ignore_ascii_case(middle));
    match named {
        Some(month) => civil(four_digits(last)?, month as i64 + 1, two_digits(first)?),
        None => civil(four_digits(first)?, two_digits(middle)?, two_digits(last)?),
    }
}

/// Seconds since 1970 by the recorded clock.
pub(crate) const fn moment(day: i64, time_of_day: i64) -> i64 {
    day * DAY_S + time_of_day
}

/// The first moment from `after` on at which a clock shows this time of day.
pub(crate) fn next_moment(after: i64, time_of_day: i64) -> i64 {
    let same_day = moment(after.div_euclid(DAY_S), time_of_day);
    if same_day < after {
        same_day + DAY_S
    } else {
        same_day
    }
}

fn two_digits(text: &[u8]) -> Option<i64> {
    number_of(text, 1, 2)
}

fn four_digits(text: &[u8]) -> Option<i64> {
    number_of(text, 4, 4)
}

fn number_of(text: &[u8], least: usize, most: usize) -> Option<i64> {
    let sound = (least..=most).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    match plain(text) {
        Field::Number(number) if sound => Some(number as i64),
        _ => None,
    }
}

/// Days since 1970 of a date of the Gregorian calendar; the year counted from March, so that the
/// leap day is its last.
fn civil(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let longest = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return None,
    };
    if !(1970..=2199).contains(&year) || !(1..=longest).contains(&day) {
        return None;
    }
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let before = year * 365 + year / 4 - year / 100 + year / 400;
    let within = (153 * month + 2) / 5 + day - 1;
    // 719,468 days lie between 1 March of the year 0 and 1970.
    Some(before + within - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_have_any_number_of_digits() {
        assert_eq!(snapshot(b"T0001,1.0"), Some((1, 5)));
        assert_eq!(snapshot(b"T10000"), Some((10_000, 6)));
        for other in [&b"T"[..], b"Total", b"T1x,", b"t0001", b"", b"T12345678901"] {
            assert_eq!(snapshot(other), None, "{other:?}");
        }
    }

    #[test]
    fn times_are_seconds_since_1970() {
        assert_eq!(time_of_day(b"17:28:10"), Some(62_890));
        assert_eq!(time_of_day(b"10:24.25"), Some(37_465));
        assert_eq!(day(b"01-JAN-1970"), Some(0));
        // By `date -u -d 2016-02-10 +%s`.
        assert_eq!(
            day(b"10-FEB-2016").map(|day| moment(day, 0)),
            Some(1_455_062_400)
        );
        assert_eq!(day(b"29-feb-2000"), Some(11_016));
        assert_eq!(day(b"2016-02-10"), day(b"10-FEB-2016"));
        for other in [
            "30-FEB-2016",
            "10-FEB-16",
            "10-02-2016",
            "",
            "1-2",
            "31-APR-2020",
        ] {
            assert_eq!(day(other.as_bytes()), None, "{other}");
        }
        for other in ["24:00:00", "12:60:00", "12:00", "a:b:c", "1:2:3:4"] {
            assert_eq!(time_of_day(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn a_time_without_date_follows_the_one_before_it() {
        let evening = moment(3, 86_000);
        assert_eq!(next_moment(evening, 86_300), moment(3, 86_300));
        assert_eq!(next_moment(evening, 200), moment(4, 200));
    }
}
