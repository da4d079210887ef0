//! The parts that know nothing of servers: queues, streams, histograms, and who goes where.

#[path = "../common/mod.rs"]
mod common;

mod assigning;
mod histogram;
mod queue;
mod stream;
