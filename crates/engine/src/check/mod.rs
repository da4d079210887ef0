//! What may be wrong with a spec, whose it is and where it stands.
//!
//! What a subject needs is checked beside it, in files called `check`; `sim::check` calls them in
//! turn. This is what they have in common, and knows none of them.

mod fault;
mod owner;

pub use fault::{SpecFault, Wrong};
pub(crate) use owner::{at_most, range, Checked, Field, Owner};
