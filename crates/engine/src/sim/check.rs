//! What a spec must satisfy before it is run. The Python front refuses most of this earlier, with
//! file and line; this is the last line, so that the engine never meets numbers that it can't
//! simulate.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::machine::{self, MachineFault};
use crate::spec::{Partition, Policy, Processors, Spec};

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
    /// A memory domain that does not hold what the strict policy puts there.
    #[error(
        "{owner}: with the strict memory policy its processors at memory domain {domain} put \
         {asked_bytes} bytes there, its memory of that domain alone is {there_bytes} bytes; give \
         it more there or choose another policy"
    )]
    NoRoom {
        /// Whose memory.
        owner: String,
        /// The domain.
        domain: u16,
        /// Bytes to be placed.
        asked_bytes: f64,
        /// Bytes there.
        there_bytes: f64,
    },
    /// Processors that the machine's policy has no use for.
    #[error(
        "{owner}: its processors are {asked}, but on machine {machine} every partition has cores \
         of its own for good; give it dedicated cores that are not lent"
    )]
    NotShared {
        /// Whose processors.
        owner: String,
        /// What they are: shared, or donated while idle.
        asked: String,
        /// The machine.
        machine: String,
    },
    /// Cores lent where the hypervisor lends none.
    #[error(
        "{owner}: its cores are donated while idle, but PR/SM on machine {machine} lends no \
         dedicated cores; leave donating out"
    )]
    NotLent {
        /// Whose cores.
        owner: String,
        /// The machine.
        machine: String,
    },
    /// Something of PR/SM on a machine that has another hypervisor.
    #[error(
        "{owner}: polarization, absolute caps, defined capacity, groups and core types are \
         PR/SM's, machine {machine} has another hypervisor; leave them out or take an IBM Z"
    )]
    NotPrsm {
        /// Whose.
        owner: String,
        /// The machine.
        machine: String,
    },
    /// Something of a host on a machine that is none.
    #[error(
        "{owner}: control groups, pins, slices, KVM's settings and threads as processors are a \
         Linux or Xen host's, machine {machine} has another hypervisor; leave them out or take a \
         host"
    )]
    NotHost {
        /// Whose.
        owner: String,
        /// The machine.
        machine: String,
    },
    /// Something of other hypervisors on a host.
    #[error("{owner}: {what} is not to be had on the host {machine}; {instead}")]
    NotOnHost {
        /// Whose.
        owner: String,
        /// What it asks for.
        what: String,
        /// The machine.
        machine: String,
        /// What to do instead.
        instead: String,
    },
    /// Sharing of what is not there.
    #[error(
        "{owner}: pool {pool} has no physical core that is not dedicated; give it cores or make \
         the partition dedicated"
    )]
    NoSharedCore {
        /// Whose pool.
        owner: String,
        /// Which.
        pool: String,
    },
    /// A workload that z/VM's virtual machines don't have.
    #[error(
        "{owner}: what runs in z/VM runs in its virtual machines; give the partition the workload \
         web, or idle, and the machines their roles"
    )]
    NotWeb {
        /// Whose workload.
        owner: String,
    },
    /// Virtual machines' work in a partition that has none.
    #[error(
        "{owner}: the workload web runs in virtual machines; make z/VM the partition's guest or \
         choose another workload"
    )]
    NotZvm {
        /// Whose workload.
        owner: String,
    },
    /// Virtual machines that find no place in memory.
    #[error(
        "{owner}: its virtual machines have {guest_bytes} bytes, its central memory is \
         {central_bytes}; {short_bytes} bytes find no place there nor on paging volumes: give it \
         memory or paging volumes"
    )]
    NoPaging {
        /// Whose memory.
        owner: String,
        /// Memory of its virtual machines [bytes].
        guest_bytes: u64,
        /// Its own [bytes].
        central_bytes: u64,
        /// What has no place [bytes].
        short_bytes: u64,
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

pub(super) type Checked = Result<(), SpecFault>;

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
    super::check_host::check_machine(spec)?;
    for partition in &spec.partitions {
        check_partition(spec, partition)?;
    }
    check_cores(spec)?;
    super::check_memory::check_room(spec)?;
    super::check_prsm::check_machine(spec)?;
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

pub(super) fn at_most(owner: &str, times: &[(&str, u64, u64)]) -> Checked {
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
    for chip in &partition.home {
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
    if partition.smt == 0 || partition.smt > spec.machine.threads_per_core {
        let most = format!("1 to {}", spec.machine.threads_per_core);
        return Err(range(&owner, "smt", f64::from(partition.smt), &most));
    }
    check_processors(spec, partition, &owner)?;
    super::check_memory::check(spec, partition, &owner)?;
    super::check_work::check(spec, partition, &owner)?;
    super::check_zvm::check(spec, partition, &owner)
}

/// Without a dispatcher nobody can share a core or borrow one; PR/SM lends none.
fn check_policy(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    match spec.machine.hypervisor.policy {
        Policy::Phyp | Policy::Linux | Policy::Credit2 => return Ok(()),
        Policy::Prsm => return check_lending(spec, partition, owner),
        Policy::Dedicated => {}
    }
    let asked = match partition.processors {
        Processors::Shared { .. } => "shared",
        Processors::Dedicated { donating: true, .. } => "donated while idle",
        Processors::Dedicated { .. } => return Ok(()),
    };
    Err(SpecFault::NotShared {
        owner: owner.into(),
        asked: asked.into(),
        machine: spec.machine.name.clone(),
    })
}

fn check_lending(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    match partition.processors {
        Processors::Dedicated { donating: true, .. } => Err(SpecFault::NotLent {
            owner: owner.into(),
            machine: spec.machine.name.clone(),
        }),
        _ => Ok(()),
    }
}

fn check_processors(spec: &Spec, partition: &Partition, owner: &str) -> Checked {
    check_policy(spec, partition, owner)?;
    super::check_host::check(spec, partition, owner)?;
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
            if !super::check_host::is_host(spec) {
                super::check_prsm::check(spec, partition, owner)?;
            }
            let most = f64::from(*r#virtual);
            let weighed = !matches!(spec.machine.hypervisor.policy, Policy::Phyp);
            let fits = *entitlement > 0.0 && *entitlement <= most + 1e-9;
            if !(weighed || fits) {
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
    if spec.machine.hypervisor.policy == Policy::Prsm || super::check_host::is_host(spec) {
        return Ok(()); // Weights can't promise more than there is.
    }
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

pub(super) fn range(owner: &str, field: &str, value: f64, range: &str) -> SpecFault {
    SpecFault::Range {
        owner: owner.into(),
        field: field.into(),
        value,
        range: range.into(),
    }
}
