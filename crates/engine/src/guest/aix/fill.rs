//! Run queues of the logical processors, and the order in which idle ones are filled.
//!
//! `vpm_throughput_mode` says how many threads of a virtual processor are loaded before another
//! virtual processor is: 0 and 1 (raw) load the primary thread of every one before any secondary;
//! 2, 4 and 8 (scaled) load that many first. A waking thread goes back to its last virtual
//! processor where the order allows it. One that finds no idle logical processor queues where it
//! last ran; an idle logical processor takes from its own queue first, then steals.

use std::collections::VecDeque;

use super::VpSet;

/// A logical processor: virtual processor and thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Virtual processor within the partition.
    pub vp: u16,
    /// Thread within the virtual processor.
    pub thread: u8,
}

/// Run queues and busy threads of a partition.
#[derive(Clone, Debug)]
pub struct RunQueues {
    smt: u8,
    threads_before_next: u8,
    unfolded: u16,
    busy: Vec<u8>,
    by_load: Vec<VpSet>,
    queues: Vec<VecDeque<u32>>,
    nonempty: VpSet,
    queued: u32,
    running: u32,
}

impl RunQueues {
    /// All idle, all unfolded.
    pub fn new(vps: u16, smt: u8, throughput_mode: u8) -> Self {
        let cpus = vps * u16::from(smt);
        let mut by_load = vec![VpSet::new(vps); usize::from(smt) + 1];
        (0..vps).for_each(|vp| by_load[0].insert(vp));
        Self {
            smt,
            threads_before_next: throughput_mode.clamp(1, smt),
            unfolded: vps,
            busy: vec![0; usize::from(vps)],
            by_load,
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

    /// Threads of a virtual processor to load before the next.
    pub fn threads_before_next(&self) -> u8 {
        self.threads_before_next
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
        self.busy[usize::from(vp)]
    }

    /// Idle logical processor for a waking thread that last ran on `last`.
    pub fn choose(&self, last: Option<u16>) -> Option<Cpu> {
        let vp = self.choose_vp(last)?;
        Some(Cpu {
            vp,
            thread: (!self.busy[usize::from(vp)]).trailing_zeros() as u8,
        })
    }

    fn choose_vp(&self, last: Option<u16>) -> Option<u16> {
        let full = usize::from(self.threads_before_next);
        self.choose_loaded(last, 1, full)
            .or_else(|| self.at_load(last, 0))
            .or_else(|| (full..usize::from(self.smt)).find_map(|load| self.at_load(last, load)))
    }

    /// A virtual processor with `from..to` busy threads, the fullest first, the last one before
    /// others.
    fn choose_loaded(&self, last: Option<u16>, from: usize, to: usize) -> Option<u16> {
        let mine = last.filter(|vp| (from..to).any(|load| self.by_load[load].contains(*vp)));
        mine.or_else(|| (from..to).rev().find_map(|load| self.by_load[load].first()))
    }

    fn at_load(&self, last: Option<u16>, load: usize) -> Option<u16> {
        let set = &self.by_load[load];
        last.filter(|vp| set.contains(*vp)).or_else(|| set.first())
    }

    /// Marks a logical processor busy.
    pub fn occupy(&mut self, cpu: Cpu) {
        debug_assert!(self.busy[usize::from(cpu.vp)] & (1 << cpu.thread) == 0);
        self.running += 1;
        self.set_mask(cpu.vp, self.busy[usize::from(cpu.vp)] | 1 << cpu.thread);
    }

    /// Marks a logical processor idle.
    pub fn release(&mut self, cpu: Cpu) {
        debug_assert!(self.busy[usize::from(cpu.vp)] & (1 << cpu.thread) != 0);
        self.running -= 1;
        self.set_mask(cpu.vp, self.busy[usize::from(cpu.vp)] & !(1 << cpu.thread));
    }

    fn set_mask(&mut self, vp: u16, mask: u8) {
        let slot = usize::from(vp);
        if vp < self.unfolded {
            self.by_load[self.busy[slot].count_ones() as usize].remove(vp);
            self.by_load[mask.count_ones() as usize].insert(vp);
        }
        self.busy[slot] = mask;
    }

    /// Queues a software thread on a logical processor.
    pub fn queue(&mut self, cpu: u16, job: u32) {
        self.queues[usize::from(cpu)].push_back(job);
        self.nonempty.insert(cpu);
        self.queued += 1;
    }

    /// Puts back a software thread that was displaced by one of better priority: it goes on next.
    pub fn put_back(&mut self, cpu: u16, job: u32) {
        self.queues[usize::from(cpu)].push_front(job);
        self.nonempty.insert(cpu);
        self.queued += 1;
    }

    /// Whether software threads wait on this logical processor.
    #[inline]
    pub fn has_queue(&self, cpu: u16) -> bool {
        self.queued > 0 && !self.queues[usize::from(cpu)].is_empty()
    }

    /// Next software thread for an idle logical processor: its own queue's first, else the first
    /// stolen from another.
    pub fn take(&mut self, cpu: u16) -> Option<u32> {
        if self.queued == 0 {
            return None;
        }
        let from = if self.queues[usize::from(cpu)].is_empty() {
            self.nonempty.first()?
        } else {
            cpu
        };
        self.take_own(from)
    }

    /// First of a logical processor's own queue.
    pub fn take_own(&mut self, cpu: u16) -> Option<u32> {
        let job = self.queues[usize::from(cpu)].pop_front()?;
        self.queued -= 1;
        if self.queues[usize::from(cpu)].is_empty() {
            self.nonempty.remove(cpu);
        }
        Some(job)
    }

    /// Logical processor where a thread that finds none idle queues.
    pub fn queue_for(&self, last: Option<u16>, salt: u32) -> u16 {
        let usable = self.unfolded * u16::from(self.smt);
        last.filter(|cpu| *cpu < usable)
            .unwrap_or((salt % u32::from(usable)) as u16)
    }

    /// Folds the highest unfolded virtual processor and returns it; the last one is never folded.
    pub fn fold(&mut self) -> Option<u16> {
        if self.unfolded <= 1 {
            return None;
        }
        self.unfolded -= 1;
        let vp = self.unfolded;
        self.by_load[self.busy[usize::from(vp)].count_ones() as usize].remove(vp);
        Some(vp)
    }

    /// Unfolds one more virtual processor and returns it.
    pub fn unfold(&mut self) -> Option<u16> {
        if usize::from(self.unfolded) == self.busy.len() {
            return None;
        }
        let vp = self.unfolded;
        self.unfolded += 1;
        self.by_load[self.busy[usize::from(vp)].count_ones() as usize].insert(vp);
        Some(vp)
    }

    /// The fullest virtual processor and an idle thread of the emptiest, if the first has more busy
    /// threads.
    pub fn imbalance(&self) -> Option<(u16, Cpu)> {
        let loads = 0..=usize::from(self.smt);
        let fullest = loads
            .clone()
            .rev()
            .find_map(|load| self.by_load[load].first().map(|vp| (load, vp)))?;
        let emptiest = loads
            .clone()
            .find_map(|load| self.by_load[load].first().map(|vp| (load, vp)))?;
        if fullest.0 <= emptiest.0 {
            return None;
        }
        let thread = (!self.busy[usize::from(emptiest.1)]).trailing_zeros() as u8;
        Some((
            fullest.1,
            Cpu {
                vp: emptiest.1,
                thread,
            },
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut queues = RunQueues::new(3, 2, 0);
        assert_eq!(fill(&mut queues, 4), vec![(0, 0), (1, 0), (2, 0), (0, 1)]);
    }

    #[test]
    fn scaled_mode_two_fills_both_threads_before_the_next() {
        let mut queues = RunQueues::new(3, 4, 2);
        assert_eq!(
            fill(&mut queues, 6),
            vec![(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
        );
        assert_eq!(fill(&mut queues, 1), vec![(0, 2)]);
    }

    #[test]
    fn a_waking_thread_returns_to_its_virtual_processor_where_the_order_allows() {
        let mut queues = RunQueues::new(4, 2, 2);
        assert_eq!(queues.choose(Some(3)), Some(Cpu { vp: 3, thread: 0 }));
        queues.occupy(Cpu { vp: 1, thread: 0 });
        assert_eq!(queues.choose(Some(3)), Some(Cpu { vp: 1, thread: 1 }));
    }

    #[test]
    fn an_idle_processor_takes_its_own_queue_first_then_steals() {
        let mut queues = RunQueues::new(2, 2, 0);
        queues.queue(3, 10);
        queues.queue(1, 11);
        assert_eq!(queues.take(1), Some(11));
        assert_eq!(queues.take(0), Some(10));
        assert_eq!(queues.take(0), None);
    }

    #[test]
    fn three_threads_on_two_virtual_processors_are_out_of_balance() {
        let mut queues = RunQueues::new(2, 2, 0);
        fill(&mut queues, 2);
        assert_eq!(queues.imbalance(), None);
        fill(&mut queues, 1);
        assert_eq!(queues.imbalance(), Some((0, Cpu { vp: 1, thread: 1 })));
    }

    #[test]
    fn a_folded_virtual_processor_gets_no_work() {
        let mut queues = RunQueues::new(2, 1, 0);
        assert_eq!(queues.fold(), Some(1));
        assert_eq!(queues.fold(), None);
        assert_eq!(fill(&mut queues, 1), vec![(0, 0)]);
        assert_eq!(queues.choose(Some(1)), None);
        assert_eq!(queues.queue_for(Some(1), 5), 0);
        assert_eq!(queues.unfold(), Some(1));
        assert_eq!(queues.choose(None), Some(Cpu { vp: 1, thread: 0 }));
    }
}
