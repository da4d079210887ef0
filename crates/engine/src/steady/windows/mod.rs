//! PowerVM, PR/SM, dedicated cores: who gets how much, who is away from home, what that costs.

pub(in crate::steady) mod beginning;
pub(in crate::steady) mod crowded;
pub(in crate::steady) mod dispatches;
pub(in crate::steady) mod evicted;
pub(in crate::steady) mod evictions;
pub(in crate::steady) mod homes;
pub(in crate::steady) mod scatter;
pub(in crate::steady) mod seats;
pub(in crate::steady) mod share;
pub(in crate::steady) mod shortage;
pub(in crate::steady) mod slices;
pub(in crate::steady) mod thrown;
pub(in crate::steady) mod turns;
pub(in crate::steady) mod weights;
