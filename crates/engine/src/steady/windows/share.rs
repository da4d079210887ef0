//! Whose virtual processors have to wait for cores, and for how much of the time.

use crate::hypervisor::grants::{grants, Claim};
use crate::hypervisor::polarize;
use crate::spec::{Polarization, Policy, Processors};
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{Doing, State};
use crate::steady::layout::stints::{in_use, on_and_off};
use crate::steady::queues::capped::Capped;
use crate::steady::queues::chain::Load;
use crate::steady::queues::chances::mean_beyond;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::overflow::Offered;
use crate::steady::windows::evictions::entitled_part;
use crate::steady::windows::slices::ever_run;

/// Share of the time with work that may be lost to others before they have to be looked at.
const LITTLE: f64 = 5e-4;

impl State {
    /// Whose virtual processors have to wait for cores, and for how much of the time; by how much
    /// that changed.
    pub(in crate::steady) fn share(&mut self, forms: &[&Form], scope: &Scope) -> f64 {
        if self.host.is_some() {
            return self.share_host(forms);
        }
        let cores = self.see_to_interrupts(forms, scope);
        let slice_ns = self.machine.hypervisor.window_ns as f64;
        let mut used = scope.others;
        for at in scope.active.iter().copied() {
            let doing = &mut self.doing[at];
            doing.due = due(doing, forms[at], slice_ns);
            used.add((&doing.load, doing.waits.time), doing.beside, forms[at]);
            used.less(&doing.load, doing.waits.time, most(doing, forms[at]));
        }
        // What more want than there are cores for by chance, not always, those lose that are not
        // entitled to it.
        let by_chance = if used.most <= cores {
            0.0
        } else {
            mean_beyond(used.mean, used.variance, cores) - (used.mean - cores).max(0.0)
        };
        if !scope.whole {
            let all = Offered {
                mean: used.mean,
                variance: used.variance,
                most: used.most,
                ..Offered::default()
            };
            let slices = self.machine.hypervisor.policy == Policy::Prsm;
            self.spills |= slices && all.full(cores - 0.5) > LITTLE;
            return self.share_alone(forms, scope, by_chance, cores - used.mean - used.beside);
        }
        let sharing = self.sharing(forms, scope, cores);
        self.find_turns(&sharing, forms, cores);
        if self.machine.hypervisor.policy == Policy::Phyp {
            return self.share_short((&sharing, cores), forms);
        }
        let exceeds: Vec<f64> = sharing
            .iter()
            .map(|at| self.gives_way(*at, forms[*at]))
            .collect();
        let exceeding: f64 = exceeds.iter().sum();
        let waits = self.within_share(&sharing, forms, cores);
        for (at, waits) in sharing.iter().zip(waits) {
            self.doing[*at].waits.turn_to(waits, 0.5 * self.pace);
        }
        let lost = |index: usize| by_chance * exceeds[index] / exceeding.max(1e-9);
        let claims: Vec<Claim> = sharing
            .iter()
            .enumerate()
            .map(|(index, at)| claim(&self.doing[*at], forms[*at], lost(index)))
            .collect();
        let granted = grants(&claims, cores, &self.limits);
        let left = left_beyond(&claims, &granted, cores);
        self.await_cores(&sharing, &claims, cores);
        self.throw_off(&sharing, forms);
        let mut change = 0.0_f64;
        for (index, told) in claims.iter().zip(&granted).enumerate() {
            let doing = &mut self.doing[sharing[index]];
            doing.starve(left, cores);
            if doing.in_step {
                let one = (index, &doing.load);
                doing.limited = left_by_limits((&claims, &granted), one, cores, &self.limits);
            }
            let granted = (*told.1, lost(index));
            let room = whole(doing, forms[sharing[index]]);
            change = change.max(serve(doing, (told.0, room), granted, self.pace));
        }
        self.leave_room(&sharing, cores);
        change
    }

    /// Those that share cores. They take turns with the whole machine if each always has work for
    /// one virtual processor on each of these.
    fn sharing(&mut self, forms: &[&Form], scope: &Scope, cores: f64) -> Vec<usize> {
        let sharing = scope.active.iter().copied();
        let sharing: Vec<usize> = sharing.filter(|at| !forms[*at].owns).collect();
        let one_each = |at: usize| (self.doing[at].load.vps - cores).abs() < 0.5;
        let whole = |at: &usize| forms[*at].stays && one_each(*at);
        let in_turn = sharing.iter().all(whole);
        for at in &sharing {
            self.doing[*at].in_turn = in_turn;
            self.doing[*at].one_of_two = in_turn && sharing.len() == 2;
        }
        sharing
    }

    /// Interrupts are seen to first, but for work that is entitled to its cores; the cores that are
    /// left. Where they want more than there is, they pile up.
    fn see_to_interrupts(&mut self, forms: &[&Form], scope: &Scope) -> f64 {
        let free: f64 = self.free.iter().sum();
        let (mut handled, mut entitled) = (0.0, 0.0);
        for at in scope.there().filter(|at| !forms[*at].owns) {
            let doing = &self.doing[at];
            handled += doing.handled.beside;
            entitled += doing.load.vps.min(doing.due);
        }
        let room = (free - entitled).max(0.0);
        if handled <= room {
            return free - handled;
        }
        for at in scope.active.iter().filter(|at| !forms[**at].owns) {
            let doing = &mut self.doing[*at];
            let beyond = doing.handled.beside * (1.0 - room / handled);
            doing.handled.beside -= beyond;
            doing.beside = (doing.beside - beyond).max(0.0);
            doing.load.overrun |= beyond > 0.0;
        }
        free - room
    }

    /// What of a partition has to give way where more want cores by chance than there are: what is
    /// beyond its share. Under PR/SM who has had less of that for his weight comes first: he gives
    /// way as much less (assumed, between not at all and as much as all others).
    fn gives_way(&self, at: usize, form: &Form) -> f64 {
        let doing = &self.doing[at];
        let wants = doing.load.vps * (1.0 - doing.waits.time);
        let last = match self.machine.hypervisor.policy {
            Policy::Prsm if self.excess > 0.0 => {
                let (more, weight) = self.excess_of(at, form);
                (more / weight / self.excess).clamp(0.01, 1.0)
            }
            _ => 1.0,
        };
        wants * (1.0 - entitled_part(doing)) * last
    }

    /// Whether somebody waits for a core of PR/SM that is left: as soon as more may use one than
    /// there are. Then it is taken at once, and who left it throws off another one later, who has
    /// been on his core for longest.
    fn await_cores(&mut self, sharing: &[usize], claims: &[Claim], cores: f64) {
        if self.machine.hypervisor.policy != Policy::Prsm {
            return;
        }
        let wanted = |(at, claim): (&usize, &Claim)| {
            let load = &self.doing[*at].load;
            let mean = load.vps.min(claim.limit);
            let part = mean / load.vps.max(1e-12);
            Offered {
                mean,
                variance: part * part * load.vps_variance,
                most: claim.limit,
                ..Offered::default()
            }
        };
        let each: Vec<Offered> = sharing.iter().zip(claims).map(wanted).collect();
        let mut all = Offered::default();
        each.iter().for_each(|one| all.add(*one));
        for (at, own) in sharing.iter().zip(each) {
            self.doing[*at].awaited = all.without(own.one()).full(cores - 0.5);
        }
    }

    /// The same for a part of the machine, as long as nobody elsewhere is in its way.
    fn share_alone(&mut self, forms: &[&Form], scope: &Scope, by_chance: f64, left: f64) -> f64 {
        let mut change = 0.0_f64;
        let is_phyp = self.machine.hypervisor.policy == Policy::Phyp;
        for at in scope.active.iter().copied().filter(|at| !forms[*at].owns) {
            let doing = &mut self.doing[at];
            doing.turns = 1.0;
            if is_phyp {
                // All find cores, or the machine is looked at as a whole.
                (doing.awaited, doing.thrown) = (0.0, 0.0);
                (doing.waits.queued, doing.waits.fewer) = (0.0, 0.0);
            }
            let claim = claim(doing, forms[at], 0.0);
            doing.limited = (claim.limit / claim.wants.max(1e-12)).min(1.0);
            self.spills |= claim.group.is_some() || by_chance > LITTLE * doing.load.vps;
            let granted = (claim.wants.min(claim.limit), 0.0);
            let room = whole(doing, forms[at]);
            change = change.max(serve(doing, (&claim, room), granted, self.pace));
        }
        self.spills |= left < 0.0;
        change
    }

    /// What daemons and polling take is at most what work leaves of the shared cores.
    pub(in crate::steady) fn leave_room(&mut self, sharing: &[usize], cores: f64) {
        let each = || sharing.iter().map(|at| &self.doing[*at]);
        let worked: f64 = each().map(|doing| doing.served * doing.load.vps).sum();
        let beside = |doing: &Doing| (doing.beside - doing.handled.beside).max(0.0);
        let wanted: f64 = each().map(beside).sum();
        let left = (cores - worked).max(0.0);
        if wanted > left {
            for at in sharing {
                let doing = &mut self.doing[*at];
                doing.beside -= beside(doing) * (1.0 - left / wanted);
            }
        }
    }
}

/// Part that its limits leave one of what it would have without them.
fn left_by_limits(
    told: (&[Claim], &[f64]),
    (index, load): (usize, &Load),
    cores: f64,
    limits: &[f64],
) -> f64 {
    let has_work = load.vps * (1.0 - load.stopped);
    let all = without_limits(told, (index, has_work), cores, limits);
    (told.1[index] / all.max(1e-12)).min(1.0)
}

/// What one has while no limit of its own or of its group stops it. Who has less than his share
/// then throws off all who have more than theirs, so that only those hold cores that are within it,
/// and others of the group, which it stops too, as many as on average.
fn without_limits(
    (claims, granted): (&[Claim], &[f64]),
    (index, has_work): (usize, f64),
    cores: f64,
    limits: &[f64],
) -> f64 {
    let is_within = |at: usize| granted[at] <= claims[at].entitled + LITTLE;
    if is_within(index) {
        let others = (0..claims.len()).filter(|at| *at != index && is_within(*at));
        let held: f64 = others.map(|at| granted[at]).sum();
        return has_work.min(cores - held).max(granted[index]);
    }
    let mut claims = claims.to_vec();
    let group = claims[index].group;
    for (claim, granted) in claims.iter_mut().zip(granted) {
        if group.is_some() && claim.group == group {
            (claim.limit, claim.group) = (claim.limit.min(*granted), None);
        }
    }
    claims[index].limit = claims[index].wants;
    grants(&claims, cores, limits)[index]
}

/// Cores that those have who are not entitled to them; no end of them while some are left.
pub(in crate::steady) fn left_beyond(claims: &[Claim], granted: &[f64], cores: f64) -> f64 {
    if granted.iter().sum::<f64>() <= (1.0 - LITTLE) * cores {
        return f64::INFINITY;
    }
    let beyond = |(claim, got): (&Claim, &f64)| (got - claim.entitled).max(0.0);
    claims.iter().zip(granted).map(beyond).sum()
}

/// Share of its time that a partition is served which loses so many cores by chance.
fn crowded(doing: &Doing, lost: f64) -> f64 {
    // Who is within his share does not wait for cores that are left, nor who always has work.
    let has = doing.served * doing.load.vps;
    let left = if doing.queued > 0.0 && !doing.load.overrun {
        let within = (doing.due / doing.load.vps.max(1e-12)).min(1.0);
        (has / (has + doing.queued).max(1e-12)).max(within)
    } else {
        1.0
    };
    let by_chance = (1.0 - (lost / doing.load.vps.max(1e-12)).min(0.9)) * left;
    by_chance * (1.0 - doing.waits.time).min(doing.turns)
}

/// A partition has so many cores from now on, and loses some by chance: half of the way at full
/// pace; with what is done beside its work it may use so many. By how much what it is served
/// changed.
pub(in crate::steady) fn serve(
    doing: &mut Doing,
    (claim, whole): (&Claim, f64),
    (granted, lost): (f64, f64),
    pace: f64,
) -> f64 {
    let runs = 1.0 - doing.load.stopped;
    let crowded = crowded(doing, lost);
    let let_run = if claim.wants > granted + 1e-9 {
        (granted / (runs * doing.load.vps).max(1e-12)).min(crowded)
    } else {
        crowded
    };
    let before = doing.let_run;
    doing.let_run += 0.5 * pace * (let_run - before);
    doing.served = runs * doing.let_run;
    let room = whole - doing.served * doing.load.vps;
    doing.beside = doing.beside.min(room.max(0.0));
    (doing.let_run - before).abs() / before
}

/// What a partition's virtual processors are entitled to together: under PR/SM each logical core
/// has a share of its own of each time slice, which it gets while it has work in that.
fn due(doing: &Doing, form: &Form, slice_ns: f64) -> f64 {
    let Processors::Shared { r#virtual, .. } = &form.partition.processors else {
        return doing.entitled;
    };
    let vps = f64::from(*r#virtual);
    let entitled = match form.each {
        None => doing.entitled,
        Some(Polarization::Horizontal) => {
            doing.entitled * (have_work(doing, form, slice_ns) / vps).min(1.0)
        }
        Some(Polarization::Vertical) => due_vertical(doing, form, (*r#virtual, slice_ns)),
    };
    entitled * doing.allowed
}

/// The same where each has its own share: new work comes to the first that is idle, and threads
/// that have run before to where they ran, so that these lie evenly on all that ever run.
fn due_vertical(doing: &Doing, form: &Form, (vps, slice_ns): (u16, f64)) -> f64 {
    let (split, have) = (
        polarize(doing.entitled, vps),
        have_work(doing, form, slice_ns),
    );
    let first = split.of_first(have);
    if form.stays || ever_run(doing, form).is_some() {
        return first;
    }
    let each = doing.load.vps / have.max(1e-12);
    let high = f64::from(split.high) * each.min(1.0);
    let medium = f64::from(split.medium) * each.min(split.medium_share);
    let evenly = have / f64::from(form.open(vps)) * (high + medium);
    first + form.again() * (evenly - first).min(0.0)
}

/// How many virtual processors have work at some time of a slice: those that have it now, and of
/// those among which it goes round the part to which it comes before the slice is over.
fn have_work(doing: &Doing, form: &Form, slice_ns: f64) -> f64 {
    let [_, off_ns] = on_and_off(doing, form);
    let rest = (in_use(doing, form) - doing.load.vps).max(0.0);
    doing.load.vps - rest * (-slice_ns / off_ns.max(1.0)).exp_m1()
}

/// The most that a partition may use. Initial capping holds a logical core to its share by weight,
/// not to what a cap of its own or of its group leaves of that: others may leave more.
fn most(doing: &Doing, form: &Form) -> f64 {
    let most = match form.partition.processors {
        Processors::Shared { capped: true, .. } if doing.allowed > 0.0 => doing.due / doing.allowed,
        Processors::Shared { capped: true, .. } => 0.0,
        Processors::Shared { r#virtual, .. } => f64::from(r#virtual),
        Processors::Dedicated { .. } => f64::INFINITY,
    };
    most.min(form.cap)
}

/// The same with what is done beside its work: interrupts come to logical cores without any too.
pub(in crate::steady) fn whole(doing: &Doing, form: &Form) -> f64 {
    match form.partition.processors {
        Processors::Shared { capped: true, .. } => {
            let most = most(doing, form).max(doing.entitled);
            most.min(form.cap)
        }
        _ => most(doing, form),
    }
}

impl State {
    /// Of a partition whose virtual processors have so much of each window together, as those of a
    /// capped one have under PowerVM.
    pub(in crate::steady) fn capped(&self, at: usize, form: &Form) -> Option<Capped> {
        let hypervisor = &self.machine.hypervisor;
        match form.partition.processors {
            Processors::Shared { capped: true, .. } if !form.stays => {}
            _ => return None,
        }
        let doing = &self.doing[at];
        (hypervisor.policy == Policy::Phyp).then(|| Capped {
            cap: doing.due,
            mean: (doing.load.vps * (1.0 - doing.load.stopped)).min(doing.due),
            burst_ns: form.demand.burst * doing.ns[1] + doing.reload_ns,
            window_ns: hypervisor.window_ns as f64,
        })
    }
}

/// What a partition claims that loses so many cores by chance.
pub(in crate::steady) fn claim(doing: &Doing, form: &Form, lost: f64) -> Claim {
    let Processors::Shared {
        weight,
        soft_cap,
        pool,
        ..
    } = &form.partition.processors
    else {
        return Claim::default();
    };
    let runs = doing.load.vps * (1.0 - doing.load.stopped);
    let comes = match form.demand.arrivals {
        Arrivals::Open(_) => !doing.load.overrun,
        // While turns come round under PowerVM they say what it uses, not how many have work.
        Arrivals::Closed(..) => doing.turns < 1.0 && form.each.is_none(),
        Arrivals::Always(..) | Arrivals::Never => false,
    };
    let wants = if comes {
        runs * crowded(doing, lost)
    } else if doing.queued > 0.0 {
        runs * crowded(doing, 0.0)
    } else {
        runs * (1.0 - doing.waits.time)
    };
    Claim {
        wants,
        entitled: doing.due,
        limit: most(doing, form),
        weight: f64::from(*weight),
        group: form.group,
        pool: usize::from(*pool),
        soft: *soft_cap,
    }
}
