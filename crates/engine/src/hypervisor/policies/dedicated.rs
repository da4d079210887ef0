//! Cores of one's own, for good: hard partitions, virtual partitions and dedicated logical
//! partitions.
//!
//! Overview. Every virtual processor has a core that no one else ever uses. It goes there when it
//! has work and leaves it idle when it has none; nothing is lent, nobody is thrown off and nobody
//! waits. There is no dispatcher, so putting a virtual processor on its core and taking it off
//! costs nothing; what a virtual partition's monitor takes is a share of the partition's time
//! (`hypervisor_share`).
//!
//! Typical use: HP nPartitions and virtual partitions (vPars), whose monitor assigns cores when a
//! partition boots; logical partitions with dedicated processors on IBM Z. Dedicated partitions
//! beside a shared pool are the business of [`Phyp`](super::Phyp), which may lend their cores.
//! Validated by the study `hp-vpars`.

use crate::hypervisor::{Placement, Policy, Renewal, View};
use crate::ids::{CoreId, VpId};

/// No dispatcher: everyone at home.
#[derive(Clone, Copy, Debug, Default)]
pub struct Dedicated;

impl Policy for Dedicated {
    fn place(&self, view: View, vp: VpId) -> Placement {
        let own = view.windows.own_core(vp);
        Placement::Run(own.expect("the spec check leaves no shared partition to this policy"))
    }

    fn next(&self, _view: View, _core: CoreId) -> Option<VpId> {
        None
    }

    fn renew(&self, _view: View, _vp: VpId) -> Renewal {
        Renewal::Stay
    }

    fn spare(&self, _view: View, _vp: VpId) -> Option<CoreId> {
        None
    }

    fn overdrawn(&self, _view: View) -> Option<CoreId> {
        None
    }
}
