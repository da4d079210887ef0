//! What a search of a switch's list costs, against a plain twin that follows every line, and how it
//! grows.

use homenode_engine::devices::{Search, Searching};
use homenode_engine::kernel::Stream;
use proptest::prelude::*;

/// Lines that travel in a search, counted: processors take turns by chance, and every line knows
/// who holds a copy of it.
fn followed(elements: usize, processors: usize, searches: u32) -> f64 {
    let mut stream = Stream::new(1, 0, "searches");
    let mut holders = vec![vec![false; processors]; elements];
    let mut travels = 0;
    let warm = searches / 4;
    for search in 0..searches + warm {
        let me = stream.below(processors as u64) as usize;
        let wanted = stream.below(elements as u64) as usize;
        let mut moved = 0;
        for line in &mut holders[..=wanted] {
            moved += u32::from(!std::mem::replace(&mut line[me], true));
        }
        let found = &mut holders[wanted];
        if found
            .iter()
            .enumerate()
            .any(|(who, holds)| *holds && who != me)
        {
            moved += 1;
            found.fill(false);
            found[me] = true;
        }
        travels += if search < warm { 0 } else { moved };
    }
    f64::from(travels) / f64::from(searches)
}

#[test]
fn lines_travel_as_often_as_when_each_is_followed() {
    for (elements, processors) in [(1, 4), (2, 2), (45, 4), (45, 19), (90, 38), (220, 95)] {
        let counted = followed(elements, processors, 100_000);
        let worked_out = searching(elements as u32, processors as f64)
            .search()
            .transfers;
        let off = counted / worked_out - 1.0;
        assert!(off.abs() < 0.01, "{elements} x {processors}: {off}");
    }
}

fn searching(elements: u32, processors: f64) -> Searching {
    Searching {
        elements,
        processors,
        transfer_ns: 60.0,
        outside_ns: 10_000.0,
        element_instructions: 8.0,
    }
}

/// Time of a search on lines.
fn lines_ns(search: Search) -> f64 {
    search.list_ns + search.line_wait_ns
}

proptest! {
    #[test]
    fn cost_grows_with_length_processors_distance_and_rate(
        elements in 1u32..300, more in 1u32..50,
        processors in 1.0f64..120.0, others in 0.1f64..40.0,
        transfer_ns in 1.0f64..300.0, outside_ns in 0.0f64..1e6,
    ) {
        let from = Searching { transfer_ns, outside_ns, ..searching(elements, processors) };
        let cost = lines_ns(from.search());
        let longer = Searching { elements: elements + more, ..from };
        let wider = Searching { processors: processors + others, ..from };
        let farther = Searching { transfer_ns: transfer_ns * 1.5, ..from };
        let rarer = Searching { outside_ns: outside_ns * 2.0 + 1.0, ..from };
        prop_assert!(longer.search().instructions > from.search().instructions);
        prop_assert!(longer.search().list_ns > from.search().list_ns || processors <= 1.0);
        prop_assert!(lines_ns(wider.search()) > cost);
        prop_assert!(lines_ns(farther.search()) >= cost);
        prop_assert!(lines_ns(rarer.search()) <= cost + 1e-9);
    }

    #[test]
    fn no_line_is_busier_than_always(
        elements in 1u32..300, processors in 2.0f64..120.0, transfer_ns in 1.0f64..300.0,
        outside_ns in 0.0f64..1e5,
    ) {
        let from = Searching { transfer_ns, outside_ns, ..searching(elements, processors) };
        let search = from.search();
        let rate = processors / (outside_ns + lines_ns(search));
        // All lines together carry at most a transfer each at a time, and the estimate leaves out
        // the searcher itself.
        let load = rate * search.list_ns / f64::from(elements);
        prop_assert!(load <= processors / (processors - 1.0), "{}", load);
        prop_assert!(search.line_wait_ns <= (processors - 1.0) * search.list_ns);
    }
}
