//! Moments as tables have them: numbers since 1970 in whatever unit, or dates.

const MICROS: i64 = 1_000_000;
const DAY: i64 = 86_400 * MICROS;

/// What a number counts since 1970, by its size: seconds up to the year 5138, and so on. No
/// recording is from before March 1973, where milliseconds would be taken for seconds.
const UNITS: [(f64, f64); 3] = [(1e11, 1e6), (1e14, 1e3), (1e17, 1.0)];

/// Microseconds since 1970, and whether the text tells what they count from: a number does, and a
/// date with an offset; one without counts as UTC. None for what is no moment.
pub(crate) fn moment(text: &[u8]) -> Option<(i64, bool)> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return Some((since_1970(text.parse().ok()?)?, true));
    }
    date_time(text)
}

/// Microseconds of a number since 1970.
pub(crate) fn since_1970(count: f64) -> Option<i64> {
    let size = count.abs();
    let (_, factor) = UNITS
        .into_iter()
        .find(|(below, _)| size < *below)
        .or_else(|| {
            // Nanoseconds.
            (size < 1e19).then_some((0.0, 1e-3))
        })?;
    // Seconds have a fraction; to a microsecond.
    Some((count * factor).round() as i64)
}

fn date_time(text: &str) -> Option<(i64, bool)> {
    let bytes = text.as_bytes();
    let separator = *bytes.get(4)?;
    if !matches!(separator, b'-' | b'/') || bytes.get(7) != Some(&separator) {
        return None;
    }
    let day = days(
        digits(bytes, 0, 4)?,
        digits(bytes, 5, 2)?,
        digits(bytes, 8, 2)?,
    )?;
    let rest = text.get(10..)?;
    if rest.is_empty() {
        return Some((day * DAY, false));
    }
    let time = rest.strip_prefix(['T', 't', ' '])?.trim_start();
    let (clock, offset) = split_offset(time)?;
    let in_utc = day * DAY + time_of_day(clock)? - offset.unwrap_or(0);
    Some((in_utc, offset.is_some()))
}

/// A time of day and, where it is told, its offset to UTC in microseconds.
fn split_offset(time: &str) -> Option<(&str, Option<i64>)> {
    let name = ["Z", "z", "UTC", "utc"];
    if let Some(clock) = name.iter().find_map(|name| time.strip_suffix(name)) {
        return Some((clock.trim_end(), Some(0)));
    }
    let Some(at) = time.rfind(['+', '-']) else {
        return Some((time, None));
    };
    let (clock, offset) = time.split_at(at);
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let plain: String = offset[1..].chars().filter(|one| *one != ':').collect();
    let (hours, minutes) = match plain.len() {
        2 => (digits(plain.as_bytes(), 0, 2)?, 0),
        4 => (
            digits(plain.as_bytes(), 0, 2)?,
            digits(plain.as_bytes(), 2, 2)?,
        ),
        _ => return None,
    };
    Some((
        clock.trim_end(),
        Some(sign * (hours * 60 + minutes) * 60 * MICROS),
    ))
}

fn time_of_day(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (hours, minutes) = (digits(bytes, 0, 2)?, digits(bytes, 3, 2)?);
    let seconds = if bytes.len() > 5 {
        digits(bytes, 6, 2)?
    } else {
        0
    };
    let colons = bytes.get(2) == Some(&b':') && (bytes.len() == 5 || bytes.get(5) == Some(&b':'));
    if !colons || hours > 23 || minutes > 59 || seconds > 60 {
        return None;
    }
    let fraction = match text.get(8..).unwrap_or("") {
        "" => 0,
        rest => fraction(rest.strip_prefix(['.', ','])?)?,
    };
    Some(((hours * 60 + minutes) * 60 + seconds) * MICROS + fraction)
}

/// Microseconds of the digits behind the point.
fn fraction(text: &str) -> Option<i64> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let first: String = text.chars().chain("000000".chars()).take(6).collect();
    first.parse().ok()
}

fn digits(bytes: &[u8], from: usize, count: usize) -> Option<i64> {
    let mut value = 0;
    for byte in bytes.get(from..from + count)? {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(value)
}

/// Days from 1970-01-01 to a date; none if there is no such date.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        if leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let length = *lengths.get(usize::try_from(month.checked_sub(1)?).ok()?)?;
    if !(1..=length).contains(&day) || year < 1 {
        return None;
    }
    let before: i64 = lengths[..usize::try_from(month - 1).ok()?].iter().sum();
    let past = year - 1;
    let to_year = past * 365 + past / 4 - past / 100 + past / 400;
    Some(to_year + before + day - 1 - 719_162)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_their_unit_by_their_size() {
        for text in [
            "1376314846",
            "1376314846000",
            "1376314846000000",
            "1376314846000000000",
        ] {
            assert_eq!(
                moment(text.as_bytes()),
                Some((1_376_314_846_000_000, true)),
                "{text}"
            );
        }
        assert_eq!(moment(b"946684800.25"), Some((946_684_800_250_000, true)));
        assert_eq!(moment(b"0"), Some((0, true)));
    }

    #[test]
    fn dates_with_and_without_offset() {
        for text in [
            "2013-08-12T13:40:46Z",
            "2013/08/12 13:40:46.000 UTC",
            "2013-08-12T15:40:46+02:00",
            "2013-08-12T15:40:46.000000+0200",
            "2013-08-12 08:40:46-05",
            "2013-08-12 13:40:46",
        ] {
            let expected = Some((1_376_314_846_000_000, text != "2013-08-12 13:40:46"));
            assert_eq!(moment(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(
            moment(b"2000-01-01 00:00:00.500000"),
            Some((946_684_800_500_000, false))
        );
        assert_eq!(moment(b"2024-02-29"), Some((1_709_164_800_000_000, false)));
        assert_eq!(moment(b"1970-01-01 00:01"), Some((60 * MICROS, false)));
    }

    #[test]
    fn what_is_no_moment_is_none() {
        for text in [
            "",
            ".",
            "-",
            "12/08/2013",
            "2013-13-01",
            "2023-02-29",
            "2013-08-12 25:00:00",
            "x",
            "2013-08-12T13:40:46+2",
            "99999999999999999999",
            "2013-08-12 13:40:46.",
            "1e9",
            "2013-0",
            "2013-08-1é",
        ] {
            assert_eq!(moment(text.as_bytes()), None, "{text}");
        }
    }
}
