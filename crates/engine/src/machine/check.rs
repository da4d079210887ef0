//! Every invariant of a machine description, in one function.

use crate::spec::{ByDistance, Machine};

/// Cache levels a machine may have.
pub const MAX_CACHES: usize = 8;

/// What is wrong with a machine description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MachineFault {
    /// A count, size, rate or latency that must be positive and finite is not.
    #[error("machine {machine}: {field} is {value}, it must be positive and finite")]
    NotPositive {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Which of its numbers.
        field: String,
        /// What it is set to.
        value: f64,
    },
    /// A number outside of what makes sense.
    #[error("machine {machine}: {field} is {value}, it must be {least} to {most}")]
    Outside {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Which of its numbers.
        field: String,
        /// What it is set to.
        value: f64,
        /// Least value.
        least: f64,
        /// Greatest value.
        most: f64,
    },
    /// A count beyond what the engine indexes.
    #[error("machine {machine}: {field} is {value}, at most {limit} are supported")]
    TooMany {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Which of its numbers.
        field: String,
        /// What it is set to.
        value: u64,
        /// Most that can be simulated.
        limit: u64,
    },
    /// Latency falls with distance.
    #[error(
        "machine {machine}: {field} falls with distance (local {local} ns, near {near} ns, \
         far {far} ns)"
    )]
    FallsWithDistance {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Which of its latencies.
        field: String,
        /// Local latency [ns].
        local: f64,
        /// Near latency [ns].
        near: f64,
        /// Far latency [ns].
        far: f64,
    },
    /// Cache levels out of order.
    #[error(
        "machine {machine}: cache {outer} ({outer_ns} ns) lies outside {inner} ({inner_ns} ns) \
         but is faster"
    )]
    CacheOrder {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Inner level.
        inner: String,
        /// Inner latency [ns].
        inner_ns: f64,
        /// Outer level.
        outer: String,
        /// Outer latency [ns].
        outer_ns: f64,
    },
    /// A list of the wrong length.
    #[error("machine {machine}: {field} has {got} values, {want} are needed")]
    WrongLength {
        /// Name of the machine that cannot be simulated.
        machine: String,
        /// Which of its lists.
        field: String,
        /// Length given.
        got: usize,
        /// Length needed.
        want: usize,
    },
}

impl MachineFault {
    /// The field that is wrong, in the spec's words with perhaps more behind them.
    #[must_use]
    pub fn field(&self) -> &str {
        match self {
            Self::NotPositive { field, .. }
            | Self::Outside { field, .. }
            | Self::TooMany { field, .. }
            | Self::FallsWithDistance { field, .. }
            | Self::WrongLength { field, .. } => field,
            Self::CacheOrder { .. } => "caches",
        }
    }
}

/// Checks every invariant; the first breach is returned.
///
/// # Errors
/// The broken invariant, with the values found.
pub fn check(machine: &Machine) -> Result<(), MachineFault> {
    check_counts(machine)?;
    check_positive(machine)?;
    check_distances(machine, "memory_ns", machine.memory_ns)?;
    check_distances(machine, "cache_to_cache_ns", machine.cache_to_cache_ns)?;
    check_caches(machine)?;
    check_sizes(machine)?;
    check_lists(machine)?;
    check_clocks(machine)?;
    check_gain(machine)
}

/// Numbers beyond these are slips of a unit, and their products would leave the range of a number.
fn check_sizes(machine: &Machine) -> Result<(), MachineFault> {
    let (memory, caches) = (machine.memory_ns, machine.cache_to_cache_ns);
    let distances = machine.node_distance.iter();
    let sizes = [
        ("clock_hz", machine.clock_hz, 1e6, 1e12),
        ("core_rate", machine.core_rate, 1e-2, 1e2),
        ("memory_ns", memory.far, 0.0, 1e9),
        ("cache_to_cache_ns", caches.far, 0.0, 1e9),
    ];
    let latencies = machine.caches.iter().map(|c| c.latency_ns);
    let walk = machine.translation.map(|translation| translation.walk_ns);
    let walks = machine.walks.iter().flat_map(|told| {
        [
            ("walks.upper", told.upper, 0.0, 1.0),
            ("walks.guest_tables", told.guest_tables, 0.0, 1.0),
            ("walks.cache_share", told.cache_share, 0.0, 1.0),
        ]
    });
    let stores = machine.stores.iter().flat_map(|path| {
        let gather = path.gather_bytes;
        [
            ("stores.interval_ns", path.interval_ns, 0.0, 1e6),
            ("stores.width_bytes", path.width_bytes, 1.0, 65536.0),
        ]
        .into_iter()
        .chain(gather.map(|bytes| ("stores.gather_bytes", bytes, 1.0, 65536.0)))
    });
    let streams = machine.streams.iter().flat_map(|path| {
        [
            ("streams.lines", path.lines, 0.0, 1e3),
            ("streams.transfer_ns", path.transfer_ns, 0.0, 1e6),
        ]
    });
    let throttle = machine.throttle.iter().flat_map(|told| {
        [
            ("throttle.duty", told.duty, 1e-3, 1.0),
            ("throttle.burst_ns", told.burst_ns, 1e-3, 1e9),
        ]
    });
    let lines = machine.caches.iter().map(|cache| cache.line_ns);
    let more = latencies
        .map(|ns| ("cache latency_ns", ns, 0.0, 1e9))
        .chain(lines.map(|ns| ("cache line_ns", ns, 0.0, 1e6)))
        .chain(walk.map(|ns| ("translation.walk_ns", ns, 0.0, 1e9)))
        .chain(walks)
        .chain(stores)
        .chain(streams)
        .chain(pipeline_sizes(machine))
        .chain(throttle);
    let all = sizes.into_iter().chain(more);
    for (field, value, least, most) in
        all.chain(distances.map(|d| ("node_distance", *d, 1e-3, 1e3)))
    {
        if !(least..=most).contains(&value) {
            return Err(outside(machine, field, value, least, most));
        }
    }
    Ok(())
}

/// What a core loses when its pipelines are emptied, and what the reference did.
fn pipeline_sizes(machine: &Machine) -> Vec<(&'static str, f64, f64, f64)> {
    let Some(told) = machine.pipeline else {
        return Vec::new();
    };
    let (own, reference) = (told.own, told.reference);
    vec![
        ("pipeline.own.control_cycles", own.control_cycles, 0.0, 1e6),
        ("pipeline.own.branch_targets", own.branch_targets, 1.0, 1e9),
        ("pipeline.own.branch_cycles", own.branch_cycles, 0.0, 1e6),
        (
            "pipeline.reference.control_cycles",
            reference.control_cycles,
            0.0,
            1e6,
        ),
        (
            "pipeline.reference.branch_targets",
            reference.branch_targets,
            1.0,
            1e9,
        ),
        (
            "pipeline.reference.branch_cycles",
            reference.branch_cycles,
            0.0,
            1e6,
        ),
    ]
}

/// One more busy core never makes another one faster.
fn check_clocks(machine: &Machine) -> Result<(), MachineFault> {
    let mut most = 1e12;
    for (busy, &hz) in (1..).zip(&machine.turbo_hz) {
        if !(1e6..=most).contains(&hz) {
            let field = format!("turbo_hz of {busy} cores");
            return Err(outside(machine, &field, hz, 1e6, most));
        }
        most = hz;
    }
    let (got, want) = (machine.turbo_hz.len(), 64);
    if got > want {
        return Err(MachineFault::WrongLength {
            machine: machine.name.clone(),
            field: "turbo_hz".into(),
            got,
            want,
        });
    }
    Ok(())
}

/// Another thread never takes throughput away in the curve, nor adds more than its own: charging
/// (PURR) gives idle threads what the curve leaves, which must not be less than nothing.
fn check_gain(machine: &Machine) -> Result<(), MachineFault> {
    let mut least = 1.0;
    for (threads, &gain) in (1u8..).zip(&machine.smt.gain) {
        let most = f64::from(threads);
        if !(least..=most).contains(&gain) {
            let field = format!("smt.gain of {threads} threads");
            return Err(outside(machine, &field, gain, least, most));
        }
        least = gain;
    }
    Ok(())
}

fn check_counts(machine: &Machine) -> Result<(), MachineFault> {
    let counts = [
        ("nodes", u64::from(machine.nodes), 64),
        ("chips_per_node", u64::from(machine.chips_per_node), 64),
        ("cores_per_chip", u64::from(machine.cores_per_chip), 64),
        ("threads_per_core", u64::from(machine.threads_per_core), 8),
        ("active_cores", u64::from(machine.active_cores), 4096),
    ];
    for (field, value, limit) in counts {
        if value == 0 {
            return Err(not_positive(machine, field, 0.0));
        }
        if value > limit {
            return Err(MachineFault::TooMany {
                machine: machine.name.clone(),
                field: field.into(),
                value,
                limit,
            });
        }
    }
    let built = u64::from(machine.nodes)
        * u64::from(machine.chips_per_node)
        * u64::from(machine.cores_per_chip);
    let limit = built.min(4096);
    if built > 4096 || u64::from(machine.active_cores) > built {
        let value = u64::from(machine.active_cores).max(built);
        return Err(MachineFault::TooMany {
            machine: machine.name.clone(),
            field: "active_cores".into(),
            value,
            limit,
        });
    }
    Ok(())
}

fn check_positive(machine: &Machine) -> Result<(), MachineFault> {
    let mut values = vec![
        ("clock_hz".to_string(), machine.clock_hz),
        ("line_bytes".to_string(), f64::from(machine.line_bytes)),
        ("memory_bytes_per_s".to_string(), machine.memory_bytes_per_s),
        (
            "chip_link_bytes_per_s".to_string(),
            machine.chip_link_bytes_per_s,
        ),
        (
            "node_link_bytes_per_s".to_string(),
            machine.node_link_bytes_per_s,
        ),
        (
            "memory_load.channels".to_string(),
            f64::from(machine.memory_load.channels),
        ),
        ("chip_links".to_string(), f64::from(machine.chip_links)),
        ("node_links".to_string(), f64::from(machine.node_links)),
        (
            "hypervisor.window_ns".to_string(),
            machine.hypervisor.window_ns as f64,
        ),
        (
            "hypervisor.excess_quantum_ns".to_string(),
            machine.hypervisor.excess_quantum_ns as f64,
        ),
        (
            "hypervisor.min_entitlement_per_vp".to_string(),
            machine.hypervisor.min_entitlement_per_vp,
        ),
    ];
    values.extend(
        machine
            .smt
            .gain
            .iter()
            .map(|g| ("smt.gain".to_string(), *g)),
    );
    values.extend(
        machine
            .node_distance
            .iter()
            .map(|d| ("node_distance".to_string(), *d)),
    );
    for (field, value) in values {
        if !(value.is_finite() && value > 0.0) {
            return Err(not_positive(machine, &field, value));
        }
    }
    if machine.smt.parts == 0 {
        return Err(not_positive(machine, "smt.parts", 0.0));
    }
    Ok(())
}

fn check_distances(machine: &Machine, field: &str, ns: ByDistance) -> Result<(), MachineFault> {
    for value in [ns.local, ns.near, ns.far] {
        if !(value.is_finite() && value >= 0.0) {
            return Err(not_positive(machine, field, value));
        }
    }
    if ns.local > ns.near || ns.near > ns.far {
        return Err(MachineFault::FallsWithDistance {
            machine: machine.name.clone(),
            field: field.into(),
            local: ns.local,
            near: ns.near,
            far: ns.far,
        });
    }
    Ok(())
}

fn check_caches(machine: &Machine) -> Result<(), MachineFault> {
    if machine.caches.is_empty() {
        return Err(MachineFault::WrongLength {
            machine: machine.name.clone(),
            field: "caches".into(),
            got: 0,
            want: 1,
        });
    }
    if machine.caches.len() > MAX_CACHES {
        return Err(MachineFault::TooMany {
            machine: machine.name.clone(),
            field: "caches".into(),
            value: machine.caches.len() as u64,
            limit: MAX_CACHES as u64,
        });
    }
    for cache in &machine.caches {
        if cache.bytes == 0 || !(cache.latency_ns.is_finite() && cache.latency_ns >= 0.0) {
            return Err(not_positive(
                machine,
                &format!("cache {}", cache.name),
                cache.latency_ns,
            ));
        }
    }
    for pair in machine.caches.windows(2) {
        if pair[1].latency_ns < pair[0].latency_ns {
            return Err(MachineFault::CacheOrder {
                machine: machine.name.clone(),
                inner: pair[0].name.clone(),
                inner_ns: pair[0].latency_ns,
                outer: pair[1].name.clone(),
                outer_ns: pair[1].latency_ns,
            });
        }
    }
    Ok(())
}

fn check_lists(machine: &Machine) -> Result<(), MachineFault> {
    let threads = usize::from(machine.threads_per_core);
    let square = usize::from(machine.nodes) * usize::from(machine.nodes);
    let lists = [
        ("smt.gain", machine.smt.gain.len(), threads),
        ("node_distance", machine.node_distance.len(), square),
    ];
    for (field, got, want) in lists {
        if got != want && !(field == "node_distance" && got == 0) {
            return Err(MachineFault::WrongLength {
                machine: machine.name.clone(),
                field: field.into(),
                got,
                want,
            });
        }
    }
    Ok(())
}

fn outside(machine: &Machine, field: &str, value: f64, least: f64, most: f64) -> MachineFault {
    MachineFault::Outside {
        machine: machine.name.clone(),
        field: field.into(),
        value,
        least,
        most,
    }
}

fn not_positive(machine: &Machine, field: &str, value: f64) -> MachineFault {
    MachineFault::NotPositive {
        machine: machine.name.clone(),
        field: field.into(),
        value,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_short;
    use super::*;

    #[test]
    fn a_short_form_machine_is_sound() {
        assert_eq!(
            check(&parse_short("node:2 chip:2 core:8 pu:4").unwrap()),
            Ok(())
        );
    }

    #[test]
    fn each_breach_is_named() {
        let sound = parse_short("node:2 chip:2 core:8 pu:4").unwrap();
        let mut m = sound.clone();
        m.memory_ns.near = 1.0;
        assert!(check(&m)
            .unwrap_err()
            .to_string()
            .contains("falls with distance"));
        let mut m = sound.clone();
        m.caches[1].latency_ns = 0.0;
        assert!(check(&m).unwrap_err().to_string().contains("but is faster"));
        let mut m = sound.clone();
        m.smt.gain.pop();
        assert!(check(&m)
            .unwrap_err()
            .to_string()
            .contains("has 3 values, 4 are needed"));
        let mut m = sound.clone();
        m.active_cores = 400;
        assert!(check(&m).unwrap_err().to_string().contains("at most 32"));
        let mut m = sound;
        m.clock_hz = f64::NAN;
        assert!(check(&m).unwrap_err().to_string().contains("clock_hz"));
    }

    #[test]
    fn a_clock_that_rises_with_busy_cores_is_refused() {
        let mut m = parse_short("core:4 pu:1").unwrap();
        m.turbo_hz = vec![3e9, 3e9, 2.5e9];
        assert!(check(&m).is_ok());
        m.turbo_hz[2] = 3.1e9;
        let told = check(&m).unwrap_err().to_string();
        assert!(told.contains("turbo_hz of 3 cores"), "{told}");
        m.turbo_hz = vec![f64::NAN];
        assert!(check(&m).is_err());
        m.turbo_hz = vec![1e9; 65];
        assert!(check(&m).is_err());
    }
}
