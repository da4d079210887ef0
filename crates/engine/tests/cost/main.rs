//! What an instruction costs, and where data lie: by hand, against twins, and which way it must go.

#[path = "../common/mod.rs"]
mod common;

mod bandwidth;
mod copies;
mod last_level;
mod lines;
mod model;
mod placement;
mod price;
mod strangers;
mod turbo;
mod twin;
mod walk;
