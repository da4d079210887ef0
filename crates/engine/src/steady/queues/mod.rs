//! How many wait where: births and deaths, loss, waits, shares, passages. Knows no layout.

pub(in crate::steady) mod alike;
pub(in crate::steady) mod capped;
pub(in crate::steady) mod chain;
pub(in crate::steady) mod chances;
pub(in crate::steady) mod demand;
pub(in crate::steady) mod devices;
pub(in crate::steady) mod filling;
pub(in crate::steady) mod halts;
pub(in crate::steady) mod held_up;
pub(in crate::steady) mod kinds;
pub(in crate::steady) mod last_cores;
pub(in crate::steady) mod left;
pub(in crate::steady) mod locks;
pub(in crate::steady) mod mixture;
pub(in crate::steady) mod overflow;
pub(in crate::steady) mod passage;
pub(in crate::steady) mod phases;
pub(in crate::steady) mod rounds;
pub(in crate::steady) mod runs;
pub(in crate::steady) mod throng;
pub(in crate::steady) mod visits;
