//! On whose account work is done.

/// On whose account a virtual processor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Its partition's entitlement.
    Entitled,
    /// What others leave.
    Excess,
}
