//! Logical cores that z/VM leaves unparked: its own rule, asked with what it would see of a steady
//! state, until it wants as many as there are.

use crate::guest::zvm::park::{Cores, History, Observation, Parking};
use crate::hypervisor::grants::{grants, Claim};
use crate::hypervisor::polarize;
use crate::steady::cp::guests::Guests;
use crate::steady::layout::form::Form;
use crate::steady::layout::scope::Scope;
use crate::steady::layout::state::{Doing, State};
use crate::steady::settle::settle;
use crate::steady::windows::share::{claim, whole};

/// Times that cores are parked or unparked before it is left at that.
const MOST_TIMES: usize = 12;
/// What is seen in turn, by its standard deviation: their mean is 0, what is estimated from them 1.
const SEEN: [f64; 5] = [
    0.0,
    -std::f64::consts::SQRT_2,
    0.0,
    std::f64::consts::SQRT_2,
    0.0,
];

/// Iterates to the fixed point, with as many logical cores of z/VM unparked as it then wants. The
/// iterations that it took.
pub(in crate::steady) fn settle_parked(
    state: &mut State,
    forms: &[&Form],
    scope: &Scope,
    settled: f64,
) -> usize {
    let mut parked: Vec<Option<Form>> = forms.iter().map(|_| None).collect();
    let (mut steps, mut pinned) = (0, vec![false; forms.len()]);
    for times in 1..=MOST_TIMES {
        let pairs = parked.iter().zip(forms);
        let now: Vec<&Form> = pairs
            .map(|(new, old)| new.as_ref().unwrap_or(old))
            .collect();
        steps += settle(state, &now, scope, settled);
        let mut wants = |at: usize| {
            state.turn_to(now[at].core_type);
            state.wanted(at, &now)
        };
        let wanted: Vec<Option<u16>> = (0..now.len()).map(&mut wants).collect();
        state.turn_to(0);
        let mut changed = Vec::new();
        for (at, wanted) in wanted.into_iter().enumerate() {
            let open = now[at].guests.as_ref().map_or(0, |guests| guests.open);
            // Who has left as many would leave them again and go on for ever: he stays there.
            let wanted = wanted.filter(|_| !pinned[at]).unwrap_or(open);
            if wanted != open {
                changed.push((at, forms[at].unparked(&state.tree, wanted)));
            }
            pinned[at] |= wanted > open;
        }
        // What is parked or unparked last has to come to rest as well.
        if changed.is_empty() || times == MOST_TIMES {
            break;
        }
        for (at, form) in changed {
            state.park(at, &form);
            parked[at] = Some(form);
        }
    }
    steps
}

impl State {
    /// A partition runs on fewer or more of its logical cores.
    fn park(&mut self, at: usize, form: &Form) {
        let (entitled, allowed) = (self.doing[at].entitled, self.doing[at].allowed);
        let served = self.doing[at].served;
        self.take(at, form);
        let doing = &mut self.doing[at];
        (doing.entitled, doing.allowed, doing.served) = (entitled, allowed, served);
        doing.due = entitled * allowed;
    }

    /// Logical cores that z/VM wants unparked; none where it does not park.
    fn wanted(&self, at: usize, forms: &[&Form]) -> Option<u16> {
        let guests = forms[at]
            .guests
            .as_ref()
            .filter(|guests| guests.zvm.vertical)?;
        let (doing, zvm) = (&self.doing[at], &guests.zvm);
        let interval_ns = zvm.park_interval_ns as f64;
        let sharing = |other: &usize| {
            let form = forms[*other];
            *other != at && !form.owns && form.core_type == forms[at].core_type
        };
        let others: Vec<usize> = (0..forms.len()).filter(sharing).collect();
        let varied = others
            .iter()
            .map(|at| variance(&self.doing[*at], interval_ns));
        let varied: f64 = variance(doing, interval_ns) + varied.sum::<f64>();
        let beyond = self.could_exceed(at, &others, forms);
        let (own, others) = (variance(doing, interval_ns).sqrt(), varied.sqrt());
        let mut history = History::new();
        for seen in SEEN {
            history.push(Observation {
                used_cores: (doing.cores() + seen * own).max(0.0),
                excess_cores: (beyond - seen * others).max(0.0),
            });
        }
        let parking = Parking {
            unparking: zvm.unparking,
            cpupad: zvm.cpupad,
            excessuse: zvm.excessuse,
        };
        Some(parking.unparked(&history, entitled(guests, doing, forms[at])))
    }

    /// What PR/SM could give one beyond its entitlement beside what others use, by the rule of
    /// `hypervisor::power` [cores].
    fn could_exceed(&self, at: usize, others: &[usize], forms: &[&Form]) -> f64 {
        if forms[at].owns {
            return 0.0;
        }
        let need = |at: usize, wants: f64| {
            let (doing, form) = (&self.doing[at], forms[at]);
            Claim {
                wants,
                entitled: doing.entitled * doing.allowed,
                limit: whole(doing, form),
                ..claim(doing, form, 0.0)
            }
        };
        let online = forms[at].guests.as_ref().map_or(0, |guests| guests.online);
        let own = need(at, f64::from(online));
        let others = others.iter().map(|at| need(*at, self.doing[*at].cores()));
        let claims: Vec<Claim> = std::iter::once(own).chain(others).collect();
        let cores: f64 = self.free.iter().sum();
        (grants(&claims, cores, &self.limits)[0] - own.entitled).max(0.0)
    }
}

/// Logical cores by entitlement.
fn entitled(guests: &Guests, doing: &Doing, form: &Form) -> Cores {
    let online = guests.online;
    let low = if form.owns {
        0
    } else {
        polarize(doing.entitled, online).low
    };
    let entitlement = if form.owns {
        f64::from(online)
    } else {
        doing.entitled * doing.allowed
    };
    Cores {
        online,
        entitled: online - low,
        entitlement,
    }
}

/// Variance of the cores that are used in an interval: what is there at a time is forgotten in
/// about as long as a burst takes.
fn variance(doing: &Doing, interval_ns: f64) -> f64 {
    let load = &doing.load;
    if load.bursts_per_ns <= 0.0 {
        return 0.0;
    }
    let burst_ns = (load.vps / load.bursts_per_ns).min(interval_ns);
    2.0 * load.vps_variance * burst_ns / interval_ns
}
