//! What is solved, and how it stands: a layout as the steps ask for it, its parts, a step's state.

pub(in crate::steady) mod core_types;
pub(in crate::steady) mod drawn;
pub(in crate::steady) mod form;
pub(in crate::steady) mod host;
pub(in crate::steady) mod scope;
pub(in crate::steady) mod state;
pub(in crate::steady) mod stints;
pub(in crate::steady) mod tamed;
pub(in crate::steady) mod threads;
pub(in crate::steady) mod waits;
