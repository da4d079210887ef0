//! What a dump says of the host as a whole.

use super::cpuinfo::CpuInfo;
use super::files::Files;
use super::nodes;
use crate::topology::{virtual_hardware, Host, Info, Topology};

/// Lines of `proc/hwloc-nofile-info` that say what the system is.
const SYSTEM: [&str; 5] = [
    "OSName",
    "OSRelease",
    "OSVersion",
    "HostName",
    "Architecture",
];

/// Files of the firmware's description, and hwloc's names of them.
const FIRMWARE: [(&str, &str); 12] = [
    ("product_name", "DMIProductName"),
    ("product_version", "DMIProductVersion"),
    ("board_vendor", "DMIBoardVendor"),
    ("board_name", "DMIBoardName"),
    ("board_version", "DMIBoardVersion"),
    ("board_asset_tag", "DMIBoardAssetTag"),
    ("chassis_vendor", "DMIChassisVendor"),
    ("chassis_type", "DMIChassisType"),
    ("bios_vendor", "DMIBIOSVendor"),
    ("bios_version", "DMIBIOSVersion"),
    ("bios_date", "DMIBIOSDate"),
    ("sys_vendor", "DMISysVendor"),
];

/// The host around the tree.
pub(super) fn host(files: &Files<'_>, info: &CpuInfo, topology: Topology) -> Host {
    let name = files.text("proc/device-tree/ibm,partition-name");
    let firmware = firmware(files);
    let product = firmware.iter().find(|info| info.name == "DMIProductName");
    let model = info
        .machine("machine")
        .or_else(|| info.machine("machine type"));
    Host {
        architecture: architecture(files, info),
        processor: info.info("CPUModel").map(str::to_owned),
        clock_mhz: info.first().and_then(|first| first.clock_mhz),
        model: model
            .map(str::to_owned)
            .or_else(|| product.map(|info| info.value.clone())),
        name: name
            .map(|name| name.into_owned())
            .or_else(|| system(files, "HostName")),
        hypervisor: hypervisor(files, info),
        memory_bytes: memory(files, &topology),
        topology: Some(topology),
        summary: String::new(),
    }
}

fn memory(files: &Files<'_>, topology: &Topology) -> Option<u64> {
    let nodes = Some(topology.root.memory()).filter(|bytes| *bytes > 0);
    nodes.or_else(|| nodes::total(&files.text("proc/meminfo")?))
}

/// A line of `proc/hwloc-nofile-info`.
fn system(files: &Files<'_>, name: &str) -> Option<String> {
    let text = files.text("proc/hwloc-nofile-info")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(line.trim().to_owned())
}

/// As the gatherer wrote it down, or as `proc/cpuinfo` gives it away.
fn architecture(files: &Files<'_>, info: &CpuInfo) -> Option<String> {
    let written = system(files, "Architecture");
    written.or_else(|| {
        let first = info.first();
        let flags = first
            .map(|first| first.flags.as_slice())
            .unwrap_or_default();
        let text = files.text("proc/cpuinfo").unwrap_or_default();
        let known = [
            (info.machine("vendor_id") == Some("IBM/S390"), "s390x"),
            (
                info.info("CPURevision").is_some() && text.contains("timebase"),
                "ppc64",
            ),
            (text.contains("IA-64"), "ia64"),
            (flags.iter().any(|flag| flag == "lm"), "x86_64"),
            (flags.iter().any(|flag| flag == "asimd"), "aarch64"),
        ];
        let found = known.into_iter().find(|(is, _)| *is);
        found.map(|(_, name)| name.to_owned())
    })
}

/// What the host runs under: PowerVM and QEMU give their platform a name on Power; elsewhere it is
/// in the firmware's description, or only that there is one, in the flags of the processor.
fn hypervisor(files: &Files<'_>, info: &CpuInfo) -> Option<String> {
    if let Some(platform) = info.machine("platform") {
        let emulated = info
            .machine("machine")
            .is_some_and(|machine| machine.contains("qemu"));
        return match platform {
            "pSeries" if emulated => Some("KVM".into()),
            "pSeries" => Some("PowerVM".into()),
            _ => None,
        };
    }
    if let Some(kind) = files.text("sys/hypervisor/type") {
        return Some(kind.into_owned());
    }
    let flags = info
        .first()
        .map(|first| first.flags.as_slice())
        .unwrap_or_default();
    let flagged = flags.iter().any(|flag| flag == "hypervisor");
    // A dump without flags (no proc/cpuinfo, other architectures) still has its firmware's names.
    let mut words: Vec<String> = firmware(files).into_iter().map(|info| info.value).collect();
    words.extend(info.info("CPUModel").map(str::to_owned));
    let found = virtual_hardware(&words.join(" "));
    found.or_else(|| flagged.then(String::new))
}

fn firmware(files: &Files<'_>) -> Vec<Info> {
    let folders = ["sys/class/dmi/id", "sys/devices/virtual/dmi/id"];
    let value = |file: &str| {
        let mut texts = folders
            .iter()
            .map(|folder| files.text(&format!("{folder}/{file}")));
        texts.find_map(|text| text)
    };
    let said = FIRMWARE
        .iter()
        .filter_map(|(file, name)| Some(Info::new(*name, value(file)?)));
    said.collect()
}

/// What hwloc keeps with the machine.
pub(super) fn machine(files: &Files<'_>, info: &CpuInfo) -> Vec<Info> {
    let platform = [("platform", "PlatformName"), ("machine", "PlatformModel")];
    let mut said = firmware(files);
    for (key, name) in platform {
        said.extend(info.machine(key).map(|value| Info::new(name, value)));
    }
    said
}

/// What hwloc says of the whole topology.
pub(super) fn infos(files: &Files<'_>) -> Vec<Info> {
    let mut said = vec![Info::new("Backend", "Linux")];
    for name in SYSTEM {
        said.extend(system(files, name).map(|value| Info::new(name, value)));
    }
    let mut pages: Vec<u64> = files
        .folders("sys/kernel/mm/hugepages")
        .filter_map(|name| {
            let size = name.strip_prefix("hugepages-")?.strip_suffix("kB")?;
            size.parse::<u64>().ok()?.checked_mul(1024)
        })
        .collect();
    if let Some(page) = system(files, "PageSize").and_then(|text| text.parse().ok()) {
        pages.push(page);
        pages.sort_unstable();
        let sizes: Vec<String> = pages.iter().map(u64::to_string).collect();
        said.push(Info::new("PageSizeNr", sizes.len().to_string()));
        said.push(Info::new("PageSizes", sizes.join(",")));
    }
    said
}
