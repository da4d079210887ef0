//! What a Hardware Management Console lists: rows of `key=value` of `lssyscfg`, `lshwres`,
//! `lslparutil` and `lsmemopt`, and processed metrics (JSON) of its performance monitor.

mod attributes;
mod metrics;
mod session;
mod usage;

pub use attributes::{recognise, rows, Listing, Row};
pub use metrics::{processed, recognise as recognise_processed, Processed};
pub use usage::{PartitionUse, Samples};
