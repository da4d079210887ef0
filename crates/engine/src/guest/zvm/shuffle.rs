//! The dispatch list dealt out over the dispatch vectors, so that shares are of the system.
//!
//! CP orders its one dispatch list by deadlines on one clock, the adjusted time of day (IBM z/VM
//! 7.2 documentation, "Dispatch Priority"; SRMBK prolog), and assigns each virtual processor on it
//! to a vector anew every so often (VMUBK prolog: "deciding to which dispatch vector the VMDBK
//! should be assigned"). Here the list is cut into rounds of as many as there are unparked
//! processors, earliest deadlines first, and each vector gets of each round as many as it has
//! processors: so whoever is furthest behind is the first somewhere. Within a round whoever can
//! stay where it is does, those that run before those that wait, for whom it is the same; who
//! cannot goes to the nearest vector with room.

use super::ids::{VcpuId, VectorId};
use crate::ids::ById;
use crate::machine::Distance;

/// A virtual processor of the dispatch list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Listed {
    /// Whether it has passed a soft limit.
    pub over: bool,
    /// Who has the least goes first: by the one clock of all shares.
    pub deadline: f64,
    /// Who.
    pub vcpu: VcpuId,
    /// Its vector until now.
    pub at: VectorId,
    /// Whether it runs.
    pub runs: bool,
}

/// Gives each of a list its vector; `room` has the unparked processors of each, `others` the other
/// vectors as seen from one, nearest first. Nothing changes without an unparked processor.
pub fn deal<'a>(
    list: &mut [Listed],
    room: &ById<VectorId, u32>,
    others: impl Fn(VectorId) -> &'a [(VectorId, Distance)],
) {
    let processors = room.iter().sum::<u32>() as usize;
    if processors == 0 {
        return;
    }
    list.sort_by(|one, other| {
        let key = |it: &Listed| (it.over, it.deadline);
        key(one)
            .partial_cmp(&key(other))
            .expect("deadlines are numbers")
            .then(one.vcpu.cmp(&other.vcpu))
    });
    for round in list.chunks_mut(processors) {
        let mut left = room.clone();
        let mut homeless = Vec::new();
        for runs in [true, false] {
            for (at, one) in round.iter().enumerate().filter(|(_, one)| one.runs == runs) {
                if left[one.at] > 0 {
                    left[one.at] -= 1;
                } else {
                    homeless.push(at);
                }
            }
        }
        for at in homeless {
            let nearest = others(round[at].at).iter().map(|(other, _)| *other);
            let to = nearest.into_iter().find(|other| left[*other] > 0);
            let to = to.expect("a round has no more than there are processors");
            left[to] -= 1;
            round[at].at = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: [[(usize, Distance); 2]; 3] = [
        [(1, Distance::Local), (2, Distance::Far)],
        [(0, Distance::Local), (2, Distance::Far)],
        [(0, Distance::Far), (1, Distance::Far)],
    ];

    fn dealt(room: [u32; 3], list: &[(f64, usize)]) -> Vec<(usize, usize)> {
        let order: Vec<Vec<_>> = NEAR
            .iter()
            .map(|row| row.iter().map(|(to, d)| (VectorId::new(*to), *d)).collect())
            .collect();
        let mut list: Vec<Listed> = list
            .iter()
            .enumerate()
            .map(|(vcpu, (deadline, at))| Listed {
                over: false,
                deadline: *deadline,
                vcpu: VcpuId::new(vcpu),
                at: VectorId::new(*at),
                runs: false,
            })
            .collect();
        let room = room.into_iter().collect();
        deal(&mut list, &room, |from| &order[from.index()]);
        list.iter()
            .map(|one| (one.vcpu.index(), one.at.index()))
            .collect()
    }

    #[test]
    fn who_is_behind_is_first_somewhere_and_who_can_stays() {
        // The two that are behind share vector 0: the later one goes to the nearest.
        let three = dealt([1, 1, 0], &[(1.0, 0), (2.0, 0), (9.0, 1)]);
        assert_eq!(three, [(0, 0), (1, 1), (2, 1)]);
        // Nothing moves where each vector has its part.
        let even = dealt([2, 1, 1], &[(1.0, 0), (1.0, 0), (2.0, 1), (3.0, 2)]);
        assert_eq!(even, [(0, 0), (1, 0), (2, 1), (3, 2)]);
    }

    #[test]
    fn each_vector_has_as_many_as_it_has_processors() {
        let all: Vec<_> = (0..24).map(|n| (f64::from(n), 2)).collect();
        let after = dealt([4, 3, 1], &all);
        let of = |vector| after.iter().filter(|(_, at)| *at == vector).count();
        assert_eq!([of(0), of(1), of(2)], [12, 9, 3]);
    }

    #[test]
    fn parked_vectors_get_none() {
        let after = dealt([0, 2, 0], &[(1.0, 0), (2.0, 2), (3.0, 0)]);
        assert!(after.iter().all(|(_, at)| *at == 1));
        assert_eq!(dealt([0, 0, 0], &[(1.0, 2)]), [(0, 2)]);
    }
}
