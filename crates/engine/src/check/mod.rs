//! What may be wrong with a spec, whose it is and where it stands.
//!
//! What a subject needs is checked beside it, in files called `check`; `sim::check` calls them in
//! turn. This is what they have in common, and knows none of them.

mod fault;
mod number;
mod owner;

pub use fault::{SpecFault, Wrong};
pub(crate) use number::{at_most, between, range, within, Field, LONGEST_NS};
pub(crate) use owner::{Checked, Owner};
