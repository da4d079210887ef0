//! What a spec must satisfy before it is run. The Python front refuses most of this earlier, with
//! file and line; this is the last line, so that the engine never meets numbers that it can't
//! simulate.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::machine::{self, MachineFault};
use crate::spec::{Partition, Processors, Profile, Spec, Workload};

/// What is wrong with a spec.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpecFault {
    /// The machine.
    #[error("{0}")]
    Machine(#[from] MachineFault),
    /// A number out of its range.
    #[error("{owner}: {field} is {value}, it must be {range}")]
    Range {
        /// Whose number.
        owner: String,
        /// Which.
        field: String,
        /// Value given.
        value: f64,
        /// What it must be.
        range: String,
    },
    /// Something named that is not there.
    #[error("{owner}: {field} {index} is not there, the machine has {count}")]
    NotThere {
        /// Whose reference.
        owner: String,
        /// What kind of thing.
        field: String,
        /// Index asked for.
        index: u64,
        /// How many there are.
        count: u64,
    },
    /// More capacity promised than there is.
    #[error("{owner}: {asked} cores are entitled, {available} are there")]
    Overcommitted {
        /// Pool.
        owner: String,
        /// Sum of entitlements [cores].
        asked: f64,
        /// Cores.
        available: f64,
    },
    /// Two things with one identity.
    #[error("{what} {name} occurs twice")]
    Twice {
        /// What kind of thing.
        what: String,
        /// Which.
        name: String,
    },
}

type Checked = Result<(), SpecFault>;

pub(super) fn check(spec: &Spec) -> Checked {
    machine::check(&spec.machine)?;
    check_times(spec)?;
    if spec.pools.is_empty() || spec.partitions.is_empty() {
        return Err(range(
            "scenario",
            "pools and partitions",
            0.0,
            "one or more of each",
        ));
    }
    if spec.partitions.len() > 4096 || spec.pools.len() > 4096 {
        let most = spec.partitions.len().max(spec.pools.len()) as f64;
        return Err(range(
            "scenario",
            "pools and partitions",
            most,
            "at most 4096",
        ));
    }
    let mut names: Vec<&str> = spec.partitions.iter().map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(SpecFault::Twice {
            what: "partition".into(),
            name: pair[0].into(),
        });
    }
    for partition in &spec.partitions {
        check_partition(spec, partition)?;
    }
    check_cores(spec)?;
    check_capacity(spec)
}

fn check_times(spec: &Spec) -> Checked {
    let limit = 1_000_000_000_000_000_000_u64;
    let times = [
        ("duration_ns", spec.duration_ns, 1),
        ("interval_ns", spec.interval_ns, 1),
        ("warmup_ns", spec.warmup_ns, 0),
    ];
    for (field, value, least) in times {
        if value < least || value > limit {
            return Err(range(
                "run",
                field,
                value as f64,
                "positive and at most 1e18",
            ));
        }
    }
    check_hypervisor_times(spec)?;
    let window = spec.machine.hypervisor.window_ns;
    if window < 1_000 || spec.machine.hypervisor.excess_quantum_ns < 1_000 {
        return Err(range(
            "hypervisor",
            "window_ns and excess_quantum_ns",
            window as f64,
            "1000 or more",
        ));
    }
    Ok(())
}

/// Longest time that anything may be set to [ns]: three years, so that no sum of times overflows.
const LONGEST_NS: u64 = 100_000_000_000_000_000;

fn check_hypervisor_times(spec: &Spec) -> Checked {
    let hypervisor = &spec.machine.hypervisor;
    let hour = 3_600_000_000_000;
    let times = [
        ("window_ns", hypervisor.window_ns, hour),
        ("excess_quantum_ns", hypervisor.excess_quantum_ns, hour),
        ("dispatch_ns", hypervisor.dispatch_ns, hour),
        ("cede_ns", hypervisor.cede_ns, hour),
        ("prod_ns", hypervisor.prod_ns, hour),
        ("confer_ns", hypervisor.confer_ns, hour),
        ("phantom_ns", hypervisor.phantom_ns, hour),
    ];
    at_most("hypervisor", &times)
}

fn at_most(owner: &str, times: &[(&str, u64, u64)]) -> Checked {
    match times.iter().find(|(_, value, most)| value > most) {
        Some((field, value, most)) => Err(range(
            owner,
            field,
            *value as f64,
            &format!("at most {most}"),
        )),
        None => Ok(()),
    }
}

fn check_partition(spec: &Spec, partition: &Partition) -> Checked {
    let owner = format!("partition {}", partition.name);
    let chips = u64::from(spec.machine.nodes) * u64::from(spec.machine.chips_per_node);
    for chip in partition
        .home
        .iter()
        .chain(partition.memory.iter().map(|m| &m.chip))
    {
        if u64::from(*chip) >= chips {
            return Err(SpecFault::NotThere {
                owner,
                field: "chip".into(),
                index: u64::from(*chip),
                count: chips,
            });
        }
    }
    if partition.home.is_empty() {
        return Err(range(&owner, "home", 0.0, "one chip or more"));
    }
    let shares: f64 = partition.memory.iter().map(|m| m.share).sum();
    if !((shares - 1.0).abs() < 1e-6) || partition.memory.iter().any(|m| !(m.share >= 0.0)) {
        return Err(range(
            &owner,
            "sum of memory shares",
            shares,
            "1, with no share negative",
        ));
    }
    if partition.smt == 0 || partition.smt > spec.machine.threads_per_core {
        let most = format!("1 to {}", spec.machine.threads_per_core);
        return Err(range(&owner, "smt", f64::from(partition.smt), &most));
    }
    check_processors(spec, partition, &owner)?;
    check_guest(partition, &owner)?;
    check_profile(&partition.profile, &owner)?;
    check_workload(&partition.workload, &owner)?;
    check_burst(spec, partition, &owner)
}

/// A burst shorter than the clock's resolution would never let time go on.
fn check_burst(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    let profile = &partition.profile;
    let bursts = match partition.workload {
        Workload::Transactions { bursts, .. } | Workload::Users { bursts, .. } => bursts,
        Workload::Loops { .. } | Workload::Idle => 1.0,
    };
    let unit_ns = profile.instructions_per_unit * profile.eicpi / spec.machine.clock_hz * 1e9;
    if unit_ns / bursts >= 1.0 {
        Ok(())
    } else {
        let field = "mean burst in ns";
        Err(range(owner, field, unit_ns / bursts, "1 or more"))
    }
}

fn check_processors(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    match &partition.processors {
        Processors::Shared {
            entitlement,
            r#virtual,
            pool,
            ..
        } => {
            if usize::from(*pool) >= spec.pools.len() {
                let (index, count) = (u64::from(*pool), spec.pools.len() as u64);
                return Err(SpecFault::NotThere {
                    owner: owner.into(),
                    field: "pool".into(),
                    index,
                    count,
                });
            }
            if *r#virtual == 0 || u32::from(*r#virtual) * u32::from(partition.smt) > 4096 {
                return Err(range(
                    owner,
                    "virtual",
                    f64::from(*r#virtual),
                    "1 or more, 4096 logical processors at most",
                ));
            }
            let most = f64::from(*r#virtual);
            if !(*entitlement > 0.0 && *entitlement <= most + 1e-9) {
                return Err(range(
                    owner,
                    "entitlement",
                    *entitlement,
                    &format!("above 0, at most {most}"),
                ));
            }
        }
        Processors::Dedicated {
            cores,
            donate_threshold_pct,
            ..
        } => {
            if cores.is_empty() || cores.len() > 512 {
                return Err(range(
                    owner,
                    "dedicated cores",
                    cores.len() as f64,
                    "1 to 512",
                ));
            }
            if !(0.0..=100.0).contains(donate_threshold_pct) {
                return Err(range(
                    owner,
                    "donate_threshold_pct",
                    *donate_threshold_pct,
                    "0 to 100",
                ));
            }
        }
    }
    Ok(())
}

/// Least rate of anything random [1/s]: once in three years, for the same reason.
const LEAST_RATE_PER_S: f64 = 1e-8;

fn check_guest(partition: &Partition, owner: &str) -> Checked {
    let crate::spec::Guest::Aix(aix) = &partition.guest;
    if !matches!(aix.throughput_mode, 0 | 1 | 2 | 4 | 8) {
        return Err(range(
            owner,
            "throughput_mode",
            f64::from(aix.throughput_mode),
            "0, 1, 2, 4 or 8",
        ));
    }
    if !(aix.fold_threshold_pct > 0.0 && aix.fold_threshold_pct <= 100.0) {
        return Err(range(
            owner,
            "fold_threshold_pct",
            aix.fold_threshold_pct,
            "above 0, at most 100",
        ));
    }
    if aix.tick_ns == 0
        || aix.timeslice_ns < 1_000
        || aix.rebalance_ns.is_some_and(|ns| ns < 1_000_000)
    {
        return Err(range(
            owner,
            "tick_ns, timeslice_ns, rebalance_ns",
            0.0,
            "positive, the last 1 ms or more",
        ));
    }
    let rate = aix.daemon_rate_per_s;
    if !(rate == 0.0 || (LEAST_RATE_PER_S..=1e6).contains(&rate)) {
        let most = "0, or 1e-8 to 1e6";
        return Err(range(owner, "daemon_rate_per_s", rate, most));
    }
    let times = [
        (
            "snooze_delay_ns",
            aix.snooze_delay_ns.unwrap_or(0),
            LONGEST_NS,
        ),
        ("tick_ns", aix.tick_ns, LONGEST_NS),
        ("tick_cost_ns", aix.tick_cost_ns, LONGEST_NS),
        ("timeslice_ns", aix.timeslice_ns, LONGEST_NS),
        ("rebalance_ns", aix.rebalance_ns.unwrap_or(0), LONGEST_NS),
        ("daemon_ns", aix.daemon_ns, LONGEST_NS),
    ];
    at_most(owner, &times)
}

fn check_profile(profile: &Profile, owner: &str) -> Checked {
    let positive = [
        (
            "instructions_per_unit",
            profile.instructions_per_unit,
            1.0,
            1e18,
        ),
        ("eicpi", profile.eicpi, 1e-3, 1e3),
        ("miss_c0_bytes", profile.miss_c0_bytes, 1.0, 1e15),
        ("miss_m0", profile.miss_m0, 0.0, 10.0),
        ("miss_exponent", profile.miss_exponent, 0.0, 10.0),
        ("issue_share", profile.issue_share, 0.0, 1.0),
        ("system_share", profile.system_share, 0.0, 1.0),
        ("sharing", profile.sharing, 0.0, 1.0),
        ("footprint_common", profile.footprint_common, 0.0, 1.0),
        ("overlap", profile.overlap, 0.0, 0.999),
        ("lock_share", profile.lock_share, 0.0, 0.999),
    ];
    for (field, value, least, most) in positive {
        if !(value >= least && value <= most) {
            return Err(range(owner, field, value, &format!("{least} to {most}")));
        }
    }
    Ok(())
}

fn check_workload(workload: &Workload, owner: &str) -> Checked {
    match *workload {
        Workload::Transactions {
            rate_per_s,
            bursts,
            wait_ns,
            ..
        } => {
            if !(LEAST_RATE_PER_S..=1e7).contains(&rate_per_s) {
                return Err(range(owner, "rate_per_s", rate_per_s, "1e-8 to 1e7"));
            }
            at_most(owner, &[("wait_ns", wait_ns, LONGEST_NS)])?;
            check_bursts(bursts, owner)
        }
        Workload::Users {
            count,
            think_ns,
            bursts,
            wait_ns,
            ..
        } => {
            if count == 0 || count > 1_000_000 {
                return Err(range(owner, "users", f64::from(count), "1 to 1000000"));
            }
            let waits = [
                ("wait_ns", wait_ns, LONGEST_NS),
                ("think_ns", think_ns, LONGEST_NS),
            ];
            at_most(owner, &waits)?;
            check_bursts(bursts, owner)
        }
        Workload::Loops { count, .. } if count == 0 || count > 100_000 => {
            Err(range(owner, "loops", f64::from(count), "1 to 100000"))
        }
        _ => Ok(()),
    }
}

fn check_bursts(bursts: f64, owner: &str) -> Checked {
    if (1.0..=1e6).contains(&bursts) {
        Ok(())
    } else {
        Err(range(owner, "bursts", bursts, "1 to 1e6"))
    }
}

fn check_cores(spec: &Spec) -> Checked {
    let active = spec.machine.active_cores;
    let mut owned = vec![false; usize::from(active)];
    for partition in &spec.partitions {
        let Processors::Dedicated { cores, .. } = &partition.processors else {
            continue;
        };
        for core in cores {
            let owner = format!("partition {}", partition.name);
            if *core >= active {
                let (index, count) = (u64::from(*core), u64::from(active));
                return Err(SpecFault::NotThere {
                    owner,
                    field: "core".into(),
                    index,
                    count,
                });
            }
            if std::mem::replace(&mut owned[usize::from(*core)], true) {
                return Err(SpecFault::Twice {
                    what: "dedicated core".into(),
                    name: core.to_string(),
                });
            }
        }
    }
    Ok(())
}

fn check_capacity(spec: &Spec) -> Checked {
    let dedicated: usize = spec.partitions.iter().map(|p| cores_of(p).len()).sum();
    let available = f64::from(spec.machine.active_cores) - dedicated as f64;
    let entitled = |pool: Option<usize>| -> f64 {
        let of = |p: &Partition| match p.processors {
            Processors::Shared {
                entitlement,
                pool: own,
                ..
            } if pool.is_none_or(|p| p == usize::from(own)) => entitlement,
            _ => 0.0,
        };
        spec.partitions.iter().map(of).sum()
    };
    let reserved: f64 = spec.pools.iter().map(|p| p.reserved).sum();
    let asked = entitled(None) + reserved;
    if !(asked <= available + 1e-9) {
        return Err(SpecFault::Overcommitted {
            owner: "shared pool".into(),
            asked,
            available,
        });
    }
    for (index, pool) in spec.pools.iter().enumerate() {
        if !(pool.reserved >= 0.0 && pool.reserved.is_finite()) {
            return Err(range(
                &format!("pool {}", pool.name),
                "reserved",
                pool.reserved,
                "0 or more",
            ));
        }
        let asked = entitled(Some(index)) + pool.reserved;
        if let Some(available) = pool.maximum.filter(|maximum| !(asked <= maximum + 1e-9)) {
            return Err(SpecFault::Overcommitted {
                owner: format!("pool {}", pool.name),
                asked,
                available,
            });
        }
    }
    Ok(())
}

fn cores_of(partition: &Partition) -> &[u16] {
    match &partition.processors {
        Processors::Dedicated { cores, .. } => cores,
        Processors::Shared { .. } => &[],
    }
}

fn range(owner: &str, field: &str, value: f64, range: &str) -> SpecFault {
    SpecFault::Range {
        owner: owner.into(),
        field: field.into(),
        value,
        range: range.into(),
    }
}
