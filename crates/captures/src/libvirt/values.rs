//! Sizes and lists of processors, as libvirt writes both.

use crate::topology::Set;
use crate::xml::Element;

/// A size with its unit, KiB where none is given [bytes].
pub(super) fn size(element: &Element, value: &str) -> Option<u64> {
    let amount: u64 = value.trim().parse().ok()?;
    let factor: u64 = match element.get("unit").unwrap_or("KiB") {
        "b" | "bytes" => 1,
        "KB" => 1000,
        "k" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "G" | "GiB" => 1 << 30,
        "TB" => 1_000_000_000_000,
        "T" | "TiB" => 1 << 40,
        _ => return None,
    };
    amount.checked_mul(factor)
}

/// A list in which `^3` takes a number out again.
pub(super) fn set(text: &str) -> Option<Set> {
    let (without, with): (Vec<&str>, Vec<&str>) = text
        .split(',')
        .map(str::trim)
        .partition(|part| part.starts_with('^'));
    let all = Set::from_list(&with.join(","))?;
    let taken: Vec<&str> = without.iter().map(|part| &part[1..]).collect();
    if taken.iter().any(|part| part.is_empty()) {
        return None;
    }
    Some(all.without(&Set::from_list(&taken.join(","))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_with_exclusions() {
        assert_eq!(set("1-4,^2"), Some(Set::of([1, 3, 4])));
        assert_eq!(set("^"), None);
        assert_eq!(set(""), Some(Set::default()));
    }
}
