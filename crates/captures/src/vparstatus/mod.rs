//! `vparstatus` of HP-UX's virtual partitions: the summary, `-v` and `-M`.
//!
//! The labels, the order of the fields and the separators are those of vPars A.05; listings of A.04
//! (no online operations) and A.03 (bound and unbound processors) are read too. What the tool is
//! not known to print is remarked and left out; a section that is needed and missing is an error.

mod details;
mod machine;
mod machine_memory;
mod memory;
mod model;
mod processors;
mod summary;
mod values;

pub use model::{
    CellCount, CellMemory, Interleaved, IoPath, Local, Memory, Processors, Range, VirtualPartition,
};
pub use summary::Row;

use serde::{Deserialize, Serialize};

use crate::blocks::Blocks;
use crate::error::{quoted, CaptureError};
use crate::reading::{Notes, Reading};

const TOOL: &str = "vparstatus";

/// One of the tool's listings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report")]
pub enum Listing {
    /// `vparstatus`
    #[serde(rename = "vparstatus")]
    Summary {
        /// A row a partition.
        rows: Vec<Row>,
    },
    /// `vparstatus -v`
    #[serde(rename = "vparstatus -v")]
    Details {
        /// The partitions from top to bottom.
        partitions: Vec<VirtualPartition>,
    },
    /// `vparstatus -M`
    #[serde(rename = "vparstatus -M")]
    Machine {
        /// The partitions from top to bottom.
        partitions: Vec<VirtualPartition>,
    },
}

/// Read what vparstatus printed. Of a text with several listings the one that says most is taken:
/// `-v` before `-M` before the summary.
///
/// # Errors
/// The text holds no such listing, or not all of one; the error names the line.
pub fn parse(text: &str) -> Result<Reading<Listing>, CaptureError> {
    let blocks = Blocks::of(text, machine::is_record);
    let mut notes = Notes::default();
    let found = if blocks.has(details::FIRST) {
        let partitions = details::parse(&blocks, &mut notes)?;
        Listing::Details { partitions }
    } else if !blocks.records.is_empty() {
        let partitions = machine::parse(&blocks.records, &mut notes)?;
        Listing::Machine { partitions }
    } else if blocks.has(summary::FIRST) {
        let rows = summary::parse(&blocks, &mut notes)?;
        Listing::Summary { rows }
    } else {
        return Err(foreign(&blocks));
    };
    remark_preamble(&blocks, &mut notes);
    Ok(notes.with(found))
}

/// The error for a text that is none of the tool's listings.
fn foreign(blocks: &Blocks<'_>) -> CaptureError {
    let first = blocks.preamble.first().map(|line| (line.number, line.text));
    let heading = blocks
        .list
        .first()
        .map(|block| (block.line, block.heading.as_str()));
    match first.or(heading) {
        None => CaptureError::Empty { tool: TOOL },
        Some((line, text)) => CaptureError::Unexpected {
            line,
            expected: "[Virtual Partition Details], or a line of vparstatus -M with 9 or 10 fields",
            found: quoted(text),
        },
    }
}

fn remark_preamble(blocks: &Blocks<'_>, notes: &mut Notes) {
    for line in &blocks.preamble {
        let told = format!("\"{}\" is left out", quoted(line.text));
        notes.remark(line.number, told);
    }
}

/// Write a listing as vparstatus would; reading it again gives the same listing.
#[must_use]
pub fn format(listing: &Listing) -> String {
    match listing {
        Listing::Summary { rows } => summary::format(rows),
        Listing::Details { partitions } => details::format(partitions),
        Listing::Machine { partitions } => partitions.iter().map(machine::format).collect(),
    }
}
