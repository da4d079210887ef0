//! Ways of going through a buffer, as the memory tests of lmbench 3 do: what a line of the buffer
//! needs of the core. Words are counted off its loops; `docs/background/memory-walk.md` has the
//! table.

use serde::{Deserialize, Serialize};

use super::hierarchy::{level_of, Hierarchy, Place};

/// A file is read in pieces of at most this many bytes, into one buffer.
pub const FILE_READ_BYTES: u64 = 64 << 10;

/// A way of going through a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Every 4-byte word is added to a sum (`frd`).
    Read,
    /// Every fourth word is added to a sum (`rd`).
    PartialRead,
    /// Every word is stored (`fwr`).
    Write,
    /// Every fourth word is stored (`wr`).
    PartialWrite,
    /// Every fourth word is added to a sum and stored (`rdwr`).
    PartialReadWrite,
    /// Every word is copied to a second buffer, by load and store (`fcp`).
    UnrolledCopy,
    /// Every fourth word is (`cp`).
    PartialCopy,
    /// The library's copy to a second buffer (`bcopy`).
    Copy,
    /// The library's clearing (`bzero`).
    Zero,
    /// A mapped file, every 8-byte word of which is added to a sum (`bw_mmap_rd`).
    MmapRead,
    /// A cached file, copied piece by piece into a small buffer, every word of which is then added
    /// to a sum (`bw_file_rd`); the system's path is not counted.
    FileRead,
}

/// What a line of the buffer needs in one pass over it.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Instructions executed for it.
    pub instructions: f64,
    /// Loads of words.
    pub loads: f64,
    /// Stores of words.
    pub stores: f64,
    /// Additions to one sum, each of which waits for the one before.
    pub sums: f64,
    /// Bytes moved or cleared by storage-to-storage instructions.
    pub moved_bytes: f64,
    /// Whether anything is stored.
    pub dirties: bool,
    /// Where its lines are: one for each buffer that is gone through.
    pub lines: Vec<Place>,
}

impl Pattern {
    /// Bytes of all buffers together.
    pub fn footprint(self, bytes: u64) -> u64 {
        match self {
            Self::UnrolledCopy | Self::PartialCopy | Self::Copy => bytes.saturating_mul(2),
            Self::FileRead => bytes.saturating_add(bytes.min(FILE_READ_BYTES)),
            _ => bytes,
        }
    }

    /// What a line needs, pass by pass.
    pub fn steps(self, machine: &Hierarchy, bytes: u64) -> Vec<Step> {
        let place = level_of(machine, self.footprint(bytes));
        let line = f64::from(machine.line_bytes);
        match self {
            Self::Read => vec![words(line / 4.0, &[place], Load::Sum, false)],
            Self::PartialRead => vec![words(line / 16.0, &[place], Load::Sum, false)],
            Self::MmapRead => vec![words(line / 8.0, &[place], Load::Sum, false)],
            Self::Write => vec![words(line / 4.0, &[place], Load::None, true)],
            Self::PartialWrite => vec![words(line / 16.0, &[place], Load::None, true)],
            Self::PartialReadWrite => vec![words(line / 16.0, &[place], Load::Sum, true)],
            Self::UnrolledCopy => vec![words(line / 4.0, &[place; 2], Load::Plain, true)],
            Self::PartialCopy => vec![words(line / 16.0, &[place; 2], Load::Plain, true)],
            Self::Copy => vec![moved(line, vec![place; 2])],
            Self::Zero => vec![moved(line, vec![place])],
            Self::FileRead => {
                // Between two uses of the small buffer lies a piece of the file.
                let small = level_of(machine, 2 * bytes.min(FILE_READ_BYTES));
                vec![
                    moved(line, vec![place, small]),
                    words(line / 4.0, &[small], Load::Sum, false),
                ]
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Load {
    None,
    Plain,
    Sum,
}

/// `count` words of a line, each loaded, stored or both. A sum takes its operand from storage, so
/// that load and addition are one instruction.
fn words(count: f64, lines: &[Place], load: Load, stored: bool) -> Step {
    let loads = if load == Load::None { 0.0 } else { count };
    let stores = if stored { count } else { 0.0 };
    Step {
        instructions: loads + stores,
        loads,
        stores,
        sums: if load == Load::Sum { count } else { 0.0 },
        moved_bytes: 0.0,
        dirties: stored,
        lines: lines.to_vec(),
    }
}

fn moved(line: f64, lines: Vec<Place>) -> Step {
    Step {
        instructions: line / 256.0,
        loads: 0.0,
        stores: 0.0,
        sums: 0.0,
        moved_bytes: line,
        dirties: true,
        lines,
    }
}
