//! What sharing cores out by windows and budgets must satisfy.

pub(crate) mod prsm;
