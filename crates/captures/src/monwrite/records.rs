//! Fields of monitor records, by their places.

use super::model::{Configuration, Logical, Partition, Processor, User};

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

/// Processors of the machine, of domain 0, record 15; none if it is too short or tells of none.
pub(super) fn physical(record: &[u8]) -> Option<u16> {
    (record.len() >= 28)
        .then(|| half(record, 26))
        .filter(|count| *count > 0)
}

impl Partition {
    /// Of a record; none if it is too short or an entry of it is laid out in another way. Without
    /// logical processors it is not active.
    pub(super) fn of(record: &[u8], header: &Header, interval: u32, frame: usize) -> Option<Self> {
        let name = text(record.get(20..28)?);
        let (count, at, length) = (*record.get(30)?, record.get(32..34)?, record.get(34..36)?);
        let (count, at) = (usize::from(count), usize::from(half(at, 0)));
        let entries = entries(record, count, at, usize::from(half(length, 0)))?;
        let processors = entries.map(Logical::of).collect::<Option<_>>()?;
        Some(Self {
            frame,
            interval,
            time_of_day: header.time_of_day,
            name,
            number: record[28],
            processors,
        })
    }
}

/// So many entries from a place on. The length that is told is of one of them, or of all.
fn entries(
    record: &[u8],
    count: usize,
    at: usize,
    told: usize,
) -> Option<std::slice::ChunksExact<'_, u8>> {
    let all = record.get(at..)?;
    let each = match count {
        0 => return Some(all[..0].chunks_exact(1)),
        _ if told * count <= all.len() => told,
        _ => told / count,
    };
    let there = each >= LOGICAL && each * count <= all.len();
    there.then(|| all[..each * count].chunks_exact(each))
}

/// Least length of an entry of a logical processor.
const LOGICAL: usize = 40;

impl Logical {
    /// Of an entry. Its type is told in letters, behind both times, which begin six or eight bytes
    /// into it: where its letters are tells which.
    fn of(entry: &[u8]) -> Option<Self> {
        let told = |from: usize| {
            let kind = text(&entry[from + 16..(from + 32).min(entry.len())]);
            KINDS.contains(&&*kind).then_some((from, kind))
        };
        let (from, kind) = told(6).or_else(|| told(8))?;
        Some(Self {
            address: half(entry, 0),
            weight: half(entry, 2),
            kind,
            held: double(entry, from),
            used: double(entry, from + 8),
        })
    }
}

/// Types of processors.
const KINDS: [&str; 7] = ["CP", "IFL", "ICF", "ZIIP", "IIP", "ZAAP", "IFA"];

impl User {
    /// Of a record; none if it is too short or tells no name.
    pub(super) fn of(record: &[u8], interval: u32, frame: usize) -> Option<Self> {
        let name = text(record.get(20..28)?);
        (record.len() >= 52 && !name.is_empty()).then(|| Self {
            frame,
            interval,
            name,
            address: half(record, 28),
            charged: double(record, 36),
            ran: double(record, 44),
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
