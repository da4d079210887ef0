//! A step of a partition of z/VM: what its machines come to on its logical processors, and what
//! that is to the hypervisor beneath.

use crate::guest::zvm::locks::{readers_ns, Holding};
use crate::guest::zvm::segment::{Owner, Segment};
use crate::steady::cp::crowd::{crowd, All, Room};
use crate::steady::cp::figures::{Beside, Cp};
use crate::steady::cp::guests::{Guests, Kind};
use crate::steady::cp::shares::held_back;
use crate::steady::cp::station::{Crowd, Station};
use crate::steady::layout::form::Form;
use crate::steady::layout::state::State;
use crate::steady::queues::chain::Load;
use crate::steady::queues::demand::Arrivals;
use crate::steady::queues::filling::THREADS;
use crate::steady::zvm::costs::{signalling, Comes, CpCosts};
use crate::steady::zvm::turns::Turns;

/// What is going on in a nanosecond on all logical processors.
#[derive(Default)]
pub(in crate::steady) struct Going {
    /// All that is executed.
    pub all: Segment,
    /// Times that a virtual processor is put on a logical one.
    pub dispatches: f64,
    /// Of these, onto one that idled.
    pub wakes: f64,
    /// Transactions that are done, and how many are there.
    pub done: f64,
    pub inside: f64,
    /// Virtual processors that have work, of machines that are held back.
    pub ready: f64,
    /// Whether more comes to a machine than it can do.
    pub overrun: bool,
}

impl State {
    /// What the virtual machines of a partition come to.
    pub(in crate::steady) fn queue_guests(&mut self, at: usize, form: &Form, guests: &Guests) {
        let costs = self.cp_costs(at, form, guests);
        let doing = &self.doing[at];
        let paired = if form.fixed.len() > 2 {
            doing.ns[1] / doing.ns[2]
        } else {
            1.0
        };
        let (lps, pairs) = (guests.lps(), guests.pairs(self.cps[at].busy));
        let room = Room { lps, paired, pairs };
        let slowed = 1.0 / (doing.served * (1.0 - doing.stalled)).max(1e-6);
        let colder = doing.reload_ns;
        let mut cp = std::mem::take(&mut self.cps[at]);
        let frames = std::mem::take(&mut cp.frames);
        let mut ports = std::mem::take(&mut cp.ports);
        self.ports(guests, &costs, (&mut ports, &frames));
        cp.ports = ports;
        let (all, mut going) = if guests.tiles.is_empty() {
            self.works(guests, (&costs, &room), &mut cp, (slowed, colder))
        } else {
            self.web(guests, (&costs, &room), &mut cp, (slowed, colder))
        };
        self.cp_works(guests, (&costs, &all), &mut cp, &mut going);
        self.told(at, form, (guests, &room), (&going, &all, slowed));
        let doing = &mut self.doing[at];
        doing.load.overrun = going.overrun;
        let timed = going.done > 0.0 && !form.demand.recorded && !going.overrun;
        doing.response_ns = timed.then(|| going.inside / going.done);
        let whole = costs.time_of(&going.all).max(1e-300);
        cp.owners = std::array::from_fn(|of| {
            let instructions = going.all.instructions[of] * costs.instruction_ns;
            (instructions + going.all.extra.owners[of]) / whole
        });
        cp.unparked = guests.open.into();
        self.cps[at] = cp;
    }

    /// What machines with work of their own come to.
    fn works(
        &self,
        guests: &Guests,
        (costs, room): (&CpCosts, &Room),
        cp: &mut Cp,
        (slowed, colder): (f64, f64),
    ) -> (All, Going) {
        cp.kinds.resize(guests.kinds.len(), Crowd::default());
        let each: Vec<Segment> = (0..guests.kinds.len())
            .map(|of| self.transaction(guests, of, cp, costs))
            .collect();
        let time = |of: &Segment| (costs.time_of(of) + colder) * slowed;
        let times: Vec<f64> = each.iter().map(time).collect();
        let (held, turns, all) = serve(guests, &times, room, cp);
        let mut going = going(guests, &each, (&held, &turns, &times), cp);
        let mut pairs = guests.kinds.iter().zip(&held);
        let falls_behind = |(kind, held): (&Kind, &Option<f64>)| {
            held.is_some() && matches!(kind.coming, Arrivals::Open(_))
        };
        going.overrun = all.overrun || pairs.any(falls_behind);
        cp.frames = vec![0.0; guests.switches.len()];
        for (kind, now) in guests.kinds.iter().zip(&cp.kinds) {
            if let Some((switch, frames)) = kind.sends {
                cp.frames[switch] += f64::from(kind.count) * now.per_ns * frames;
            }
        }
        (all, going)
    }

    /// What a transaction of a kind of machine executes, and what it waits for on top.
    fn transaction(&self, guests: &Guests, of: usize, cp: &Cp, costs: &CpCosts) -> Segment {
        let (kind, now) = (&guests.kinds[of], &cp.kinds[of]);
        let mut all = Segment::default();
        all.execute(Owner::Guest, kind.instructions);
        if matches!(kind.coming, Arrivals::Always(..)) {
            return all;
        }
        let mut woken = signalling(guests, costs, cp.busy);
        woken.execute(Owner::Chargeable, guests.zvm.paths.interruption);
        woken.repeat(&costs.dispatch, 1.0);
        let wakes = if now.per_ns > 0.0 {
            now.found_idle
        } else {
            1.0
        };
        let used = if now.per_ns > 0.0 {
            in_turn(kind, now)
        } else {
            1.0
        };
        let comes = Comes {
            guest: kind.instructions / wakes.max(1e-3),
            away_ns: (used - now.ready).max(0.0) / (now.per_ns * wakes).max(1e-15),
            busy: cp.busy,
            beside: cp.beside,
            waits: cp.waits,
            among: among(guests, cp),
        };
        let cold = costs.cold(guests, &self.tree, &comes);
        woken.repeat(&cold, 1.0);
        all.repeat(&woken, wakes);
        let signals = 1.0 - 1.0 / f64::from(kind.cpus);
        all.execute(Owner::Chargeable, signals * guests.zvm.paths.interruption);
        if let Some((port, frames)) = kind.sends.and_then(|(at, n)| Some((cp.ports.get(at)?, n))) {
            all.repeat(&port.frame, frames);
        }
        let turns = cp.waits * turns(kind.instructions * costs.instruction_ns, guests);
        all.repeat(&costs.dispatch, turns);
        all.repeat(&cold, turns);
        all
    }

    /// Adds what the Control Program does for nobody in particular, which follows from how often
    /// processors change their work.
    fn cp_works(
        &self,
        guests: &Guests,
        (costs, all): (&CpCosts, &All),
        cp: &mut Cp,
        going: &mut Going,
    ) {
        let looked = [(&costs.found, all.waits), (&costs.nothing, 1.0 - all.waits)];
        let mut looking = 0.0;
        for (segment, share) in looked {
            going.all.repeat(segment, going.dispatches * share);
            looking += going.dispatches * share * costs.time_of(segment);
        }
        cp.waits = all.waits;
        cp.speed = all.speed;
        cp.beside = all.beside();
        cp.busy = (all.busy + looking).min(guests.lps());
        self.cp_locks(guests, costs, cp, going);
    }

    /// How long processors wait for the locks of the scheduler and of dispatch vectors.
    fn cp_locks(&self, guests: &Guests, costs: &CpCosts, cp: &mut Cp, going: &Going) {
        let locks = &guests.zvm.locks;
        let window_ns = self.machine.hypervisor.window_ns as f64;
        let holding = |more| Holding::of(locks, costs.instruction_ns, costs.transfer_ns, more);
        let (lps, alone) = (guests.lps(), holding(0.0));
        let readers = readers_ns(going.dispatches * locks.dispatch, alone.held_ns);
        let closing = holding((lps - 1.0).max(0.0) * costs.transfer_ns + readers);
        cp.scheduler.taken = going.dispatches * locks.ready * window_ns;
        cp.scheduler.usual = cp.scheduler.taken;
        cp.scheduler.close(lps, closing, window_ns);
        let each = going.dispatches * locks.dispatch * window_ns / costs.vectors;
        cp.door.taken = 2.0 * each;
        cp.door.usual = cp.door.taken;
        cp.door.close(lps / costs.vectors, alone, window_ns);
    }

    /// What all of it is to the hypervisor, and to caches and links.
    fn told(
        &mut self,
        at: usize,
        form: &Form,
        (guests, room): (&Guests, &Room),
        (going, all, slowed): (&Going, &All, f64),
    ) {
        let doing = &mut self.doing[at];
        let bursts = if going.done > 0.0 { going.done } else { 1e-9 };
        let alone = going.all.all_instructions() * doing.ns[1] + going.all.extra.ns;
        let together = 1.0 - all.beside() * (1.0 - room.paired);
        let busy = ((alone + doing.reload_ns * going.done) * slowed / together).min(guests.lps());
        let variance = (all.squares - all.busy * all.busy).max(0.0);
        let mut with = [0.0; THREADS];
        let cores = f64::from(guests.open);
        if guests.smt < 2.0 {
            with[1] = busy;
        } else {
            with[2] = (0.5 * all.beside() * busy).max(busy - cores).min(cores);
            with[1] = (busy - 2.0 * with[2]).min(cores - with[2]).max(0.0);
        }
        let vps = with[1] + with[2];
        let thinned = (1.0 - with[2] / vps.max(1e-9)).powi(2);
        doing.load = Load {
            with,
            vps,
            vps_variance: variance * thinned,
            runnable: all.ready + going.ready,
            bursts_per_ns: going.done,
            wakes_per_ns: going.wakes * (1.0 - all.beside()),
            ..Load::default()
        };
        doing.burst = going.all.all_instructions() / bursts;
        doing.extra = Beside {
            ns: going.all.extra.ns / bursts,
            books: going.all.extra.books.map(|ns| ns / bursts),
            spin_instructions: going.all.extra.spin_instructions / bursts,
        };
        debug_assert!(form.guests.is_some());
    }
}

/// What machines come to: those that have what they want by chance, the others by their shares.
fn serve(
    guests: &Guests,
    times: &[f64],
    room: &Room,
    cp: &mut Cp,
) -> (Vec<Option<f64>>, Turns, All) {
    let there = room.work(room.lps);
    let alone = |at: usize| crowd(&[station(guests, times, at)], room, 1.0).0[0];
    let free: Vec<Crowd> = (0..times.len())
        .map(|at| match guests.kinds[at].coming {
            Arrivals::Closed(..) => alone(at),
            _ => Crowd::default(),
        })
        .collect();
    let mut held = held_back(guests, times, &free, there);
    let even = guests.kinds.iter().all(|kind| {
        let each = |of: &Kind| of.share / f64::from(of.cpus);
        (each(kind) / each(&guests.kinds[0]) - 1.0).abs() < 1e-9
    });
    for (held, kind) in held.iter_mut().zip(&guests.kinds) {
        let free = kind.limit.is_infinite() && kind.pool.is_none();
        if even && free && matches!(kind.coming, Arrivals::Closed(..)) {
            *held = None;
        }
    }
    let rest: Vec<usize> = (0..times.len()).filter(|at| held[*at].is_none()).collect();
    let turns = Turns::of(guests, &held, (times, cp), room.lps);
    let longer = times.iter().zip(&turns.slower);
    let longer: Vec<f64> = longer.map(|(time, by)| time * by).collect();
    let stations: Vec<Station> = rest
        .iter()
        .map(|at| station(guests, &longer, *at))
        .collect();
    let guess = if cp.speed > 0.0 { cp.speed } else { 1.0 };
    // Those that wait for turns of others are in nobody's way.
    let thinned = Room {
        lps: room.lps * turns.thinned,
        ..room.clone()
    };
    let (found, mut all) = crowd(&stations, &thinned, guess);
    for (at, found) in rest.into_iter().zip(found) {
        cp.kinds[at] = found;
    }
    for (at, granted) in held.iter().enumerate() {
        if let Some(granted) = granted {
            all.join(hold(cp, (guests, times, at), *granted), room);
        }
    }
    (held, turns, all)
}

fn station(guests: &Guests, times: &[f64], at: usize) -> Station {
    let kind = &guests.kinds[at];
    Station {
        count: kind.count,
        cpus: kind.cpus,
        coming: kind.coming,
        service_ns: times[at],
    }
}

/// A kind of machine that gets less than it wants; processors that all of it keeps at work.
fn hold(cp: &mut Cp, (guests, times, at): (&Guests, &[f64], usize), granted: f64) -> f64 {
    let kind = &guests.kinds[at];
    let per_ns = granted / times[at];
    let inside = match kind.coming {
        Arrivals::Closed(users, away_ns) => (users - per_ns * away_ns).max(0.0),
        _ => f64::INFINITY,
    };
    cp.kinds[at] = Crowd {
        inside,
        per_ns,
        ready: f64::from(kind.cpus),
        found_idle: 0.0,
    };
    f64::from(kind.count) * granted
}

/// Adds up what all machines do.
fn going(
    guests: &Guests,
    each: &[Segment],
    (held, waits, times): (&[Option<f64>], &Turns, &[f64]),
    cp: &Cp,
) -> Going {
    let mut all = Going::default();
    for (at, kind) in guests.kinds.iter().enumerate() {
        let (now, count) = (&cp.kinds[at], f64::from(kind.count));
        let done = count * now.per_ns;
        if let Arrivals::Always(threads, _) = kind.coming {
            let cores = count * held[at].unwrap_or_else(|| threads.min(now.ready) * cp_speed(cp));
            all.all.repeat(&each[at], cores / times[at]);
            all.dispatches += cp.waits * cores / guests.zvm.minor_slice_ns as f64;
            continue;
        }
        all.all.repeat(&each[at], done);
        let turns = cp.waits * turns(times[at], guests);
        all.dispatches += done * (now.found_idle + turns);
        all.wakes += done * now.found_idle * (1.0 - cp.waits);
        all.done += done;
        let (here, time) = (
            now.inside / now.per_ns.max(1e-300),
            times[at] * waits.slower[at],
        );
        let waited = (here - time).max(0.0) * 0.5 * (1.0 + kind.spread);
        all.inside += done * (here.min(time) + waited);
        if held[at].is_some() {
            all.ready += count * now.ready;
        }
    }
    all
}

fn cp_speed(cp: &Cp) -> f64 {
    if cp.speed > 0.0 {
        cp.speed
    } else {
        1.0
    }
}

/// Turns of a transaction of that length after which others come first, if others wait: as many
/// slices as fit in, of work that varies like chance.
fn turns(time_ns: f64, guests: &Guests) -> f64 {
    1.0 / ((guests.zvm.minor_slice_ns as f64 / time_ns.max(1.0)).exp() - 1.0)
}

/// Virtual processors of a machine among which its work is, as if they had equal parts: the first
/// that waits takes what comes, so that each has what those before it lose.
fn in_turn(kind: &Kind, now: &Crowd) -> f64 {
    let mut lost = 1.0;
    let (mut parts, mut squares) = (0.0, 0.0);
    for n in 1..=kind.cpus {
        let next = now.ready * lost / (f64::from(n) + now.ready * lost);
        let part: f64 = lost - next;
        parts += part;
        squares += part * part;
        lost = next;
    }
    parts * parts / squares.max(1e-300)
}

/// The same of all machines.
fn among(guests: &Guests, cp: &Cp) -> f64 {
    let pairs = guests.kinds.iter().zip(&cp.kinds);
    let of = |(kind, now): (&Kind, &Crowd)| f64::from(kind.count) * in_turn(kind, now);
    pairs.map(of).sum()
}
