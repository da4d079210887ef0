//! What the forgiving reader must do with any damage: keep each sound row, count each stray one.

use homenode_captures::reports::{read, Feed};
use proptest::prelude::*;

const HEAD: &str = "System configuration: type=Shared mode=Uncapped smt=4 lcpu=8 ent=0.50\n\n\
                    %user %sys %wait %idle physc %entc\n----- ---- ----- ----- ----- -----\n";

/// A row that is sound.
fn row() -> impl Strategy<Value = (String, f64)> {
    let parts = (
        0..1000_u32,
        0..1000_u32,
        0..9999_u32,
        0..3_usize,
        any::<bool>(),
    );
    parts.prop_map(|(user, sys, physc, blanks, comma)| {
        let gap = " ".repeat(blanks + 1);
        let tenth = |value: u32| format!("{}.{}", value / 10, value % 10);
        let cores = format!("{}.{:02}", physc / 100, physc % 100);
        let words = [
            tenth(user),
            tenth(sys),
            "0.0".into(),
            "0.0".into(),
            cores,
            "9.9".into(),
        ];
        let line = words.join(&gap);
        let line = if comma { line.replace('.', ",") } else { line };
        (line, f64::from(physc) / 100.0)
    })
}

/// A line that is no row of any report.
fn stray() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("1.0 2.0 3.0".to_owned()),
        Just("1 2 x 4 5 6".to_owned()),
        Just("Broadcast message from root".to_owned()),
        "[a-z]{3,8} [a-z]{3,8} [a-z]{3,8}!",
        (7..30_usize).prop_map(|words| "1 ".repeat(words)),
    ]
}

/// Sound and stray lines in any order.
fn lines() -> impl Strategy<Value = Vec<Result<(String, f64), String>>> {
    let one = prop_oneof![3 => row().prop_map(Ok), 1 => stray().prop_map(Err)];
    prop::collection::vec(one, 1..40)
}

fn text(lines: &[Result<(String, f64), String>], end: &str) -> String {
    let body: String = lines
        .iter()
        .map(|line| match line {
            Ok((row, _)) => format!("{row}{end}"),
            Err(stray) => format!("{stray}{end}"),
        })
        .collect();
    HEAD.replace('\n', end) + &body
}

proptest! {
    #[test]
    fn sound_rows_are_kept_and_strays_are_counted(
        lines in lines(),
        end in prop_oneof![Just("\n"), Just("\r\n")],
    ) {
        let text = text(&lines, end);
        let found = read(&text).expect("a configuration at least");
        let expected: Vec<f64> = lines.iter().flatten().map(|(_, cores)| *cores).collect();
        let tables = &found.found.tables;
        let kept: Vec<f64> = tables.iter().flat_map(|table| table.values[4].clone()).collect();
        prop_assert_eq!(kept, expected);
        let stray = (0..lines.len()).filter(|index| lines[*index].is_err());
        let strays: Vec<usize> = stray.map(|index| index + 5).collect();
        prop_assert_eq!(found.dropped as usize, strays.len());
        let named: Vec<usize> = found.remarks.iter().map(|remark| remark.line).collect();
        prop_assert_eq!(named, strays);
    }

    #[test]
    fn pieces_give_what_the_whole_gives(lines in lines(), size in 1..90_usize) {
        let text = text(&lines, "\n");
        let whole = read(&text).expect("a configuration at least");
        let mut feed = Feed::default();
        text.as_bytes().chunks(size).for_each(|piece| feed.feed(piece));
        let pieces = feed.finish().expect("the same");
        prop_assert_eq!(format!("{pieces:?}"), format!("{whole:?}"));
    }
}
