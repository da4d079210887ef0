//! Classes of threads beside other work than their own: made when first met, numbered after those
//! beside one's like.

use super::class::ClassId;
use super::mixture::MOST_BESIDE;
use std::collections::BTreeMap;

/// What the other busy threads of a core do, in order: who stands where does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Company {
    count: u8,
    kinds: [u16; MOST_BESIDE],
    /// Whether the core has several parts and work of more than one kind: then each thread has what
    /// its own part leaves it, and not the mean over all.
    apart: bool,
}

impl Company {
    /// One more is busy with work of a kind.
    #[inline]
    pub fn add(&mut self, kind: u16) {
        let mut at = usize::from(self.count);
        while at > 0 && self.kinds[at - 1] > kind {
            self.kinds[at] = self.kinds[at - 1];
            at -= 1;
        }
        self.kinds[at] = kind;
        self.count += 1;
    }

    /// The core has several parts, of which these are one, and work of more than one kind.
    #[inline]
    pub fn part(&mut self) {
        self.apart = true;
    }

    /// Whether they cost what one's like would, of such a kind: all are, and so is the whole core.
    #[inline]
    pub fn is_like(&self, kind: u16) -> bool {
        !self.apart && self.kinds().iter().all(|other| *other == kind)
    }

    /// Their kinds.
    #[inline]
    pub fn kinds(&self) -> &[u16] {
        &self.kinds[..usize::from(self.count)]
    }
}

/// Those classes, of all partitions.
pub(super) struct Beside {
    /// How many classes there are beside one's like.
    plain: ClassId,
    known: BTreeMap<(ClassId, Company), ClassId>,
    each: Vec<(ClassId, Company)>,
}

impl Beside {
    pub fn new(plain: ClassId) -> Self {
        Self {
            plain,
            known: BTreeMap::new(),
            each: Vec::new(),
        }
    }

    /// The class beside such company of what has `plain` beside its like, and whether it is new.
    pub fn of(&mut self, plain: ClassId, company: Company) -> (ClassId, bool) {
        let next = self.plain + self.each.len() as ClassId;
        let id = *self.known.entry((plain, company)).or_insert(next);
        if id == next {
            self.each.push((plain, company));
        }
        (id, id == next)
    }

    /// The same beside one's like, and who is there instead; nobody where it is that one.
    #[inline]
    pub fn parts(&self, id: ClassId) -> (ClassId, Company) {
        match id.checked_sub(self.plain) {
            None => (id, Company::default()),
            Some(at) => self.each[at as usize],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn company(kinds: &[u16]) -> Company {
        let mut all = Company::default();
        kinds.iter().for_each(|kind| all.add(*kind));
        all
    }

    #[test]
    fn company_is_the_same_in_any_order() {
        let all = company(&[3, 1, 2, 1]);
        assert_eq!(all.kinds(), [1, 1, 2, 3]);
        assert_eq!(all, company(&[1, 2, 1, 3]));
        assert_ne!(all, company(&[1, 2, 3]));
    }

    #[test]
    fn alone_in_a_part_of_a_core_of_different_work_is_not_beside_ones_like() {
        let (mut alone, mut alike) = (company(&[]), company(&[2, 2]));
        assert!(alone.is_like(2) && alike.is_like(2) && !alike.is_like(1));
        alone.part();
        alike.part();
        assert!(!alone.is_like(2) && !alike.is_like(2));
        assert_ne!(alone, Company::default());
    }

    #[test]
    fn a_class_keeps_its_number() {
        let mut beside = Beside::new(10);
        let (one, other) = (company(&[1]), company(&[2]));
        assert_eq!(beside.of(4, one), (10, true));
        assert_eq!(beside.of(4, other), (11, true));
        assert_eq!(beside.of(4, one), (10, false));
        assert_eq!(beside.parts(11), (4, other));
        assert_eq!(beside.parts(4), (4, Company::default()));
    }
}
