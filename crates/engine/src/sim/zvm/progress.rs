//! Progress of virtual processors: whose the time is, and under which book.

use super::state::{Cp, Doing};
use crate::cost::{Book, Unfetched};
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::segment::{Owner, OWNERS};
use crate::hypervisor::Vp;
use crate::ids::{ChipId, CoreId, Span, VpId};
use crate::sim::system::Stretch;
use crate::sim::windows::Partitions;
use crate::sim::world::{Thread, World};

/// What a core's threads did in a stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Advance {
    /// Core time that was no instruction of the class [ns].
    extra: f64,
    /// Core time that refilled caches after the core was given away [ns].
    cold: f64,
}

/// Speed of a core's threads.
#[derive(Clone, Copy)]
struct Speed {
    /// Chip of the core.
    chip: ChipId,
    per_ns: f64,
    warm_ns: f64,
    cold_ns: f64,
    /// Part of the core's time that is put down to each of its busy threads.
    share: f64,
}

impl World<Partitions> {
    /// Books a stretch of a core of z/VM, and moves its busy threads on.
    pub fn progress_cp(&mut self, vp: VpId, core: CoreId, stretch: Stretch) {
        let Stretch {
            mask,
            elapsed,
            stalled,
        } = stretch;
        let (ns, ran) = (whole(elapsed), whole(elapsed - stalled));
        if self.at.vps[vp].smt > 1 {
            self.count_threads(vp, core, mask, ns);
        }
        let (v, on) = (&self.at.vps[vp], &self.at.cores[core]);
        let cp = self.sys.cp(v.partition);
        // The busy one, if there is one; where they are is the same for all of the core.
        let lp = lps_of(v).at(if is_one(mask) {
            mask.trailing_zeros() as usize
        } else {
            0
        });
        let place = &cp.lps[lp].place;
        cp.core_clock[usize::from(place.core)] += ns;
        cp.chip_clock[place.chip] += ns;
        cp.node_clock[place.node] += ns;
        if mask == 0 || stalled > 0 {
            let system = if mask == 0 { elapsed } else { stalled };
            cp.meter.owners[Owner::System as usize] += whole(system);
        }
        if mask == 0 || ran <= 0.0 {
            return;
        }
        let speed = Speed {
            chip: on.chip,
            per_ns: on.rate.per_ns,
            warm_ns: on.rate.ns,
            cold_ns: on.cold_ns,
            share: 1.0,
        };
        let mut done = Advance::default();
        if is_one(mask) && !on.fetches {
            // The usual case, for which no share has to be multiplied in.
            let thread = (&mut self.threads[place.at], None);
            cp.advance(lp, thread, speed, ran, &mut done);
        } else {
            let all = Span::new(v.first_thread.index(), usize::from(v.smt));
            let unfetched = if on.fetches {
                self.unfetched.slice_mut(all)
            } else {
                &mut []
            };
            done = cp.advance_all(v, (self.threads.slice_mut(all), unfetched), speed, ran);
        }
        if done.cold > 0.0 {
            let meter = &mut self.meters.partitions[v.partition];
            meter.books.add(Book::Reload, done.cold);
        }
        let spent = ran - done.extra - done.cold;
        if spent > 0.0 {
            self.table.spend(on.class, spent);
        }
    }

    /// Counts the time of busy threads, and what it would have been with one thread a core [ns].
    #[inline(never)]
    fn count_threads(&mut self, vp: VpId, core: CoreId, mask: u8, elapsed: f64) {
        let (v, on) = (&self.at.vps[vp], &self.at.cores[core]);
        let busy = mask.count_ones();
        let threads_ns = elapsed * f64::from(busy);
        let alone = if busy > 1 {
            let id = self.table.id(v.partition.into(), on.chip, 1);
            let one = self.table.rate(&self.spec.partitions, id).ns;
            threads_ns * one / on.rate.ns
        } else {
            elapsed
        };
        let meter = &mut self.sys.cp(v.partition).meter;
        meter.thread_ns += threads_ns;
        meter.mt1_ns += alone;
    }
}

/// Logical processors of a logical core.
#[inline]
fn lps_of(v: &Vp) -> Span<LpId> {
    let smt = usize::from(v.smt);
    Span::new(usize::from(v.index) * smt, smt)
}

/// A length of time as a number [ns]. From a signed integer that is one instruction.
#[inline]
fn whole(ns: u64) -> f64 {
    ns as i64 as f64
}

/// Whether a mask has one bit.
#[inline]
fn is_one(mask: u8) -> bool {
    mask & mask.wrapping_sub(1) == 0 && mask != 0
}

impl Cp {
    /// Moves several busy threads of a logical core on by `ran` ns, an equal share each.
    #[inline(never)]
    fn advance_all(
        &mut self,
        v: &Vp,
        (threads, unfetched): (&mut [Thread], &mut [(Unfetched, u64)]),
        speed: Speed,
        ran: f64,
    ) -> Advance {
        let mut all = Advance::default();
        let lps = lps_of(v);
        let speed = Speed {
            share: 1.0 / f64::from(v.mask.count_ones()),
            ..speed
        };
        let mut bits = v.mask;
        while bits != 0 {
            let number = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let missing = unfetched.get_mut(number).map(|(of, _)| of);
            let thread = (&mut threads[number], missing);
            self.advance(lps.at(number), thread, speed, ran, &mut all);
        }
        all
    }

    /// Moves a busy thread on by `ran` ns and puts them down to owners and books.
    #[inline(always)]
    fn advance(
        &mut self,
        lp: LpId,
        (thread, unfetched): (&mut Thread, Option<&mut Unfetched>),
        speed: Speed,
        ran: f64,
        all: &mut Advance,
    ) {
        let of = &mut self.lps[lp];
        let beside = least(ran, thread.extra_ns);
        let mut owners = [0.0; OWNERS];
        if beside > 0.0 {
            thread.extra_ns -= beside;
            all.extra += beside * speed.share;
            let extra = &of.segment.extra;
            let part = beside / extra.ns;
            owners = extra.owners.map(|ns| ns * part);
            self.beside[speed.chip].add_part(extra, part, speed.share);
        }
        let of_class = ran - beside;
        all.cold += speed.share
            * match unfetched {
                None => speed.execute(thread, of_class),
                Some(of) => thread.go_on(of, of_class, (speed.warm_ns, speed.cold_ns)),
            };
        for (owner, part) in of.shares.into_iter().enumerate() {
            owners[owner] = (owners[owner] + of_class * part) * speed.share;
            self.meter.owners[owner] += owners[owner];
        }
        of.guest_ns += owners[Owner::Guest as usize];
        if let Doing::Running(vcpu) = of.doing {
            let vcpu = &mut self.vcpus[vcpu];
            vcpu.used_ns += ran;
            let vm = &mut self.vms[vcpu.vm];
            let (guest, chargeable) = (
                owners[Owner::Guest as usize],
                owners[Owner::Chargeable as usize],
            );
            vcpu.in_pool.used_ns += guest + chargeable;
            vm.guest_ns += guest;
            vm.chargeable_ns += chargeable;
            vm.thread_ns += (guest + chargeable) / speed.share;
        }
    }
}

/// The lesser of two numbers.
#[inline]
fn least(a: f64, b: f64) -> f64 {
    if a < b {
        a
    } else {
        b
    }
}

impl Speed {
    /// Executes instructions for `ns`; how much of that refilled caches [ns].
    #[inline]
    fn execute(&self, thread: &mut Thread, ns: f64) -> f64 {
        let (mut cold, mut warm) = (0.0, ns);
        if thread.cold_instructions > 0.0 {
            let each = self.warm_ns + self.cold_ns;
            let slow = least(ns / each, thread.cold_instructions);
            thread.cold_instructions -= slow;
            thread.instructions -= slow;
            cold = slow * self.cold_ns;
            warm = (ns - slow * each).max(0.0);
        }
        thread.instructions -= warm * self.per_ns;
        cold
    }
}
