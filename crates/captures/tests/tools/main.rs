//! What is read of recorded and made-up texts, and what is written of it again.

mod listings;
mod njmon;
mod nmon;
mod properties;
mod recorded;
mod recorded_reports;
mod reports_properties;
mod samples;
mod topologies;
