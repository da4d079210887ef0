//! Tables of samples and metrics of monitoring systems, streamed: bytes in, columns out.
//!
//! [`Samples`] reads delimited text with a row a sample (Bitbrains, `timestamp,name,cpu`, a column
//! of numbers as PlanetLab has it); [`Metrics`] reads what Prometheus scrapes, and OpenMetrics.
//! Both are fed pieces of any length and hold no more than a line and the names they have met.

mod clock;
mod fields;
mod metrics;
mod samples;

pub use metrics::{Labels, Metrics, MetricsBatch};
pub use samples::{Layout, Samples, SamplesBatch};
