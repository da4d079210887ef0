//! SplitMix64 and an exponential by a ziggurat of 256 layers.

/// Where the tail begins.
const TAIL: f64 = 7.697_117_470_131_05;

/// The generator with its tables.
pub struct Random {
    state: u64,
    /// Width of each layer by 2^-53, and of the one above.
    widths: [(f64, f64); 256],
    /// Curve at each width.
    heights: [f64; 257],
}

impl Random {
    /// A generator.
    pub fn new(seed: u64) -> Random {
        let area = (TAIL + 1.0) * (-TAIL).exp();
        let mut edges = [0.0; 257];
        (edges[0], edges[1]) = (area / (-TAIL).exp(), TAIL);
        for i in 2..256 {
            edges[i] = -(area / edges[i - 1] + (-edges[i - 1]).exp()).ln();
        }
        let unit = 1.0 / (1u64 << 53) as f64;
        Random {
            state: seed,
            widths: std::array::from_fn(|i| (edges[i] * unit, edges[i + 1])),
            heights: edges.map(|x: f64| (-x).exp()),
        }
    }

    #[inline]
    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.state ^ self.state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    /// An exponential number of mean 1.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        let bits = self.bits();
        let (width, inner) = self.widths[bits as usize % 256];
        let x = (bits >> 11) as f64 * width;
        if x < inner {
            x
        } else {
            self.at_the_edge(bits as usize % 256, x)
        }
    }

    #[cold]
    fn at_the_edge(&mut self, layer: usize, x: f64) -> f64 {
        if layer == 0 {
            return TAIL + self.exponential();
        }
        let (low, high) = (self.heights[layer], self.heights[layer + 1]);
        let share = (self.bits() >> 11) as f64 / (1u64 << 53) as f64;
        if low + share * (high - low) < (-x).exp() {
            x
        } else {
            self.exponential()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variance_are_1() {
        let mut random = Random::new(1);
        let n = 1_000_000;
        let (mut sum, mut squares) = (0.0, 0.0);
        for _ in 0..n {
            let x = random.exponential();
            sum += x;
            squares += x * x;
        }
        let mean = sum / f64::from(n);
        // Four standard errors: 1/sqrt(n) of the mean, sqrt(8/n) of the variance.
        assert!((mean - 1.0).abs() < 0.004, "{mean}");
        assert!((squares / f64::from(n) - mean * mean - 1.0).abs() < 0.012);
    }
}
