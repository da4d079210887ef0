//! A machine in one line, for tests: `node:2 chip:2 core:8 pu:4`.
//!
//! Levels that are left out count 1. Everything the line does not say is a plain round number of no
//! particular machine, so that a test can compute by hand: 1 GHz, three core-private cache levels
//! and a chip cache, memory at 100 / 200 / 300 ns.

use std::collections::BTreeMap;

use crate::spec::{
    Accounting, ByDistance, Cache, CacheScope, Coherence, Credit2, Eviction, Hypervisor, Linux,
    Machine, MemoryBeside, MemoryLoad, Policy, PrSm, Profile, Smt,
};

/// A short form that does not parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "short form of a machine: '{part}' is not LEVEL:COUNT with LEVEL one of node, chip, core, pu"
)]
pub struct ShortFormError {
    /// The part that was not understood.
    pub part: String,
}

/// Parses the short form.
///
/// # Errors
/// The first part that is not `LEVEL:COUNT`.
pub fn parse_short(text: &str) -> Result<Machine, ShortFormError> {
    let mut machine = round_numbers();
    for part in text.split_whitespace() {
        let fault = || ShortFormError {
            part: part.to_string(),
        };
        let (level, count) = part.split_once(':').ok_or_else(fault)?;
        let count: u16 = count.parse().ok().filter(|c| *c > 0).ok_or_else(fault)?;
        match level {
            "node" => machine.nodes = count,
            "chip" => machine.chips_per_node = count,
            "core" => machine.cores_per_chip = count,
            "pu" => machine.threads_per_core = u8::try_from(count).map_err(|_| fault())?,
            _ => return Err(fault()),
        }
    }
    machine.active_cores = machine
        .nodes
        .checked_mul(machine.chips_per_node)
        .and_then(|chips| chips.checked_mul(machine.cores_per_chip))
        .ok_or_else(|| ShortFormError {
            part: text.to_string(),
        })?;
    machine.smt.gain = (0..machine.threads_per_core)
        .map(|k| 1.0 + 0.4 * f64::from(k))
        .collect();
    Ok(machine)
}

fn round_numbers() -> Machine {
    Machine {
        name: "short".into(),
        generation: "TEST".into(),
        clock_hz: 1e9,
        turbo_hz: vec![],
        core_rate: 1.0,
        pipeline: None,
        nodes: 1,
        nodes_per_socket: 1,
        chips_per_node: 1,
        cores_per_chip: 1,
        threads_per_core: 1,
        active_cores: 1,
        line_bytes: 128,
        caches: round_caches(),
        cache_to_cache_ns: ByDistance {
            local: 40.0,
            near: 100.0,
            far: 200.0,
        },
        coherence: Coherence::Owner,
        memory_beside: MemoryBeside::Chip,
        memory_ns: ByDistance {
            local: 100.0,
            near: 200.0,
            far: 300.0,
        },
        node_distance: vec![],
        memory_bytes_per_s: 1e12,
        memory_load: MemoryLoad::default(),
        chip_link_bytes_per_s: 1e12,
        node_link_bytes_per_s: 1e12,
        chip_links: 1,
        node_links: 1,
        translation: None,
        walks: None,
        stores: None,
        throttle: None,
        streams: None,
        smt: Smt {
            gain: vec![1.0],
            reference: Profile::steady(),
            parts: 1,
        },
        accounting: Accounting::Calibrated,
        hypervisor: Hypervisor {
            policy: Policy::Phyp,
            window_ns: 10_000_000,
            min_entitlement_per_vp: 0.1,
            dispatch_ns: 0,
            cede_ns: 0,
            prod_ns: 0,
            confer_ns: 0,
            phantom_ns: 0,
            excess_quantum_ns: 1_000_000,
            counts_redispatch: true,
            eviction: Eviction::OtherPartition,
            prsm: PrSm::default(),
            siblings: 1,
            linux: Linux::default(),
            credit2: Credit2::default(),
            settings: BTreeMap::new(),
        },
    }
}

fn round_caches() -> Vec<Cache> {
    let cache = |name: &str, bytes, scope, latency_ns| Cache {
        name: name.into(),
        bytes,
        scope,
        latency_ns,
        victim: false,
        bytes_per_s: None,
        line_ns: 0.0,
    };
    vec![
        cache("L1", 32 << 10, CacheScope::Core, 1.0),
        cache("L2", 256 << 10, CacheScope::Core, 5.0),
        cache("L3", 4 << 20, CacheScope::Core, 10.0),
        cache("L3 chip", 32 << 20, CacheScope::Chip, 20.0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_left_out_count_one() {
        let machine = parse_short("core:12 pu:2").unwrap();
        assert_eq!(
            (
                machine.nodes,
                machine.chips_per_node,
                machine.cores_per_chip
            ),
            (1, 1, 12)
        );
        assert_eq!(machine.active_cores, 12);
        assert_eq!(machine.smt.gain, vec![1.0, 1.4]);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for text in ["socket:2", "core", "core:0", "core:x", "pu:300"] {
            assert!(parse_short(text).is_err(), "{text}");
        }
    }
}
