//! Parking: in vertical polarization CP decides every so often how many logical cores it needs, and
//! leaves the highest-numbered others to the hypervisor beneath.

use super::state::Doing;
use super::Alarm;
use crate::guest::zvm::ids::LpId;
use crate::guest::zvm::park::{Cores, Observation, Parking};
use crate::hypervisor::{Kind, Mode};
use crate::ids::{PartitionId, Span};
use crate::kernel::When;
use crate::sim::windows::Partitions;
use crate::sim::world::World;

/// Part of an interval until a partition first looks at what there is beyond its entitlement: a run
/// begins in the midst of a day, and CP knows by then. Assumed, 0.01 to 0.5.
const FIRST_LOOK: f64 = 0.05;

impl World<Partitions> {
    /// Unparks the cores that are sure to have power. What there is beyond is looked at soon.
    pub fn begin_parking(&mut self, partition: PartitionId) {
        if self.cp(partition).spec.vertical {
            self.unpark(partition);
        }
    }

    /// Schedules the next decision, if there is one to make.
    pub fn next_park(&mut self, partition: PartitionId) {
        let (online, now) = (self.park_cores(partition), self.now);
        let spec = &self.cp(partition).spec;
        let (vertical, interval) = (spec.vertical, spec.park_interval_ns);
        let at = if now == 0 && online.entitled < online.online {
            (FIRST_LOOK * interval as f64) as u64
        } else {
            (now / interval + 1) * interval
        };
        if vertical {
            self.cp_asks(partition, at, Alarm::Park);
        }
    }

    /// Decides how many logical cores stay unparked.
    pub fn park(&mut self, partition: PartitionId) {
        self.settle_all();
        let observation = self.observe(partition);
        let (now, cp) = (self.now, self.sys.cp(partition));
        if now < cp.spec.park_interval_ns {
            cp.history.glimpse(observation);
        } else {
            cp.history.push(observation);
        }
        self.unpark(partition);
        self.next_park(partition);
    }

    /// Unparks as many logical cores as the forecasts say.
    fn unpark(&mut self, partition: PartitionId) {
        let cores = self.park_cores(partition);
        let cp = self.cp(partition);
        let parking = Parking {
            unparking: cp.spec.unparking,
            cpupad: cp.spec.cpupad,
            excessuse: cp.spec.excessuse,
        };
        let wanted = parking.unparked(&cp.history, cores);
        self.set_unparked(partition, wanted);
    }

    /// Cores used since the last decision, and what PR/SM could have given beyond the entitlement.
    fn observe(&mut self, partition: PartitionId) -> Observation {
        let now = self.now;
        let cp = self.cp(partition);
        let interval = (now - std::mem::replace(&mut cp.observed_at, now)) as f64;
        let mut before = std::mem::take(&mut cp.observed);
        let meters = &self.meters.partitions;
        let used = |at: PartitionId| (meters[at].busy_ns - before[at]) as f64 / interval;
        let window_ns = self.spec.machine.hypervisor.window_ns;
        let windows = &self.sys.windows;
        let observation = Observation {
            used_cores: used(partition),
            excess_cores: windows.could_exceed(&self.at, partition, used, window_ns),
        };
        for (busy_ns, meter) in before.iter_mut().zip(meters) {
            *busy_ns = meter.busy_ns;
        }
        self.cp(partition).observed = before;
        observation
    }

    /// Logical cores by entitlement; one with cores of its own, or in a hypervisor that knows no
    /// polarization, is entitled to all of them.
    fn park_cores(&self, partition: PartitionId) -> Cores {
        let share = &self.sys.windows.shares[partition];
        let vps = self.at.vps_of[partition].into_iter();
        let slices = &self.sys.windows.slices;
        let low = vps.filter(|vp| slices[*vp].kind == Kind::Low).count() as u16;
        let window_ns = self.spec.machine.hypervisor.window_ns as f64;
        Cores {
            online: share.vps,
            entitled: share.vps - low,
            entitlement: share.entitled_ns as f64 / window_ns,
        }
    }

    /// Sets how many logical cores are unparked, from the first on.
    fn set_unparked(&mut self, partition: PartitionId, wanted: u16) {
        let now = self.now;
        let cp = self.cp(partition);
        let was = cp.unparked;
        cp.meter.unparked_ns += (now - cp.meter.unparked_to) * u64::from(was);
        cp.meter.unparked_to = now;
        cp.unparked = wanted;
        let smt = usize::from(cp.smt);
        let (least, most) = (usize::from(was.min(wanted)), usize::from(was.max(wanted)));
        let changed = Span::<LpId>::new(smt * least, smt * (most - least));
        for lp in changed {
            cp.vectors.set_unparked(lp, wanted > was);
        }
        if wanted < was {
            changed
                .into_iter()
                .for_each(|lp| self.vacate(partition, lp));
            self.move_waiting(partition);
        } else {
            changed
                .into_iter()
                .for_each(|lp| self.put_to_work(partition, lp));
        }
    }

    /// A virtual processor on a parked logical one leaves it at once.
    fn vacate(&mut self, partition: PartitionId, lp: LpId) {
        if let Doing::Running(vcpu) = self.cp(partition).lps[lp].doing {
            let place = self.cp(partition).lps[lp].place;
            if self.vp(place.vp).mode == Mode::Running {
                self.threads[place.at].rotate_at = When::at(self.now);
                self.replan(place.vp);
            } else {
                // The logical core has no power now, and when parked it may never get any. What
                // it did without is no claim where it goes.
                let cp = self.cp(partition);
                let v = &mut cp.vcpus[vcpu];
                v.deadline = v.deadline.max(cp.clock);
                self.end_minor_slice(place.vp, place.at, place.thread);
            }
        }
    }

    /// Those that wait where all processors are parked now wait elsewhere.
    fn move_waiting(&mut self, partition: PartitionId) {
        for vcpu in self.cp(partition).vectors.abandon() {
            let now = self.now;
            let cp = self.cp(partition);
            let waited = now - cp.vcpus[vcpu].since;
            cp.vm_of(vcpu).wait_ns += waited as f64;
            self.make_vcpu_ready(partition, vcpu);
        }
    }

    fn put_to_work(&mut self, partition: PartitionId, lp: LpId) {
        let cp = self.cp(partition);
        if cp.vectors.queued() > 0 && cp.lps[lp].doing == Doing::Idle {
            self.look_for_work(partition, lp);
        }
    }
}
