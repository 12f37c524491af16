//! Chance that repeats itself.

/// Numbers that look drawn, from a seed (SplitMix64).
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut drawn = self.0;
        drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        drawn ^ (drawn >> 31)
    }

    /// A number below another; 0 where there is none.
    pub(super) fn below(&mut self, most: usize) -> usize {
        match most {
            0 => 0,
            most => usize::try_from(self.next() % most as u64).unwrap_or_default(),
        }
    }

    /// Any byte.
    pub(super) fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    /// One of several, if there is one.
    pub(super) fn one_of<'a, T>(&mut self, several: &'a [T]) -> Option<&'a T> {
        several.get(self.below(several.len()))
    }
}
