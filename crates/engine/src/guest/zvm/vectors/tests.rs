//! Tests of dispatch vectors.

use super::*;
use crate::machine::parse_short;

const BARRIER: ByDistance = ByDistance {
    local: 1.0,
    near: 1.0,
    far: 2.0,
};

/// Two nodes of two chips of two cores: chips 0, 0, 1, 1, 2, 2, 3, 3.
fn vectors(vertical: bool) -> Vectors {
    let tree = Topology::new(&parse_short("node:2 chip:2 core:2").unwrap());
    let chips = (0..8).map(|core| ChipId::new(core / 2)).collect();
    Vectors::new(&tree, (&chips, 1), vertical, BARRIER)
}

fn lp(number: usize) -> LpId {
    LpId::new(number)
}

fn of(number: usize) -> VectorId {
    VectorId::new(number)
}

fn waiting(vcpu: usize, deadline: f64) -> Waiting {
    Waiting {
        over: false,
        woken: false,
        deadline,
        vcpu: VcpuId::new(vcpu),
    }
}

#[test]
fn a_chip_has_one_vector_when_vertical_and_each_processor_when_horizontal() {
    assert_eq!((vectors(true).count(), vectors(false).count()), (4, 8));
    let seen = |vertical| {
        let vectors = vectors(vertical);
        vectors
            .others(of(1))
            .iter()
            .map(|o| o.0.index())
            .collect::<Vec<_>>()
    };
    assert_eq!(seen(true), vec![0, 2, 3]);
    assert_eq!(seen(false), vec![2, 3, 4, 5, 6, 7, 0]);
}

#[test]
fn in_horizontal_polarization_no_processor_is_far() {
    let mut vectors = vectors(false);
    for number in 0..4 {
        vectors.set_idle(lp(number), false);
    }
    assert_eq!(vectors.comes_for(of(0), lp(0)), Some(lp(4)));
    let mut distances = vectors.others(of(0)).iter().map(|other| other.1);
    assert!(distances.all(|distance| distance == Distance::Local));
}

#[test]
fn the_earliest_deadline_goes_first_and_who_is_over_its_limit_last() {
    let mut vectors = vectors(true);
    for (vcpu, deadline) in [(0, 5.0), (1, 3.0), (2, 5.0)] {
        vectors.push(of(0), lp(0), waiting(vcpu, deadline));
    }
    let over = Waiting {
        over: true,
        ..waiting(3, 1.0)
    };
    vectors.push(of(0), lp(0), over);
    assert_eq!(vectors.forgive(VcpuId::new(3), 2.0), Some(2.0));
    let first = vectors.pop(of(0), lp(0)).map(|one| one.vcpu);
    assert_eq!(first, Some(VcpuId::new(3)));
    vectors.push(of(0), lp(0), over);
    let order = std::iter::from_fn(|| vectors.pop(of(0), lp(0)));
    let order: Vec<_> = order.map(|one| one.vcpu.index()).collect();
    assert_eq!(order, [1, 0, 2, 3]);
    assert_eq!(vectors.queued(), 0);
}

#[test]
fn who_has_just_woken_up_or_is_over_its_limit_does_not_hold_the_clock() {
    let mut vectors = vectors(true);
    let (mut woken, mut over) = (waiting(0, 1.0), waiting(1, 0.5));
    (woken.woken, over.over) = (true, true);
    vectors.push(of(0), lp(0), woken);
    vectors.push(of(1), lp(2), over);
    assert_eq!(vectors.least_deadline(), 1.0);
    assert!(vectors.any_under() && vectors.first(of(1)).is_some_and(|first| first.over));
    vectors.push(of(0), lp(0), waiting(2, 5.0));
    assert_eq!(vectors.least_deadline(), 5.0);
    for deadline in [1.0, 5.0] {
        assert_eq!(
            vectors.pop(of(0), lp(0)).map(|it| it.deadline),
            Some(deadline)
        );
    }
    assert!(!vectors.any_under());
    assert_eq!(vectors.forgive(VcpuId::new(1), 2.0), Some(2.0));
    assert_eq!((vectors.least_deadline(), vectors.any_under()), (2.0, true));
}

#[test]
fn the_nearest_idle_processor_comes_and_a_far_one_only_past_the_barrier() {
    let mut vectors = vectors(true);
    for number in 0..4 {
        vectors.set_idle(lp(number), false);
    }
    // Who comes back finds the processor that it left, if that idles.
    let back = [lp(5), lp(0)].map(|last| vectors.comes_for(of(2), last));
    assert_eq!(back, [Some(lp(5)), Some(lp(4))]);
    assert_eq!(vectors.comes_for(of(0), lp(0)), None);
    vectors.push(of(0), lp(0), waiting(0, 0.0));
    assert_eq!(vectors.comes_for(of(0), lp(0)), Some(lp(4)));
    vectors.set_idle(lp(3), true);
    assert_eq!(vectors.comes_for(of(0), lp(0)), Some(lp(3)));
    vectors.push(of(0), lp(0), waiting(1, 0.0));
    assert!(vectors.may_steal(of(0), Distance::Far) && !vectors.may_steal(of(1), Distance::Local));
}

#[test]
fn parked_processors_are_left_out() {
    let mut vectors = vectors(true);
    vectors.push(of(1), lp(1), waiting(7, 0.0));
    for number in 2..4 {
        vectors.set_unparked(lp(number), false);
    }
    assert_eq!(vectors.comes_for(of(1), lp(2)), Some(lp(0)));
    assert_eq!((vectors.home(of(1)), vectors.home(of(0))), (of(0), of(0)));
    assert_eq!(vectors.abandon(), [VcpuId::new(7)]);
    assert_eq!(vectors.queued(), 0);
}

#[test]
fn a_core_that_rests_comes_before_the_second_thread_of_one_that_works() {
    let tree = Topology::new(&parse_short("node:2 chip:2 core:2").unwrap());
    let chips = (0..16).map(|lp| ChipId::new(lp / 4)).collect();
    for vertical in [true, false] {
        let mut vectors = Vectors::new(&tree, (&chips, 2), vertical, BARRIER);
        let comes = |vectors: &Vectors| vectors.comes_for(vectors.of(lp(1)), lp(1));
        assert_eq!(comes(&vectors), Some(lp(1)));
        vectors.set_idle(lp(0), false);
        assert_eq!(comes(&vectors), Some(lp(2)));
        // The own chip's cores, then those of the other in the node: all that one thread a core
        // would get. In vertical polarization nobody comes from afar for one that waits.
        for other in [2, 4, 6] {
            vectors.set_idle(lp(other), false);
        }
        let next = if vertical { 1 } else { 8 };
        assert_eq!(comes(&vectors), Some(lp(next)));
        for other in [8, 10, 12, 14] {
            vectors.set_idle(lp(other), false);
        }
        assert_eq!(comes(&vectors), Some(lp(1)));
        vectors.set_idle(lp(1), false);
        assert!(vectors.is_beside_work(lp(0)) && !vectors.is_beside_work(lp(2)));
        assert_eq!(vectors.rests_for(vectors.of(lp(0)), lp(0)), None);
        vectors.set_idle(lp(4), true);
        assert_eq!(vectors.rests_for(vectors.of(lp(0)), lp(0)), Some(lp(4)));
    }
}
