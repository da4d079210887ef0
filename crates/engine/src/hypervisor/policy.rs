//! What a policy of windows is asked, and its answers: decisions as data, which the simulation
//! carries out.

use std::cell::LazyCell;

use super::state::{State, Vp};
use super::windows::Windows;
use crate::ids::{CoreId, PoolId, VpId};

/// What a policy sees.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// Who is where.
    pub state: &'a State,
    /// Budgets, queues and sets of cores.
    pub windows: &'a Windows,
    /// What is left of the window [ns].
    pub left_ns: u64,
}

impl<'a> View<'a> {
    /// Tells a core's runner, unless its slice was extended and there is enough beside it in its
    /// pool; PowerVM's pools have no cores of their own, so that any of them will do.
    pub fn evictable(self, pool: PoolId) -> impl Fn(CoreId) -> Option<&'a Vp> {
        let (windows, state) = (self.windows, self.state);
        let slack = LazyCell::new(move || windows.slack_ns(state, pool, self.left_ns));
        move |core| {
            let runner = state.cores[core].running?;
            let stays = windows.slices[runner].extended && slack.is_some();
            (!stays).then(|| &state.vps[runner])
        }
    }
}

/// What to do with a virtual processor that became ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Put it on this idle core.
    Run(CoreId),
    /// Throw the runner off this core and take it.
    Evict(CoreId),
    /// Queue it.
    Wait,
}

/// What to do with a virtual processor whose grant ended while it has work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// It goes on where it is.
    Stay,
    /// It goes on where it is for so long, though entitled ones wait [ns].
    Extend(u64),
    /// It moves to this idle core.
    Move(CoreId),
    /// It leaves the core to a waiting one and queues.
    Yield,
}

/// A dispatching policy.
pub trait Policy {
    /// Where a virtual processor that became ready goes.
    fn place(&self, view: View, vp: VpId) -> Placement;

    /// Which waiting virtual processor a free core takes.
    fn next(&self, view: View, core: CoreId) -> Option<VpId>;

    /// What becomes of a running virtual processor at the end of its slice or window.
    fn renew(&self, view: View, vp: VpId) -> Renewal;

    /// The runner that can best spare its core for a virtual processor that needs all that is
    /// left of this window, if any can.
    fn spare(&self, view: View, vp: VpId) -> Option<CoreId>;

    /// An excess runner that should make room for a waiting partition that is behind in its share,
    /// if any.
    fn overdrawn(&self, view: View) -> Option<CoreId>;
}
