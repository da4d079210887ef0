//! A 4-ary heap of packed keys: time in the upper 56 bits, id in the lower 8.

/// Room for ids, and for the four children of the last one.
const ROOM: usize = 256;
/// Index of the root. The children of `i` are `4i - 8..4i - 4`, so that each four begin at a
/// multiple of four.
const ROOT: usize = 3;

/// Greater than every key.
pub const NEVER: u64 = u64::MAX;

/// Packs a key.
#[inline]
pub fn key(time_ns: u64, id: usize) -> u64 {
    time_ns << 8 | id as u64
}

/// Time and id of a key.
#[inline]
pub fn unpack(key: u64) -> (u64, usize) {
    (key >> 8, key as usize & 0xff)
}

/// The heap; places without a key hold [`NEVER`].
#[repr(align(64))]
pub struct Heap {
    keys: [u64; 4 * ROOM],
    end: usize,
}

impl Heap {
    /// An empty heap.
    pub fn new() -> Heap {
        Heap {
            keys: [NEVER; 4 * ROOM],
            end: ROOT,
        }
    }

    /// The least key.
    #[inline]
    pub fn top(&self) -> u64 {
        self.keys[ROOT]
    }

    /// Puts a key in the place of the least one.
    #[inline]
    pub fn replace_top(&mut self, key: u64) {
        self.fill(ROOT, key);
    }

    /// Adds a key.
    #[inline]
    pub fn push(&mut self, key: u64) {
        let place = self.end;
        self.end += 1;
        self.rise(place, key);
    }

    /// Removes the least key.
    #[inline]
    pub fn pop(&mut self) {
        self.end -= 1;
        let last = std::mem::replace(&mut self.keys[self.end % ROOM], NEVER);
        if self.end > ROOT {
            self.fill(ROOT, last);
        }
    }

    /// Fills the hole at `place`: it sinks to a leaf along the least children, then the key rises.
    #[inline]
    fn fill(&mut self, mut place: usize, key: u64) {
        loop {
            let first = 4 * place - 8;
            if first >= self.end {
                break;
            }
            let four: &[u64; 4] = self.keys[first % (4 * ROOM)..][..4].try_into().unwrap();
            let (left, i) = lesser(four[0], 0, four[1], 1);
            let (right, j) = lesser(four[2], 2, four[3], 3);
            let (least, k) = lesser(left, i, right, j);
            self.keys[place % ROOM] = least;
            place = first + k;
        }
        self.rise(place, key);
    }

    #[inline]
    fn rise(&mut self, mut place: usize, key: u64) {
        while place > ROOT {
            let parent = place / 4 + 2;
            let above = self.keys[parent % ROOM];
            if above <= key {
                break;
            }
            self.keys[place % ROOM] = above;
            place = parent;
        }
        self.keys[place % ROOM] = key;
    }
}

#[inline]
fn lesser(a: u64, i: usize, b: u64, j: usize) -> (u64, usize) {
    if b < a {
        (b, j)
    } else {
        (a, i)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts() {
        let mut heap = Heap::new();
        for i in 0..120 {
            heap.push(key(i * 7 % 120, i as usize));
        }
        for time in 0..120 {
            assert_eq!(unpack(heap.top()).0, time);
            heap.pop();
        }
        assert_eq!(heap.top(), NEVER);
    }

    #[test]
    fn a_replaced_top_finds_its_place() {
        let mut heap = Heap::new();
        (0..100).for_each(|i| heap.push(key(i, i as usize)));
        heap.replace_top(key(50, 200));
        let order: Vec<_> = (0..100)
            .map(|_| (unpack(heap.top()).1, heap.pop()).0)
            .collect();
        assert_eq!(order[49..52], [50, 200, 51]);
    }
}
