//! The scheduler's constants as the kernel works them out for the number of processors.

use std::cell::Cell;

use super::ids::CoreId;
use super::queue::Entity;
use crate::spec::{Balance, FairClass, Linux, Preemption};

/// Weight of a task or group that runs only where nobody else wants to.
pub const IDLE_WEIGHT: u64 = 3 << 10;
/// Least weight of a group on a processor (`MIN_SHARES`, which the kernel does not scale here, so
/// that even a group of 2 can be spread over many processors).
pub const LEAST_WEIGHT: u64 = 2;

/// Time from a tick's interrupt to the balancing that was due at it, which a soft interrupt does
/// when all processors have had their tick [ns]: measured on two processors of a guest with kernel
/// 6.18, 20 to 63 us (tenths) from a tick to a move, median 32.
pub const SOFT_INTERRUPT: u64 = 30_000;

/// Weights of the nice values -20..=19 (`sched_prio_to_weight`): 1.25 from one to the next.
const NICE: [u64; 40] = [
    88_761, 71_755, 56_483, 46_273, 36_291, 29_154, 23_254, 18_705, 14_949, 11_916, 9_548, 7_620,
    6_100, 4_904, 3_906, 3_121, 2_501, 1_991, 1_586, 1_277, 1_024, 820, 655, 526, 423, 335, 272,
    215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// How long one runs that others wait for, on a host of so many processors: a slice, which ends at
/// a tick [ns].
pub fn turn_ns(linux: &Linux, cpus: usize) -> f64 {
    let params = Params::new(linux, cpus, 0);
    let slice = if params.is_eevdf() {
        params.slice
    } else {
        params.granularity
    };
    (slice.div_ceil(params.tick) * params.tick) as f64
}

/// How long those that share a processor of such a host take turns, all times in ns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turns {
    /// Time between two ticks, at which alone a runner is taken off that is not behind.
    pub tick_ns: f64,
    /// How long one runs that others wait for.
    pub turn_ns: f64,
    /// What one asks for at a time, by which deadlines are set.
    pub slice_ns: f64,
    /// Time in which who waits or runs beside others comes to another processor: two looks of a
    /// busy one for what it could take, since either of the two may be taken.
    pub balance_ns: f64,
    /// Whether one that waited longer than is due takes its processor at once when it comes again.
    pub has_credit: bool,
}

/// The same of a host with so many processors; none under CFS, where whoever wakes has credit
/// whatever it used.
pub fn turns(linux: &Linux, cpus: usize) -> Option<Turns> {
    let params = Params::new(linux, cpus, 0);
    let looks = 2 * u64::from(linux.balance.busy_factor) * linux.balance.interval_ns;
    let apart = cpus < 2 || !linux.balance.enabled;
    params.is_eevdf().then(|| Turns {
        tick_ns: params.tick as f64,
        turn_ns: turn_ns(linux, cpus),
        slice_ns: params.slice as f64,
        balance_ns: if apart {
            f64::INFINITY
        } else {
            looks as f64 * cpus as f64
        },
        has_credit: params.place_lag && !params.lazy,
    })
}

/// Weight of a nice value.
pub fn nice_weight(nice: i8) -> u64 {
    NICE[(i16::from(nice) + 20).clamp(0, 39) as usize] << 10
}

/// Weight of a group by its `cpu.weight`, which is shares of 1024 for 100.
pub fn group_weight(weight: u32, idle: bool) -> u64 {
    if idle {
        return IDLE_WEIGHT;
    }
    ((u64::from(weight) * 1024 + 50) / 100).clamp(2, 1 << 18) << 10
}

/// When a processor handles a tick, if it is asked between two times.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextTick {
    due: u64,
    from: u64,
    at: u64,
}

/// Constants in effect.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which fair class.
    pub class: FairClass,
    /// Whether a runner that is to make way does so lazily.
    pub lazy: bool,
    /// Clock tick [ns].
    pub tick: u64,
    /// Base slice of EEVDF [ns].
    pub slice: u64,
    /// Most by which the tick's interrupt comes late [ns].
    pub late: u64,
    /// What that lateness is drawn from.
    pub seed: u64,
    /// Whether a runner is protected until its slice is used up.
    pub run_to_parity: bool,
    /// Whether lag is kept over a sleep.
    pub place_lag: bool,
    /// Whether those that owe stay queued when they sleep.
    pub delay_dequeue: bool,
    /// Whether a runner that gets another weight is placed anew with itself in the sums.
    pub reweigh_in_sums: bool,
    /// Period in which CFS serves everybody [ns].
    pub latency: u64,
    /// Least slice of CFS [ns].
    pub granularity: u64,
    /// Lead with which a woken one preempts under CFS [ns].
    pub wakeup_granularity: u64,
    /// Whether sleepers get half a period's credit.
    pub gentle: bool,
    /// Slice in which quota is handed out [ns].
    pub bandwidth_slice: u64,
    /// For how long one that ran is warm [ns].
    pub migration_cost: u64,
    /// Most tasks moved in one go.
    pub migrate_most: usize,
    /// Whether waking tasks are drawn to their wakers.
    pub wake_affine: bool,
    /// Balancing.
    pub balance: Balance,
}

impl Params {
    /// Reads the constants for a host of so many processors.
    pub fn new(linux: &Linux, cpus: usize, seed: u64) -> Self {
        let factor = u64::from(1 + cpus.clamp(1, 8).ilog2());
        let scaled = |given: Option<u64>, ns: u64| given.unwrap_or(ns * factor);
        Self {
            class: linux.scheduler,
            lazy: linux.preemption == Preemption::Lazy,
            tick: linux.tick_ns,
            late: linux.tick_late_ns.min(linux.tick_ns / 4),
            seed,
            slice: scaled(linux.base_slice_ns, 700_000),
            run_to_parity: linux.run_to_parity,
            place_lag: linux.place_lag,
            delay_dequeue: linux.delay_dequeue && linux.scheduler == FairClass::Eevdf,
            reweigh_in_sums: linux.reweigh_in_sums && linux.scheduler == FairClass::Eevdf,
            latency: scaled(linux.latency_ns, 6_000_000),
            granularity: scaled(linux.min_granularity_ns, 750_000),
            wakeup_granularity: scaled(linux.wakeup_granularity_ns, 1_000_000),
            gentle: linux.gentle_sleepers,
            bandwidth_slice: linux.bandwidth_slice_ns,
            migration_cost: linux.migration_cost_ns,
            migrate_most: linux.migrate_most as usize,
            wake_affine: linux.wake_affine,
            balance: linux.balance,
        }
    }

    /// Whether the fair class is EEVDF.
    #[inline]
    pub fn is_eevdf(&self) -> bool {
        self.class == FairClass::Eevdf
    }

    /// Whether a runner may not be preempted yet.
    #[inline]
    pub fn protects(&self, runner: &Entity) -> bool {
        self.run_to_parity && runner.protected > runner.vruntime
    }

    /// Key by which an entity is ordered in its queue.
    #[inline]
    pub fn key(&self, entity: &Entity) -> i64 {
        if self.is_eevdf() {
            entity.deadline
        } else {
            entity.vruntime
        }
    }

    /// The first multiple of the tick after a time.
    pub fn tick_after(&self, now: u64) -> u64 {
        (now / self.tick + 1) * self.tick
    }

    /// When a processor handles its first tick after `now` and not before `due`. All processors
    /// tick together; who handles it first is left to chance.
    pub fn handles_tick(&self, cpu: CoreId, now: u64, due: u64) -> u64 {
        let mut number = now.max(due) / self.tick;
        loop {
            let at = number * self.tick + self.lateness(cpu, number);
            if at > now && number * self.tick >= due {
                return at;
            }
            number += 1;
        }
    }

    /// The same, and until when the answer holds: asked for far more often than ticks come.
    #[inline]
    pub fn next_tick(&self, cpu: CoreId, now: u64, due: u64, known: &Cell<NextTick>) -> u64 {
        let last = known.get();
        if last.due == due && last.from <= now && now < last.at {
            return last.at;
        }
        let at = self.handles_tick(cpu, now, due);
        known.set(NextTick { due, from: now, at });
        at
    }

    /// Whether a processor handles a tick now.
    pub fn is_tick(&self, cpu: CoreId, now: u64) -> bool {
        now > 0 && self.handles_tick(cpu, now - 1, 0) == now
    }

    /// Evenly spread over what is possible, the same for the same tick of the same run.
    fn lateness(&self, cpu: CoreId, number: u64) -> u64 {
        if self.late == 0 {
            return 0;
        }
        let mut mixed = self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed = mixed.wrapping_add((cpu.index() as u64).wrapping_mul(0xd1b5_4a32_d192_ed03));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % (self.late + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::queue::NICE_0;
    use super::*;

    #[test]
    fn the_base_slice_grows_with_the_logarithm_of_the_processors_up_to_eight() {
        let slice = |cpus| Params::new(&Linux::default(), cpus, 0).slice;
        assert_eq!(slice(1), 700_000);
        assert_eq!(slice(2), 1_400_000);
        assert_eq!(slice(6), 2_100_000);
        assert_eq!(slice(8), 2_800_000);
        assert_eq!(slice(256), 2_800_000);
    }

    #[test]
    fn a_weight_of_100_is_worth_a_task_of_nice_0() {
        assert_eq!(group_weight(100, false), NICE_0);
        assert_eq!(nice_weight(0), NICE_0);
        assert_eq!(group_weight(200, false), 2 * NICE_0);
        assert_eq!(group_weight(10_000, true), IDLE_WEIGHT);
    }

    #[test]
    fn ticks_come_at_multiples() {
        let params = Params::new(&Linux::default(), 2, 0);
        assert_eq!(params.tick_after(0), 4_000_000);
        assert_eq!(params.tick_after(3_999_999), 4_000_000);
        assert_eq!(params.tick_after(4_000_000), 8_000_000);
        let cpu = CoreId::new(1);
        let at = params.handles_tick(cpu, 0, 12_000_000);
        assert!((12_000_000..=12_000_000 + params.late).contains(&at));
        assert!(params.handles_tick(cpu, at, 0) >= 16_000_000);
    }
}
