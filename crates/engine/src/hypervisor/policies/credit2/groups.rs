//! Which processors share a run queue.

use super::ids::{CoreId, Span};
use crate::machine::Topology;
use crate::spec::RunQueues;

/// Processors that share a run queue, group by group. Where the rule gives more than `most`, they
/// are spread evenly over as many queues as it takes; siblings of a core stay together.
pub fn groups(tree: &Topology, siblings: u16, by: RunQueues, most: u16) -> Vec<Span<CoreId>> {
    let chip_of = |cpu: u16| tree.chip_of(cpu.into());
    let of = |cpu: u16| match by {
        RunQueues::Cpu => cpu,
        RunQueues::Core => cpu / siblings,
        RunQueues::Socket => tree.socket_of(chip_of(cpu)),
        RunQueues::Node => tree.node_of(chip_of(cpu)).into(),
        RunQueues::All => 0,
    };
    let queues = tree.active_cores.div_ceil(most.max(1));
    let even = tree.active_cores / queues.max(1);
    let mut groups = Vec::new();
    let mut first = 0;
    for cpu in 1..=tree.active_cores {
        // The group so far has the processors from its first to the one before.
        let room = (cpu - 1) / siblings == cpu / siblings || cpu - first + siblings <= even;
        let goes_on = cpu < tree.active_cores && of(cpu) == of(first) && room;
        if !goes_on {
            groups.push(Span::new(usize::from(first), usize::from(cpu - first)));
            first = cpu;
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::parse_short;
    use crate::spec::{Machine, MemoryBeside};

    #[test]
    fn queues_beyond_the_most_are_spread_evenly_and_keep_siblings_together() {
        let tree = Topology::new(&parse_short("node:2 chip:1 core:10").unwrap());
        let sizes = |by, most| -> Vec<usize> {
            let groups = groups(&tree, 2, by, most).into_iter();
            groups.map(Span::len).collect()
        };
        assert_eq!(sizes(RunQueues::Socket, 16), [10, 10]);
        assert_eq!(sizes(RunQueues::All, 16), [10, 10]);
        assert_eq!(sizes(RunQueues::Socket, 5), [4, 4, 2, 4, 4, 2]);
        assert_eq!(sizes(RunQueues::Core, 16), [2; 10]);
        assert_eq!(sizes(RunQueues::Cpu, 16), [1; 20]);
    }

    #[test]
    fn a_socket_of_core_complexes_is_one_package() {
        // Two sockets of four complexes of two cores, each undivided, then as four memory nodes.
        let mut machine = parse_short("node:2 chip:4 core:2").unwrap();
        machine.memory_beside = MemoryBeside::Node;
        machine.hypervisor.siblings = 2;
        let queues = |machine: &Machine, by, most| {
            groups(&Topology::new(machine), 2, by, most)
                .into_iter()
                .map(Span::len)
                .collect::<Vec<_>>()
        };
        assert_eq!(queues(&machine, RunQueues::Socket, 16), [16, 16]);
        assert_eq!(queues(&machine, RunQueues::Socket, 8), [8; 4]);
        let mut parts = parse_short("node:8 chip:1 core:2").unwrap();
        parts.memory_beside = MemoryBeside::Node;
        parts.hypervisor.siblings = 2;
        assert_eq!(queues(&parts, RunQueues::Socket, 16), [4; 8]);
        parts.nodes_per_socket = 4;
        assert_eq!(queues(&parts, RunQueues::Socket, 16), [16, 16]);
        assert_eq!(queues(&parts, RunQueues::Node, 16), [4; 8]);
    }
}
