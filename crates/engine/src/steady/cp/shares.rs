//! Who of z/VM's machines gets less than it wants: what shares are worth first, the rest in
//! proportion, within limits and those of CPU pools. Who wants less than that has it before the
//! others.

use crate::hypervisor::grants::{grants, Claim};
use crate::steady::cp::guests::{Guests, Kind};
use crate::steady::cp::station::Crowd;
use crate::steady::queues::demand::Arrivals;

/// Processors of each machine of a kind that does not get all it wants; none of one that does.
/// `times` are those of a transaction [ns], `found` what each would come to.
pub(in crate::steady) fn held_back(
    guests: &Guests,
    times: &[f64],
    found: &[Crowd],
    there: f64,
) -> Vec<Option<f64>> {
    let wants: Vec<f64> = (0..guests.kinds.len())
        .map(|at| wants(&guests.kinds[at], times[at], found.get(at)))
        .collect();
    let pooled = !guests.zvm.cpu_pools.is_empty();
    let claims = |soft: bool| -> Vec<Claim> {
        let pairs = guests.kinds.iter().zip(&wants);
        pairs
            .map(|(kind, wants)| Claim {
                // Within a pool's limit nobody is promised anything: all fill up at one rate.
                entitled: if pooled { 0.0 } else { entitled(kind, there) },
                ..claim(kind, *wants, there, soft)
            })
            .collect()
    };
    let pools = guests.pools(there);
    let mut granted = grants(&claims(true), there, &pools);
    if there - granted.iter().sum::<f64>() > 1e-9 {
        // Soft limits give way while processors idle.
        let more: Vec<Claim> = claims(false)
            .into_iter()
            .zip(&granted)
            .map(|(claim, had)| Claim {
                entitled: had.max(claim.entitled),
                ..claim
            })
            .collect();
        granted = grants(&more, there, &pools);
    }
    let told = guests.kinds.iter().zip(wants).zip(granted);
    told.map(|((kind, wants), got)| {
        (got < wants * (1.0 - 1e-6)).then(|| got / f64::from(kind.count))
    })
    .collect()
}

/// Processors that all machines of a kind want.
fn wants(kind: &Kind, time_ns: f64, found: Option<&Crowd>) -> f64 {
    let most = f64::from(kind.cpus);
    let each = match kind.coming {
        Arrivals::Open(per_ns) => per_ns * time_ns,
        Arrivals::Closed(..) => found.map_or(0.0, |of| of.per_ns * time_ns),
        Arrivals::Always(..) => most,
        Arrivals::Never => 0.0,
    };
    f64::from(kind.count) * each
}

/// What all machines of a kind are promised.
fn entitled(kind: &Kind, there: f64) -> f64 {
    f64::from(kind.count) * kind.share * there
}

fn claim(kind: &Kind, wants: f64, there: f64, soft: bool) -> Claim {
    let count = f64::from(kind.count);
    let limit = if kind.hard || soft {
        kind.limit
    } else {
        f64::INFINITY
    };
    Claim {
        wants: wants.min(count * f64::from(kind.cpus)),
        limit: count * limit * there,
        weight: (count * kind.share).max(1e-9),
        group: kind.pool,
        ..Claim::default()
    }
}
