//! What comes to a virtual machine from outside the partition: how often, how much work it is, what
//! waits in the line that all virtual processors of the machine share, and what is sent back over a
//! virtual switch.

use super::message::KINDS;
use crate::guest::zvm::ids::SwitchId;
use crate::kernel::Stream;
use crate::spec::{Distribution, GuestWork, Zvm};
use std::collections::VecDeque;

/// What comes to a virtual machine.
#[derive(Clone, Debug)]
pub struct Served {
    /// As it is told.
    pub work: GuestWork,
    /// On which switch it answers, and the number of its answers there.
    answer: Option<(SwitchId, usize)>,
    /// When those came that no virtual processor has taken yet [ns].
    pub waiting: VecDeque<u64>,
}

/// Lengths of what machines on a switch send outside [bytes], in their order.
pub fn answers(spec: &Zvm, switch: usize) -> impl Iterator<Item = u64> + '_ {
    let on = spec.machines.iter();
    on.filter(move |machine| machine.switch.map(usize::from) == Some(switch))
        .filter_map(|machine| machine.work.map(|work| work.answer_bytes))
}

impl Served {
    /// What comes to the machine of that number, if anything does.
    pub fn of(spec: &Zvm, machine: usize) -> Option<Box<Self>> {
        let (all, one) = (&spec.machines, &spec.machines[machine]);
        let work = one.work?;
        let before = all[..machine].iter();
        let before = before.filter(|other| other.switch == one.switch && other.work.is_some());
        let kind = KINDS + before.count();
        let answer = one.switch.filter(|_| work.answer_bytes > 0);
        Some(Box::new(Self {
            work,
            answer: answer.map(|switch| (SwitchId::from(switch), kind)),
            waiting: VecDeque::new(),
        }))
    }

    /// Instructions of the next transaction, and how it is answered.
    #[inline]
    pub fn draw(&self, chance: &mut Stream) -> (f64, Option<(SwitchId, usize)>) {
        let mean = self.work.instructions;
        let instructions = match self.work.work {
            Distribution::Constant => mean,
            Distribution::Exponential => chance.exponential(mean),
        };
        (instructions, self.answer)
    }
}
