//! Finds where rules may apply, in one pass over a text.
//!
//! Two sieves lie over each other. The coarse one looks at every second place, at three
//! letters in a map of bits: whatever begins at the place before shows its second to fourth
//! letter there. The fine one looks at four letters in a table for each; every rule has a
//! bit, which it shares with few others, and where the tables agree on one it may begin.
//! So the number of rules costs nothing, and only what passes both is compared.

use super::table::Rule;

/// How many letters of a beginning are looked at. None is shorter by more than one.
const LOOKS: usize = 4;
/// How many rules have a bit of their own.
const BITS: usize = u64::BITS as usize;
/// How many words of the coarse map there are; a power of two.
const WORDS: usize = 1 << 10;
/// How many places the coarse sieve looks at before it is asked what it found.
const STRETCH: usize = 32;

/// The rules, by how they begin.
pub(super) struct Sieve {
    rules: Vec<Rule>,
    coarse: Box<[u64; WORDS]>,
    fine: [[u64; 256]; LOOKS],
}

impl Sieve {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        let (mut coarse, mut fine) = (Box::new([0; WORDS]), [[0; 256]; LOOKS]);
        for (nth, rule) in rules.iter().enumerate() {
            for (place, table) in fine.iter_mut().enumerate() {
                for letter in (0..=u8::MAX).filter(|letter| rule.has(place, *letter)) {
                    table[usize::from(letter)] |= 1 << (nth % BITS);
                }
            }
            let mut set = |three: [u8; 3]| {
                let (word, bit) = coarse_place(&three);
                coarse[word] |= 1 << bit;
            };
            let &[a, b, c, ..] = rule.begins.as_bytes() else {
                continue;
            };
            set([a, b, c]);
            let fourth = (0..=u8::MAX).filter(|letter| rule.has(LOOKS - 1, *letter));
            fourth.for_each(|d| set([b, c, d]));
        }
        Self {
            rules,
            coarse,
            fine,
        }
    }

    /// The first place from here on where a rule may apply. Nothing can follow the last
    /// letters of a text, so that no key begins there.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<usize> {
        let mut at = from;
        let may_begin = |place: &usize| self.bits(text, *place) != 0;
        while let Some(stretch) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let mut found = self.coarse(stretch);
            while found != 0 {
                let place = at + 2 * found.trailing_zeros() as usize;
                let places = [place.saturating_sub(1).max(from), place];
                if let Some(place) = places.into_iter().find(may_begin) {
                    return Some(place);
                }
                found &= found - 1;
            }
            at += STRETCH;
        }
        // What began right before belongs to the rest.
        (at.saturating_sub(1).max(from)..text.len()).find(may_begin)
    }

    /// The rules that apply to what begins here, in the order of the table.
    pub(super) fn rules_at(&self, text: &[u8], at: usize) -> impl Iterator<Item = &Rule> {
        let (rest, bits) = (&text[at..], self.bits(text, at));
        let rows = self.rules.chunks(BITS);
        let rules = rows.flat_map(move |row| {
            let may_apply = move |nth: &usize| bits & (1 << nth) != 0;
            (0..row.len()).filter(may_apply).map(|nth| &row[nth])
        });
        rules.filter(|rule| rule.begins(rest))
    }

    /// A bit for every second place of a stretch, set where something may begin at it or
    /// right before it.
    fn coarse(&self, stretch: &[u8; STRETCH + 1]) -> u32 {
        let mut found = 0;
        for nth in 0..STRETCH / 2 {
            let three = [stretch[2 * nth], stretch[2 * nth + 1], stretch[2 * nth + 2]];
            let (word, bit) = coarse_place(&three);
            found |= ((self.coarse[word] >> bit & 1) as u32) << nth;
        }
        found
    }

    /// The bits of the rules that may begin at a place.
    fn bits(&self, text: &[u8], at: usize) -> u64 {
        let Some(four) = text.get(at..).and_then(<[u8]>::first_chunk::<LOOKS>) else {
            return 0;
        };
        let looks = self.fine.iter().zip(four);
        looks.fold(u64::MAX, |bits, (table, letter)| {
            bits & table[usize::from(*letter)]
        })
    }
}

/// Where three letters stand in the coarse map, small and capital ones alike.
fn coarse_place(&[a, b, c]: &[u8; 3]) -> (usize, u32) {
    let letters = u32::from_le_bytes([a, b, c, 0]) | 0x20_20_20;
    let mixed = letters.wrapping_mul(0x9e37_79b1);
    let word = (mixed >> 22) as usize % WORDS;
    (word, (mixed >> 16) % u64::BITS)
}
