//! Bytes of a file that a person saved or sent on to text: byte order marks, UTF-16, Latin-1, NUL
//! bytes.

use crate::reading::Remark;

/// A text and what had to be done to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// What could be read of it.
    pub text: String,
    /// What was not as it should be; about the whole, so line 1.
    pub remarks: Vec<Remark>,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text of bytes, whatever they are; never fails.
#[must_use]
pub fn decode(bytes: &[u8]) -> Decoded {
    let mut remarks = Vec::new();
    let mut text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => eight_bit(bytes.strip_prefix(UTF8_MARK).unwrap_or(bytes), &mut remarks),
    };
    let zeros = text.bytes().filter(|byte| *byte == 0).count();
    if zeros > 0 {
        // A hole in a file that was being written when its system stopped reads as zeros.
        text.retain(|character| character != '\0');
        remarks.push(about_all(format!("{zeros} NUL characters are left out")));
    }
    Decoded { text, remarks }
}

fn about_all(text: String) -> Remark {
    Remark { line: 1, text }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    char::decode_utf16(units)
        .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}

fn eight_bit(bytes: &[u8], remarks: &mut Vec<Remark>) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    remarks.push(about_all(
        "the text is not UTF-8; it is read as Latin-1".to_owned(),
    ));
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_old_encodings_are_understood() {
        for (bytes, text, remarks) in [
            (&b"caf\xc3\xa9"[..], "café", 0),
            (b"\xef\xbb\xbfcaf\xc3\xa9", "café", 0),
            (b"caf\xe9", "café", 1),
            (b"\xff\xfec\0a\0", "ca", 0),
            (b"\xfe\xff\0c\0a\xd8", "ca", 0),
            (b"a\0\0b", "ab", 1),
            (b"", "", 0),
        ] {
            let found = decode(bytes);
            assert_eq!((found.text.as_str(), found.remarks.len()), (text, remarks));
        }
    }
}
