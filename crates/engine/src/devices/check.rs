//! What virtual switches, paging volumes and the memory behind them must satisfy.

use super::memory;
use crate::check::{at_most, between, range, Checked, Owner, Wrong};
use crate::spec::{Paging, Partition, Role, VirtualMachine, Zvm};

/// Most connections of all switches.
const MOST_CONNECTIONS: usize = 65_536;

/// A switch must have somebody to carry frames between.
pub(crate) fn check_switches(zvm: &Zvm, owner: &Owner) -> Checked {
    let members = |at: usize, role: Role| {
        let of = |m: &&VirtualMachine| m.role == role && m.switch.map(usize::from) == Some(at);
        zvm.machines.iter().filter(of).count()
    };
    let (mut connections, mut mostly) = (0, (0, 0));
    for (at, switch) in zvm.switches.iter().enumerate() {
        let owner = owner.part(
            &format!("switch {}", switch.name),
            &format!("switches/{at}"),
        );
        let bytes = f64::from(switch.frame_bytes);
        between(&owner, "frame_bytes", bytes, 1.0, 1e9, "1 to 1e9")?;
        let (clients, servers) = (members(at, Role::Client), members(at, Role::Server));
        connections += clients * servers;
        if (clients == 0) != (servers == 0) {
            let field = if clients == 0 { "clients" } else { "servers" };
            let wanted = "1 or more: the others talk to nobody";
            return Err(range(&owner, (field, ""), 0.0, wanted));
        }
        if clients * servers > mostly.0 {
            mostly = (clients * servers, at);
        }
    }
    if connections <= MOST_CONNECTIONS {
        return Ok(());
    }
    let owner = owner.within(&format!("switches/{}", mostly.1));
    Err(owner.refuse(Wrong::TooManyConnections {
        connections: connections as u64,
        most: MOST_CONNECTIONS as u64,
    }))
}

/// Paging volumes and the storage server behind them.
pub(crate) fn check_paging(paging: &Paging, owner: &Owner) -> Checked {
    let counts = [
        ("paging.volumes", paging.volumes),
        ("paging.control_units", paging.control_units),
        ("paging.block_pages", paging.block_pages),
        ("paging.storage.disks", paging.storage.disks),
    ];
    for (field, count) in counts {
        between(owner, field, f64::from(count), 1.0, 65_535.0, "1 or more")?;
    }
    if paging.control_units > paging.volumes {
        let most = format!("at most {}, one a volume", paging.volumes);
        let units = f64::from(paging.control_units);
        return Err(range(owner, "paging.control_units", units, &most));
    }
    let (changed, frames) = (paging.changed, paging.guest_frames);
    between(owner, "paging.changed", changed, 0.0, 1.0, "0 to 1")?;
    between(
        owner,
        "paging.guest_frames",
        frames,
        1e-6,
        1.0,
        "above 0, at most 1",
    )?;
    let pages = paging.storage.stage_pages;
    between(
        owner,
        "paging.storage.stage_pages",
        pages,
        1.0,
        1e9,
        "1 to 1e9",
    )?;
    let second = 1_000_000_000;
    let times = [
        ("paging.pend_ns", paging.pend_ns, 60 * second),
        ("paging.connect_ns", paging.connect_ns, 60 * second),
        ("paging.command_page_ns", paging.command_page_ns, second),
        ("paging.page_ns", paging.page_ns, second),
        ("paging.exchange_ns", paging.exchange_ns, second),
        ("paging.link_page_ns", paging.link_page_ns, second),
        (
            "paging.storage.disk_ns",
            paging.storage.disk_ns,
            60 * second,
        ),
    ];
    at_most(owner, &times)
}

/// What central memory does not hold must have a place on the paging volumes.
pub(crate) fn check_memory(partition: &Partition, zvm: &Zvm, owner: &Owner) -> Checked {
    let guests: u64 = zvm.machines.iter().map(|m| m.memory_bytes).sum();
    let central = partition.memory.iter().map(|part| part.bytes).sum();
    let frames = zvm
        .paging
        .as_ref()
        .map_or(1.0, |paging| paging.guest_frames);
    let paging = zvm.paging.as_ref().map_or(0, |paging| paging.bytes);
    match memory::shortage(guests, central, frames, paging) {
        Some(short_bytes) => Err(owner.within("memory").refuse(Wrong::NoPaging {
            guest_bytes: guests,
            central_bytes: central,
            short_bytes,
        })),
        None => Ok(()),
    }
}
