//! What comes to a virtual machine from outside the partition: how often, how much work it is, what
//! waits in the line that all virtual processors of the machine share, and what is sent back over a
//! virtual switch.

use super::message::KINDS;
use crate::guest::zvm::ids::SwitchId;
use crate::guest::Playback;
use crate::kernel::Stream;
use crate::spec::{Distribution, GuestWork, Spread, Zvm};
use std::collections::VecDeque;

/// A transaction that came to a virtual machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// When it came [ns].
    pub since: u64,
    /// Bursts of it that are left after the present one.
    pub left: u32,
}

/// What comes to a virtual machine.
#[derive(Clone, Debug)]
pub struct Served {
    /// As it is told.
    pub work: GuestWork,
    /// On which switch it answers, and the number of its answers there.
    answer: Option<(SwitchId, usize)>,
    /// Those that no virtual processor has taken yet.
    pub waiting: VecDeque<Request>,
    /// Those that wait for something between two bursts.
    pub away: Vec<Request>,
    /// Work that is played, if it is.
    pub playback: Option<Playback>,
    /// What those are that came by it and were not begun yet [instructions]. All are alike by
    /// chance, so it does not matter which of them takes which.
    pub amounts: VecDeque<f64>,
}

/// Lengths of what machines on a switch send outside [bytes], in their order.
pub fn answers(spec: &Zvm, switch: usize) -> impl Iterator<Item = u64> + '_ {
    let on = spec.machines.iter();
    on.filter(move |machine| machine.switch.map(usize::from) == Some(switch))
        .filter_map(|machine| machine.work.as_ref().map(|work| work.answer_bytes))
}

impl Served {
    /// What comes to the machine of that number, if anything does.
    pub fn of(spec: &Zvm, machine: usize, warmup_ns: u64) -> Option<Box<Self>> {
        let (all, one) = (&spec.machines, &spec.machines[machine]);
        let work = one.work.clone()?;
        let before = all[..machine].iter();
        let before = before.filter(|other| other.switch == one.switch && other.work.is_some());
        let kind = KINDS + before.count();
        let answer = one.switch.filter(|_| work.answer_bytes > 0);
        let playback = work.played.as_ref().map(|played| {
            let (lengths, per_s) = (&played.lengths_ns, &played.instructions_per_s);
            Playback::new(warmup_ns, lengths, per_s, work.instructions, Spread::Random)
        });
        Some(Box::new(Self {
            playback,
            amounts: VecDeque::new(),
            work,
            answer: answer.map(|switch| (SwitchId::from(switch), kind)),
            waiting: VecDeque::new(),
            away: Vec::new(),
        }))
    }

    /// Mean time between two arrivals, or for which a user thinks [ns].
    #[inline]
    pub fn gap_ns(&self) -> f64 {
        if self.work.users > 0 {
            self.work.think_ns as f64
        } else {
            1e9 / self.work.rate_per_s
        }
    }

    /// A transaction that comes now.
    pub fn comes(&self, now: u64, chance: &mut Stream) -> Request {
        Request {
            since: now,
            left: chance.geometric(self.work.bursts) as u32 - 1,
        }
    }

    /// One of those that wait between two bursts goes on with the next: all of them have waited
    /// long enough with the same chance, whatever they have waited already.
    pub fn goes_on(&mut self, chance: &mut Stream) -> Request {
        let at = chance.below(self.away.len() as u64) as usize;
        let request = self.away.swap_remove(at);
        Request {
            left: request.left - 1,
            ..request
        }
    }

    /// Instructions of a transaction's next burst, and how it is answered after the last.
    #[inline]
    pub fn draw(
        &mut self,
        request: Request,
        chance: &mut Stream,
    ) -> (f64, Option<(SwitchId, usize)>) {
        let mean = self.work.instructions / self.work.bursts;
        let instructions = match (self.amounts.pop_front(), self.work.work) {
            (Some(amount), _) => amount,
            (None, Distribution::Constant) => mean,
            (None, Distribution::Exponential) => chance.exponential(mean),
        };
        (instructions, self.answer.filter(|_| request.left == 0))
    }
}
