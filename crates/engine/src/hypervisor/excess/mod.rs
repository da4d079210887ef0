//! Whose use of what others left counts against whom.
//!
//! ```text
//! level 0  what a pool is entitled to and its partitions leave, its reserve with it: its own
//! level 1  the rest, and what dedicated partitions lend: by weight among all pools
//! ```
//! A partition's *age* is what it has used at level 1, by weight; what turns out to be level 0 when
//! the window is over is taken off again ([`own`]). Of those that wait the one of least age comes
//! first. When a window ends, ages are compared ([`level`]), and one that has fallen behind because
//! it had to wait for what others are entitled to has its slices extended ([`extend`]); so has one
//! that lacks of its part what cores were idle for ([`lack`]).

mod extend;
mod lack;
mod level;
mod own;

use super::contest::field_of;
use super::state::State;
use super::windows::Windows;

impl Windows {
    /// A window is over.
    pub fn close_excess(&mut self, state: &State) {
        for (share, contest) in self.shares.iter().zip(&mut self.contests) {
            if std::mem::replace(&mut contest.field, field_of(share)) != contest.field {
                contest.began_at = share.excess_age();
            }
            // Who had the end of the window for what it is entitled to had no time to ask for more.
            let wanted = contest.waited
                || share.excess_age() > contest.began_at
                || contest.delayed && !contest.ceded && share.may_exceed();
            contest.competes = wanted && share.active_vps > 0;
            contest.extension_ns = 0;
        }
        self.note_lack(state);
        if self.has_levels {
            let pools = self.pools.ids();
            pools.for_each(|pool| self.give_own_excess_back(pool));
        }
        let fields = self.contests.iter().map(|contest| contest.field + 1);
        (0..fields.max().unwrap_or(0)).for_each(|field| self.level_ages(field));
        for (share, contest) in self.shares.iter().zip(&mut self.contests) {
            contest.began_at = share.excess_age();
            (contest.waited, contest.delayed, contest.ceded) = (false, false, false);
            contest.kept_ns = 0;
        }
    }
}
