//! Files of z/VM's MONWRITE: monitor records as its `*MONITOR` service hands them over.
//!
//! ```text
//! file     control frame, frames of data, control frame, frames of data, …   4096 bytes each
//! control  40 bytes of the message, then 12 for each set of records: kind, first and last address
//! record   length (2), zeros (2), domain (1), -, number (2), time of day (8), -, then its fields
//! ```
//! A record lies in one frame; what follows record 13 of domain 1 in a frame is none. Those are
//! read whose fields are known: the system's configuration (domain 1, record 4), what each
//! processor did (domain 0, record 2), the machine's partitions (15 and 16), and virtual processors
//! of virtual machines (domain 4, record 3). Numbers are the machine's, the most significant byte
//! first; text is EBCDIC.

mod model;
mod records;

pub use model::{Configuration, Logical, Partition, Processor, Recording, User};

use crate::damage::{Damage, Lenient};
use crate::error::CaptureError;
use records::{physical, word, Header};

/// Bytes of a frame.
const FRAME: usize = 4096;
/// Bytes of a control frame before its entries, and of an entry.
const MESSAGE: usize = 40;
const ENTRY: usize = 12;

/// Reads all of it; places are frames, counted from 1.
///
/// # Errors
/// If there is nothing in it, or no control frame with records behind it.
pub fn read(bytes: &[u8]) -> Result<Lenient<Recording>, CaptureError> {
    if bytes.is_empty() {
        return Err(CaptureError::Empty { tool: "MONWRITE" });
    }
    let mut reader = Reader {
        frames: bytes.chunks(FRAME).collect(),
        at: 0,
        lost: false,
        found: Recording::default(),
        damage: Damage::default(),
    };
    while reader.at < reader.frames.len() {
        reader.set();
    }
    if reader.found.records == 0 {
        return Err(CaptureError::Foreign {
            tool: "MONWRITE",
            bytes: bytes.len(),
            why: format!("no control frame of {FRAME} bytes has monitor records behind it"),
            next_step: "copy it as z/VM wrote it, in binary form and from its beginning",
        });
    }
    Ok(reader.damage.with(reader.found))
}

struct Reader<'a> {
    frames: Vec<&'a [u8]>,
    /// Next frame.
    at: usize,
    /// Whether it is said that a control frame is looked for.
    lost: bool,
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
    /// A control frame and the data that it tells of; a frame alone if it is none.
    fn set(&mut self) {
        let (control, told) = (self.frames[self.at], self.control(self.at));
        self.at += 1;
        let Some(told) = told else {
            if entries(control).is_empty() && Header::at(control, 0).is_none() {
                return;
            }
            if std::mem::replace(&mut self.lost, true) {
                return self.damage.count_line();
            }
            let why = "no control frame where one should be; the next one is looked for";
            return self.damage.drop_line(self.at, || why.to_owned());
        };
        self.lost = false;
        for entry in told {
            if !self.data(entry) {
                return;
            }
        }
    }

    /// Sets of records of which a frame tells; none if it can be no control frame, as the frame
    /// behind it has no record where it tells of one.
    fn control(&self, at: usize) -> Option<Vec<Entry>> {
        let told = entries(self.frames[at]);
        let first = told.first()?;
        let next = self.frames.get(at + 1);
        let there = next.is_none_or(|data| Header::at(data, first.first % FRAME).is_some());
        (first.first <= first.last && there).then_some(told)
    }

    /// The frames of one set; whether they are as its control frame tells. One that has a control
    /// frame within it is shorter than it was told: an address of it is damaged.
    fn data(&mut self, entry: Entry) -> bool {
        let frames = (entry.last / FRAME).checked_sub(entry.first / FRAME);
        let Some(frames) = frames.filter(|_| entry.first <= entry.last) else {
            return self.short("a set of records ends before it begins");
        };
        for number in 0..=frames {
            let Some(frame) = self.frames.get(self.at).copied() else {
                return self.short("the file ends within a set of records");
            };
            let from = if number == 0 { entry.first % FRAME } else { 0 };
            if Header::at(frame, from).is_none() && self.control(self.at).is_some() {
                return self.short("a control frame comes within a set of records");
            }
            self.at += 1;
            let to = if number == frames {
                entry.last % FRAME + 1
            } else {
                FRAME
            };
            let whole = &frame[..to.min(frame.len())];
            self.records(whole, from);
        }
        true
    }

    /// A set is not as long as it was told.
    fn short(&mut self, why: &str) -> bool {
        let at = self.at.min(self.frames.len()).max(1);
        self.damage.drop_line(at, || why.to_owned());
        false
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
                (domain, number) => {
                    if let Err(why) = self.known((domain, number), record, &header) {
                        self.damage.drop_line(self.at, || why.to_owned());
                    }
                }
            }
        }
    }

    /// Keeps what is read of a record; why it can't be. Others are passed over.
    fn known(
        &mut self,
        kind: (u8, u16),
        record: &[u8],
        header: &Header,
    ) -> Result<(), &'static str> {
        let (interval, at) = (self.found.intervals, self.at);
        let found = &mut self.found;
        match kind {
            (1, 4) => {
                let told = Configuration::of(record, at);
                found.configuration =
                    Some(told.ok_or("the system's configuration is laid out in another way")?);
            }
            (0, 2) => found.processors.push(
                Processor::of(record, header, interval, at)
                    .ok_or("a processor's record is shorter than what is read of it")?,
            ),
            (0, 15) => found.physical = physical(record).or(found.physical),
            (0, 16) => found.partitions.push(
                Partition::of(record, header, interval, at)
                    .ok_or("a partition's record is laid out in another way")?,
            ),
            (4, 3) => found.users.push(
                User::of(record, interval, at)
                    .ok_or("a virtual machine's record is shorter than what is read of it")?,
            ),
            _ => {}
        }
        Ok(())
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
