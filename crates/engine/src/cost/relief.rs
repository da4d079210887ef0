//! How long lines wait at ports of which more is asked than they carry.
//!
//! Threads that compute for a time `t` between lines and then wait `w` at a port ask for
//! `T / (t + w)` lines in a window in which they run for `T` in all. Where that is more than the
//! port carries at `w = 0`, it is held back: w is what makes them equal. With several kinds of
//! work c, of which each wants `l` lines an instruction of several ports p,
//!
//! ```text
//! sum over c of T l(c,p) / (t(c) + sum over p of l(c,p) w(p))  =  carried(p)    where w(p) > 0
//!                                                             <=  carried(p)    elsewhere
//! ```
//! These are the conditions of a maximum of a concave function, the same as in emission tomography
//! (Shepp and Vardi, Maximum likelihood reconstruction for emission tomography, 1982), and so is
//! the way to it: each wait is multiplied by what is asked over what is carried. No step makes a
//! wait negative, none moves away, and work that asks alike is held back alike.
//!
//! What a window carried beyond its time, because work changed, is taken off the next.

use super::fabric::Fabric;
use crate::ids::{ById, PortId};

/// Steps a window: what is left over goes into the next.
const STEPS: usize = 30;
/// Change of all waits in proportion at which they count as found.
const FOUND: f64 = 1e-9;
/// Least share of a port that a window has, whatever earlier ones carried too much.
const LEAST: f64 = 0.05;
/// A wait below which there is none [ns].
const NONE_NS: f64 = 1e-9;

/// Work that asked for lines in a window.
#[derive(Clone, Copy, Debug)]
struct Asker {
    /// Time for which its threads ran [ns].
    time_ns: f64,
    /// Time of an instruction but for waits at ports [ns].
    alone_ns: f64,
    /// Where its wants end.
    end: usize,
}

/// Who asked for what in a window.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    askers: Vec<Asker>,
    /// Lines an instruction wants of a port.
    wants: Vec<(PortId, f64)>,
}

impl Asked {
    /// One thing that the next one wants.
    #[inline]
    pub fn want(&mut self, port: PortId, lines: f64) {
        self.wants.push((port, lines));
    }

    /// Work that ran for a time and wants what was said since the last.
    pub fn add(&mut self, time_ns: f64, alone_ns: f64) {
        let end = self.wants.len();
        self.askers.push(Asker {
            time_ns,
            alone_ns,
            end,
        });
    }

    /// Sets the waits at all ports for work that asks as it did in this window.
    pub fn relieve(&self, fabric: &mut Fabric, window_ns: f64) {
        let ports = fabric.all();
        let carries: ById<PortId, f64> = ports
            .iter()
            .map(|port| (port.most * window_ns - port.behind).max(LEAST * port.most * window_ns))
            .collect();
        let mut waits: ById<PortId, f64> = ports.iter().map(|port| port.toll.wait_ns).collect();
        self.begin(&carries, &mut waits);
        for _ in 0..STEPS {
            if self.step(&carries, &mut waits) < FOUND {
                break;
            }
        }
        for (port, wait) in ports.iter_mut().zip(&waits) {
            port.toll.wait_ns = if *wait < NONE_NS { 0.0 } else { *wait };
        }
        fabric.forget();
    }

    /// Ports that are new to waiting begin with what would do if the others' waits stayed as they
    /// are.
    fn begin(&self, carries: &ById<PortId, f64>, waits: &mut ById<PortId, f64>) {
        let (asked, time) = self.asked(waits);
        for port in asked.ids() {
            let (asked, carries) = (asked[port], carries[port]);
            if waits[port] == 0.0 && asked > carries {
                waits[port] = time[port] / asked * (1.0 / carries - 1.0 / asked);
            }
        }
    }

    /// One step; the largest change of a wait in proportion.
    fn step(&self, carries: &ById<PortId, f64>, waits: &mut ById<PortId, f64>) -> f64 {
        let (asked, _) = self.asked(waits);
        let mut change = 0.0_f64;
        for (port, wait) in asked.ids().zip(waits.iter_mut()) {
            if *wait > 0.0 {
                let factor = asked[port] / carries[port];
                *wait *= factor;
                change = change.max((factor - 1.0).abs());
            }
        }
        change
    }

    /// Lines asked of each port while so long is waited there, and the time of those that ask,
    /// weighted by what they ask.
    fn asked(&self, waits: &ById<PortId, f64>) -> (ById<PortId, f64>, ById<PortId, f64>) {
        let mut asked: ById<PortId, f64> = vec![0.0; waits.len()].into();
        let mut time = asked.clone();
        let mut first = 0;
        for asker in &self.askers {
            let wants = &self.wants[first..asker.end];
            first = asker.end;
            let waited: f64 = wants.iter().map(|(port, lines)| lines * waits[*port]).sum();
            let instructions = asker.time_ns / (asker.alone_ns + waited);
            for (port, lines) in wants {
                let lines = instructions * lines;
                asked[*port] += lines;
                time[*port] += lines * asker.time_ns;
            }
        }
        (asked, time)
    }
}
