//! A sleeping lock, and how a burst is laid out in pieces around it.
//!
//! ```text
//! outside -> free? ------------------------------> holds -> outside ...
//!               `-> spins -> released meanwhile? ----^
//!                      `-> sleeps -> is woken -> free? ... and so on
//! ```
//! Times outside and with the lock are exponential, in instructions. `grain` acquisitions are taken
//! as one: both times, what a waiter spins and what a switch costs are so many times longer. That
//! is the same lock in slow motion: how much of the time it is held, how many wait for it and what
//! is lost with it stay as they are; single waits are longer and as much rarer.
//!
//! A burst begins anywhere in that rhythm: with the chance of the share that the lock is held, it
//! takes the lock first. Its end releases the lock. So the mean time with the lock is that share of
//! a burst however short it is.

use std::collections::VecDeque;

use crate::ids::JobId;
use crate::kernel::Stream;
use crate::spec::{LockKind, Profile};

/// Time of a thread in which one acquisition falls, or the many that are taken as one [ns]: long
/// beside an event's cost, short beside slices of milliseconds.
const GRAIN_NS: f64 = 100_000.0;
/// Fewest acquisitions, or many that are taken as one, in a mean burst that has more than so many.
const BURST_GRAINS: f64 = 5.0;
/// What a waiter spins at most, in switches, which is what sleeping costs: away from the processor,
/// and back. So it never loses more than twice what it would if it knew how long the wait is
/// (Karlin, Li, Manasse, Owicki: Empirical studies of competitive spinning, 1991).
pub const SPIN_SWITCHES: f64 = 2.0;

/// How many acquisitions are taken as one; `core_ns` is the core part of an instruction, `burst`
/// the mean of the bursts.
pub fn grain(profile: &Profile, core_ns: f64, burst: f64) -> f64 {
    let between = profile.lock_hold_instructions / profile.lock_share;
    let most = (GRAIN_NS / core_ns).min(burst / BURST_GRAINS);
    (most / between).max(1.0)
}

/// What a thread of the guest is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// No burst of its is laid out.
    #[default]
    Apart,
    /// It computes without the lock; then it wants it.
    Outside,
    /// It has the lock.
    Holds,
    /// It waits on its processor.
    Spins,
    /// It waits without one.
    Sleeps,
    /// It has been woken, and is on its way to try again.
    Wakes,
}

#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    phase: Phase,
    /// Whether it has slept for the lock: it stands before those that have not.
    first: bool,
    /// Instructions of its burst beyond the present piece.
    rest: f64,
    /// Instructions of the switch away from its processor, when it slept, that it has not paid yet.
    owes: f64,
}

/// A guest's sleeping lock.
#[derive(Clone, Debug)]
pub struct Mutex {
    /// Instructions from one time that a thread wants it to the next, all of the grain.
    between: f64,
    /// What a switch costs, of the grain too [instructions].
    switch: f64,
    /// Share of a thread's instructions with the lock, the way of its line included.
    pub share: f64,
    holder: Option<JobId>,
    spinners: VecDeque<JobId>,
    sleepers: VecDeque<JobId>,
    woken: Option<JobId>,
    turns: Vec<Turn>,
}

impl Mutex {
    /// The lock of a profile, if it is one for which threads sleep; `core_ns` is the core part of
    /// an instruction, `burst` the mean of its bursts.
    pub fn of(profile: &Profile, core_ns: f64, burst: f64) -> Option<Box<Self>> {
        let sleeps = profile.lock_kind == LockKind::Sleeping && profile.lock_share > 0.0;
        sleeps.then(|| {
            let between = profile.lock_hold_instructions / profile.lock_share;
            let grain = grain(profile, core_ns, burst);
            Box::new(Self {
                between: grain * between,
                switch: grain * profile.lock_switch_instructions,
                share: profile.lock_share,
                holder: None,
                spinners: VecDeque::new(),
                sleepers: VecDeque::new(),
                woken: None,
                turns: Vec::new(),
            })
        })
    }

    /// What a thread is at.
    pub fn phase(&self, id: JobId) -> Phase {
        self.turns
            .get(id.index())
            .map_or(Phase::Apart, |of| of.phase)
    }

    /// Who has it.
    pub fn holder(&self) -> Option<JobId> {
        self.holder
    }

    fn turn(&mut self, id: JobId) -> &mut Turn {
        if self.turns.len() <= id.index() {
            self.turns.resize(id.index() + 1, Turn::default());
        }
        &mut self.turns[id.index()]
    }

    /// A piece of what is left of a thread's burst.
    fn piece(&mut self, id: JobId, phase: Phase, wanted: f64) -> f64 {
        let turn = self.turn(id);
        let piece = wanted.min(turn.rest);
        turn.phase = phase;
        turn.rest -= piece;
        piece
    }

    /// Lays a burst out: instructions of the first piece.
    pub fn begin(&mut self, id: JobId, burst: f64, stream: &mut Stream) -> f64 {
        self.turn(id).rest = burst;
        let wants = stream.chance(self.share);
        let piece = if wants {
            0.0
        } else {
            self.draw_outside(stream)
        };
        self.piece(id, Phase::Outside, piece)
    }

    fn draw_outside(&self, stream: &mut Stream) -> f64 {
        stream.exponential((1.0 - self.share) * self.between)
    }

    /// Instructions until it wants the lock again.
    pub fn outside(&mut self, id: JobId, stream: &mut Stream) -> f64 {
        let drawn = self.draw_outside(stream);
        let owes = std::mem::take(&mut self.turn(id).owes);
        owes + self.piece(id, Phase::Outside, drawn)
    }

    /// It has the lock, for so many instructions.
    pub fn take(&mut self, id: JobId, stream: &mut Stream) -> f64 {
        debug_assert_eq!(self.holder, None);
        self.no_spinner(id);
        self.holder = Some(id);
        self.turn(id).first = false;
        let drawn = stream.exponential(self.share * self.between);
        self.piece(id, Phase::Holds, drawn)
    }

    /// It spins, for so many instructions at most.
    pub fn spin(&mut self, id: JobId) -> f64 {
        let turn = self.turn(id);
        turn.phase = Phase::Spins;
        if turn.first {
            self.spinners.push_front(id);
        } else {
            self.spinners.push_back(id);
        }
        SPIN_SWITCHES * self.switch
    }

    /// It leaves its processor until it is woken.
    pub fn sleep(&mut self, id: JobId) {
        self.no_spinner(id);
        let switch = self.switch;
        let turn = self.turn(id);
        turn.phase = Phase::Sleeps;
        turn.owes += switch;
        if std::mem::replace(&mut turn.first, true) {
            self.sleepers.push_front(id);
        } else {
            self.sleepers.push_back(id);
        }
    }

    /// A woken one is there to try again.
    pub fn arrive(&mut self, id: JobId) {
        if self.woken == Some(id) {
            self.woken = None;
        }
    }

    /// Its burst is over.
    pub fn leave(&mut self, id: JobId) {
        self.turn(id).phase = Phase::Apart;
    }

    /// Whether the present piece is the last of the burst.
    pub fn is_last(&mut self, id: JobId) -> bool {
        self.turn(id).rest <= 0.0
    }

    /// Nobody has it, or waits for it; who slept.
    pub fn forget(&mut self) -> VecDeque<JobId> {
        (self.holder, self.woken) = (None, None);
        self.spinners.clear();
        self.turns.clear();
        std::mem::take(&mut self.sleepers)
    }

    /// Nobody has it any more.
    pub fn release(&mut self) {
        self.holder = None;
    }

    /// Who spins, by their order.
    pub fn spinner(&self, order: usize) -> Option<JobId> {
        self.spinners.get(order).copied()
    }

    fn no_spinner(&mut self, id: JobId) {
        if let Some(at) = self.spinners.iter().position(|spins| *spins == id) {
            self.spinners.remove(at);
        }
    }

    /// Wakes the first that sleeps, unless one is on its way: who, and how long that way is
    /// [instructions].
    pub fn wake(&mut self) -> Option<(JobId, f64)> {
        if self.woken.is_some() {
            return None;
        }
        let id = self.sleepers.pop_front()?;
        self.woken = Some(id);
        self.turn(id).phase = Phase::Wakes;
        Some((id, self.switch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock() -> (Box<Mutex>, Stream) {
        let profile = Profile {
            lock_kind: LockKind::Sleeping,
            lock_share: 0.1,
            lock_hold_instructions: 1_000.0,
            lock_switch_instructions: 2_000.0,
            ..Profile::steady()
        };
        let lock = Mutex::of(&profile, 1.0, 1e6).expect("a lock that sleeps");
        (lock, Stream::new(1, 0, "lock"))
    }

    #[test]
    fn ten_are_taken_as_one_every_hundred_microseconds() {
        let (lock, _) = lock();
        assert_eq!((lock.between, lock.switch), (100_000.0, 20_000.0));
        // Five to a burst, and never a part of one.
        let of = |burst| {
            Mutex::of(
                &Profile {
                    lock_kind: LockKind::Sleeping,
                    lock_share: 0.1,
                    lock_hold_instructions: 1_000.0,
                    ..Profile::steady()
                },
                1.0,
                burst,
            )
        };
        assert_eq!(of(200_000.0).unwrap().between, 40_000.0);
        assert_eq!(of(2_000.0).unwrap().between, 10_000.0);
        assert!(Mutex::of(&Profile::steady(), 1.0, 1e6).is_none());
    }

    #[test]
    fn pieces_add_up_to_the_burst_and_the_lock_has_its_share() {
        let (mut lock, mut stream) = lock();
        let id = JobId::new(3);
        let (mut with, mut all) = (0.0, 0.0);
        for _ in 0..20_000 {
            let mut sum = lock.begin(id, 30_000.0, &mut stream);
            while !lock.is_last(id) {
                let held = lock.take(id, &mut stream);
                lock.release();
                with += held;
                sum += held;
                if !lock.is_last(id) {
                    sum += lock.outside(id, &mut stream);
                }
            }
            lock.leave(id);
            assert!((sum - 30_000.0).abs() < 1e-6);
            all += sum;
        }
        assert!((with / all - 0.1).abs() < 0.003, "{}", with / all);
    }

    #[test]
    fn who_has_slept_stands_first_and_one_is_woken_at_a_time() {
        let (mut lock, mut stream) = lock();
        let [a, b, c] = [0, 1, 2].map(JobId::new);
        lock.take(a, &mut stream);
        lock.sleep(b);
        lock.spin(c);
        assert_eq!(lock.wake(), Some((b, 20_000.0)));
        lock.sleep(c);
        assert_eq!((lock.wake(), lock.phase(c)), (None, Phase::Sleeps));
        lock.arrive(b);
        lock.spin(b);
        lock.sleep(b);
        assert_eq!(lock.wake().map(|woken| woken.0), Some(b));
    }
}
