//! Numbers as the tools write them: exact decimals, with a point or a comma.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A decimal number with the digits it was written with: `scaled * 10^-places`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// All digits as one integer.
    pub scaled: i128,
    /// Digits behind the point.
    pub places: u8,
}

/// More digits than any counter has.
const MOST_DIGITS: usize = 30;

impl Number {
    /// Printed without a fraction.
    #[must_use]
    pub const fn integer(value: i128) -> Self {
        Self {
            scaled: value,
            places: 0,
        }
    }

    /// Read digits with at most one point or comma and an optional minus sign.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, part) = digits.split_once(['.', ',']).unwrap_or((digits, "0"));
        let written = if whole.len() == digits.len() {
            ""
        } else {
            part
        };
        let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !plain(whole) || !plain(part) || whole.len() + part.len() > MOST_DIGITS {
            return None;
        }
        let scaled: i128 = format!("{whole}{written}").parse().ok()?;
        let sign = if digits.len() == text.len() { 1 } else { -1 };
        Some(Self {
            scaled: sign * scaled,
            places: u8::try_from(written.len()).ok()?,
        })
    }

    /// The nearest floating-point number.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.to_string().parse().unwrap_or(f64::NAN)
    }
}

/// As a plain number; digits behind the last that counts are not kept.
impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.to_f64())
    }
}

/// From a plain number, to a tenth as the listings have it.
impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::parse(&format!("{value:.1}"))
            .ok_or_else(|| D::Error::custom(format!("{value} is no number of the listings")))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = usize::from(self.places);
        let digits = format!(
            "{:0>width$}",
            self.scaled.unsigned_abs(),
            width = places + 1
        );
        let (whole, part) = digits.split_at(digits.len() - places);
        let point = if places > 0 { "." } else { "" };
        let sign = if self.scaled < 0 { "-" } else { "" };
        f.pad(&format!("{sign}{whole}{point}{part}"))
    }
}

/// Unit behind a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// 2^20 bytes, as the tools say it.
    Megabytes,
    /// Hundredths.
    Percent,
}

impl Unit {
    /// All units, longest first.
    pub(crate) const ALL: [Self; 2] = [Self::Megabytes, Self::Percent];

    /// The unit as the tools write it.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Megabytes => "MB",
            Self::Percent => "%",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_kept_as_written() {
        for text in [
            "0",
            "1.30",
            "100.0",
            "0.05",
            "-1",
            "-0.5",
            "4636223281790821470",
        ] {
            assert_eq!(
                Number::parse(text)
                    .map(|number| number.to_string())
                    .as_deref(),
                Some(text)
            );
        }
        assert_eq!(
            Number::parse("4,00"),
            Some(Number {
                scaled: 400,
                places: 2
            })
        );
        assert_eq!(Number::parse("18.57").map(Number::to_f64), Some(18.57));
    }

    #[test]
    fn other_words_are_no_numbers() {
        for text in [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "1.2.3",
            "1,2.3",
            "1e3",
            "+1",
            "--1",
            "½",
            "12a",
            &"9".repeat(31),
        ] {
            assert_eq!(Number::parse(text), None, "{text}");
        }
    }
}
