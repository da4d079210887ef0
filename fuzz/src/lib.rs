//! What all fuzz targets share: the list of parsers of the damage tests, and what must hold of
//! their answers.

#[path = "../../crates/captures/tests/damaged/readers/mod.rs"]
mod readers;

use readers::{fault, named};

/// Give some bytes to the parser of that name.
///
/// # Panics
/// Its answer is not one that a person could use, or it panics.
pub fn check(name: &str, bytes: &[u8]) {
    let reader = named(name);
    let answer = (reader.read)(bytes);
    if let Some(fault) = fault(reader, bytes, &answer) {
        panic!("{name}: {fault}");
    }
}
