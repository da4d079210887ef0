//! Which cores rest: none of the threads that CP has on them is at work.

use super::ids::LpId;

/// Cores of a partition by the threads that work on them.
#[derive(Clone, Debug)]
pub(super) struct Cores {
    threads: usize,
    /// Threads at work, of each core.
    at_work: Vec<u8>,
    /// Cores of which none is.
    resting: u32,
}

impl Cores {
    /// Cores of so many logical processors, so many on each; all rest.
    pub fn new(lps: usize, threads: u8) -> Self {
        let threads = usize::from(threads.max(1));
        let cores = lps.div_ceil(threads);
        Self {
            threads,
            at_work: vec![0; cores],
            resting: cores as u32,
        }
    }

    /// A logical processor begins to idle, or to work.
    #[inline]
    pub fn set_idle(&mut self, lp: LpId, idle: bool) {
        let at_work = &mut self.at_work[lp.index() / self.threads];
        if idle {
            *at_work -= 1;
            self.resting += u32::from(*at_work == 0);
        } else {
            self.resting -= u32::from(*at_work == 0);
            *at_work += 1;
        }
    }

    /// Whether any core rests.
    #[inline]
    pub fn any_rests(&self) -> bool {
        self.resting > 0
    }

    /// Whether an idle processor is one whose core rests, whichever it is.
    #[inline]
    pub fn all_have_one_thread(&self) -> bool {
        self.threads == 1
    }

    /// Whether the core of a logical processor rests.
    #[inline]
    pub fn rests(&self, lp: LpId) -> bool {
        self.at_work[lp.index() / self.threads] == 0
    }

    /// Whether several threads of a logical processor's core are at work.
    #[inline]
    pub fn is_shared(&self, lp: LpId) -> bool {
        self.at_work[lp.index() / self.threads] > 1
    }
}
