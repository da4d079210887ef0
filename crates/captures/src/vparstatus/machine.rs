//! `vparstatus -M`: a line a partition.
//!
//! `:` between fields, `;` between their subfields, `,` between items of a list, `/` and blanks
//! within an item. The fields: name, state, attributes, kernel path, boot options, processors, I/O,
//! memory, online operations (from A.05 on), reboot for reconfiguration.

use crate::blocks::Line;
use crate::error::{quoted, CaptureError};
use crate::reading::Notes;
use crate::vparstatus::details::attributes;
use crate::vparstatus::machine_memory;
use crate::vparstatus::model::{Processors, VirtualPartition};
use crate::vparstatus::processors::{cell_count, limits};
use crate::vparstatus::values::{self, items, joined, At};

/// Fields of a line, without and with online operations.
const FIELDS: [usize; 2] = [9, 10];
const PROCESSORS: usize = 5;
const IO: usize = 6;
const MEMORY: usize = 7;
const UNDECIDED: &str = "<>";

/// Whether a line may be one: enough fields, and processors in their place.
pub(crate) fn is_record(text: &str) -> bool {
    let fields: Vec<&str> = text.split(':').collect();
    fields.len() > PROCESSORS
        && fields[PROCESSORS].split(';').count() >= 6
        && fields[PROCESSORS].starts_with(|c: char| c.is_ascii_digit())
}

/// Read the lines of all partitions.
pub(super) fn parse(
    records: &[Line<'_>],
    notes: &mut Notes,
) -> Result<Vec<VirtualPartition>, CaptureError> {
    let mut partitions: Vec<VirtualPartition> = Vec::new();
    let longest = records.iter().map(|line| line.text.split(':').count());
    let longest = longest.max().unwrap_or_default();
    for line in records {
        let fields: Vec<&str> = line.text.split(':').map(str::trim).collect();
        if !FIELDS.contains(&fields.len()) || fields.len() < longest {
            return Err(CaptureError::Uneven {
                line: line.number,
                headings: longest.clamp(FIELDS[0], FIELDS[1]),
                values: fields.len(),
            });
        }
        let found = partition(&fields, line.number, notes)?;
        if partitions.iter().any(|known| known.name == found.name) {
            return Err(CaptureError::Twice {
                line: line.number,
                name: quoted(&found.name),
            });
        }
        partitions.push(found);
    }
    Ok(partitions)
}

fn partition(
    fields: &[&str],
    line: usize,
    notes: &mut Notes,
) -> Result<VirtualPartition, CaptureError> {
    let name = fields[0];
    if name.is_empty() {
        return Err(CaptureError::Missing {
            line,
            name: "the line".into(),
            section: "the name of the partition",
        });
    }
    for fact in [
        "name",
        "processors.limits",
        "processors.boot",
        "processors.paths",
        "io",
        "memory.interleaved",
        "memory.interleaved.granule",
        "memory.local",
        "memory.local.granule",
    ] {
        notes.place(name, fact, line);
    }
    let at = |field: usize, heading| At {
        text: fields[field],
        line,
        heading,
        unit: "MB",
    };
    let io = items(fields[IO]).map(|text| values::io(at(IO, "I/O").of(text)));
    let has_online = fields.len() == FIELDS[1];
    let online = fields[MEMORY + 1];
    Ok(VirtualPartition {
        name: name.to_owned(),
        state: fields[1].to_owned(),
        attributes: attributes(fields[2]),
        kernel: fields[3].to_owned(),
        boot_options: fields[4].to_owned(),
        processors: processors(at(PROCESSORS, "processors"))?,
        io: io.collect::<Result<_, _>>()?,
        memory: machine_memory::parse(at(MEMORY, "memory"), name, notes)?,
        online: has_online.then(|| subfields(online)),
        reconfiguration: Some(fields[fields.len() - 1].to_owned()),
    })
}

/// Texts between semicolons; nothing of an empty text.
fn subfields(text: &str) -> Vec<String> {
    if text.is_empty() {
        return Vec::new();
    }
    text.split(';').map(|part| part.trim().to_owned()).collect()
}

fn processors(at: At<'_>) -> Result<Processors, CaptureError> {
    let parts: Vec<&str> = at.text.split(';').map(str::trim).collect();
    let [bounds, user, boot, monitor, pending, users, monitors, rest @ ..] = parts.as_slice()
    else {
        return Err(at.unexpected("7 or 8 subfields of processors"));
    };
    let (minimum, maximum) = limits(at.of(bounds))?;
    let paths = |text| {
        let path = |item: &str| {
            let found = (item != UNDECIDED).then(|| values::processor(At { text: item, ..at }));
            found.transpose()
        };
        items(text).map(path).collect::<Result<Vec<_>, _>>()
    };
    let boot = Some(*boot).filter(|path| !path.is_empty() && *path != UNDECIDED);
    let by_cell = items(rest.first().copied().unwrap_or_default());
    Ok(Processors {
        minimum,
        maximum,
        user: paths(user)?,
        boot: boot
            .map(|path| values::processor(at.of(path)))
            .transpose()?,
        monitor: paths(monitor)?,
        pending: paths(pending)?,
        user_count: at.of(users).amount().count()?,
        monitor_count: at.of(monitors).amount().count()?,
        by_cell: by_cell
            .map(|item| cell_count(At { text: item, ..at }))
            .collect::<Result<_, _>>()?,
    })
}

/// The line of a partition.
pub(super) fn format(partition: &VirtualPartition) -> String {
    let io = partition
        .io
        .iter()
        .map(|io| format!("{} {}", io.path, io.role).trim_end().to_owned());
    let mut fields = vec![
        partition.name.clone(),
        partition.state.clone(),
        partition.attributes.join(","),
        partition.kernel.clone(),
        partition.boot_options.clone(),
        processors_text(&partition.processors),
        joined(io),
        machine_memory::format(&partition.memory),
    ];
    fields.extend(partition.online.as_ref().map(|values| values.join(";")));
    fields.push(partition.reconfiguration.clone().unwrap_or_default());
    fields.join(":") + "\n"
}

fn processors_text(of: &Processors) -> String {
    let paths = |paths: &[Option<String>]| {
        let text = |path: &Option<String>| path.clone().unwrap_or_else(|| UNDECIDED.to_owned());
        joined(paths.iter().map(text))
    };
    let cells = of.by_cell.iter();
    [
        format!("{}/{}", of.minimum, of.maximum),
        paths(&of.user),
        of.boot.clone().unwrap_or_default(),
        paths(&of.monitor),
        paths(&of.pending),
        of.user_count.to_string(),
        of.monitor_count.to_string(),
        joined(cells.map(|of| format!("{} {}", of.cell, of.count))),
    ]
    .join(";")
}
