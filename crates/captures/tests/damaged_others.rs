//! Damaged output of hyptop and the Performance Toolkit, files of MONWRITE, tables of samples,
//! metrics of monitoring systems.

mod damaging;

use damaging::{answers_whatever_the_damage, readers::named, work_grows_with_the_text};

const NAMES: [&str; 5] = ["hyptop", "fcx", "monwrite", "samples", "metrics"];

#[test]
fn any_damage_gets_an_answer() {
    NAMES
        .map(named)
        .into_iter()
        .for_each(answers_whatever_the_damage);
}

#[test]
fn work_grows_no_faster_than_the_text() {
    NAMES
        .map(named)
        .into_iter()
        .for_each(work_grows_with_the_text);
}
