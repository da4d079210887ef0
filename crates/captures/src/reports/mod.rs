//! Reports of `lparstat`, `mpstat`, `vmstat`, `sar`, `lssrad` and the tunables of `schedo -L`, as
//! they are found: one after another in the text of a session or a script, damaged, glued, cut off.
//!
//! A line is understood by what it is, not by where it stands: headings open a table, rows of as
//! many values go into it, a `System configuration` line holds for what follows. Columns that no
//! level of the tool is known to have are kept under their headings. Everything else is counted and
//! named. Of a table with a row a processor, only the rows of the whole system are kept over time;
//! of the others the last interval, so that memory does not grow with the number of processors.

mod feed;
mod listing;
mod model;
mod reader;
mod rows;
mod sadf;
mod session;
mod tools;
mod words;

pub use feed::Feed;
pub use model::{
    Affinity, Banner, Command, Configuration, Information, Part, Recording, Table, Tunable,
};
pub use reader::{recognise, Reader};
pub use tools::Domain;

use crate::damage::Lenient;
use crate::error::CaptureError;

/// Read all reports of a text.
///
/// # Errors
/// There is no report in the text; the error names the first line that is none.
pub fn read(text: &str) -> Result<Lenient<Recording>, CaptureError> {
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.line(line);
    }
    if !text.ends_with('\n') {
        reader.cut_off();
    }
    reader.finish()
}

#[cfg(test)]
mod tests;
