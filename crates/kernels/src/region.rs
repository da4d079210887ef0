//! Memory straight from the kernel: with pages of a known kind, already touched, or a file's.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsFd;

use rustix::mm::{Advice, MapFlags, ProtFlags};
use serde::{Deserialize, Serialize};

/// Which pages a region asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pages {
    /// The smallest there are: 4 KiB on x86.
    #[default]
    Small,
    /// Transparent huge pages: 2 MiB on x86. The kernel may not have them; see `huge_bytes`.
    Huge,
}

/// A mapping of whole words, aligned to 2 MiB, all zero and all there.
pub(crate) struct Region {
    base: *mut u64,
    words: usize,
    mapped: *mut std::ffi::c_void,
    mapped_bytes: usize,
}

// SAFETY: the mapping belongs to this value alone, like a boxed slice.
unsafe impl Send for Region {}

const HUGE: usize = 2 << 20;

impl Region {
    /// Maps that many bytes, rounded up to a line of 64, and writes to every page of them.
    pub(crate) fn new(bytes: usize, pages: Pages) -> io::Result<Self> {
        let words = bytes.div_ceil(64) * 8;
        let mapped_bytes = words * 8 + HUGE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let nowhere = std::ptr::null_mut();
        // SAFETY: a new private mapping at an address that the kernel chooses touches no other.
        let mapped = unsafe { rustix::mm::mmap_anonymous(nowhere, mapped_bytes, access, flags) }?;
        let advice = match pages {
            Pages::Small => Advice::LinuxNoHugepage,
            Pages::Huge => Advice::LinuxHugepage,
        };
        // SAFETY: the range is the mapping just made, and the advice changes no content. A kernel
        // without huge pages refuses it, and has small ones only.
        let _ = unsafe { rustix::mm::madvise(mapped, mapped_bytes, advice) };
        let offset = mapped.align_offset(HUGE);
        // The mapping is longer by HUGE than the words, so that they fit behind the offset.
        let base = mapped.wrapping_byte_add(offset).cast::<u64>();
        let mut region = Self {
            base,
            words,
            mapped,
            mapped_bytes,
        };
        region.words_mut().fill(0x0101_0101_0101_0101);
        Ok(region)
    }

    /// The mapping as integers of 8 bytes.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: `words` words lie from `base` within the mapping, aligned, initialised by the
        // kernel, and borrowed as this value is.
        unsafe { std::slice::from_raw_parts(self.base, self.words) }
    }

    /// The words, to be changed.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `words`, and this value is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.words) }
    }

    /// The words as bytes, to be read into.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let words = self.words_mut();
        // SAFETY: a word is eight bytes, of which any value is one, and bytes need no alignment;
        // they are borrowed as the words are.
        unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len() * 8) }
    }

    /// How many of its bytes lie on huge pages, as `/proc/self/smaps` says; none if it does not.
    pub(crate) fn huge_bytes(&self) -> Option<u64> {
        let maps = std::fs::read_to_string("/proc/self/smaps").ok()?;
        huge_of(&maps, self.base as u64)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and no borrow of it outlives this value.
        let _ = unsafe { rustix::mm::munmap(self.mapped, self.mapped_bytes) };
    }
}

/// The first words of a file, mapped and shared with it.
///
/// The file is one that a measurement made for itself: nobody else writes to it or cuts it.
pub(crate) struct Mapped {
    base: *mut std::ffi::c_void,
    words: usize,
}

impl Mapped {
    /// Maps so many words of a file that is open for reading and writing; none of them is touched.
    pub(crate) fn new(file: impl AsFd, words: usize) -> rustix::io::Result<Self> {
        let access = ProtFlags::READ | ProtFlags::WRITE;
        let nowhere = std::ptr::null_mut();
        // SAFETY: a new mapping at an address that the kernel chooses touches no other.
        let base =
            unsafe { rustix::mm::mmap(nowhere, words * 8, access, MapFlags::SHARED, file, 0) }?;
        Ok(Self { base, words })
    }

    /// The file's words.
    pub(crate) fn words(&self) -> &[u64] {
        // SAFETY: so many words lie in the mapping, which begins with a page, and in the file,
        // whose length its opener checked; nobody else changes it.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.words) }
    }

    /// The words, to be changed.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        // SAFETY: as in `words`, and this value is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.base.cast(), self.words) }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: the mapping was made by `new`, and no borrow of it outlives this value.
        let _ = unsafe { rustix::mm::munmap(self.base, self.words * 8) };
    }
}

/// `AnonHugePages` of the mapping that holds an address [bytes].
fn huge_of(maps: &str, address: u64) -> Option<u64> {
    let mut inside = false;
    for line in maps.lines() {
        let (first, rest) = line.split_once(' ')?;
        if let Some((low, high)) = first.split_once('-') {
            let low = u64::from_str_radix(low, 16).ok()?;
            let high = u64::from_str_radix(high, 16).ok()?;
            inside = (low..high).contains(&address);
        } else if inside && first == "AnonHugePages:" {
            let kib: u64 = rest.trim().strip_suffix(" kB")?.parse().ok()?;
            return Some(kib * 1024);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_as_long_as_asked_and_can_be_written() {
        let mut region = Region::new(100, Pages::Small).unwrap();
        assert_eq!(region.words().len(), 16);
        region.words_mut()[15] = 7;
        assert_eq!(region.words()[15], 7);
        assert_eq!(region.words().as_ptr() as usize % HUGE, 0);
    }

    #[test]
    fn small_pages_are_not_huge() {
        let region = Region::new(4 << 20, Pages::Small).unwrap();
        assert_eq!(region.huge_bytes(), Some(0));
    }

    #[test]
    fn the_mapping_of_an_address_is_found_among_others() {
        let maps = "1000-3000 rw-p 0 00:00 0 \nAnonHugePages:       0 kB\n\
                    a000-c000 rw-p 0 00:00 0 \nRss:   8 kB\nAnonHugePages:    2048 kB\n";
        assert_eq!(huge_of(maps, 0xb000), Some(2 << 20));
        assert_eq!(huge_of(maps, 0x2fff), Some(0));
        assert_eq!(huge_of(maps, 0x5000), None);
    }
}
