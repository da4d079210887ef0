//! Recordings of nmon: AIX (`topas_nmon`), Linux on Power, Linux on x86.
//!
//! A line is `SECTION,...`. `AAA` lines say what system it is, `BBB` lines what commands printed;
//! the other sections have a line that names their columns and then, from snapshot to snapshot, a
//! row `SECTION,T0001,value,...`, whose time stands in the line `ZZZZ,T0001,17:28:10,10-FEB-2016`.
//! Processes have their number before the snapshot, and words among the values.
//!
//! [`Reader`] takes the file in chunks and hands over the samples by section, so that its memory
//! does not grow with the file. It knows no section in particular: whatever has columns and rows
//! becomes a table. What is damaged is dropped and told, with its line:
//! - rows with too many or too few values, unless all rows of a section are so;
//! - lines that are neither a row nor name columns, lines without end, times that are none;
//! - numbers that are none are left out of their rows and counted.
//!
//! Snapshots that are counted from the beginning again, or another head, begin another recording.

mod clock;
mod heading;
mod identities;
pub(crate) mod lines;
mod number;
mod packed;
mod reader;
mod table;
mod told;

pub(crate) use clock::{day, moment, time_of_day};
pub(crate) use heading::words;
pub use identities::Identity;
pub use packed::Words;
pub use reader::{Counted, Reader, Summary};
pub use table::Batch;
pub use told::{Block, Recording, Said};

use crate::damage::Lenient;
use crate::error::CaptureError;

/// Reads a whole recording at once.
///
/// # Errors
/// If there is not one sound line.
pub fn read(bytes: &[u8]) -> Result<(Vec<Batch>, Lenient<Summary>), CaptureError> {
    let mut reader = Reader::new();
    reader.feed(bytes);
    let mut batches = reader.take();
    let (last, summary) = reader.finish()?;
    batches.extend(last);
    Ok((batches, summary))
}
