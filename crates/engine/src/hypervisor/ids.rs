//! How virtual processors, cores and pools are numbered, and on whose account work is done.

/// Index of a virtual processor over the whole machine.
pub type VpId = u32;
/// Index of a core over the whole machine.
pub type CoreId = u16;
/// No virtual processor.
pub const NO_VP: VpId = u32::MAX;
/// Stands for a core where there is none.
pub const NO_CORE: CoreId = u16::MAX;
/// Stands for a pool where there is none.
pub const NO_POOL: u16 = u16::MAX;

/// On whose account a virtual processor runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Its partition's entitlement.
    Entitled,
    /// What others leave.
    Excess,
}
