//! Progress of virtual processors: whose the time is, and under which book.

use super::state::{Cp, Doing};
use crate::cost::{Book, Source};
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::segment::{Owner, EXTRA_BOOKS, OWNERS};
use crate::ids::{CoreId, VpId};
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
        let idle = if mask == 0 {
            stretch.elapsed
        } else {
            stretch.stalled
        };
        self.account_cp(vp, core, mask, stretch.elapsed as f64, idle as f64);
        let ran = (stretch.elapsed - stretch.stalled) as f64;
        if mask != 0 && ran > 0.0 {
            self.advance_cp(vp, core, mask, ran);
        }
    }

    /// Moves the busy threads on a core of z/VM on by `ran` ns.
    fn advance_cp(&mut self, vp: VpId, core: CoreId, mask: u8, ran: f64) {
        let v = &self.at.vps[vp];
        let (partition, index) = (v.partition, usize::from(v.index));
        let slot = &self.at.cores[core];
        let class = slot.class;
        let speed = Speed {
            per_ns: slot.instructions_per_ns,
            warm_ns: slot.instruction_ns,
            cold_ns: slot.cold_ns,
            share: 1.0 / f64::from(mask.count_ones()),
        };
        let (first, smt) = self.threads_of(vp);
        let meter = &mut self.meters.partitions[partition];
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        let mut stretch = Advance::default();
        for number in (0..smt).filter(|thread| mask & (1 << thread) != 0) {
            let thread = &mut self.threads[first.plus(usize::from(number))];
            let lp = LpId::new(index * usize::from(smt) + usize::from(number));
            cp.advance(lp, thread, meter, speed, ran, &mut stretch);
        }
        meter.books.add(Book::Reload, stretch.cold);
        let chip = self.at.cores[core].chip;
        if stretch.extra > 0.0 {
            self.table
                .linger(partition.into(), chip, stretch.extra, stretch.far_lines);
        }
        let spent = ran - stretch.extra - stretch.cold;
        if spent > 0.0 {
            self.table.spend(class, spent);
        }
    }

    /// Puts core time down in which no virtual processor or CP code got on, and what all of it was
    /// worth in threads.
    fn account_cp(&mut self, vp: VpId, core: CoreId, mask: u8, elapsed: f64, idle: f64) {
        let v = &self.at.vps[vp];
        let (partition, index) = (v.partition, usize::from(v.index));
        let chip = usize::from(self.at.vps[vp].home_chip);
        let node = usize::from(self.at.vps[vp].home_node);
        let threads = f64::from(mask.count_ones());
        let mut alone = elapsed;
        if threads > 1.0 {
            let on = self.at.cores[core].chip;
            let id = self.table.id(partition.into(), on, 1);
            let one = self.table.instruction_ns(&self.spec.partitions, id);
            alone = elapsed * threads * one / self.at.cores[core].instruction_ns;
        }
        let cp = self.sys.cps[partition].as_deref_mut().expect("z/VM");
        cp.meter.owners[Owner::System as usize] += idle;
        cp.meter.thread_ns += elapsed * threads;
        cp.meter.mt1_ns += alone;
        cp.core_clock[index] += elapsed;
        cp.chip_clock[chip] += elapsed;
        cp.node_clock[node] += elapsed;
    }
}

impl Cp {
    /// Moves one thread on by `ran` ns and puts them down to owners and books.
    fn advance(
        &mut self,
        lp: LpId,
        thread: &mut Thread,
        meter: &mut PartitionMeter,
        speed: Speed,
        ran: f64,
        stretch: &mut Advance,
    ) {
        let beside = ran.min(thread.extra_ns);
        let mut owners = [0.0; OWNERS];
        if beside > 0.0 {
            thread.extra_ns -= beside;
            stretch.extra += beside * speed.share;
            owners = self.book_extra(lp, meter, speed.share, beside, stretch);
        }
        let of_class = ran - beside;
        stretch.cold += speed.execute(thread, of_class) * speed.share;
        let of = &mut self.lps[lp];
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

    /// Books `ns` of the extra time of a processor's segment; how much of it is whose.
    fn book_extra(
        &mut self,
        lp: LpId,
        meter: &mut PartitionMeter,
        share: f64,
        ns: f64,
        stretch: &mut Advance,
    ) -> [f64; OWNERS] {
        let extra = &self.lps[lp].segment.extra;
        let part = ns / extra.ns;
        for (book, ns) in EXTRA_BOOKS.iter().zip(extra.books) {
            meter.books.add(*book, ns * part * share);
        }
        for (source, lines) in CACHES.iter().zip(extra.lines) {
            meter.lines.add(*source, lines * part);
        }
        self.meter.spin_instructions += extra.spin_instructions * part;
        meter.instructions += extra.spin_instructions * part;
        stretch.far_lines += extra.lines[2] * part;
        extra.owners.map(|ns| ns * part)
    }
}

impl Speed {
    /// Executes instructions for `ns`; how much of that refilled caches [ns].
    fn execute(&self, thread: &mut Thread, ns: f64) -> f64 {
        let (mut cold, mut warm) = (0.0, ns);
        if thread.cold_instructions > 0.0 {
            let each = self.warm_ns + self.cold_ns;
            let slow = (ns / each).min(thread.cold_instructions);
            thread.cold_instructions -= slow;
            thread.instructions -= slow;
            cold = slow * self.cold_ns;
            warm = (ns - slow * each).max(0.0);
        }
        thread.instructions -= warm * self.per_ns;
        cold
    }
}
