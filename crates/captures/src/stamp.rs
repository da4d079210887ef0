//! Dates and times of day beside a row, before it or behind it.

const DAY: f64 = 86_400.0;

/// When a row was written, as far as it says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stamp {
    /// Days since 1970-01-01.
    pub(crate) day: Option<i64>,
    /// Seconds since midnight.
    pub(crate) time: Option<f64>,
}

impl Stamp {
    pub(crate) const fn is_none(&self) -> bool {
        self.day.is_none() && self.time.is_none()
    }
}

/// Take a date and a time off the front of a row.
pub(crate) fn take_front(words: &mut &[&str]) -> Stamp {
    let mut stamp = Stamp::default();
    if let [first, rest @ ..] = *words {
        if let Some(both) = date_and_time(first) {
            *words = rest;
            return both;
        }
        if let ([next, ..], Some(day)) = (rest, date(first)) {
            // A number such as 2020-11-10 alone is no date of a row without a time behind it.
            if time(next).is_some() {
                stamp.day = Some(day);
                *words = rest;
            }
        }
    }
    if let [first, rest @ ..] = *words {
        if let Some(seconds) = time(first) {
            *words = rest;
            stamp.time = Some(half_day(words, seconds));
        }
    }
    stamp
}

/// A date and a time, as `2020-11-10T12:00:00+0100` or `11/10/2020 12:00:00`, in seconds since
/// 1970-01-01; the zone is left out, times are those of the host.
pub(crate) fn seconds(text: &str) -> Option<f64> {
    const DAY: f64 = 86_400.0;
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut words = &words[..];
    let stamp = take_front(&mut words);
    Some(stamp.day? as f64 * DAY + stamp.time?)
}

/// How far a time such as `2020-11-10T12:00:00+0100` is ahead of UTC [s]; none where it does not
/// say.
pub(crate) fn ahead(text: &str) -> Option<f64> {
    let (_, time) = text.trim().split_once('T')?;
    let place = time.find(['Z', '+', '-'])?;
    let (sign, zone) = time[place..].split_at(1);
    if sign == "Z" {
        return zone.is_empty().then_some(0.0);
    }
    let zone = zone.replacen(':', "", 1);
    let (hours, minutes) = zone.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { "0" } else { minutes };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    let size = f64::from(hours * 3600 + minutes * 60);
    (hours < 24 && minutes < 60).then_some(if sign == "-" { -size } else { size })
}

/// Take AM or PM off the front and apply it.
fn half_day(words: &mut &[&str], seconds: f64) -> f64 {
    let [first, rest @ ..] = *words else {
        return seconds;
    };
    let twelve = DAY / 2.0;
    let moved = match first.to_ascii_uppercase().as_str() {
        "AM" if seconds >= twelve => seconds - twelve,
        "PM" if seconds < twelve => seconds + twelve,
        "AM" | "PM" => seconds,
        _ => return seconds,
    };
    *words = rest;
    moved
}

/// Take a date and a time off the end of a row.
pub(crate) fn take_back(words: &mut &[&str]) -> Stamp {
    let mut stamp = Stamp::default();
    let [before @ .., last] = *words else {
        return stamp;
    };
    if let Some(both) = date_and_time(last) {
        *words = before;
        return both;
    }
    if let Some(seconds) = time(last) {
        stamp.time = Some(seconds);
        *words = before;
        if let [before @ .., day] = before {
            if let Some(day) = date(day) {
                stamp.day = Some(day);
                *words = before;
            }
        }
    }
    stamp
}

/// `2020-11-10T12:00:01.5Z`: a zone behind it is left out, times are those of the host.
fn date_and_time(word: &str) -> Option<Stamp> {
    let (day, rest) = word.split_once('T')?;
    let end = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    Some(Stamp {
        day: Some(date(day)?),
        time: Some(time(&rest[..end])?),
    })
}

/// `hh:mm:ss`, perhaps with a fraction, as seconds.
pub(crate) fn time(word: &str) -> Option<f64> {
    let mut parts = word.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || hours.len() > 2 || minutes.len() != 2 || seconds.len() < 2 {
        return None;
    }
    let (whole, fraction) = seconds.split_at_checked(2)?;
    let fraction = match fraction.strip_prefix(['.', ',']) {
        Some(digits) => format!("0.{digits}").parse::<f64>().ok()?,
        None if fraction.is_empty() => 0.0,
        None => return None,
    };
    let (hours, minutes, whole) = (digits(hours)?, digits(minutes)?, digits(whole)?);
    (hours < 24 && minutes < 60 && whole <= 60)
        .then(|| f64::from(hours * 3600 + minutes * 60 + whole) + fraction)
}

fn digits(text: &str) -> Option<u32> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok())?
}

/// `2020-11-10`, `11/10/20`, `11/10/2020`, `10.11.2020` as days since 1970-01-01. With slashes the
/// month comes first, unless there is no such month.
pub(crate) fn date(word: &str) -> Option<i64> {
    let mark = word.chars().find(|c| "-/.".contains(*c))?;
    let mut parts = word.split(mark).map(digits);
    let (one, two, three) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    let (year, month, day) = match mark {
        '-' => (one, two, three),
        '.' => (three, two, one),
        _ if one > 12 => (three, two, one),
        _ => (three, one, two),
    };
    let full = match year {
        0..=69 => year + 2000,
        70..=99 => year + 1900,
        1970..=9999 => year,
        _ => return None,
    };
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| days(full, month, day))
}

/// Days since 1970-01-01 in the Gregorian calendar: years count from March, so that the leap day is
/// the last one.
fn days(year: u32, month: u32, day: u32) -> i64 {
    let year = i64::from(year) - i64::from(month <= 2);
    let month = (i64::from(month) + 9) % 12;
    let of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let leap = year / 4 - year / 100 + year / 400;
    // 719468 days lie between 0000-03-01 and 1970-01-01.
    year * 365 + leap + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_1970() {
        for (text, day) in [
            ("1970-01-01", Some(0)),
            ("01/01/70", Some(0)),
            ("2000-03-01", Some(11_017)),
            ("02/29/2020", Some(18_321)),
            ("29/02/2020", Some(18_321)),
            ("29.02.2020", Some(18_321)),
            ("13/13/2020", None),
            ("2020-11", None),
            ("1-2-3-4", None),
            ("-1.5", None),
        ] {
            assert_eq!(date(text), day, "{text}");
        }
    }

    #[test]
    fn times_count_from_midnight() {
        for (text, seconds) in [
            ("00:00:01", Some(1.0)),
            ("1:02:03", Some(3723.0)),
            ("23:59:59.5", Some(86_399.5)),
            ("24:00:00", None),
            ("12:00", None),
            ("1:2:3", None),
            ("12:00:0é", None),
        ] {
            assert_eq!(time(text), seconds, "{text}");
        }
    }

    #[test]
    fn zones_behind_a_time_are_told() {
        for (text, ahead_s) in [
            ("2020-02-29T13:00:00+0100", Some(3600.0)),
            ("2020-02-29T13:00:00.5-05:30", Some(-19_800.0)),
            ("2020-02-29T13:00:00+02", Some(7200.0)),
            ("2020-02-29T13:00:00Z", Some(0.0)),
            ("2020-02-29T13:00:00", None),
            ("2020-02-29 13:00:00", None),
            ("2020-02-29T13:00:00+2", None),
            ("2020-02-29T13:00:00+9900", None),
            ("2020-02-29T13:00:00+é", None),
        ] {
            assert_eq!(ahead(text), ahead_s, "{text}");
        }
    }

    #[test]
    fn stamps_are_taken_off_either_end() {
        let all = ["02/29/2020", "01:00:00", "PM", "7", "8"];
        let mut words = &all[..];
        let stamp = take_front(&mut words);
        assert_eq!((stamp.day, stamp.time), (Some(18_321), Some(46_800.0)));
        assert_eq!(words, ["7", "8"]);
        let all = ["7", "8", "2020-02-29", "13:00:00"];
        let mut words = &all[..];
        assert_eq!(take_back(&mut words), stamp);
        assert_eq!(words, ["7", "8"]);
        let all = ["2020-02-29T13:00:00+01:00", "7"];
        let mut words = &all[..];
        assert_eq!(take_front(&mut words), stamp);
        assert_eq!(words, ["7"]);
    }
}
