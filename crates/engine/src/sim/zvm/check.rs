//! What z/VM, its virtual machines and what they do must satisfy.

#![allow(clippy::neg_cmp_op_on_partial_ord)] // `!(x <= y)` refuses NaN, which is meant

use crate::check::{at_most, between, range, Checked, Owner, Wrong, LONGEST_NS};
use crate::cost::core_per_ns;
use crate::devices::check::{check_memory, check_paging, check_switches};
use crate::guest::check::{check_daemon_rate, check_steps};
use crate::guest::zvm::vectors::MOST_IN_VECTOR;
use crate::spec::{
    CpShare, Guest, GuestWork, Partition, Processors, Role, Spec, VirtualMachine, Workload, Zvm,
};

/// Most instructions of one operation of CP.
const MOST_INSTRUCTIONS: f64 = 1e12;
/// Most users of a machine.
const MOST_USERS: f64 = 1e6;
/// Most bursts of a transaction, on average.
const MOST_BURSTS: f64 = 1e6;
/// Most bytes of a message.
const MOST_BYTES: u64 = 1 << 40;
/// Most virtual processors of all virtual machines.
const MOST_VCPUS: usize = 65_536;

/// One partition's guest and workload, as far as z/VM or its workload is concerned.
pub fn check(spec: &Spec, partition: &Partition, owner: &Owner) -> Checked {
    match (&partition.guest, &partition.workload) {
        (Guest::Zvm(zvm), Workload::Web { .. } | Workload::Idle) => {
            check_zvm(spec, partition, zvm, owner)
        }
        (Guest::Zvm(_), _) => Err(owner.within("workload").refuse(Wrong::NotWeb)),
        (_, Workload::Web { .. }) => Err(owner.within("workload").refuse(Wrong::NotZvm)),
        _ => Ok(()),
    }
}

fn check_zvm(spec: &Spec, partition: &Partition, zvm: &Zvm, owner: &Owner) -> Checked {
    let processors = match &partition.processors {
        Processors::Shared { r#virtual, .. } => usize::from(*r#virtual),
        Processors::Dedicated { cores, .. } => cores.len(),
    };
    let logical = processors * usize::from(partition.smt);
    let most = format!("1 to {MOST_IN_VECTOR}");
    let steps = match &partition.processors {
        Processors::Shared { .. } => "processors.virtual",
        Processors::Dedicated { .. } => "processors.cores",
    };
    between(
        owner,
        ("number of logical processors", steps),
        logical as f64,
        1.0,
        MOST_IN_VECTOR as f64,
        &most,
    )?;
    if partition.profile.lock_share > 0.0 {
        let share = partition.profile.lock_share;
        let field = ("lock_share", "profile.lock_share");
        return Err(range(owner, field, share, "0: z/VM states its locks apart"));
    }
    let guest = &owner.within("guest");
    check_dispatcher(zvm, guest)?;
    check_machines(zvm, guest)?;
    check_pools(zvm, processors, guest)?;
    check_switches(zvm, guest)?;
    if let Some(paging) = &zvm.paging {
        check_paging(paging, guest)?;
    }
    check_memory(partition, zvm, owner)?;
    check_web(spec, partition, zvm, owner)
}

fn check_dispatcher(zvm: &Zvm, owner: &Owner) -> Checked {
    let times = [
        ("park_interval_ns", zvm.park_interval_ns, 1_000_000),
        ("minor_slice_ns", zvm.minor_slice_ns, 10_000),
    ];
    for (field, value, least) in times {
        let text = format!("{least} to {LONGEST_NS}");
        between(
            owner,
            field,
            value as f64,
            least as f64,
            LONGEST_NS as f64,
            &text,
        )?;
    }
    check_daemon_rate(zvm.daemon_rate_per_s, owner)?;
    at_most(owner, &[("daemon_ns", zvm.daemon_ns, LONGEST_NS)])?;
    between(owner, "cpupad", zvm.cpupad, 0.0, 1e6, "0 to 1e6")?;
    let barrier = zvm.steal_barrier;
    for (field, value) in [
        ("steal_barrier.local", barrier.local),
        ("steal_barrier.near", barrier.near),
        ("steal_barrier.far", barrier.far),
    ] {
        between(owner, field, value, 1.0, 1e6, "1 to 1e6")?;
    }
    let (paths, locks) = (zvm.paths, zvm.locks);
    let instructions = [
        ("paths.dispatch", paths.dispatch),
        ("paths.scan", paths.scan),
        ("paths.interruption", paths.interruption),
        ("paths.frame", paths.frame),
        ("paths.element", paths.element),
        ("paths.page_io", paths.page_io),
        ("paths.page", paths.page),
        ("paths.signal", paths.signal),
        ("locks.hold", locks.hold),
    ];
    for (field, value) in instructions {
        between(owner, field, value, 0.0, MOST_INSTRUCTIONS, "0 to 1e12")?;
    }
    let counts = [
        ("paths.searches", paths.searches),
        ("locks.dispatch", locks.dispatch),
        ("locks.frame", locks.frame),
        ("locks.ready", locks.ready),
        ("locks.page", locks.page),
        ("locks.asked", locks.asked),
        ("locks.lines", locks.lines),
        ("locks.search", locks.search),
        ("locks.look", locks.look),
    ];
    for (field, value) in counts {
        between(owner, field, value, 0.0, 1e6, "0 to 1e6")?;
    }
    between(owner, "paths.master", paths.master, 0.0, 1.0, "0 to 1")?;
    between(owner, "locks.delay", locks.delay, 1.0, 1e6, "1 to 1e6")
}

fn check_machines(zvm: &Zvm, owner: &Owner) -> Checked {
    let vcpus: usize = zvm.machines.iter().map(|m| usize::from(m.cpus)).sum();
    let most = MOST_VCPUS as f64;
    between(
        owner,
        ("number of virtual processors of its machines", "machines"),
        vcpus as f64,
        1.0,
        most,
        "1 to 65536",
    )?;
    let mut names: Vec<&str> = zvm.machines.iter().map(|m| m.name.as_str()).collect();
    names.sort_unstable();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        let at = zvm.machines.iter().rposition(|m| m.name == pair[0]);
        let what = Wrong::Twice {
            what: "virtual machine".into(),
            name: pair[0].into(),
        };
        let at = format!("machines/{}/name", at.unwrap_or(0));
        return Err(owner.within(&at).refuse(what));
    }
    for (at, machine) in zvm.machines.iter().enumerate() {
        let name = format!("virtual machine {}", machine.name);
        check_machine(zvm, machine, &owner.part(&name, &format!("machines/{at}")))?;
    }
    Ok(())
}

/// Every CPU pool has a name of its own and limits something; every member's pool is there.
fn check_pools(zvm: &Zvm, cores: usize, owner: &Owner) -> Checked {
    let pools = &zvm.cpu_pools;
    for (at, pool) in pools.iter().enumerate() {
        let steps = format!("cpu_pools/{at}");
        if pools[..at].iter().any(|other| other.name == pool.name) {
            let what = Wrong::Twice {
                what: "CPU pool".into(),
                name: pool.name.clone(),
            };
            return Err(owner.within(&format!("{steps}/name")).refuse(what));
        }
        let owner = owner.part(&format!("CPU pool {}", pool.name), &steps);
        let text = format!("above 0, at most {cores}");
        between(&owner, "cores", pool.cores, 1e-9, cores as f64, &text)?;
    }
    for (at, machine) in zvm.machines.iter().enumerate() {
        let there = machine.cpu_pool.map(usize::from);
        if let Some(pool) = there.filter(|pool| *pool >= pools.len()) {
            let owner = owner.within(&format!("machines/{at}/cpu_pool"));
            return Err(owner.not_there("CPU pool", pool as u64, pools.len() as u64));
        }
    }
    Ok(())
}

fn check_machine(zvm: &Zvm, machine: &VirtualMachine, owner: &Owner) -> Checked {
    let cpus = f64::from(machine.cpus);
    between(owner, "cpus", cpus, 1.0, 64.0, "1 to 64")?;
    let bytes = machine.memory_bytes as f64;
    between(owner, "memory_bytes", bytes, 4096.0, 1e18, "4096 to 1e18")?;
    let shares = [("share", Some(machine.share)), ("maximum", machine.maximum)];
    for (field, share) in shares {
        match share {
            Some(CpShare::Absolute(part)) if !(part > 0.0 && part <= 1.0) => {
                return Err(range(
                    owner,
                    field,
                    part,
                    "above 0, at most 1 of all processors",
                ));
            }
            Some(CpShare::Relative(points)) if points == 0 || points > 10_000 => {
                return Err(range(owner, field, f64::from(points), "1 to 10000"));
            }
            _ => {}
        }
    }
    check_work(machine, owner)?;
    let talks = matches!(machine.role, Role::Client | Role::Server);
    match machine.switch {
        Some(switch) if usize::from(switch) >= zvm.switches.len() => {
            let count = zvm.switches.len() as u64;
            let owner = owner.within("switch");
            Err(owner.not_there("switch", u64::from(switch), count))
        }
        None if talks => {
            let field = ("switches", "switch");
            Err(range(owner, field, 0.0, "1 for a client or a server"))
        }
        _ => Ok(()),
    }
}

/// Transactions come at a rate, or from users who think.
fn check_arrivals(work: &GuestWork, owner: &Owner) -> Checked {
    if let Some(played) = &work.played {
        return check_steps(&played.lengths_ns, &played.instructions_per_s, owner);
    }
    if work.users == 0 {
        let (rate, text) = (work.rate_per_s, "1e-6 to 1e9");
        return between(owner, "rate_per_s", rate, 1e-6, 1e9, text);
    }
    let users = f64::from(work.users);
    between(owner, "users", users, 1.0, MOST_USERS, "1 to 1000000")?;
    at_most(owner, &[("think_ns", work.think_ns, LONGEST_NS)])
}

/// A transaction comes in one burst or more, and what is played in one.
fn check_bursts(work: &GuestWork, owner: &Owner) -> Checked {
    let (most, text) = match work.played {
        Some(_) => (1.0, "1 where work is played"),
        None => (MOST_BURSTS, "1 to 1e6"),
    };
    between(owner, "bursts", work.bursts, 1.0, most, text)?;
    at_most(owner, &[("wait_ns", work.wait_ns, LONGEST_NS)])
}

/// What comes to a machine from outside goes with its role, and answers with a switch.
fn check_work(machine: &VirtualMachine, owner: &Owner) -> Checked {
    if (machine.role == Role::Work) != machine.work.is_some() {
        let told = f64::from(u8::from(machine.work.is_some()));
        return Err(range(
            owner,
            "work",
            told,
            "given with the role work, and with no other",
        ));
    }
    if let Some(work) = &machine.work {
        let sends = work.answer_bytes > 0;
        let bytes = if machine.switch.is_some() {
            MOST_BYTES
        } else {
            0
        };
        let text = if sends && bytes == 0 {
            "0 without a switch".into()
        } else {
            format!("0 to {bytes}")
        };
        let owner = &owner.within("work");
        check_arrivals(work, owner)?;
        check_bursts(work, owner)?;
        let most = format!("1 to {MOST_INSTRUCTIONS:e}");
        between(
            owner,
            "instructions",
            work.instructions,
            1.0,
            MOST_INSTRUCTIONS,
            &most,
        )?;
        between(
            owner,
            "answer_bytes",
            work.answer_bytes as f64,
            0.0,
            bytes as f64,
            &text,
        )?;
    }
    Ok(())
}

fn check_web(spec: &Spec, partition: &Partition, zvm: &Zvm, owner: &Owner) -> Checked {
    let Workload::Web {
        request_bytes,
        file_bytes,
        files,
        client_share,
        think_ns,
        ..
    } = partition.workload
    else {
        return Ok(());
    };
    let most = MOST_BYTES as f64;
    let text = format!("1 to {MOST_BYTES}");
    let guest = &owner.within("guest");
    let owner = &owner.within("workload");
    between(
        owner,
        "request_bytes",
        request_bytes as f64,
        1.0,
        most,
        &text,
    )?;
    between(owner, "file_bytes", file_bytes as f64, 1.0, most, &text)?;
    between(owner, "files", f64::from(files), 1.0, 1e9, "1 to 1e9")?;
    between(owner, "client_share", client_share, 0.0, 1.0, "0 to 1")?;
    at_most(owner, &[("think_ns", think_ns, LONGEST_NS)])?;
    if !zvm.machines.iter().any(|m| m.role == Role::Client) {
        let field = ("clients", "machines");
        return Err(range(guest, field, 0.0, "1 or more for this workload"));
    }
    // One that takes no time at all would never let time go on.
    let longer = client_share.max(1.0 - client_share);
    let profile = &partition.profile;
    let ns = profile.instructions_per_unit * longer / core_per_ns(&spec.machine, profile);
    between(
        owner,
        ("work of a client or server in ns", ""),
        ns,
        2.0,
        f64::MAX,
        "2 or more",
    )
}
