//! When a device interrupts for what it has brought, and when it need not.
//!
//! ```text
//! nothing is going on   it comes ──► the device waits for more ──► interrupt ──► work, one by one
//!                                    `coalesce_ns`, or `coalesce_most` of them
//! work is going on      it comes ──► taken up behind what is there, without an interrupt
//! ```
//! The latter is polling as Linux does it (NAPI, Documentation/networking/napi.rst): the handler of
//! an interrupt keeps the device from further ones until all is seen to. The former is what network
//! cards do (`rx-usecs` and `rx-frames` of ethtool): the time runs from the first that comes. Each
//! processor that takes interrupts has a queue of the device for itself. Not modelled: times that
//! adapt to the load, and that work which never ends is left to a thread (`ksoftirqd`).

use crate::guest::workload::JobId;
use crate::kernel::When;
use crate::spec::Interrupts;

/// Who waits for something that a device has brought; none = nobody here.
pub(super) type Waits = Option<JobId>;

/// What a device and the handlers of its interrupts go by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    polls: bool,
    wait_ns: u64,
    most: usize,
    /// Whether the work that follows is done by other processors.
    pub apart: bool,
}

impl Rules {
    pub fn of(told: &Interrupts) -> Self {
        let most = told.coalesce_most as usize;
        Self {
            polls: told.polls,
            wait_ns: told.coalesce_ns,
            most: if most == 0 { usize::MAX } else { most },
            apart: !told.soft_to.is_empty(),
        }
    }
}

/// A device's queue, whose interrupts one processor takes.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// What the device has, and has not interrupted for.
    gathered: Vec<Waits>,
    /// When it will; never = it waits for nothing.
    due: When,
    /// Pieces of work that the processor has for it.
    at_work: u32,
    /// What came while an interrupt was seen to whose work others do.
    joined: Vec<Waits>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            gathered: Vec::new(),
            due: When::NEVER,
            at_work: 0,
            joined: Vec::new(),
        }
    }
}

/// What comes of something that a device has brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A processor is told now, for all that the device has.
    Interrupt,
    /// It waits for more, until then.
    At(u64),
    /// It waits already, or a handler takes it along.
    Nothing,
    /// The processor works on it after what it has.
    Behind,
}

impl Queue {
    /// The device brings something.
    pub fn comes(&mut self, waits: Waits, rules: Rules, now: u64) -> Next {
        if rules.polls && self.at_work > 0 {
            if rules.apart {
                self.joined.push(waits);
                return Next::Nothing;
            }
            self.at_work += 1;
            return Next::Behind;
        }
        self.gathered.push(waits);
        if rules.wait_ns == 0 || self.gathered.len() >= rules.most {
            return Next::Interrupt;
        }
        if self.due.is_set() {
            return Next::Nothing;
        }
        self.due = When::at(now + rules.wait_ns);
        Next::At(now + rules.wait_ns)
    }

    /// Whether the device has waited for long enough.
    pub fn is_due(&self, now: u64) -> bool {
        self.due.has_come(now)
    }

    /// It interrupts for what it has: the first of that, and the rest.
    pub fn interrupts(&mut self, rules: Rules) -> (Waits, Vec<Waits>) {
        self.due = When::NEVER;
        let mut rest = std::mem::take(&mut self.gathered);
        let first = if rest.is_empty() {
            None
        } else {
            rest.remove(0)
        };
        if rules.apart {
            self.joined.append(&mut rest);
        }
        self.at_work += 1 + rest.len() as u32;
        (first, rest)
    }

    /// The processor has done a piece of its work; what others have to do now besides.
    pub fn has_done(&mut self, rules: Rules) -> Vec<Waits> {
        self.at_work = self.at_work.saturating_sub(1);
        if rules.apart {
            return std::mem::take(&mut self.joined);
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(polls: bool, wait_ns: u64, most: usize) -> Rules {
        Rules {
            polls,
            wait_ns,
            most,
            apart: false,
        }
    }

    #[test]
    fn what_comes_during_work_needs_no_interrupt() {
        let (mut queue, rules) = (Queue::default(), rules(true, 0, usize::MAX));
        assert_eq!(queue.comes(None, rules, 0), Next::Interrupt);
        assert_eq!(queue.interrupts(rules), (None, vec![]));
        assert_eq!(queue.comes(None, rules, 1), Next::Behind);
        queue.has_done(rules);
        assert_eq!(queue.comes(None, rules, 2), Next::Behind);
        queue.has_done(rules);
        queue.has_done(rules);
        assert_eq!(queue.comes(None, rules, 3), Next::Interrupt);
    }

    #[test]
    fn a_device_waits_for_a_time_or_a_number() {
        let (mut queue, rules) = (Queue::default(), rules(false, 10, 3));
        assert_eq!(queue.comes(None, rules, 5), Next::At(15));
        assert_eq!(queue.comes(None, rules, 8), Next::Nothing);
        assert!(!queue.is_due(14) && queue.is_due(15));
        assert_eq!(queue.comes(None, rules, 9), Next::Interrupt);
        assert_eq!(queue.interrupts(rules).1.len(), 2);
        // What was planned for then finds that it is done.
        assert!(!queue.is_due(15));
        assert_eq!(queue.comes(None, rules, 16), Next::At(26));
    }

    #[test]
    fn others_get_what_joined_when_the_interrupt_is_seen_to() {
        let apart = Rules {
            apart: true,
            ..rules(true, 0, usize::MAX)
        };
        let mut queue = Queue::default();
        assert_eq!(queue.comes(None, apart, 0), Next::Interrupt);
        queue.interrupts(apart);
        assert_eq!(queue.comes(None, apart, 1), Next::Nothing);
        assert_eq!(queue.comes(None, apart, 2), Next::Nothing);
        assert_eq!(queue.has_done(apart).len(), 2);
        assert_eq!(queue.comes(None, apart, 3), Next::Interrupt);
    }
}
