//! Fields of monitor records, by their places.

use super::model::{Configuration, Processor};

/// Length of the part that all records begin with.
const HEADER: usize = 20;

/// What all records begin with.
pub(super) struct Header {
    pub length: usize,
    pub domain: u8,
    pub number: u16,
    pub time_of_day: u64,
}

impl Header {
    /// The header of the record at a place; none if there can't be one.
    pub fn at(frame: &[u8], from: usize) -> Option<Self> {
        let head = frame.get(from..from + HEADER)?;
        let length = usize::from(half(head, 0));
        let sound = length >= HEADER && half(head, 2) == 0 && from + length <= frame.len();
        sound.then(|| Self {
            length,
            domain: head[4],
            number: half(head, 6),
            time_of_day: double(head, 8),
        })
    }
}

impl Configuration {
    /// Of a record; none if it is too short or tells no machine type where one should be.
    pub(super) fn of(record: &[u8], frame: usize) -> Option<Self> {
        let machine = text(record.get(108..112)?);
        let sound = record.len() >= 176 && machine.len() == 4;
        (sound && machine.bytes().all(|digit| digit.is_ascii_digit())).then(|| Self {
            frame,
            machine,
            model: text(&record[112..128]),
            serial: text(&record[128..144]),
            partition: text(&record[160..168]),
            logical: half(record, 154),
            dedicated: half(record, 172),
            shared: half(record, 174),
        })
    }
}

impl Processor {
    /// Of a record; none if it is too short.
    pub(super) fn of(record: &[u8], header: &Header, interval: u32, frame: usize) -> Option<Self> {
        (record.len() >= 76).then(|| Self {
            frame,
            interval,
            address: half(record, 20),
            time_of_day: header.time_of_day,
            user: double(record, 32),
            system: double(record, 40),
            wait: double(record, 68),
        })
    }
}

/// Two bytes.
fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Four bytes.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(half(bytes, at)) << 16 | u32::from(half(bytes, at + 2))
}

/// Eight bytes.
fn double(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) << 32 | u64::from(word(bytes, at + 4))
}

/// EBCDIC names: letters, digits, and what else names of machines have; anything else ends them.
fn text(bytes: &[u8]) -> String {
    let letter = |byte: u8| match byte {
        0xc1..=0xc9 => Some(byte - 0xc1 + b'A'),
        0xd1..=0xd9 => Some(byte - 0xd1 + b'J'),
        0xe2..=0xe9 => Some(byte - 0xe2 + b'S'),
        0xf0..=0xf9 => Some(byte - 0xf0 + b'0'),
        0x60 => Some(b'-'),
        0x6d => Some(b'_'),
        0x5b => Some(b'$'),
        0x7b => Some(b'#'),
        0x7c => Some(b'@'),
        _ => None,
    };
    bytes
        .iter()
        .map_while(|byte| letter(*byte).map(char::from))
        .collect()
}
