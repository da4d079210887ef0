//! What holds of whole runs: theory, limits, changes while they go, what is refused.

#[path = "../common/mod.rs"]
mod common;

mod change;
mod change_others;
mod change_random;
mod closed_forms;
mod convoy;
mod dedicated;
mod differential;
mod limits;
mod unsound;
