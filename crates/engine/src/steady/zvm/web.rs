//! Clients and servers that z/VM runs: closed queues of connections, each with one transaction on
//! its way, at virtual processors that have to share the logical ones.
//!
//! Virtual processors are stations of one server each. Where logical ones are scarce, who is put on
//! waits for one first; who has more to do goes on.

use crate::guest::zvm::segment::{Owner, Segment};
use crate::steady::cp::crowd::{All, Room};
use crate::steady::cp::figures::Cp;
use crate::steady::cp::guests::{Guests, Tile};
use crate::steady::cp::station::Crowd;
use crate::steady::layout::state::State;
use crate::steady::queues::chances::{above, mean_beyond};
use crate::steady::zvm::costs::{signalling, Comes, CpCosts};
use crate::steady::zvm::step::Going;

/// Steps towards the mean numbers at virtual processors.
const STEPS: usize = 200;
/// Change of the throughput from which on these count as found.
const FOUND: f64 = 1e-6;
/// Steps towards how long logical processors are waited for.
const WAITS: usize = 20;

impl State {
    /// What clients and servers come to: what all virtual processors do, and what is executed.
    pub(in crate::steady) fn web(
        &self,
        guests: &Guests,
        (costs, room): (&CpCosts, &Room),
        cp: &mut Cp,
        (slowed, colder): (f64, f64),
    ) -> (All, Going) {
        cp.tiles.resize(guests.tiles.len(), [Crowd::default(); 2]);
        let each: Vec<[Segment; 2]> = (0..guests.tiles.len())
            .map(|at| [0, 1].map(|side| self.message(guests, (at, side), cp, costs)))
            .collect();
        let time = |of: &Segment| (costs.time_of(of) + 0.5 * colder) * slowed;
        let times: Vec<[f64; 2]> = each.iter().map(|of| [time(&of[0]), time(&of[1])]).collect();
        let all = settle(guests, &times, room, cp);
        let mut going = Going::default();
        cp.frames = vec![0.0; guests.switches.len()];
        for ((tile, now), each) in guests.tiles.iter().zip(&cp.tiles).zip(&each) {
            let per_ns = now[1].per_ns;
            for side in 0..2 {
                going.all.repeat(&each[side], per_ns);
                let found = per_ns * tile.messages[side] * now[side].found_idle;
                going.dispatches += found;
                going.wakes += found * (1.0 - all.waits);
                cp.frames[tile.switch] += per_ns * tile.frames[side];
            }
            going.done += per_ns;
            going.inside += tile.connections - per_ns * tile.think_ns;
        }
        (all, going)
    }

    /// What a server, or a client, executes for a transaction.
    fn message(
        &self,
        guests: &Guests,
        (at, side): (usize, usize),
        cp: &Cp,
        costs: &CpCosts,
    ) -> Segment {
        let (tile, now) = (&guests.tiles[at], &cp.tiles[at][side]);
        let mut woken = signalling(guests, costs, cp.busy);
        woken.execute(Owner::Chargeable, guests.zvm.paths.interruption);
        woken.repeat(&costs.dispatch, 1.0);
        let messages = tile.messages[side];
        let found = found(now);
        let each_ns = tile.cpus[side] / (now.per_ns * messages * found).max(1e-15);
        let comes = Comes {
            guest: tile.instructions[side] / found.max(1e-3),
            away_ns: each_ns * (1.0 - now.ready / tile.cpus[side]).max(0.0),
            busy: cp.busy,
            beside: cp.beside,
            waits: cp.waits,
            among: guests
                .tiles
                .iter()
                .map(|of| of.cpus.iter().sum::<f64>())
                .sum(),
        };
        let mut all = Segment::default();
        all.execute(Owner::Guest, tile.instructions[side]);
        // The end of a think time touches nothing of the guest's.
        all.repeat(&costs.cold(guests, &self.tree, &comes), found);
        all.repeat(&woken, messages * found);
        let signals = messages * tile.signal_shares[side];
        all.execute(Owner::Chargeable, signals * guests.zvm.paths.interruption);
        if let Some(port) = cp.ports.get(tile.switch) {
            all.repeat(&port.frame, tile.frames[side]);
        }
        all
    }
}

/// What a tile comes to where nothing is waited for but virtual processors.
#[derive(Clone, Copy, Default)]
struct Closed {
    /// Transactions in a nanosecond.
    per_ns: f64,
    /// Virtual processors with work, of servers and of clients, and the variance of all.
    busy: [f64; 2],
    variance: f64,
}

impl Closed {
    fn of(tile: &Tile, times: [f64; 2]) -> Self {
        if tile.think_ns > 0.0 {
            Self::thinking(tile, times)
        } else {
            Self::always(tile, times)
        }
    }

    /// All connections are always at a server or a client. As many are at the servers with the
    /// weight of all ways to lie on their virtual processors, each as likely; slowing all of them
    /// down alike changes nothing in that.
    fn always(tile: &Tile, times: [f64; 2]) -> Self {
        let all = tile.connections as usize;
        let logs = [0, 1].map(|side| ways(tile.cpus[side], times[side], all));
        let weight = |n: usize| logs[0][n] + logs[1][all - n];
        let most = (0..=all).map(weight).fold(f64::NEG_INFINITY, f64::max);
        let (mut sum, mut told, mut squares) = (0.0, Self::default(), 0.0);
        for n in 0..=all {
            let p = (weight(n) - most).exp();
            if p < 1e-12 {
                continue;
            }
            let (servers, apart) = nonempty(tile.cpus[0], n as f64);
            let (clients, aside) = nonempty(tile.cpus[1], (all - n) as f64);
            sum += p;
            told.busy[0] += p * servers;
            told.busy[1] += p * clients;
            told.variance += p * (apart + aside);
            squares += p * (servers + clients).powi(2);
        }
        told.busy = told.busy.map(|busy| busy / sum);
        let mean = told.busy[0] + told.busy[1];
        told.variance = told.variance / sum + (squares / sum - mean * mean).max(0.0);
        told.per_ns = told.busy[1] / times[1].max(1e-9);
        told
    }

    /// Connections think between two transactions: what a message finds at a virtual processor is
    /// what is there of the others' (Schweitzer 1979).
    fn thinking(tile: &Tile, times: [f64; 2]) -> Self {
        let others = 1.0 - 1.0 / tile.connections;
        let (mut there, mut per_ns) = ([0.0; 2], 0.0_f64);
        for _ in 0..STEPS {
            let stay: [f64; 2] = std::array::from_fn(|side| {
                times[side] * (1.0 + others * there[side] / tile.cpus[side])
            });
            let before = per_ns;
            per_ns = tile.connections / (tile.think_ns + stay[0] + stay[1]);
            there = stay.map(|stay| per_ns * stay);
            if (per_ns - before).abs() < FOUND * per_ns {
                break;
            }
        }
        let busy: [f64; 2] =
            std::array::from_fn(|side| (per_ns * times[side]).min(tile.cpus[side]));
        let variance = (0..2).map(|side| busy[side] * (1.0 - busy[side] / tile.cpus[side]));
        Self {
            per_ns,
            busy,
            variance: variance.sum(),
        }
    }
}

/// Logarithms of the weights of 0 to all connections at so many virtual processors.
fn ways(cpus: f64, time_ns: f64, all: usize) -> Vec<f64> {
    let mut now = 0.0;
    let next = (0..all).map(|n| {
        let n = n as f64;
        now += ((n + cpus) / (n + 1.0) * time_ns.max(1e-9) / cpus).ln();
        now
    });
    let mut logs = vec![0.0];
    logs.extend(next);
    logs
}

/// Virtual processors of so many that have work, and their variance, where each way to lie on them
/// is as likely.
fn nonempty(cpus: f64, inside: f64) -> (f64, f64) {
    if inside < 1.0 {
        return (0.0, 0.0);
    }
    let all = cpus + inside - 1.0;
    let apart = cpus * (cpus - 1.0) * inside * (inside - 1.0);
    let variance = if all > 1.0 {
        apart / (all * all * (all - 1.0))
    } else {
        0.0
    };
    (cpus * inside / all, variance)
}

/// What tiles come to on some logical processors, and how long one that is put on waits for these:
/// as many wait as there are more with work than processors, by Little's law. Who finds more to do
/// goes on where it is.
fn settle(guests: &Guests, times: &[[f64; 2]], room: &Room, cp: &mut Cp) -> All {
    let mut all = All::none();
    for _ in 0..WAITS {
        let paired = cp.busy.max(1e-9) / room.work(cp.busy.max(1e-9)).max(1e-12);
        let (mut ready, mut variance, mut waiting, mut puts) = (0.0, 0.0, 0.0, 0.0);
        for ((tile, times), now) in guests.tiles.iter().zip(times).zip(&mut cp.tiles) {
            let waits = [0, 1].map(|side| tile.messages[side] * found(&now[side]) * cp.wait_ns);
            let longer = [0, 1].map(|side| times[side] * paired + waits[side]);
            let found = Closed::of(tile, longer);
            variance += tile.spread * found.variance;
            for (side, now) in now.iter_mut().enumerate() {
                let idle = (1.0 - found.busy[side] / tile.cpus[side]).clamp(0.0, 1.0);
                let before = self::found(now);
                *now = Crowd {
                    per_ns: found.per_ns,
                    ready: found.busy[side],
                    found_idle: before + 0.5 * (idle - before),
                    ..Crowd::default()
                };
                ready += found.busy[side];
                waiting += found.per_ns * waits[side];
                puts += found.per_ns * tile.messages[side] * now.found_idle;
            }
        }
        let running = (ready - waiting).min(room.lps);
        let varies = variance * (running / ready.max(1e-9)).min(1.0);
        all = All {
            busy: running,
            squares: running * running + varies,
            pairs: room.pairs_about(running, varies),
            ready,
            waits: beyond(ready, variance, room.lps),
            speed: running / ready.max(1e-9),
            overrun: false,
        };
        let wait_ns = mean_beyond(ready, variance, room.lps) / puts.max(1e-15);
        let change = (wait_ns - cp.wait_ns).abs() * puts / ready.max(1e-9);
        cp.wait_ns += 0.5 * (wait_ns - cp.wait_ns);
        if change < FOUND {
            break;
        }
    }
    all
}

/// Share of the messages that find their virtual processor without work; all before anything is
/// known.
fn found(now: &Crowd) -> f64 {
    if now.per_ns > 0.0 {
        now.found_idle
    } else {
        1.0
    }
}

/// Chance that more want a processor than there are.
fn beyond(mean: f64, variance: f64, there: f64) -> f64 {
    let deviation = variance.sqrt();
    if deviation < 1e-9 {
        return f64::from(u8::from(mean > there));
    }
    let z = (there - mean) / deviation;
    if z < 0.0 {
        1.0 - above(-z)
    } else {
        above(z)
    }
}
