//! Exponential draws by the ziggurat: the area under `e^-x` cut into 256 layers of equal area.
//!
//! G. Marsaglia, W. W. Tsang, "The ziggurat method for generating random variables", Journal of
//! Statistical Software 5(8), 2000 (doi:10.18637/jss.v005.i08). 98.9 % of the draws cost one random
//! number, one multiplication and one comparison. The tables are built by the compiler, from
//! [`super::real`], hence the same everywhere.

use super::real::{exp_negative, ln};

const LAYERS: usize = 256;
/// Where the tail begins with 256 layers; the test checks that the layers then close at height 1.
const TAIL: f64 = 7.697_117_470_131_05;
/// Turns 53 random bits into a number in 0..1.
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// One layer: the rectangle under `height` that reaches to `width`, the base layer with the tail
/// folded in.
#[derive(Clone, Copy)]
struct Layer {
    /// Width of the layer, for each of the 2^53 steps across it.
    step: f64,
    /// Width of the layer above: what lies left of it is under the curve for sure.
    inner: f64,
}

/// The layers, from the base up.
static TABLE: [Layer; LAYERS] = layers();

const fn layers() -> [Layer; LAYERS] {
    let area = (TAIL + 1.0) * exp_negative(TAIL);
    let mut table = [Layer {
        step: 0.0,
        inner: 0.0,
    }; LAYERS];
    let mut width = TAIL;
    let mut height = exp_negative(TAIL);
    table[0] = Layer {
        step: area / height * UNIT,
        inner: width,
    };
    let mut i = 1;
    while i < LAYERS {
        height += area / width;
        // The last layer ends on the axis, where the curve is 1.
        let inner = if i == LAYERS - 1 { 0.0 } else { -ln(height) };
        table[i] = Layer {
            step: width * UNIT,
            inner,
        };
        width = inner;
        i += 1;
    }
    table
}

/// An exponential number of mean 1, from `bits` and, one time in 90, from more of them.
#[inline]
pub(super) fn draw(bits: u64, more: impl FnMut() -> u64) -> f64 {
    let layer = &TABLE[bits as usize % LAYERS];
    let x = (bits >> 11) as f64 * layer.step;
    if x < layer.inner {
        return x;
    }
    draw_at_the_edge(bits, more)
}

/// The rest of a draw that fell outside the sure part of its layer.
#[cold]
#[inline(never)]
fn draw_at_the_edge(mut bits: u64, mut more: impl FnMut() -> u64) -> f64 {
    let mut beyond = 0.0;
    loop {
        let index = bits as usize % LAYERS;
        let layer = &TABLE[index];
        let x = (bits >> 11) as f64 * layer.step;
        if x < layer.inner {
            return beyond + x;
        }
        if index == 0 {
            // The tail of an exponential is the exponential itself, shifted.
            beyond += TAIL;
        } else {
            let low = exp_negative(layer.step / UNIT);
            let high = exp_negative(layer.inner);
            let share = (more() >> 11) as f64 * UNIT;
            if low + share * (high - low) < exp_negative(x) {
                return beyond + x;
            }
        }
        bits = more();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Height of the curve at the width of a layer.
    fn low(layer: &Layer) -> f64 {
        exp_negative(layer.step / UNIT)
    }

    #[test]
    fn layers_have_equal_areas_and_close_at_the_top_of_the_curve() {
        let area = TABLE[0].step / UNIT * exp_negative(TAIL);
        // Marsaglia and Tsang print the area of the 256 layers.
        assert!((area - 0.003_949_659_822_581_572).abs() < 1e-15);
        // The last one ends at height 1, where the inner width is set to 0.
        for layer in &TABLE[1..] {
            let height = exp_negative(layer.inner) - low(layer);
            assert!((layer.step / UNIT * height - area).abs() < 1e-12);
        }
    }

    #[test]
    fn sure_part_is_a_multiplication() {
        // Layer 0, half of its width: (TAIL + 1)/2.
        let x = draw(1 << 63, || unreachable!());
        assert!((x - (TAIL + 1.0) / 2.0).abs() < 1e-12);
    }

    #[test]
    fn tail_starts_over_beyond_its_edge() {
        // All of layer 0's width lies in the tail; the next draw is the one above.
        let x = draw(!0 << 11, || 1 << 63);
        assert!((x - TAIL - (TAIL + 1.0) / 2.0).abs() < 1e-12);
    }
}
