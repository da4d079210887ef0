//! Recordings of real systems, read by the forgiving reader. They are not shipped: where
//! `../shared/captures` is absent beside the repository, the tests say so and pass.

use homenode_captures::reports::{self, Recording};
use homenode_captures::{lparstat, mpstat, Capture, Lenient, Value};

use crate::recorded::{printed, recorded};

fn sound(text: &str) -> Recording {
    let Lenient {
        found,
        dropped,
        remarks,
    } = reports::read(text).expect("a report");
    assert_eq!(dropped, 0, "{remarks:?}");
    found
}

/// The rows of a strict reading without their names, as floats; a dash is not a number.
fn floats(capture: &Capture, skip: usize) -> Vec<Vec<f64>> {
    let value = |value: &Value| value.number().map_or(f64::NAN, |number| number.to_f64());
    let rows = capture.sections.iter().flat_map(|section| &section.tables);
    rows.flat_map(|table| &table.rows)
        .map(|row| row.iter().skip(skip).map(value).collect())
        .collect()
}

#[test]
fn both_readings_of_intervals_agree() {
    for name in ["shared", "dedicated-donating"] {
        let Some(path) = recorded(&format!("lparstat/lparstat-aix-{name}.txt")) else {
            return;
        };
        let text = std::fs::read_to_string(path).expect("readable");
        let strict = lparstat::parse(&text).expect("sound");
        let table = &sound(&text).tables[0];
        let row: Vec<f64> = table.values.iter().map(|column| column[0]).collect();
        assert_eq!(vec![row], floats(&strict, 0));
        assert_eq!(table.columns, strict.sections[0].tables[0].columns);
    }
}

#[test]
fn listings_of_real_partitions_have_all_their_facts() {
    for (name, facts) in [("1", 24), ("2", 43), ("4", 31)] {
        let Some(path) = recorded(&format!("lparstat/lparstat-i-sample{name}.txt")) else {
            return;
        };
        let text = std::fs::read_to_string(path).expect("readable");
        assert_eq!(sound(&text).information[0].facts.len(), facts, "{name}");
    }
}

#[test]
fn blocks_of_a_recording_are_read_as_they_stand() {
    let Some(listing) = printed("lparstat -i") else {
        return;
    };
    let found = sound(&listing);
    assert_eq!(found.information[0].facts[1].1, "aixlpar");
    let calls = printed("lparstat -H").expect("the same recording");
    assert_eq!(sound(&calls).tables[0].parts.len(), 68);
    let domains = sound(&printed("lssrad").expect("the same recording"));
    let domains = &domains.affinity[0].domains;
    assert_eq!(domains[0].processors, [(0, 27)]);
    assert_eq!((domains[1].memory_mb, domains[1].ref1), (3219.5, Some(1)));
    let tunables = sound(&printed("schedo -F -L").expect("the same recording")).tunables;
    let fold = tunables.iter().find(|one| one.name == "vpm_fold_threshold");
    assert_eq!(fold.map(|one| one.current.as_str()), Some("49"));
}

#[test]
fn both_readings_of_dispatches_agree() {
    let Some(text) = printed("mpstat -d") else {
        return;
    };
    let found = sound(&text);
    let table = &found.tables[0];
    let strict = mpstat::parse(&text.replace("n---", "----")).expect("sound");
    let rows = floats(&strict, 1);
    let parts = table.parts.iter().map(|part| &part.values);
    assert!(parts.eq(rows[..rows.len() - 1].iter()));
    let whole: Vec<f64> = table.values.iter().map(|column| column[0]).collect();
    assert_eq!(Some(&whole), rows.last());
}

#[test]
fn glued_blocks_are_taken_apart() {
    let commands = [
        "lparstat -i",
        "lparstat -H",
        "mpstat -d",
        "lssrad",
        "schedo -F -L",
    ];
    let Some(text) = commands
        .iter()
        .map(|command| printed(command))
        .collect::<Option<String>>()
    else {
        return;
    };
    let found = sound(&text);
    assert_eq!(
        (
            found.information.len(),
            found.tables.len(),
            found.affinity.len()
        ),
        (1, 2, 1)
    );
    assert!(found.tunables.len() > 50);
}
