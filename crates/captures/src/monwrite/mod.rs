//! Files of z/VM's MONWRITE: monitor records as its `*MONITOR` service hands them over.
//!
//! ```text
//! file     control frame, frames of data, control frame, frames of data, …   4096 bytes each
//! control  40 bytes of the message, then 12 for each set of records: kind, first and last address
//! record   length (2), zeros (2), domain (1), -, number (2), time of day (8), -, then its fields
//! ```
//! A record lies in one frame; what follows record 13 of domain 1 in a frame is none. Only two are
//! read, whose fields are known: the system's configuration, and what each processor did. Numbers
//! are the machine's, the most significant byte first; text is EBCDIC.

mod model;
mod records;

pub use model::{Configuration, Processor, Recording};

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use records::{word, Header};

/// Bytes of a frame.
const FRAME: usize = 4096;
/// Bytes of a control frame before its entries, and of an entry.
const MESSAGE: usize = 40;
const ENTRY: usize = 12;

/// Reads all of it; places are frames, counted from 1.
///
/// # Errors
/// If there is nothing in it, or its first frame is no control frame with records behind it.
pub fn read(bytes: &[u8]) -> Result<Lenient<Recording>, CaptureError> {
    if bytes.is_empty() {
        return Err(CaptureError::Empty { tool: "MONWRITE" });
    }
    let mut reader = Reader {
        frames: bytes.chunks(FRAME).collect(),
        at: 0,
        found: Recording::default(),
        damage: Damage::default(),
    };
    while reader.at < reader.frames.len() {
        reader.set();
    }
    if reader.found.records == 0 {
        return Err(CaptureError::Unexpected {
            line: 1,
            expected: "a control frame of MONWRITE with monitor records behind it",
            found: String::new(),
        });
    }
    Ok(reader.damage.with(reader.found))
}

struct Reader<'a> {
    frames: Vec<&'a [u8]>,
    /// Next frame.
    at: usize,
    found: Recording,
    damage: Damage,
}

/// Addresses of a set of records: of its first and of its last byte.
#[derive(Clone, Copy)]
struct Entry {
    first: usize,
    last: usize,
}

impl Reader<'_> {
    /// A control frame and the data that it tells of.
    fn set(&mut self) {
        let control = self.frames[self.at];
        self.at += 1;
        for entry in entries(control) {
            if entry.last < entry.first {
                let why = || "a set of records ends before it begins".to_owned();
                return self.damage.drop_line(self.at, why);
            }
            self.data(entry);
        }
    }

    /// The frames of one set.
    fn data(&mut self, entry: Entry) {
        let frames = entry.last / FRAME - entry.first / FRAME;
        for number in 0..=frames {
            let Some(frame) = self.frames.get(self.at) else {
                let why = || "the file ends within a set of records".to_owned();
                return self.damage.drop_line(self.at, why);
            };
            self.at += 1;
            let from = if number == 0 { entry.first % FRAME } else { 0 };
            let to = if number == frames {
                entry.last % FRAME + 1
            } else {
                FRAME
            };
            let whole = &frame[..to.min(frame.len())];
            self.records(whole, from);
        }
    }

    /// The records of a frame from a place on.
    fn records(&mut self, frame: &[u8], mut from: usize) {
        while from < frame.len() {
            let Some(header) = Header::at(frame, from) else {
                let why = || format!("no monitor record at byte {from} of the frame");
                return self.damage.drop_line(self.at, why);
            };
            let record = &frame[from..from + header.length];
            from += header.length;
            self.found.records += 1;
            match (header.domain, header.number) {
                (1, 13) => return,
                (1, 11) => self.found.intervals += 1,
                (1, 4) => self.configuration(record),
                (0, 2) => self.processor(record, &header),
                _ => {}
            }
        }
    }

    fn configuration(&mut self, record: &[u8]) {
        match Configuration::of(record, self.at) {
            Some(one) => self.found.configuration = Some(one),
            None => self.damage.drop_line(self.at, || {
                "the system's configuration is laid out in another way".to_owned()
            }),
        }
    }

    fn processor(&mut self, record: &[u8], header: &Header) {
        match Processor::of(record, header, self.found.intervals, self.at) {
            Some(one) => self.found.processors.push(one),
            None => self.damage.drop_line(self.at, || {
                "a processor's record is shorter than what is read of it".to_owned()
            }),
        }
    }
}

/// Sets of records that a control frame tells of; none where all data has come.
fn entries(control: &[u8]) -> Vec<Entry> {
    let area = control.get(MESSAGE..).unwrap_or_default();
    let told = area.chunks_exact(ENTRY).map(|entry| Entry {
        first: word(entry, 4) as usize,
        last: word(entry, 8) as usize,
    });
    told.take_while(|entry| entry.last != 0).collect()
}

#[cfg(test)]
mod tests;
