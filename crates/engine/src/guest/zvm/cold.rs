//! What a virtual processor's own lines cost that it finds cold: how many were displaced, and where
//! they lie.

use crate::cost::Surroundings;
use crate::machine::Distance;

/// What a line costs beyond one held, if it was left at a distance and others have worked on that
/// chip and that node for so long since [ns].
pub fn each_ns(around: &Surroundings, distance: Distance, chip: f64, node: f64) -> f64 {
    let off_chip = displaced(chip, around.chip_turnover_ns);
    let off_node = displaced(node, around.node_turnover_ns);
    let chip_ns = around.cache_ns[distance as usize];
    let node_ns = around.cache_ns[if distance == Distance::Far { 2 } else { 1 }];
    let beyond = (1.0 - off_node) * node_ns + off_node * around.memory_ns;
    let ns = (1.0 - off_chip) * chip_ns + off_chip * beyond;
    around.exposed * (ns - around.private_ns).max(0.0)
}

/// Share of lines displaced by `ns` of others' work, where `turnover_ns` of it brings in as many as
/// there are: each line brought in hits any with equal chance.
pub fn displaced(ns: f64, turnover_ns: f64) -> f64 {
    if ns == 0.0 && turnover_ns > 0.0 {
        return 0.0;
    }
    1.0 - (-ns / turnover_ns).exp()
}

#[cfg(test)]
mod tests {
    use super::displaced;

    #[test]
    fn a_turnover_leaves_one_in_e() {
        assert_eq!(displaced(0.0, 1_000.0), 0.0);
        assert!((displaced(1_000.0, 1_000.0) - (1.0 - (-1.0f64).exp())).abs() < 1e-12);
        assert_eq!(displaced(1e9, f64::INFINITY), 0.0);
    }
}
