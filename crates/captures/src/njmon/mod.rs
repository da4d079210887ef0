//! Recordings of njmon, the successor of nmon that writes JSON: AIX and Linux.
//!
//! A sample is an object of sections; a section holds values, or items (processors, disks) that
//! hold values. Samples follow each other, a line each or spread over lines, or stand in the array
//! of `{"samples": [...]}`. A file may hold the samples of several hosts.
//!
//! Each section becomes a table like those of nmon, with the words of its items in the column
//! `item` and the time of each sample in the table `ZZZZ`. A sample that is cut off or is no JSON
//! is dropped and told, with its line; `nan` and `inf`, which the recorder writes for what it could
//! not compute, are gaps. Values deeper than an item's are not taken.

mod heal;
mod objects;
mod reader;

pub use reader::{Host, Reader, Summary, ITEM};

use crate::damage::Lenient;
use crate::error::CaptureError;
use crate::nmon::Batch;

/// Reads a whole recording at once.
///
/// # Errors
/// If there is not one sample with a time.
pub fn read(bytes: &[u8]) -> Result<(Vec<Batch>, Lenient<Summary>), CaptureError> {
    let mut reader = Reader::new();
    reader.feed(bytes);
    reader.finish()
}
