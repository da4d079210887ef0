//! Readers that take a file in pieces. It may be cut anywhere: in one piece and in many it must say
//! the same.

use std::collections::BTreeMap;

use homenode_captures::njmon::Reader as Njmon;
use homenode_captures::nmon::{Batch, Reader as Nmon, Summary};
use homenode_captures::traces::{Layout, Metrics, MetricsBatch, Samples, SamplesBatch};
use homenode_captures::Lenient;

use super::{json, text, told, Answer, Kept};

type Pieces<'a> = &'a mut dyn Iterator<Item = &'a [u8]>;

fn in_pieces(bytes: &[u8], read: impl Fn(Pieces<'_>) -> Answer) -> Answer {
    let whole = read(&mut std::iter::once(bytes));
    let pieces = read(&mut bytes.chunks(1 + bytes.len() / 7));
    let said = |answer: &Answer| {
        answer
            .as_ref()
            .map(|kept| kept.json.clone())
            .map_err(Clone::clone)
    };
    assert!(
        said(&whole) == said(&pieces),
        "pieces of a file read differently"
    );
    whole
}

fn kept<T>(lenient: &Lenient<T>, json: String) -> Answer {
    Ok(Kept {
        json,
        dropped: lenient.dropped,
        remarks: lenient.remarks.iter().map(told).collect(),
    })
}

pub(super) fn nmon(bytes: &[u8]) -> Answer {
    in_pieces(bytes, |pieces| {
        let mut reader = Nmon::new();
        pieces.for_each(|piece| reader.feed(piece));
        let mut batches = reader.take();
        let (last, summary) = reader.finish().map_err(|error| error.to_string())?;
        batches.extend(last);
        let summary: Lenient<Summary> = summary;
        let tables: Vec<String> = batches.iter().map(table).collect();
        let said = format!("[{},[{}]]", json(&summary.found), tables.join(","));
        kept(&summary, said)
    })
}

pub(super) fn njmon(bytes: &[u8]) -> Answer {
    in_pieces(bytes, |pieces| {
        let mut reader = Njmon::new();
        pieces.for_each(|piece| reader.feed(piece));
        let (batches, summary) = reader.finish().map_err(|error| error.to_string())?;
        let tables: Vec<String> = batches.iter().map(table).collect();
        let said = format!("[{},[{}]]", json(&summary.found), tables.join(","));
        kept(&summary, said)
    })
}

fn table(batch: &Batch) -> String {
    let rows = json(&(
        &batch.table,
        &batch.snapshots,
        &batch.lines,
        &batch.processors,
    ));
    format!("[{rows},{},{}]", json(&batch.columns), json(&batch.values))
}

pub(super) fn samples(bytes: &[u8]) -> Answer {
    in_pieces(bytes, |pieces| {
        let mut reader = Samples::new(layout(bytes));
        let mut all: Option<SamplesBatch> = None;
        for piece in pieces {
            append(&mut all, reader.feed(piece));
        }
        let last = reader.finish();
        append(&mut all, last.found.clone());
        let all = all.unwrap_or_default();
        let rows = json(&(&all.time_us, &all.name, &all.line, &all.numbers));
        kept(&last, format!("[{rows},{}]", json(&reader.names())))
    })
}

fn append(all: &mut Option<SamplesBatch>, more: SamplesBatch) {
    let Some(all) = all else {
        *all = Some(more);
        return;
    };
    all.time_us.extend(more.time_us);
    all.name.extend(more.name);
    all.line.extend(more.line);
    for (column, more) in all.numbers.iter_mut().zip(more.numbers) {
        column.extend(more);
    }
}

/// Semicolons as Bitbrains has them, commas as a table of moments and names, or bare numbers.
fn layout(bytes: &[u8]) -> Layout {
    let separator = bytes.iter().find(|byte| b";,".contains(byte)).copied();
    let (columns, time, name, numbers) = match separator {
        Some(b';') => (5, Some(0), None, vec![1, 3]),
        Some(_) => (3, Some(0), Some(1), vec![2]),
        None => (1, None, None, vec![0]),
    };
    Layout {
        delimiter: separator.unwrap_or(b','),
        columns,
        heading: usize::from(columns > 1),
        time,
        name,
        numbers,
        needed: 1,
        comma: false,
    }
}

pub(super) fn metrics(bytes: &[u8]) -> Answer {
    in_pieces(bytes, |pieces| {
        let mut reader = Metrics::new(vec![String::new()]);
        let mut all = MetricsBatch::default();
        let mut take = |more: MetricsBatch| {
            all.metric.extend(more.metric);
            all.labels.extend(more.labels);
            all.value.extend(more.value);
            all.time_us.extend(more.time_us);
            all.line.extend(more.line);
        };
        pieces.for_each(|piece| take(reader.feed(piece)));
        let last = reader.finish();
        take(last.found.clone());
        let rows = json(&(
            &all.metric,
            &all.labels,
            &all.value,
            &all.time_us,
            &all.line,
        ));
        let labels = format!("{:?}", reader.labels());
        kept(
            &last,
            json(&(rows, reader.names(), labels, reader.passed())),
        )
    })
}

/// Files of a dump: each behind a line `== path`.
pub(super) fn tree(bytes: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut path = String::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_prefix(b"== ") {
            Some(name) => text(name).trim_end().clone_into(&mut path),
            None => files
                .entry(path.clone())
                .or_insert_with(Vec::new)
                .extend(line),
        }
    }
    files
}
