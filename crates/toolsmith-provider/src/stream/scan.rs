//! Where a JSON object or list ends, found without reading it: brackets counted outside
//! of strings. Keeps its place between pieces, so each byte is looked at once.

/// A place in a JSON text.
#[derive(Clone, Debug, Default)]
pub(super) struct Scan {
    depth: usize,
    within_string: bool,
    escaped: bool,
    begun: bool,
}

impl Scan {
    /// Passes one byte. Tells whether it closes what was opened first.
    pub(super) fn pass(&mut self, byte: u8) -> bool {
        if self.within_string {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.within_string = false,
                _ => {}
            }
            return false;
        }
        match byte {
            b'"' => self.within_string = true,
            b'{' | b'[' => {
                self.depth += 1;
                self.begun = true;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                return self.is_closed();
            }
            _ => {}
        }
        false
    }

    pub(super) fn pass_all(&mut self, text: &str) {
        for byte in text.bytes() {
            self.pass(byte);
        }
    }

    /// Whether something was opened, and everything is closed again.
    pub(super) fn is_closed(&self) -> bool {
        self.begun && self.depth == 0 && !self.within_string
    }

    /// Whether anything was opened.
    pub(super) fn is_begun(&self) -> bool {
        self.begun
    }
}
