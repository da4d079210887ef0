//! The examples of the page "What an instruction costs", number by number: the engine comes to
//! what the page works out by hand, to the last digit printed there.

use crate::common::{dedicated, loops, machine, memory, partition, plain_profile, spec, GIB};
use homenode_engine::cost::{
    lock, Book, Class, Contention, Fabric, Occupancy, Place, Source, Spread, Toll, Working,
};
use homenode_engine::guest::memory::place;
use homenode_engine::ids::{ChipId, MemoryId};
use homenode_engine::machine::Topology;
use homenode_engine::spec::{
    Accounting, Cache, CacheScope, Coherence, Drains, Guest, LockKind, Machine, MemoryBeside,
    MemoryLoad, MemoryPolicy, Partition, Pipeline, Profile, StorePath, StreamPath, Translation,
};
use homenode_engine::steady::price;

const PAGE: &str = include_str!("../../../../docs/background/cost-model.md");

/// Checks a figure of the page: `figure` stands in the section, and `value` rounds to it.
fn says(title: &str, figure: &str, value: f64) {
    let heading = format!("\n## {title}\n");
    let (_, rest) = PAGE
        .split_once(&heading)
        .unwrap_or_else(|| panic!("no section {title}"));
    let section = rest.split("\n## ").next().unwrap_or(rest);
    let stands = section.split(|c: char| !(c.is_ascii_alphanumeric() || c == '.' || c == ','));
    let mut words = stands.map(|word| word.trim_end_matches(['.', ',']));
    assert!(
        words.any(|word| word == figure),
        "{title} does not say {figure}"
    );
    let number: f64 = figure.replace(',', "").parse().expect("a number");
    let decimals = figure.split_once('.').map_or(0, |(_, digits)| digits.len());
    let half_a_digit = 0.5 * 10f64.powi(-(decimals as i32)) + 1e-9;
    assert!(
        (value - number).abs() <= half_a_digit,
        "{title}: {value} is not {figure}"
    );
}

/// The page's machine: two nodes of two chips of four cores at 1 GHz; three caches, all of a core's
/// own, after which one half, one quarter and one eighth of the misses of no cache are left.
fn example_machine() -> Machine {
    let mut machine = machine("node:2 chip:2 core:4 pu:2");
    let cache = |name: &str, kib: u64, latency_ns| Cache {
        name: name.into(),
        bytes: kib << 10,
        scope: CacheScope::Core,
        latency_ns,
        victim: false,
        bytes_per_s: None,
        line_ns: 0.0,
    };
    machine.caches = vec![
        cache("L1", 768, 1.0),
        cache("L2", 3_840, 5.0),
        cache("L3", 16_128, 10.0),
    ];
    machine
}

/// The page's work.
fn example_profile() -> Profile {
    Profile {
        eicpi: 1.0,
        issue_share: 0.5,
        miss_m0: 0.048,
        miss_c0_bytes: f64::from(256 << 10),
        miss_exponent: 0.5,
        ..plain_profile(1e6)
    }
}

/// An example: one thread of one partition, alone on chip 0 with its memory there, if nothing else
/// is said.
struct Example {
    machine: Machine,
    partition: Partition,
    /// Cores that the partition keeps busy, by chip.
    cores: [f64; 4],
    occupancy: Occupancy,
    chip: ChipId,
    threads: u8,
    snoozing_sibling: bool,
}

fn example() -> Example {
    let machine = example_machine();
    let mut partition = partition("a", dedicated(0..4, false), loops(1));
    partition.profile = example_profile();
    Example {
        occupancy: Occupancy::new(&machine, &Topology::new(&machine)),
        machine,
        partition,
        cores: [1.0, 0.0, 0.0, 0.0],
        chip: ChipId::new(0),
        threads: 1,
        snoozing_sibling: false,
    }
}

impl Example {
    /// Hangs the memory beside the nodes: 24 GiB of node 0 and 8 GiB over both, all in use.
    fn beside_nodes(mut self) -> Self {
        self.machine.memory_beside = MemoryBeside::Node;
        self.partition.memory = vec![memory(&[0], 24 * GIB), memory(&[0, 1], 8 * GIB)];
        self.partition.data_bytes = 32 * GIB;
        self.partition.memory_policy = MemoryPolicy::LocalFirst;
        self.occupancy = Occupancy::new(&self.machine, &Topology::new(&self.machine));
        self
    }

    /// Age at which a thread that goes as fast as on an idle machine has brought in so much.
    fn age_for(&self, bytes: u64) -> f64 {
        let working = Working::of(&self.machine, &self.partition.profile);
        let (mut low, mut high) = (0.0, 1e12);
        for _ in 0..200 {
            let age = 0.5 * (low + high);
            let rate = 1.0 / self.machine_alone_ns();
            if working.brought(rate * age) < bytes as f64 {
                low = age;
            } else {
                high = age;
            }
        }
        high
    }

    /// Time of an instruction on the idle machine.
    fn machine_alone_ns(&self) -> f64 {
        self.class().ns
    }

    fn class(&self) -> Class {
        let tree = Topology::new(&self.machine);
        let mut spread = Spread::new(&tree, place(&self.machine, &tree, &self.partition));
        spread.set_cores(&tree, &self.cores.to_vec().into());
        Class::at(Place {
            machine: &self.machine,
            tree: &tree,
            contention: &Contention::new(&self.machine),
            occupancy: &self.occupancy,
            partition: &self.partition,
            spread: &spread,
            chip: self.chip,
            threads: self.threads,
            snoozing_sibling: self.snoozing_sibling,
        })
    }

    fn book(&self, book: Book) -> f64 {
        self.class().books.of(book)
    }
}

#[test]
fn misses() {
    let class = example().class();
    says("Misses", "0.012", class.lines.of(Source::L2));
    says("Misses", "0.006", class.lines.of(Source::L3));
    says("Misses", "0.006", class.lines.of(Source::MemoryLocal));
    says("Misses", "0.06", class.books.of(Book::L2));
    says("Misses", "0.06", class.books.of(Book::L3));
    says("Misses", "0.6", class.books.of(Book::MemoryLocal));
    says("Misses", "1.72", class.ns);
}

#[test]
fn shared_caches() {
    let mut one = example();
    one.machine.caches[2].bytes = 12 << 20;
    one.machine.caches[2].scope = CacheScope::Chip;
    one.occupancy = Occupancy::new(&one.machine, &Topology::new(&one.machine));
    says("Shared caches", "0.00686", one.class().memory_lines);
    // Two strangers at the same rate: each has brought in one half.
    let half = one.age_for(6 << 20);
    one.occupancy.ages.set(2, half);
    says("Shared caches", "0.0096", one.class().memory_lines);
    says("Shared caches", "0.96", one.book(Book::MemoryLocal));
    one.machine.caches[2].scope = CacheScope::Node;
    one.occupancy = Occupancy::new(&one.machine, &Topology::new(&one.machine));
    one.occupancy.ages.set(2, half);
    says("Shared caches", "0.0096", one.class().memory_lines);
    says("Shared caches", "0.024", one.book(Book::L4));
}

#[test]
fn what_is_common_lies_there_once() {
    const TITLE: &str = "Shared caches";
    let mut one = example();
    one.machine.caches[2].bytes = 12 << 20;
    one.machine.caches[2].scope = CacheScope::Chip;
    one.partition.profile.footprint_common = 0.75;
    one.partition.processors = dedicated(0..4, false);
    let spec = spec(one.machine, vec![one.partition]);
    let lines = |cores: f64| {
        let prices = price(&spec, &[vec![cores, 0.0, 0.0, 0.0]]).expect("a sound layout");
        prices[0]
            .cost
            .expect("busy cores")
            .lines
            .of(Source::MemoryLocal)
    };
    says(TITLE, "0.00686", lines(1.0));
    says(TITLE, "0.0084", lines(4.0));
}

#[test]
fn sharers() {
    let mut one = example();
    one.partition.profile.sharing = 0.4;
    one.cores = [4.0, 2.0, 2.0, 0.0];
    let class = one.class();
    says("Sharers", "0.0056", class.shared_lines);
    says("Sharers", "0.0024", class.lines.of(Source::CacheChip));
    says("Sharers", "0.0016", class.lines.of(Source::CacheFar));
    says("Sharers", "0.096", class.books.of(Book::CacheChip));
    says("Sharers", "0.16", class.books.of(Book::CacheNear));
    says("Sharers", "0.32", class.books.of(Book::CacheFar));
    says("Sharers", "0.0039", class.memory_lines);
    says("Sharers", "2.044", class.ns);
    one.machine.coherence = Coherence::Home;
    says(
        "Sharers",
        "0.0095",
        one.class().lines.of(Source::MemoryLocal),
    );
    says("Sharers", "0.95", one.book(Book::MemoryLocal));
    says("Sharers", "2.028", one.class().ns);
    one.machine.coherence = Coherence::Directory;
    says("Sharers", "0.16", one.book(Book::CacheNear));
    one.partition.memory[0].domains = vec![2];
    says("Sharers", "0.32", one.book(Book::CacheNear));
    one.partition.memory[0].domains = vec![0];
    one.machine.coherence = Coherence::Owner;
    one.cores = [1.0, 0.0, 0.0, 0.0];
    says("Sharers", "1.72", one.class().ns);
}

#[test]
fn kinds_of_memory() {
    const TITLE: &str = "Memory: where it hangs and what lies where";
    let mut one = example().beside_nodes();
    says(TITLE, "0.525", one.book(Book::MemoryLocal));
    says(TITLE, "0.225", one.book(Book::MemoryFar));
    says(TITLE, "0.75", one.class().ns - 1.12);
    one.partition.memory[0].domains = vec![1];
    says(TITLE, "1.65", one.class().ns - 1.12);
    one.partition.memory.remove(0);
    one.partition.data_bytes = 8 * GIB;
    says(TITLE, "1.2", one.class().ns - 1.12);
}

#[test]
fn threads_that_allocate_at_once() {
    const TITLE: &str = "Memory: where it hangs and what lies where";
    let mut one = example().beside_nodes();
    one.partition.processors = dedicated(4..12, false);
    says(TITLE, "0.875", one.book(Book::MemoryLocal) / 0.6);
    one.chip = ChipId::new(2);
    says(TITLE, "0.875", one.book(Book::MemoryFar) / 1.8);
    one.partition.profile.private_data = 0.5;
    says(TITLE, "0.8125", one.book(Book::MemoryFar) / 1.8);
    one.partition.profile.private_data = 0.0;
    one.partition.profile.io_data = 0.2;
    one.partition.io_domain = Some(0);
    says(TITLE, "0.9", one.book(Book::MemoryFar) / 1.8);
}

/// The page's controllers: 16 GB/s in four channels.
fn controllers(machine: &mut Machine) {
    machine.memory_bytes_per_s = 16e9;
    machine.memory_load = MemoryLoad {
        channels: 4,
        bank_ns: 40.0,
        channel_wait: 0.25,
        write_cost: 1.3,
    };
}

#[test]
fn controllers_and_links() {
    const TITLE: &str = "Controllers and links";
    let mut one = example();
    controllers(&mut one.machine);
    let fabric = Fabric::new(&one.machine, &Topology::new(&one.machine));
    let port = fabric.memory(MemoryId::new(0));
    says(TITLE, "28", fabric.delay_ns(port, 0.5));
    says(TITLE, "108", fabric.delay_ns(port, 0.9));
    one.occupancy.fabric.set_toll(port, toll(28.0, 0.0));
    says(TITLE, "0.768", one.book(Book::MemoryLocal));
    one.partition.profile.overlap = 0.9;
    one.occupancy.fabric.set_toll(port, toll(28.0, 50.0));
    says(TITLE, "0.3768", one.book(Book::MemoryLocal));
}

fn toll(delay_ns: f64, wait_ns: f64) -> Toll {
    Toll { delay_ns, wait_ns }
}

/// Cost of an instruction while four cores read through the page's controllers.
fn of_four(mut one: Example) -> f64 {
    controllers(&mut one.machine);
    let spec = spec(one.machine, vec![one.partition]);
    let prices = price(&spec, &[vec![4.0, 0.0, 0.0, 0.0]]).expect("a sound layout");
    prices[0].cost.expect("busy cores").ns
}

#[test]
fn the_balance_of_load_and_speed() {
    const TITLE: &str = "Controllers and links";
    says(TITLE, "1.752", of_four(example()));
    let mut hidden = example();
    hidden.partition.profile.eicpi = 0.1;
    hidden.partition.profile.overlap = 0.99;
    says(TITLE, "0.192", of_four(hidden));
}

#[test]
fn translation() {
    let mut one = example();
    one.machine.translation = Some(Translation {
        entries: 64,
        walk_ns: 40.0,
    });
    one.partition.data_bytes = 4 * GIB;
    one.partition.page_bytes = 16 << 20;
    says("Translation", "0.18", one.book(Book::Translation));
    one.partition.page_bytes = 64 << 20;
    says("Translation", "0", one.book(Book::Translation));
}

#[test]
fn overlap_and_the_speed_of_the_core() {
    const TITLE: &str = "Overlap and the speed of the core";
    let mut one = example();
    one.partition.profile.overlap = 0.25;
    says(TITLE, "1.54", one.class().ns);
    one.partition.profile.overlap = 0.0;
    one.machine.core_rate = 1.25;
    says(TITLE, "0.8", one.book(Book::Useful));
    says(TITLE, "1.52", one.class().ns);
    one.machine.clock_hz = 2e9;
    says(TITLE, "1.12", one.class().ns);
}

/// A machine of which is known what empties its pipelines, and what they were on the reference.
fn drained(own: Drains) -> Example {
    let mut one = example();
    one.machine.core_rate = 1.25;
    one.partition.profile.control_share = 0.002;
    one.machine.pipeline = Some(Pipeline {
        own,
        reference: REFERENCE,
    });
    one
}

const REFERENCE: Drains = Drains {
    control_cycles: 100.0,
    branch_targets: 8192.0,
    branch_cycles: 20.0,
};

#[test]
fn emptied_pipelines() {
    const TITLE: &str = "Emptied pipelines";
    let mut one = drained(Drains {
        control_cycles: 50.0,
        branch_targets: 32768.0,
        ..REFERENCE
    });
    says(TITLE, "0.74", one.book(Book::Useful));
    one.partition.profile.branch_misses = 0.01;
    says(TITLE, "0.68", one.book(Book::Useful));
    one.machine.pipeline = None;
    says(TITLE, "0.8", one.book(Book::Useful));
}

#[test]
fn a_better_pipeline_helps_and_most_the_work_that_empties_it() {
    let ns = |own: Drains, control: f64, branches: f64| {
        let mut one = drained(own);
        one.partition.profile.control_share = control;
        one.partition.profile.branch_misses = branches;
        one.class().ns
    };
    let better = [
        Drains {
            control_cycles: 60.0,
            ..REFERENCE
        },
        Drains {
            branch_targets: 20_000.0,
            ..REFERENCE
        },
        Drains {
            branch_cycles: 12.0,
            ..REFERENCE
        },
    ];
    for own in better {
        let gain =
            |control, branches| ns(REFERENCE, control, branches) / ns(own, control, branches);
        // Work that does nothing of the kind gains nothing.
        assert!((gain(0.0, 0.0) - 1.0).abs() < 1e-12);
        let asked = |share: f64| match own.control_cycles < 100.0 {
            true => gain(share, 0.0),
            false => gain(0.0, 5.0 * share),
        };
        let gains: Vec<f64> = [0.0, 0.001, 0.002, 0.005].map(asked).into();
        assert!(gains.is_sorted_by(|less, more| less < more), "{gains:?}");
    }
    // The more a core loses on what the reference loses nothing on, the slower it is.
    let worse = Drains {
        control_cycles: 200.0,
        ..REFERENCE
    };
    assert!(ns(worse, 0.002, 0.01) > ns(REFERENCE, 0.002, 0.01));
}

#[test]
fn threads_on_a_core() {
    const TITLE: &str = "Threads on a core";
    let mut reference = example_machine();
    (
        reference.caches[0].bytes,
        reference.smt.reference.issue_share,
    ) = (1 << 20, 0.5);
    reference.smt.gain = vec![1.0, 1.4];
    let lost = |issue| Contention::new(&reference).lost(2, 1.0, issue, 1.0);
    says(TITLE, "1.4", 2.0 / (1.0 + lost(0.5)));
    says(TITLE, "0.655", lost(0.5).sqrt());
    let mut one = example();
    one.threads = 2;
    for cache in &mut one.machine.caches {
        cache.bytes *= 2;
    }
    says(TITLE, "0.249", one.book(Book::Smt));
    says(TITLE, "1.969", one.class().ns);
    says(TITLE, "1.747", 2.0 * 1.72 / one.class().ns);
    let mut one = example();
    one.machine.accounting = Accounting::DecodeSlots;
    one.snoozing_sibling = true;
    says(TITLE, "0.067", one.book(Book::Smt));
}

#[test]
fn locks() {
    // Four threads: chances of none to four at the lock, all as multiples of the first.
    let turns = [1_750.0, 1_765.0, 1_780.0, 1_795.0];
    let figures = ["0.4522", "0.1547", "0.0356", "0.0041"];
    let mut weight = 1.0;
    for ((turn, free), figure) in turns.iter().zip([4.0, 3.0, 2.0, 1.0]).zip(figures) {
        weight *= free * turn / 15_480.0;
        says("Locks", figure, weight);
    }
    let wait = |kind| lock::wait_ns(kind, 4.0, 15_480.0, 1_720.0, 30.0);
    says("Locks", "652", wait(LockKind::Ticket));
    says("Locks", "637", wait(LockKind::Queue));
    let mut one = example();
    one.partition.profile.lock_kind = LockKind::Ticket;
    one.partition.profile.lock_share = 0.1;
    one.partition.profile.lock_hold_instructions = 1_000.0;
    one.cores = [4.0, 0.0, 0.0, 0.0];
    says("Locks", "0.0682", one.book(Book::Spin));
    one.cores = [1.0, 0.0, 0.0, 0.0];
    says("Locks", "0", one.book(Book::Spin));
}

#[test]
fn a_lock_for_which_threads_sleep() {
    // Those that wait for a queue lock differ from these in what they do meanwhile.
    let done = |n: f64| 10.0 * n / (10.0 + lock::wait_ns(LockKind::Queue, n, 9.0, 1.0, 0.0));
    says("Locks", "7.108", done(8.0));
    says("Locks", "9.889", done(16.0));
    says("Locks", "10", done(1_000.0));
    assert_eq!(lock::wait_ns(LockKind::Sleeping, 16.0, 9.0, 1.0, 0.0), 0.0);
}

#[test]
fn a_lock_that_collapses() {
    let per_us = |kind, n| n / (100.6 + lock::wait_ns(kind, n, 100.0, 0.5, 0.1));
    says("Locks", "0.318", per_us(LockKind::Ticket, 32.0));
    says("Locks", "0.633", per_us(LockKind::Ticket, 64.0));
    says("Locks", "0.243", per_us(LockKind::Ticket, 96.0));
    says("Locks", "0.947", per_us(LockKind::Queue, 96.0));
    says("Locks", "1.6667", per_us(LockKind::Queue, 400.0));
}

#[test]
fn stores() {
    let mut one = example();
    one.partition.profile.store_share = 0.2;
    one.partition.profile.store_run = 4.0;
    one.machine.stores = Some(StorePath {
        interval_ns: 2.0,
        width_bytes: 16.0,
        gather_bytes: None,
    });
    says("Stores", "0.058", one.book(Book::Store));
    says("Stores", "0.225", 0.4 / one.class().ns);
    if let Some(path) = &mut one.machine.stores {
        path.gather_bytes = Some(128.0);
    }
    says("Stores", "0.013", one.book(Book::Store));
    one.partition.profile.store_share = 1.0;
    if let Some(path) = &mut one.machine.stores {
        path.gather_bytes = None;
    }
    says("Stores", "3.281", one.class().ns);
    one.machine.stores = None;
    says("Stores", "1.72", one.class().ns);
}

#[test]
fn streams() {
    let mut one = example();
    one.partition.profile.miss_m0 = 0.0;
    one.partition.profile.stream_bytes = 16.0;
    let path = |lines| {
        let transfer_ns = 4.0;
        Some(StreamPath { lines, transfer_ns })
    };
    one.machine.streams = path(5.0);
    says("Streams", "2.6", one.class().ns);
    says("Streams", "1.6", one.book(Book::MemoryLocal));
    says("Streams", "6.15", 16.0 / one.class().ns);
    one.machine.streams = path(40.0);
    says("Streams", "16", 16.0 / one.class().ns);
    // A line takes its time on the link however many are on their way: 0.125 x 10 ns.
    one.machine.streams = Some(StreamPath {
        lines: 40.0,
        transfer_ns: 10.0,
    });
    assert!((one.class().ns - 1.25).abs() < 1e-9);
    // A core that waits for each: 1 + 0.125 x 104.
    one.machine.streams = path(0.0);
    assert!((one.class().ns - 14.0).abs() < 1e-9);
}

#[test]
fn tick_and_hypervisor() {
    const TITLE: &str = "What the tick and the hypervisor take";
    let mut one = example();
    if let Guest::Aix(aix) = &mut one.partition.guest {
        aix.tick_cost_ns = 100_000;
    }
    one.partition.hypervisor_share = 0.02;
    says(TITLE, "0.0174", one.book(Book::Tick));
    says(TITLE, "0.0355", one.book(Book::Hypervisor));
    says(TITLE, "1.7728", one.class().ns);
}

#[test]
fn cold_caches() {
    let class = example().class();
    says("Cold caches", "0.018", class.reload_lines);
    says("Cold caches", "1.62", class.reload_ns[1]);
    let instructions = 2_048.0 / class.reload_lines;
    says("Cold caches", "113,778", instructions);
    says(
        "Cold caches",
        "184",
        instructions * class.reload_ns[1] / 1e3,
    );
    says("Cold caches", "129,024", class.private_lines);
    let turnover_ms = class.private_lines * class.ns / class.fill_lines / 1e6;
    says("Cold caches", "37.0", turnover_ms);
    says("Cold caches", "0.237", 1.0 - (-10.0 / turnover_ms).exp());
}
