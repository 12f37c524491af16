//! A regular expression that is searched for byte by byte, so that it can be stopped.
//!
//! The engine that is used else answers when it is done. Where a text is so long, or an
//! expression so large, that this may take too long, the same automaton is driven from
//! here: each byte is a step, and every so many steps it is asked whether to go on.

use std::sync::{Mutex, PoisonError};

use grep_matcher::Match;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;

use super::pattern::Unfound;
use super::stop::Stop;

/// How much memory the states of one search may take, in bytes.
const STATES: usize = 8 << 20;

/// How many positions of an expression are looked at before it is asked whether to go on.
/// A byte takes as many as the expression has where it leads to a state not seen before.
const POSITIONS_AT_ONCE: usize = 1 << 18;

/// An automaton that is driven step by step.
#[derive(Debug)]
pub(super) struct Steps {
    forward: Automaton,
    /// From where a match ends to where it begins.
    backward: Automaton,
    /// After how many bytes it is asked whether to go on.
    pace: usize,
}

#[derive(Debug)]
struct Automaton {
    automaton: DFA,
    /// States that were found before, by threads that need them no more.
    states: Mutex<Vec<Cache>>,
}

/// Which end of a match is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The first place at which there is a match for sure.
    First,
    /// Where the match ends that the expression prefers.
    Preferred,
}

impl Steps {
    /// The automaton of an expression with so many positions; none where it is too large.
    pub(super) fn new(expression: &Hir, positions: usize, largest: usize) -> Option<Self> {
        let build = |is_backward: bool| {
            let program = thompson::Compiler::new()
                .configure(
                    thompson::Config::new()
                        .utf8(false)
                        .reverse(is_backward)
                        .which_captures(thompson::WhichCaptures::None)
                        .nfa_size_limit(Some(largest)),
                )
                .build_from_hir(expression)
                .ok()?;
            let settings = DFA::config()
                .match_kind(match is_backward {
                    true => MatchKind::All,
                    false => MatchKind::LeftmostFirst,
                })
                .unicode_word_boundary(true)
                .cache_capacity(STATES)
                .skip_cache_capacity_check(true);
            let automaton = DFA::builder()
                .configure(settings)
                .build_from_nfa(program)
                .ok()?;
            Some(Automaton {
                automaton,
                states: Mutex::default(),
            })
        };
        Some(Self {
            forward: build(false)?,
            backward: build(true)?,
            pace: (POSITIONS_AT_ONCE / positions.max(1)).clamp(1, 16 << 10),
        })
    }

    /// The first match from a place on.
    pub(super) fn find(
        &self,
        text: &[u8],
        at: usize,
        stop: &Stop<'_>,
    ) -> Result<Option<Match>, Unfound> {
        let Some(end) = self.end(text, at, End::Preferred, stop)? else {
            return Ok(None);
        };
        let start = self.start(text, at, end, stop)?;
        Ok(Some(Match::new(start.min(end), end)))
    }

    /// Where the first match from a place on ends.
    pub(super) fn end(
        &self,
        text: &[u8],
        at: usize,
        which: End,
        stop: &Stop<'_>,
    ) -> Result<Option<usize>, Unfound> {
        self.forward.with(|automaton, states| {
            let input = Input::new(text).span(at..text.len());
            let mut state = automaton
                .start_state_forward(states, &input)
                .map_err(|_| Unfound::TooLong)?;
            let mut found = None;
            for (piece, bytes) in text[at..].chunks(self.pace).enumerate() {
                if stop.is_due() {
                    return Err(Unfound::Stopped);
                }
                for (index, byte) in bytes.iter().enumerate() {
                    state = next(automaton, states, state, *byte)?;
                    if state.is_match() {
                        // A match is known one byte after its end.
                        found = Some(at + piece * self.pace + index);
                        if which == End::First {
                            return Ok(found);
                        }
                    } else if state.is_dead() {
                        return Ok(found);
                    }
                }
            }
            state = automaton
                .next_eoi_state(states, state)
                .map_err(|_| Unfound::TooLong)?;
            Ok(if state.is_match() {
                Some(text.len())
            } else {
                found
            })
        })
    }

    /// Where the match begins that ends at a place.
    fn start(&self, text: &[u8], at: usize, end: usize, stop: &Stop<'_>) -> Result<usize, Unfound> {
        self.backward.with(|automaton, states| {
            let input = Input::new(text).span(at..end).anchored(Anchored::Yes);
            let mut state = automaton
                .start_state_reverse(states, &input)
                .map_err(|_| Unfound::TooLong)?;
            let mut found = end;
            let mut place = end;
            for bytes in text[at..end].rchunks(self.pace) {
                if stop.is_due() {
                    return Err(Unfound::Stopped);
                }
                for byte in bytes.iter().rev() {
                    state = next(automaton, states, state, *byte)?;
                    if state.is_match() {
                        found = place;
                    } else if state.is_dead() {
                        return Ok(found);
                    }
                    place -= 1;
                }
            }
            state = match at.checked_sub(1) {
                Some(before) => next(automaton, states, state, text[before])?,
                None => automaton
                    .next_eoi_state(states, state)
                    .map_err(|_| Unfound::TooLong)?,
            };
            Ok(if state.is_match() { at } else { found })
        })
    }
}

impl Automaton {
    /// Lends states to a search, and keeps them for the next.
    fn with<T>(&self, search: impl FnOnce(&DFA, &mut Cache) -> T) -> T {
        let lock = || self.states.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let mut states = kept.unwrap_or_else(|| self.automaton.create_cache());
        let result = search(&self.automaton, &mut states);
        lock().push(states);
        result
    }
}

/// One step. An automaton that cannot tell where words end in a text that is not ASCII
/// gives up there.
fn next(
    automaton: &DFA,
    states: &mut Cache,
    state: LazyStateID,
    byte: u8,
) -> Result<LazyStateID, Unfound> {
    match automaton.next_state(states, state, byte) {
        Ok(state) if !state.is_quit() => Ok(state),
        _ => Err(Unfound::TooLong),
    }
}
