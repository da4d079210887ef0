//! The tables of `lscpu -p` and `lscpu -e`: a row a processor.

use std::collections::BTreeMap;

use crate::damage::Damage;
use crate::error::quoted;
use crate::topology::HIGHEST;

/// What a row says: numbers by column, in small letters.
pub(super) type Row = BTreeMap<String, u32>;

/// What the rows say, by processor.
#[derive(Debug)]
pub(super) struct Table {
    columns: Vec<String>,
    /// By number of the processor.
    pub(super) rows: BTreeMap<u32, Row>,
    /// Processors that are not in use.
    pub(super) offline: Vec<u32>,
}

/// The columns of a line that begins a table.
pub(super) fn heading(line: &str) -> Option<Vec<String>> {
    if let Some(rest) = line.strip_prefix('#') {
        let names: Vec<String> = rest.trim().split(',').map(str::to_owned).collect();
        let first = names.first()?.trim();
        return (first.eq_ignore_ascii_case("cpu") && names.len() > 1).then_some(names);
    }
    let names: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    (names.first()? == "CPU" && names.iter().any(|name| name == "CORE" || name == "SOCKET"))
        .then_some(names)
}

impl Table {
    pub(super) fn new(columns: &[String], damage: &mut Damage, line: usize) -> Self {
        let columns: Vec<String> = columns
            .iter()
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        if !columns.iter().any(|name| name == "core") {
            damage.remark(line, || "the table has no column of cores".into());
        }
        let (rows, offline) = (BTreeMap::new(), Vec::new());
        Self {
            columns,
            rows,
            offline,
        }
    }

    /// A line with commas or blanks.
    pub(super) fn row(&mut self, line: &str, number: usize, damage: &mut Damage) {
        let cells: Vec<&str> = match line.contains(',') {
            true => line.split(',').map(str::trim).collect(),
            false => line.split_whitespace().collect(),
        };
        self.cells(&cells, number, damage);
    }

    /// The cells of a row, as many as there are columns.
    pub(super) fn cells(&mut self, cells: &[&str], line: usize, damage: &mut Damage) {
        let (count, there) = (cells.len(), self.columns.len());
        if count != there {
            damage.drop_line(line, || format!("{count} values under {there} headings"));
            return;
        }
        let mut row = Row::new();
        for (name, cell) in self.columns.iter().zip(cells) {
            if name.contains(':') {
                let parts = name.split(':').zip(cell.split(':'));
                row.extend(
                    parts.filter_map(|(name, part)| Some((name.to_owned(), part.parse().ok()?))),
                );
            } else if let Some(number) = number(cell) {
                row.insert(name.clone(), number);
            }
        }
        let Some(cpu) = row.get("cpu").copied().filter(|cpu| *cpu <= HIGHEST) else {
            let text = cells.join(",");
            damage.drop_line(line, || {
                format!("{}: no number of a processor", quoted(&text))
            });
            return;
        };
        let online = self.columns.iter().position(|name| name == "online");
        if online.is_some_and(|place| ["no", "n", "N", "false"].contains(&cells[place])) {
            self.offline.push(cpu);
        } else if self.rows.insert(cpu, row).is_some() {
            damage.drop_line(line, || format!("processor {cpu} again"));
        }
    }
}

fn number(cell: &str) -> Option<u32> {
    cell.parse().ok()
}
