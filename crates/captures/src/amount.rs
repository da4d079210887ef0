//! Amounts as people's copies hold them: with a unit of their own, or a decimal comma.

use crate::error::{quoted, CaptureError};
use crate::number::Number;
use crate::reading::Notes;

const UNITS: [(&str, i128); 5] = [
    ("KB", 1),
    ("MB", 1 << 10),
    ("GB", 1 << 20),
    ("TB", 1 << 30),
    ("B", 0),
];
const LARGEST: i128 = 1 << 40;

/// An amount that is being read.
pub(crate) struct Amount<'a> {
    pub(crate) text: &'a str,
    /// Its unit if none stands behind it.
    pub(crate) unit: &'a str,
    pub(crate) line: usize,
    pub(crate) heading: &'a str,
}

impl Amount<'_> {
    fn refuse(&self) -> CaptureError {
        CaptureError::NotANumber {
            line: self.line,
            heading: self.heading.to_owned(),
            found: quoted(self.text),
        }
    }

    /// Whole megabytes (2^20 bytes).
    pub(crate) fn megabytes(&self, notes: &mut Notes) -> Result<u64, CaptureError> {
        let digits = |c: char| c.is_ascii_digit() || ".,".contains(c);
        let split = self.text.find(|c| !digits(c)).unwrap_or(self.text.len());
        let (number, own) = self.text.split_at(split);
        let own = own.trim();
        let unit = if own.is_empty() { self.unit } else { own };
        let name = unit.to_ascii_uppercase().replace("IB", "B");
        let factor = UNITS
            .iter()
            .find(|(known, factor)| *known == name && *factor > 0)
            .ok_or_else(|| self.refuse())?
            .1;
        let number = self.decimal(number, notes)?;
        let places = 10_i128.pow(u32::from(number.places));
        let kilobytes = number.scaled.checked_mul(factor);
        let whole = kilobytes
            .filter(|size| *size >= 0 && size % (places << 10) == 0)
            .map(|size| size / (places << 10))
            .filter(|size| *size <= LARGEST)
            .ok_or_else(|| self.refuse())?;
        if !own.is_empty() || name != "MB" {
            let told = format!("\"{} {unit}\" is read as {whole} MB", number);
            notes.remark(self.line, told);
        }
        u64::try_from(whole).map_err(|_| self.refuse())
    }

    /// A number with a point; a comma before one or two digits is taken for one.
    pub(crate) fn decimal(&self, text: &str, notes: &mut Notes) -> Result<Number, CaptureError> {
        let number = Number::parse(text)
            .filter(|number| number.places <= 6 && number.scaled >= 0)
            .ok_or_else(|| self.refuse())?;
        if text.contains(',') {
            // Three digits behind it may be thousands.
            if number.places > 2 {
                return Err(self.refuse());
            }
            let told = format!("\"{text}\" has a decimal comma; it is read as {number}");
            notes.remark(self.line, told);
        }
        Ok(number)
    }

    /// A small whole number.
    pub(crate) fn count(&self) -> Result<u32, CaptureError> {
        let plain = !self.text.is_empty() && self.text.bytes().all(|byte| byte.is_ascii_digit());
        Some(self.text)
            .filter(|_| plain)
            .and_then(|text| text.parse().ok())
            .ok_or_else(|| self.refuse())
    }
}
