//! What z/VM's Control Program stands between: its machines, their crowd, their shares.

pub(in crate::steady) mod crowd;
pub(in crate::steady) mod figures;
pub(in crate::steady) mod guests;
pub(in crate::steady) mod pairs;
pub(in crate::steady) mod series;
pub(in crate::steady) mod shares;
pub(in crate::steady) mod station;
