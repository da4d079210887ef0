//! Progress of virtual processors: whose the time is, and under which book.

use super::state::{Cp, CpMeter, Doing};
use crate::cost::{Book, Source, Table};
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::segment::{Extra, Owner, EXTRA_BOOKS, OWNERS};
use crate::hypervisor::{Core, Vp};
use crate::ids::{CoreId, PartitionId, Span, VpId};
use crate::sim::meters::PartitionMeter;
use crate::sim::system::Stretch;
use crate::sim::windows::Partitions;
use crate::sim::world::{Thread, World};

const CACHES: [Source; 3] = [Source::CacheChip, Source::CacheNear, Source::CacheFar];

/// What a core's threads did in a stretch.
#[derive(Clone, Copy, Debug, Default)]
struct Advance {
    /// Core time that was no instruction of the class [ns].
    extra: f64,
    /// Core time that refilled caches after the core was given away [ns].
    cold: f64,
    /// Lines that came from other nodes' caches.
    far_lines: f64,
}

/// Speed of a core's threads.
#[derive(Clone, Copy)]
struct Speed {
    per_ns: f64,
    warm_ns: f64,
    cold_ns: f64,
    /// Part of the core's time that is put down to each of its busy threads.
    share: f64,
}

impl World<Partitions> {
    /// Books a stretch of a core of z/VM, and moves its busy threads on.
    pub fn progress_cp(&mut self, vp: VpId, core: CoreId, stretch: Stretch) {
        let mask = stretch.mask;
        let elapsed = whole(stretch.elapsed);
        let busy = count(mask);
        let alone = if busy > 1 {
            self.alone(vp, core, elapsed * f64::from(busy))
        } else {
            elapsed
        };
        let v = &self.at.vps[vp];
        let cp = self.sys.cp(v.partition);
        let place = cp.lps.slice(lps_of(v))[0].place;
        cp.meter.thread_ns += elapsed * f64::from(busy);
        cp.meter.mt1_ns += alone;
        cp.core_clock[usize::from(place.core)] += elapsed;
        cp.chip_clock[place.chip] += elapsed;
        cp.node_clock[place.node] += elapsed;
        if mask == 0 {
            cp.meter.owners[Owner::System as usize] += elapsed;
            return;
        }
        cp.meter.owners[Owner::System as usize] += whole(stretch.stalled);
        let ran = whole(stretch.elapsed - stretch.stalled);
        if ran > 0.0 {
            let slot = &self.at.cores[core];
            let speed = Speed {
                per_ns: slot.rate.per_ns,
                warm_ns: slot.rate.ns,
                cold_ns: slot.cold_ns,
                share: if busy == 1 {
                    1.0
                } else {
                    1.0 / f64::from(busy)
                },
            };
            let meter = &mut self.meters.partitions[v.partition];
            let all = Span::new(v.first_thread.index(), usize::from(v.smt));
            let threads = self.threads.slice_mut(all);
            let done = cp.advance(v, threads, meter, speed, ran);
            charge(&mut self.table, v.partition, slot, ran, &done);
        }
    }

    /// What threads' time on a core would have been with one thread a core [ns].
    #[inline(never)]
    fn alone(&mut self, vp: VpId, core: CoreId, threads_ns: f64) -> f64 {
        let on = &self.at.cores[core];
        let id = self.table.id(self.at.vps[vp].partition.into(), on.chip, 1);
        let one = self.table.rate(&self.spec.partitions, id).ns;
        threads_ns * one / on.rate.ns
    }
}

/// Charges a partition's chip and class with what its core did in `ran` ns.
#[inline]
fn charge(table: &mut Table, partition: PartitionId, on: &Core, ran: f64, done: &Advance) {
    if done.extra > 0.0 {
        table.linger(partition.into(), on.chip, done.extra, done.far_lines);
    }
    let spent = ran - done.extra - done.cold;
    if spent > 0.0 {
        table.spend(on.class, spent);
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

/// Busy threads. Mostly it is one, and counting bits takes long where the processor may not be
/// asked to.
#[inline]
fn count(mask: u8) -> u32 {
    if mask & mask.wrapping_sub(1) == 0 {
        u32::from(mask != 0)
    } else {
        mask.count_ones()
    }
}

impl Cp {
    /// Moves a logical core's busy threads on by `ran` ns and puts them down to owners and books.
    #[inline]
    fn advance(
        &mut self,
        v: &Vp,
        threads: &mut [Thread],
        meter: &mut PartitionMeter,
        speed: Speed,
        ran: f64,
    ) -> Advance {
        let mut all = Advance::default();
        let first = usize::from(v.index) * usize::from(v.smt);
        let mut bits = v.mask;
        while bits != 0 {
            let number = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            let (lp, thread) = (LpId::new(first + number), &mut threads[number]);
            if speed.share == 1.0 {
                // The usual case, for which no share has to be multiplied in.
                self.advance_one(
                    lp,
                    thread,
                    meter,
                    Speed {
                        share: 1.0,
                        ..speed
                    },
                    ran,
                    &mut all,
                );
                break;
            }
            self.advance_one(lp, thread, meter, speed, ran, &mut all);
        }
        if all.cold > 0.0 {
            meter.books.add(Book::Reload, all.cold);
        }
        all
    }

    #[inline(always)]
    fn advance_one(
        &mut self,
        lp: LpId,
        thread: &mut Thread,
        meter: &mut PartitionMeter,
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
            owners = book_extra(extra, &mut self.meter, meter, speed.share, beside, all);
        }
        let of_class = ran - beside;
        all.cold += speed.execute(thread, of_class) * speed.share;
        for (owner, part) in of.shares.into_iter().enumerate() {
            owners[owner] = (owners[owner] + of_class * part) * speed.share;
            self.meter.owners[owner] += owners[owner];
        }
        of.guest_ns += owners[Owner::Guest as usize];
        if let Doing::Running(vcpu) = of.doing {
            let vcpu = &mut self.vcpus[vcpu];
            vcpu.used_ns += ran;
            let vm = &mut self.vms[vcpu.vm];
            vm.guest_ns += owners[Owner::Guest as usize];
            vm.chargeable_ns += owners[Owner::Chargeable as usize];
        }
    }
}

/// Books `ns` of a segment's extra time; how much of it is whose.
#[inline(always)]
fn book_extra(
    extra: &Extra,
    cp: &mut CpMeter,
    meter: &mut PartitionMeter,
    share: f64,
    ns: f64,
    stretch: &mut Advance,
) -> [f64; OWNERS] {
    let part = ns / extra.ns;
    for (book, ns) in EXTRA_BOOKS.iter().zip(&extra.books) {
        meter.books.add(*book, ns * part * share);
    }
    for (source, lines) in CACHES.iter().zip(&extra.lines) {
        meter.lines.add(*source, lines * part);
    }
    let spun = extra.spin_instructions * part;
    cp.spin_instructions += spun;
    meter.instructions += spun;
    stretch.far_lines += extra.lines[2] * part;
    extra.owners.map(|ns| ns * part)
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
