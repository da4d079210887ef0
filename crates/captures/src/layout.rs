//! Right-justified columns, at least so wide; wider values push the rest to the right.

use crate::capture::{Table, Value};

/// How one column is written.
pub(crate) struct Shape {
    /// Heading with its padding.
    pub(crate) heading: String,
    /// Ruler with its padding.
    pub(crate) ruler: String,
    /// Least width of values.
    pub(crate) width: usize,
}

impl Shape {
    /// A column whose heading and ruler are as wide as its values.
    pub(crate) fn plain(name: &str, width: usize) -> Self {
        Self {
            heading: format!("{name:>width$}"),
            ruler: "-".repeat(width),
            width,
        }
    }
}

/// The headings in one line.
pub(crate) fn headings(shapes: &[Shape]) -> String {
    join(shapes.iter().map(|shape| shape.heading.clone()))
}

/// The rulers in one line.
pub(crate) fn rulers(shapes: &[Shape]) -> String {
    join(shapes.iter().map(|shape| shape.ruler.clone()))
}

/// Every row as a line.
pub(crate) fn rows(shapes: &[Shape], table: &Table) -> String {
    table
        .rows
        .iter()
        .map(|row| self::row(shapes, row) + "\n")
        .collect()
}

fn row(shapes: &[Shape], values: &[Value]) -> String {
    let pairs = shapes.iter().zip(values);
    join(pairs.map(|(shape, value)| format!("{:>width$}", value.text(""), width = shape.width)))
}

fn join(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" ")
}
