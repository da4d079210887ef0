//! Sets of processors, as kernels and hwloc write them: masks and lists.

use std::fmt::Write;

/// The highest number in a set; no host has more processors.
pub(crate) const HIGHEST: u32 = 65_535;

/// A set of numbers up to `HIGHEST`, as ranges: ascending, apart, both ends included.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Set {
    ranges: Vec<(u32, u32)>,
}

impl Set {
    /// The set of these numbers, in whatever order.
    pub(crate) fn of(numbers: impl IntoIterator<Item = u32>) -> Self {
        Self::joined(numbers.into_iter().map(|number| (number, number)).collect())
    }

    /// A mask: groups of up to eight hexadecimal digits with commas between, the lowest last; an
    /// empty group is 0. Nothing if it is none, or infinite, or names a number above `HIGHEST`.
    pub(crate) fn from_mask(text: &str) -> Option<Self> {
        let mut ranges = Vec::new();
        for (group, word) in text.trim().rsplit(',').enumerate() {
            let digits = word.trim().trim_start_matches("0x");
            if digits.is_empty() {
                continue;
            }
            let word = u32::from_str_radix(digits, 16).ok()?;
            for bit in (0..32).filter(|bit| word >> bit & 1 == 1) {
                let number = u32::try_from(group)
                    .ok()?
                    .checked_mul(32)?
                    .checked_add(bit)?;
                if number > HIGHEST {
                    return None;
                }
                ranges.push((number, number));
            }
        }
        Some(Self::joined(ranges))
    }

    /// A list such as `0-3,7`; an empty one is the empty set. Nothing if it is none, or names a
    /// number above `HIGHEST`.
    pub(crate) fn from_list(text: &str) -> Option<Self> {
        let mut ranges = Vec::new();
        for part in text.trim().split(',').map(str::trim) {
            if part.is_empty() {
                continue;
            }
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if first > last || last > HIGHEST {
                return None;
            }
            ranges.push((first, last));
        }
        Some(Self::joined(ranges))
    }

    fn joined(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = Vec::new();
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(held) if first <= held.1.saturating_add(1) => held.1 = held.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        joined.shrink_to_fit();
        Self { ranges: joined }
    }

    /// All numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.ranges.iter().flat_map(|(first, last)| *first..=*last)
    }

    /// How many.
    pub(crate) fn count(&self) -> usize {
        let sizes = self.ranges.iter().map(|(first, last)| last - first + 1);
        sizes.map(|size| size as usize).sum()
    }

    /// Whether it has none.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The lowest.
    pub(crate) fn first(&self) -> Option<u32> {
        self.ranges.first().map(|(first, _)| *first)
    }

    /// Those that are also in another set.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let (mut mine, mut its) = (
            self.ranges.iter().peekable(),
            other.ranges.iter().peekable(),
        );
        let mut ranges = Vec::new();
        while let (Some(&&(a, b)), Some(&&(c, d))) = (mine.peek(), its.peek()) {
            if a.max(c) <= b.min(d) {
                ranges.push((a.max(c), b.min(d)));
            }
            if b < d {
                mine.next();
            } else {
                its.next();
            }
        }
        Self { ranges }
    }

    /// Those that are not in another set.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut ranges = Vec::new();
        let mut its = other.ranges.iter().peekable();
        for &(mut first, last) in &self.ranges {
            while let Some(&&(c, d)) = its.peek() {
                if d < first {
                    its.next();
                    continue;
                }
                if c > last {
                    break;
                }
                if c > first {
                    ranges.push((first, c - 1));
                }
                first = d + 1;
                if d >= last {
                    break;
                }
            }
            if first <= last {
                ranges.push((first, last));
            }
        }
        Self { ranges }
    }

    /// Those of either set.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self::joined(self.ranges.iter().chain(&other.ranges).copied().collect())
    }

    /// The mask as hwloc writes it: `0x00000001,,0x0000000f`.
    pub(crate) fn mask(&self) -> String {
        let mut words = vec![0_u32];
        for number in self.iter() {
            let word = (number / 32) as usize;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            words[word] |= 1 << (number % 32);
        }
        let mut text = String::new();
        let top = words.len() - 1;
        for (place, word) in words.iter().enumerate().rev() {
            if place < top {
                text.push(',');
            }
            if *word != 0 {
                let _ = write!(text, "{word:#010x}");
            } else if place == 0 {
                text.push_str("0x0");
            }
        }
        text
    }

    /// The list as kernels write it: `0-3,7`.
    pub(crate) fn list(&self) -> String {
        let range = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let ranges: Vec<String> = self.ranges.iter().map(range).collect();
        ranges.join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_and_lists_say_the_same() {
        for (mask, list) in [
            ("00000000,000000f0", "4-7"),
            ("0x00000001,,0x0000000f", "0-3,64"),
            ("0x0", ""),
            ("3", "0,1"),
        ] {
            assert_eq!(Set::from_mask(mask), Set::from_list(list), "{mask}");
        }
        assert_eq!(Set::of([64, 1, 0, 2, 3]).mask(), "0x00000001,,0x0000000f");
        assert_eq!(Set::of([5, 6, 8]).list(), "5-6,8");
        assert_eq!(Set::default().mask(), "0x0");
    }

    #[test]
    fn other_texts_are_no_sets() {
        for text in ["0xf...f", "g", "123456789", "0-"] {
            assert_eq!(Set::from_mask(text), None, "{text}");
        }
        for text in ["3-1", "a", "0-4294967295", "-1"] {
            assert_eq!(Set::from_list(text), None, "{text}");
        }
    }

    #[test]
    fn sets_meet_and_join() {
        let (a, b) = (Set::of([0, 1, 2, 8, 9]), Set::of([2, 3, 9, 10]));
        assert_eq!(a.and(&b), Set::of([2, 9]));
        assert_eq!(a.or(&b), Set::of([0, 1, 2, 3, 8, 9, 10]));
        assert_eq!((a.count(), a.first()), (5, Some(0)));
        assert_eq!(a.without(&b), Set::of([0, 1, 8]));
        assert_eq!(
            Set::of(0..9).without(&Set::of([0, 3, 4, 8])),
            Set::of([1, 2, 5, 6, 7])
        );
        assert_eq!(b.without(&Set::default()), b);
    }
}
