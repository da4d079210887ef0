//! Run queues of a partition's logical processors, whatever its guest.
//!
//! A waking thread goes to an idle logical processor by the guest's order of filling. One that
//! finds none queues; an idle logical processor takes from its own queue first, then steals.

use std::collections::VecDeque;

use super::loads::Loads;
use super::packing;
use super::set::VpSet;
use super::unix::Places;
use super::workload::JobId;

/// A logical processor: virtual processor and thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Virtual processor within the partition.
    pub vp: u16,
    /// Thread within the virtual processor.
    pub thread: u8,
}

/// Order in which a guest fills its logical processors.
#[derive(Clone, Debug)]
pub enum Filling {
    /// AIX: so many threads of a virtual processor before the next one.
    Aix {
        /// Threads of a virtual processor to load before the next.
        threads_before_next: u8,
        /// Whether virtual processors are folded, and unfolded for a thread that finds the others
        /// loaded.
        folds: bool,
    },
    /// HP-UX and Linux: nearest to where the thread last ran.
    Unix {
        /// Where its virtual processors are.
        places: Box<Places>,
        /// Threads of a virtual processor that new work loads before the next, if it packs.
        packs: Option<u8>,
    },
}

/// Run queues and busy threads of a partition; what an event needs comes first.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct RunQueues {
    filling: Filling,
    queued: u32,
    running: u32,
    unfolded: u16,
    loads: Loads,
    queues: Vec<VecDeque<JobId>>,
    nonempty: VpSet,
}

impl RunQueues {
    /// All idle, all unfolded.
    pub fn new(vps: u16, smt: u8, filling: Filling) -> Self {
        let cpus = vps * u16::from(smt);
        Self {
            filling,
            loads: Loads::new(vps, smt),
            unfolded: vps,
            queues: vec![VecDeque::new(); usize::from(cpus)],
            nonempty: VpSet::new(cpus),
            queued: 0,
            running: 0,
        }
    }

    /// Virtual processors that are not folded.
    pub fn unfolded(&self) -> u16 {
        self.unfolded
    }

    /// Queued software threads.
    pub fn queued(&self) -> u32 {
        self.queued
    }

    /// Running software threads.
    pub fn running(&self) -> u32 {
        self.running
    }

    /// Busy threads of a virtual processor, as a mask.
    #[inline]
    pub fn mask(&self, vp: u16) -> u8 {
        self.loads.mask(vp)
    }

    /// Idle logical processor for a waking thread that last ran on the logical processor `last`.
    pub fn choose(&mut self, last: Option<u16>) -> Option<Cpu> {
        let was = last.map(|cpu| self.cpu(cpu));
        let last_vp = was.map(|cpu| cpu.vp);
        let vp = match &mut self.filling {
            Filling::Aix {
                threads_before_next,
                folds,
            } => {
                let full = *threads_before_next;
                let vp = packing::choose(&self.loads, full, last_vp);
                let loaded = |vp: u16| self.loads.load(vp) >= usize::from(full);
                let next = self.unfolded;
                // One whose work is just being taken off is no help.
                let spare = next < self.loads.vps() && self.loads.load(next) == 0;
                if *folds && spare && vp.is_none_or(loaded) {
                    self.unfold()?
                } else {
                    vp?
                }
            }
            Filling::Unix { places, packs } => {
                let idle = |cpu: &Cpu| self.loads.mask(cpu.vp) & (1 << cpu.thread) == 0;
                let online = |cpu: &Cpu| cpu.vp < self.unfolded && cpu.thread < self.loads.smt();
                if let Some(cpu) = was.filter(|cpu| idle(cpu) && online(cpu)) {
                    return Some(cpu);
                }
                match (*packs, last_vp) {
                    (Some(full), None) => packing::choose(&self.loads, full, None)?,
                    _ => places.choose(&self.loads, last_vp)?,
                }
            }
        };
        Some(Cpu {
            vp,
            thread: self.loads.idle_thread(vp),
        })
    }

    /// The same for one that is woken from a logical processor where its waker is about to sleep:
    /// that one is taken last.
    pub fn choose_beside(&mut self, waker: Cpu, last: Option<u16>) -> Option<Cpu> {
        let mask = self.loads.mask(waker.vp);
        let counts = waker.vp < self.unfolded;
        self.loads
            .set_mask(waker.vp, mask | (1 << waker.thread), counts);
        let near = waker.vp * u16::from(self.loads.stride()) + u16::from(waker.thread);
        let found = self.choose(last.or(Some(near)));
        self.loads.set_mask(waker.vp, mask, counts);
        found.or_else(|| self.choose(last))
    }

    /// Virtual processors that are online, folded or not.
    #[inline]
    pub fn online(&self) -> u16 {
        self.loads.vps()
    }

    /// Threads of each that are online.
    #[inline]
    pub fn threads(&self) -> u8 {
        self.loads.smt()
    }

    /// Whether a logical processor may get work.
    #[inline]
    pub fn serves(&self, cpu: Cpu) -> bool {
        cpu.vp < self.unfolded && cpu.thread < self.loads.smt()
    }

    /// Number of the logical processor that comes so many after the first, those that get no work
    /// left out.
    pub fn number(&self, place: u16) -> u16 {
        let (threads, stride) = (u16::from(self.loads.smt()), u16::from(self.loads.stride()));
        if threads == stride {
            return place;
        }
        place / threads * stride + place % threads
    }

    /// From now on so many virtual processors are online, with so many threads each of which
    /// `filled` are loaded before the next. Whoever folds gets new ones folded.
    pub fn set_online(&mut self, vps: u16, threads: u8, filled: u8) {
        let folds = match &mut self.filling {
            Filling::Aix {
                threads_before_next,
                folds,
            } => {
                *threads_before_next = filled;
                *folds
            }
            Filling::Unix { packs, .. } => {
                *packs = packs.map(|_| filled);
                false
            }
        };
        self.loads.set_online(vps, threads);
        while self.unfolded > vps {
            self.unfolded -= 1;
            self.loads.exclude(self.unfolded);
        }
        while !folds && self.unfold().is_some() {}
    }

    fn cpu(&self, number: u16) -> Cpu {
        let smt = u16::from(self.loads.stride());
        Cpu {
            vp: number / smt,
            thread: (number % smt) as u8,
        }
    }

    fn idles(&self, cpu: Cpu) -> bool {
        self.loads.mask(cpu.vp) & (1 << cpu.thread) == 0
    }

    /// Marks a logical processor busy.
    pub fn occupy(&mut self, cpu: Cpu) {
        debug_assert!(self.idles(cpu));
        self.running += 1;
        let mask = self.loads.mask(cpu.vp) | 1 << cpu.thread;
        self.loads.set_mask(cpu.vp, mask, cpu.vp < self.unfolded);
    }

    /// Marks a logical processor idle.
    pub fn release(&mut self, cpu: Cpu) {
        debug_assert!(!self.idles(cpu));
        self.running -= 1;
        let mask = self.loads.mask(cpu.vp) & !(1 << cpu.thread);
        self.loads.set_mask(cpu.vp, mask, cpu.vp < self.unfolded);
    }

    /// Queues a software thread on a logical processor.
    pub fn queue(&mut self, cpu: u16, job: JobId) {
        self.queues[usize::from(cpu)].push_back(job);
        self.nonempty.insert(cpu);
        self.queued += 1;
    }

    /// Puts back a software thread that was displaced by one of better priority: it goes on next.
    pub fn put_back(&mut self, cpu: u16, job: JobId) {
        self.queues[usize::from(cpu)].push_front(job);
        self.nonempty.insert(cpu);
        self.queued += 1;
    }

    /// Whether software threads wait on this logical processor.
    #[inline]
    pub fn has_queue(&self, cpu: u16) -> bool {
        self.queued > 0 && !self.queues[usize::from(cpu)].is_empty()
    }

    /// Software threads that wait on this logical processor.
    pub fn waiting_on(&self, cpu: u16) -> usize {
        self.queues[usize::from(cpu)].len()
    }

    /// Software threads of this logical processor, running and queued.
    pub fn threads_on(&self, cpu: u16) -> usize {
        self.waiting_on(cpu) + usize::from(!self.idles(self.cpu(cpu)))
    }

    /// From which queue an idle logical processor takes its next software thread: its own, else
    /// another's.
    pub fn source(&self, cpu: u16) -> Option<u16> {
        if self.queued == 0 {
            return None;
        }
        if !self.queues[usize::from(cpu)].is_empty() {
            return Some(cpu);
        }
        match &self.filling {
            Filling::Aix { .. } => self.nonempty.first(),
            Filling::Unix { places, .. } => self.nearest_queue(places, cpu),
        }
    }

    /// The nearest of the logical processors with a queue, the longest queue at equal distance.
    fn nearest_queue(&self, places: &Places, cpu: u16) -> Option<u16> {
        let smt = u16::from(self.loads.stride());
        let key = |other: &u16| {
            let waiting = self.waiting_on(*other);
            (
                places.distance(cpu / smt, other / smt),
                usize::MAX - waiting,
            )
        };
        self.nonempty.iter().min_by_key(key)
    }

    /// The software thread at a place of a logical processor's own queue.
    pub fn take_at(&mut self, cpu: u16, place: usize) -> Option<JobId> {
        let job = self.queues[usize::from(cpu)].remove(place)?;
        self.queued -= 1;
        if self.queues[usize::from(cpu)].is_empty() {
            self.nonempty.remove(cpu);
        }
        Some(job)
    }

    /// Logical processor where a thread that finds none idle queues.
    pub fn queue_for(&self, last: Option<u16>, salt: JobId) -> u16 {
        let (threads, stride) = (u16::from(self.loads.smt()), u16::from(self.loads.stride()));
        let unfolded = self.unfolded * stride;
        let online = |cpu: &u16| *cpu < unfolded && (threads == stride || cpu % stride < threads);
        if let Some(cpu) = last.filter(online) {
            return cpu;
        }
        let usable = self.unfolded * threads;
        match self.filling {
            Filling::Aix { .. } => self.number((u32::from(salt) % u32::from(usable)) as u16),
            Filling::Unix { .. } => self.by_threads().min().map_or(0, |(_, cpu)| cpu),
        }
    }

    /// Software threads of every logical processor online, running and queued, with its number.
    fn by_threads(&self) -> impl Iterator<Item = (usize, u16)> + '_ {
        let usable = self.loads.vps() * u16::from(self.loads.smt());
        let cpus = (0..usable).map(|place| self.number(place));
        cpus.map(|cpu| (self.threads_on(cpu), cpu))
    }

    /// Folds the highest unfolded virtual processor and returns it; the last one is never folded,
    /// nor one without which the others would have more than their number.
    pub fn fold(&mut self) -> Option<u16> {
        let others = u32::from(self.unfolded - 1);
        let hold = match self.filling {
            Filling::Aix {
                threads_before_next,
                folds: true,
            } => others * u32::from(threads_before_next),
            _ => u32::MAX,
        };
        if others == 0 || self.running + self.queued > hold {
            return None;
        }
        self.unfolded -= 1;
        self.loads.exclude(self.unfolded);
        Some(self.unfolded)
    }

    /// Unfolds one more virtual processor and returns it.
    pub fn unfold(&mut self) -> Option<u16> {
        if self.unfolded == self.loads.vps() {
            return None;
        }
        let vp = self.unfolded;
        self.unfolded += 1;
        self.loads.include(vp);
        Some(vp)
    }

    /// A virtual processor with a running thread that is to move, and an idle thread of another one
    /// for it.
    pub fn imbalance(&self) -> Option<(u16, Cpu)> {
        let (from, vp) = match &self.filling {
            Filling::Aix {
                threads_before_next: full,
                ..
            }
            | Filling::Unix {
                packs: Some(full), ..
            } => packing::better(&self.loads, *full)?,
            Filling::Unix { places, .. } => self.emptier(places)?,
        };
        let thread = self.loads.idle_thread(vp);
        Some((from, Cpu { vp, thread }))
    }

    /// The virtual processor with most busy threads and the nearest of those with fewest, if a move
    /// between them is worth it: where they differ by two.
    fn emptier(&self, places: &Places) -> Option<(u16, u16)> {
        let (most, fewest) = self.loads.extremes()?;
        let from = self.loads.at(most).first()?;
        let to = places.nearest(self.loads.at(fewest), from)?;
        (most > fewest + 1).then_some((from, to))
    }

    /// The logical processors with most and with fewest software threads, the first among equals,
    /// if the guest evens out its queues and some wait.
    pub fn crowding(&self) -> Option<(u16, u16)> {
        if self.queued == 0 || matches!(self.filling, Filling::Aix { .. }) {
            return None;
        }
        let most = self
            .by_threads()
            .max_by_key(|(n, cpu)| (*n, u16::MAX - cpu))?;
        let fewest = self.by_threads().min()?;
        (most.0 > fewest.0).then_some((most.1, fewest.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{ChipId, NodeId};

    fn job(number: usize) -> JobId {
        JobId::new(number)
    }

    fn aix(vps: u16, smt: u8, threads_before_next: u8) -> RunQueues {
        let filling = Filling::Aix {
            threads_before_next,
            folds: false,
        };
        RunQueues::new(vps, smt, filling)
    }

    fn spread(places: Places) -> Filling {
        Filling::Unix {
            places: Box::new(places),
            packs: None,
        }
    }

    /// Two chips in each of two nodes, two single-threaded processors a chip.
    fn unix() -> RunQueues {
        let chips = (0..8).map(|vp| (ChipId::new(vp / 2), NodeId::new(vp / 4)));
        RunQueues::new(8, 1, spread(Places::new(chips)))
    }

    fn take(queues: &mut RunQueues, cpu: u16) -> Option<JobId> {
        let from = queues.source(cpu)?;
        queues.take_at(from, 0)
    }

    fn fill(queues: &mut RunQueues, count: usize) -> Vec<(u16, u8)> {
        (0..count)
            .map(|_| {
                let cpu = queues.choose(None).unwrap();
                queues.occupy(cpu);
                (cpu.vp, cpu.thread)
            })
            .collect()
    }

    #[test]
    fn raw_mode_fills_primary_threads_first() {
        let mut queues = aix(3, 2, 1);
        assert_eq!(fill(&mut queues, 4), vec![(0, 0), (1, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn scaled_mode_two_fills_both_threads_before_the_next() {
        let mut queues = aix(3, 4, 2);
        assert_eq!(
            fill(&mut queues, 6),
            vec![(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
        );
        assert_eq!(fill(&mut queues, 1), vec![(0, 2)]);
    }

    #[test]
    fn a_waking_thread_returns_to_its_virtual_processor_where_the_order_allows() {
        let mut queues = aix(4, 2, 2);
        assert_eq!(queues.choose(Some(7)), Some(Cpu { vp: 3, thread: 0 }));
        queues.occupy(Cpu { vp: 1, thread: 0 });
        assert_eq!(queues.choose(Some(7)), Some(Cpu { vp: 1, thread: 1 }));
    }

    #[test]
    fn an_idle_processor_takes_its_own_queue_first_then_steals() {
        let mut queues = aix(2, 2, 1);
        queues.queue(3, job(10));
        queues.queue(1, job(11));
        assert_eq!(take(&mut queues, 1), Some(job(11)));
        assert_eq!(take(&mut queues, 0), Some(job(10)));
        assert_eq!(take(&mut queues, 0), None);
    }

    #[test]
    fn three_threads_on_two_virtual_processors_are_out_of_balance() {
        let mut queues = aix(2, 2, 1);
        fill(&mut queues, 2);
        assert_eq!(queues.imbalance(), None);
        fill(&mut queues, 1);
        assert_eq!(queues.imbalance(), Some((0, Cpu { vp: 1, thread: 1 })));
    }

    #[test]
    fn a_folded_virtual_processor_gets_no_work() {
        let mut queues = aix(2, 1, 1);
        assert_eq!(queues.fold(), Some(1));
        assert_eq!(queues.fold(), None);
        assert_eq!(fill(&mut queues, 1), vec![(0, 0)]);
        assert_eq!(queues.choose(Some(1)), None);
        assert_eq!(queues.queue_for(Some(1), job(5)), 0);
        assert_eq!(queues.unfold(), Some(1));
        assert_eq!(queues.choose(None), Some(Cpu { vp: 1, thread: 0 }));
    }

    #[test]
    fn who_finds_all_loaded_unfolds_and_what_is_needed_is_not_folded() {
        let filling = Filling::Aix {
            threads_before_next: 1,
            folds: true,
        };
        let mut queues = RunQueues::new(3, 2, filling);
        assert_eq!(
            [queues.fold(), queues.fold(), queues.fold()],
            [Some(2), Some(1), None]
        );
        assert_eq!(fill(&mut queues, 3), vec![(0, 0), (1, 0), (2, 0)]);
        // Three threads on three: none can be spared.
        assert_eq!(queues.fold(), None);
        queues.release(Cpu { vp: 1, thread: 0 });
        assert_eq!(queues.fold(), Some(2));
        // Its work is to go to the others, not back to it.
        assert_eq!(queues.choose(Some(4)), Some(Cpu { vp: 1, thread: 0 }));
    }

    #[test]
    fn without_folding_a_thread_wakes_where_it_was_or_near_by() {
        let mut queues = unix();
        // Its own, its chip, its node, the other node.
        for expected in [3, 2, 0, 1, 4] {
            assert_eq!(queues.choose(Some(3)).unwrap().vp, expected);
            queues.occupy(Cpu {
                vp: expected,
                thread: 0,
            });
        }
    }

    #[test]
    fn new_threads_spread_over_the_chips() {
        let order: Vec<u16> = fill(&mut unix(), 5).into_iter().map(|(vp, _)| vp).collect();
        assert_eq!(order, vec![0, 2, 4, 6, 1]);
    }

    #[test]
    fn without_folding_a_thread_moves_only_to_a_core_that_is_two_threads_emptier() {
        let chips = (0..8).map(|vp| (ChipId::new(vp / 2), NodeId::new(vp / 4)));
        let mut queues = RunQueues::new(8, 2, spread(Places::new(chips)));
        let busy = |queues: &mut RunQueues, vp, thread| queues.occupy(Cpu { vp, thread });
        busy(&mut queues, 5, 0);
        assert_eq!(queues.imbalance(), None);
        busy(&mut queues, 5, 1);
        // Its own chip's other core before the first of all.
        assert_eq!(queues.imbalance(), Some((5, Cpu { vp: 4, thread: 0 })));
        busy(&mut queues, 4, 0);
        assert_eq!(queues.imbalance(), Some((5, Cpu { vp: 6, thread: 0 })));
    }

    #[test]
    fn an_idle_processor_steals_near_by_from_the_longest_queue() {
        let mut queues = unix();
        for (cpu, number) in [(4, 40), (0, 10), (1, 11), (1, 12)] {
            queues.queue(cpu, job(number));
        }
        let stolen: Vec<_> = (0..4).map(|_| take(&mut queues, 2).unwrap()).collect();
        assert_eq!(stolen, [11, 10, 12, 40].map(job));
    }

    #[test]
    fn a_new_thread_queues_where_fewest_are_and_crowding_names_the_extremes() {
        let mut queues = unix();
        fill(&mut queues, 8);
        assert_eq!(queues.crowding(), None);
        (0..9).for_each(|number| {
            let cpu = queues.queue_for(None, job(77));
            queues.queue(cpu, job(number));
        });
        assert_eq!(queues.waiting_on(0), 2);
        assert_eq!(queues.crowding(), Some((0, 1)));
    }
}
