//! Trees of any shape survive hwloc's XML, and dumps of made-up hosts give the tree they were made
//! from, also with parts of them missing or wrong.

use std::collections::BTreeMap;

use homenode_captures::topology::{console, CpuKind, Distances, Info, Kind, Object, Topology};
use homenode_captures::{hwloc, libvirt, lscpu, sysfs};
use proptest::prelude::*;

/// How many of each are inside each other.
#[derive(Clone, Copy, Debug)]
struct Counts {
    packages: u32,
    cores: u32,
    threads: u32,
}

impl Counts {
    fn processors(self) -> u32 {
        self.packages * self.cores * self.threads
    }
}

fn counts() -> impl Strategy<Value = Counts> {
    (1..5_u32, 1..6_u32, 1..5_u32).prop_map(|(packages, cores, threads)| Counts {
        packages,
        cores,
        threads,
    })
}

fn kind(name: &str) -> Kind {
    Kind::named(name).expect("a kind")
}

fn object(name: &str, number: Option<u32>, children: Vec<Object>) -> Object {
    Object {
        children,
        ..Object::new(kind(name), number)
    }
}

/// An even host with memory beside each package.
fn even(counts: Counts, infos: Vec<Info>) -> Topology {
    let mut next = 0;
    let mut packages = Vec::new();
    for package in 0..counts.packages {
        let memory = Object {
            bytes: Some(1 << 30),
            ..Object::new(kind("NUMANode"), Some(package))
        };
        let mut inside = vec![memory];
        for core in 0..counts.cores {
            let threads = (next..next + counts.threads).map(|cpu| object("PU", Some(cpu), vec![]));
            let threads = threads.collect();
            next += counts.threads;
            let cache = Object {
                bytes: Some(32 << 10),
                line_bytes: Some(64),
                ways: Some(8),
                ..object("L1d", None, vec![object("Core", Some(core), threads)])
            };
            inside.push(cache);
        }
        let mut package = object("Package", Some(package), inside);
        package.infos.clone_from(&infos);
        packages.push(package);
    }
    let all = 0..counts.packages as usize;
    let row = |from: usize| {
        all.clone()
            .map(|to| if from == to { 10 } else { 21 })
            .collect()
    };
    let matrix = Distances {
        name: Some("NUMALatency".into()),
        of: kind("NUMANode"),
        meaning: 5,
        objects: all.clone().collect(),
        rows: all.clone().map(row).collect(),
    };
    Topology {
        root: object("Machine", Some(0), packages),
        distances: if counts.packages > 1 {
            vec![matrix]
        } else {
            vec![]
        },
        cpu_kinds: vec![CpuKind {
            efficiency: 0,
            processors: (0..next).collect(),
            infos: vec![],
        }],
        ..Topology::default()
    }
}

/// The files of such a host under `/sys` and `/proc`.
fn dump(counts: Counts) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut put = |path: String, text: String| files.insert(path, text.into_bytes());
    let each = counts.cores * counts.threads;
    for cpu in 0..counts.processors() {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}");
        let (package, core) = (cpu / each, cpu / counts.threads);
        let first = core * counts.threads;
        let core_list = format!("{first}-{}\n", first + counts.threads - 1);
        let package_list = format!("{}-{}\n", package * each, (package + 1) * each - 1);
        put(
            format!("{folder}/topology/core_id"),
            format!("{}\n", core % counts.cores),
        );
        put(
            format!("{folder}/topology/physical_package_id"),
            format!("{package}\n"),
        );
        put(
            format!("{folder}/topology/thread_siblings_list"),
            core_list.clone(),
        );
        put(
            format!("{folder}/topology/core_siblings_list"),
            package_list.clone(),
        );
        for (name, text) in [
            ("level", "1\n"),
            ("type", "Data\n"),
            ("size", "32K\n"),
            ("coherency_line_size", "64\n"),
            ("number_of_sets", "64\n"),
        ] {
            put(format!("{folder}/cache/index0/{name}"), text.into());
        }
        put(format!("{folder}/cache/index0/shared_cpu_list"), core_list);
        put(
            format!("sys/devices/system/node/node{package}/cpulist"),
            package_list,
        );
    }
    for node in 0..counts.packages {
        let folder = format!("sys/devices/system/node/node{node}");
        let row = (0..counts.packages).map(|to| if to == node { "10" } else { "21" });
        put(
            format!("{folder}/distance"),
            row.collect::<Vec<_>>().join(" ") + "\n",
        );
        put(
            format!("{folder}/meminfo"),
            format!("Node {node} MemTotal: 1048576 kB\n"),
        );
    }
    files
}

fn shape(object: &Object) -> String {
    let inside: Vec<String> = object.children.iter().map(shape).collect();
    format!(
        "{}{:?}({})",
        object.kind.name(),
        object.os_index,
        inside.join(" ")
    )
}

/// Files of a dump with other texts in them.
fn wrong() -> impl Strategy<Value = Vec<(prop::sample::Index, String)>> {
    let file = (any::<prop::sample::Index>(), "[0-9a-f,\\- x]{0,12}");
    prop::collection::vec(file, 1..6)
}

const LIKE_XML: &str = "(<[a-z]{1,9}( [a-z_]{1,9}='[^']{0,9}')?/?>|\\PC|\n){0,40}";

proptest! {
    #[test]
    fn written_xml_is_read_back(counts in counts(), value in "[ -~é]{0,20}") {
        let topology = even(counts, vec![Info::new("CPUModel", value)]);
        let read = hwloc::read(&hwloc::write(&topology)).expect("hwloc's XML");
        prop_assert_eq!((read.dropped, read.remarks), (0, vec![]));
        prop_assert_eq!(read.found.topology, Some(topology));
    }

    #[test]
    fn a_dump_gives_the_tree_it_was_made_from(counts in counts()) {
        let read = sysfs::read(&dump(counts)).expect("a dump");
        let found = read.found.topology.expect("a tree");
        prop_assert_eq!(read.dropped, 0);
        let wanted = even(counts, vec![]);
        prop_assert_eq!(shape(&found.root), shape(&wanted.root));
        prop_assert_eq!(found.distances, wanted.distances);
    }

    #[test]
    fn lscpu_tables_give_the_same_tree(counts in counts()) {
        let mut text = String::from("# CPU,Core,Socket,Node,,L1d\n");
        for cpu in 0..counts.processors() {
            let (core, package) = (cpu / counts.threads, cpu / counts.threads / counts.cores);
            text += &format!("{cpu},{core},{package},{package},,{core}\n");
        }
        let read = lscpu::read(&text).expect("a table");
        let found = read.found.topology.expect("a tree");
        let plain = |text: &str| text.split("(P#").next().unwrap_or("").trim_end().to_owned();
        let lines = |topology: &Topology| -> Vec<String> {
            let tree = console(topology);
            tree.lines().filter(|line| line.contains("L#")).map(plain).collect()
        };
        let caches_without_sizes = |lines: Vec<String>| -> Vec<String> {
            lines.into_iter().map(|line| plain(line.split(" (size").next().unwrap_or(""))).collect()
        };
        let (found, wanted) = (lines(&found), lines(&even(counts, vec![])));
        prop_assert_eq!(caches_without_sizes(found), caches_without_sizes(wanted));
    }

    #[test]
    fn a_dump_with_wrong_and_missing_files_gives_all_processors(
        counts in counts(),
        wrong in wrong(),
        missing in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut files = dump(counts);
        let paths: Vec<String> = files.keys().cloned().collect();
        for (index, text) in wrong {
            files.insert(index.get(&paths).clone(), text.into_bytes());
        }
        for index in missing {
            files.remove(index.get(&paths));
        }
        let read = sysfs::read(&files).expect("a dump");
        let found = read.found.topology.expect("a tree");
        let count = found.root.all(kind("PU")).len();
        prop_assert_eq!(count, counts.processors() as usize);
        prop_assert!(!console(&found).is_empty());
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in LIKE_XML) {
        let _ = (hwloc::read(&text), lscpu::read(&text));
        let _ = (libvirt::read_capabilities(&text), libvirt::read_domains(&text));
    }
}

const OLD: &str = "<topology>
  <object type=\"Machine\" os_index=\"0\" cpuset=\"0x0000000f\" complete_cpuset=\"0x0000001f\">
    <distances nbobjs=\"2\" relative_depth=\"1\" latency_base=\"10.0\">
      <latency value=\"1.0\"/><latency value=\"2.0\"/>
      <latency value=\"2.0\"/><latency value=\"1.0\"/>
    </distances>
    <object type=\"NUMANode\" os_index=\"0\" local_memory=\"1024\">
      <object type=\"Socket\" os_index=\"0\">
        <object type=\"Cache\" cache_size=\"65536\" depth=\"1\" cache_type=\"1\">
          <object type=\"Core\" os_index=\"0\">
            <object type=\"PU\" os_index=\"0\"/><object type=\"PU\" os_index=\"1\"/>
          </object>
        </object>
      </object>
    </object>
    <object type=\"NUMANode\" os_index=\"1\" local_memory=\"1024\">
      <object type=\"Socket\" os_index=\"1\">
        <object type=\"Core\" os_index=\"0\">
          <object type=\"PU\" os_index=\"2\"/><object type=\"PU\" os_index=\"3\"/>
        </object>
      </object>
    </object>
    <object type=\"Bridge\"><object type=\"PCIDev\"/></object>
  </object>
</topology>
";

#[test]
fn version_1_has_its_memory_hung_beside_the_packages() {
    let read = hwloc::read(OLD).expect("hwloc's XML");
    assert_eq!(read.dropped, 0);
    assert!(
        read.remarks[0].text.starts_with("2 devices"),
        "{:?}",
        read.remarks
    );
    let topology = read.found.topology.expect("a tree");
    assert_eq!(
        shape(&topology.root),
        "MachineSome(0)(PackageSome(0)(NUMANodeSome(0)() \
         L1dNone(CoreSome(0)(PUSome(0)() PUSome(1)()))) \
         PackageSome(1)(NUMANodeSome(1)() CoreSome(0)(PUSome(2)() PUSome(3)())))"
    );
    assert_eq!(topology.distances[0].rows, [[10, 20], [20, 10]]);
    assert_eq!(topology.offline, [4]);
}

#[test]
fn a_cut_off_xml_keeps_what_it_holds() {
    let cut = OLD
        .split("<object type=\"PU\" os_index=\"3\"")
        .next()
        .expect("a beginning");
    let read = hwloc::read(cut).expect("hwloc's XML");
    assert!(read.dropped > 0);
    let topology = read.found.topology.expect("a tree");
    assert_eq!(topology.root.all(kind("PU")).len(), 3);
}

#[test]
fn objects_that_are_no_objects_are_dropped_with_their_lines() {
    let odd = OLD
        .replace("type=\"PU\" os_index=\"3\"", "type=\"PU\" os_index=\"2\"")
        .replace(
            "<object type=\"Socket\" os_index=\"1\">",
            "<object type=\"Sprocket\">",
        );
    let read = hwloc::read(&odd).expect("hwloc's XML");
    assert_eq!(read.dropped, 2);
    let lines: Vec<usize> = read.remarks.iter().map(|remark| remark.line).collect();
    assert_eq!(lines, [17, 19, 2]);
}

#[test]
fn other_documents_are_refused() {
    for text in [
        "",
        "<a/>",
        "<topology/>",
        "<topology><object type='Core'/></topology>",
    ] {
        assert!(hwloc::read(text).is_err(), "{text}");
    }
}
