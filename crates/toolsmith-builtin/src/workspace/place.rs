//! Which root a path means, and which way leads there.
//!
//! Nothing is checked here: what comes out is opened beneath the root's handle, and
//! that is the check.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;
use toolsmith_core::Touch;
use unicode_normalization::UnicodeNormalization;

use super::Workspace;
use super::beneath::{self, Links};
use crate::refusal::{Reason, Refusal};

/// The longest path the system takes.
const LONGEST: usize = 4096;

/// A way beneath a root. What is there, if anything, is seen when it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    root: usize,
    relative: PathBuf,
    links: Links,
}

impl Place {
    /// The way from the root.
    pub(crate) fn relative(&self) -> &Path {
        &self.relative
    }

    /// Which of the workspace's roots it is beneath.
    pub(crate) fn root(&self) -> usize {
        self.root
    }

    /// A way beneath a root.
    pub(super) fn beneath(root: usize, relative: &Path) -> Self {
        Self {
            root,
            relative: relative.to_owned(),
            links: Links::Follow,
        }
    }

    /// Another way from the same root.
    pub(crate) fn at(&self, relative: &Path) -> Self {
        Self {
            relative: relative.to_owned(),
            ..self.clone()
        }
    }
}

impl Workspace {
    /// The place a path means: absolute, or relative to the first root.
    pub(crate) fn place(&self, path: &str) -> Result<Place, Refusal> {
        if path.is_empty() {
            return Err(Refusal::new(Reason::BadArgument, "the path is empty")
                .next("Name a file or folder; `.` is the workspace itself"));
        }
        if path.contains('\0') {
            let message = "the path has a NUL character in it, which no path can have";
            return Err(Refusal::new(Reason::BadArgument, message).next("Remove it"));
        }
        if path.len() > LONGEST {
            let message = format!("the path has {} bytes, and may have {LONGEST}", path.len());
            return Err(Refusal::new(Reason::BadArgument, message).next("Shorten it"));
        }
        let asked = path;
        let path = match (&self.options().home, path.strip_prefix('~')) {
            (Some(home), Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
                home.join(rest.trim_start_matches('/'))
            }
            _ => PathBuf::from(path),
        };
        if path.is_relative() {
            return Ok(Place {
                root: 0,
                relative: path,
                links: Links::Follow,
            });
        }
        match self.beneath_which(&path) {
            Some((root, relative)) => Ok(Place {
                root,
                relative,
                links: Links::Follow,
            }),
            // As it was asked for: where the home is, is nobody's business.
            None => Err(outside(asked.as_ref())),
        }
    }

    /// The place as a caller may be shown it: relative where relative paths mean the
    /// same, else with its root.
    pub(crate) fn shown(&self, place: &Place) -> String {
        let relative = plain(&place.relative);
        let shown = match place.root {
            0 => relative,
            root => self.roots()[root].path().join(relative),
        };
        match shown.to_string_lossy() {
            shown if shown.is_empty() => ".".to_owned(),
            // Given back, it must not mean somebody's home.
            shown if shown.starts_with('~') => format!("./{shown}"),
            shown => shown.into_owned(),
        }
    }

    /// The whole path of a place without links or `..`, for plans and the rules about them:
    /// no other way to the same file gets round a rule. Of what is not there, the way to
    /// the last folder that is.
    pub(crate) fn whole(&self, place: &Place) -> PathBuf {
        let which = |path: &Path| self.beneath_which(path);
        let walked = |root: usize, way: &Path| {
            beneath::one_by_one(self.roots(), root, way, OFlags::PATH, Links::Follow, &which)
        };
        // As it is opened: in other spellings too, and where a link leads to nothing yet,
        // there.
        let others = spellings(&place.relative);
        for way in std::iter::once(&place.relative).chain(&others) {
            if let Ok(found) = walked(place.root, way) {
                return self.roots()[found.root].path().join(found.relative);
            }
        }
        if let Some((at, name)) = self.named(place)
            && let Ok(found) = walked(at.root, &at.relative)
        {
            let folder = self.roots()[found.root].path().join(found.relative);
            return folder.join(name);
        }
        let steps: Vec<Component<'_>> = place.relative.components().collect();
        for there in (0..=steps.len()).rev() {
            let way: PathBuf = steps[..there].iter().collect();
            if let Ok(found) = walked(place.root, &way) {
                let mut whole = self.roots()[found.root].path().join(found.relative);
                // Somebody may make it meanwhile, and then `..` leads back from it.
                for step in &steps[there..] {
                    match step {
                        Component::ParentDir => drop(whole.pop()),
                        step => whole.push(step),
                    }
                }
                return whole;
            }
        }
        self.roots()[place.root].path().join(&place.relative)
    }

    /// A whole path as it is seen from the first root, if it lies there.
    pub(crate) fn relative(&self, whole: &Path) -> Option<PathBuf> {
        let relative = whole.strip_prefix(self.roots()[0].path()).ok()?;
        Some(match relative.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => relative.to_owned(),
        })
    }

    /// Adds the forms a path may have in rules.
    pub(crate) fn put_into_forms(&self, touch: &mut Touch) {
        touch.relative = self.relative(&touch.path);
        let roots = self.roots().iter();
        let mut linked = roots.filter(|root| root.named() != root.path());
        touch.named = linked.find_map(|root| {
            let relative = touch.path.strip_prefix(root.path()).ok()?;
            Some(root.named().join(relative))
        });
    }

    /// The path as seen from its root, where it is of those that decide about programs and
    /// tools.
    pub(crate) fn decides(&self, whole: &Path) -> Option<PathBuf> {
        let roots = self.roots().iter();
        let mut ways = roots.filter_map(|root| whole.strip_prefix(root.path()).ok());
        let decides = |way: &&Path| {
            let deciding = &self.options().deciding;
            deciding.iter().any(|path| way.starts_with(path))
        };
        ways.find(decides).map(Path::to_owned)
    }

    /// Opens what is at a place, and tells where that is. In other spellings of Unicode
    /// too, and through links that stay within the roots.
    pub(super) fn open_at(&self, place: &Place, flags: OFlags) -> io::Result<(OwnedFd, Place)> {
        match self.open_exactly(place, flags) {
            Err(Errno::NOENT) => {
                for relative in spellings(&place.relative) {
                    if let Ok(opened) = self.open_exactly(&place.at(&relative), flags) {
                        return Ok(opened);
                    }
                }
                Err(Errno::NOENT.into())
            }
            opened => Ok(opened?),
        }
    }

    /// As [`Workspace::open_at`], in the spelling given.
    pub(super) fn open_exactly(
        &self,
        place: &Place,
        flags: OFlags,
    ) -> rustix::io::Result<(OwnedFd, Place)> {
        // The kernel does not tell the way it took, which what is private is known by.
        if !self.options().step_by_step && !self.has_private() {
            let root = self.roots()[place.root].as_fd();
            match beneath::at_once(root, &place.relative, flags, place.links) {
                // An absolute link may still lead into a root.
                Some(Err(Errno::XDEV)) | None => {}
                Some(opened) => return Ok((opened?, place.clone())),
            }
        }
        let which = |path: &Path| self.beneath_which(path);
        let (roots, relative) = (self.roots(), &place.relative);
        let found = beneath::one_by_one(roots, place.root, relative, flags, place.links, &which)?;
        let place = Place {
            root: found.root,
            relative: found.relative,
            links: Links::Refuse,
        };
        Ok((found.handle, place))
    }

    /// The place a link in the folder `at` leads to; none where it leads out.
    pub(super) fn linked(&self, at: &Place, link: &Path) -> Option<Place> {
        if link.is_relative() {
            return Some(Place {
                relative: at.relative.join(link),
                links: Links::Follow,
                ..at.clone()
            });
        }
        let (root, relative) = self.beneath_which(link)?;
        Some(Place {
            root,
            relative,
            links: Links::Follow,
        })
    }

    /// The root an absolute path begins with, the longest first, and the rest of it.
    fn beneath_which(&self, path: &Path) -> Option<(usize, PathBuf)> {
        let names = self.roots().iter().enumerate();
        let names = names.flat_map(|(index, root)| [(index, &root.named), (index, &root.path)]);
        let fitting = names.filter_map(|(index, name)| {
            let rest = path.strip_prefix(name).ok()?;
            Some((name.as_os_str().len(), index, rest))
        });
        let (_, root, rest) =
            fitting.max_by_key(|(length, index, _)| (*length, usize::MAX - index))?;
        Some((root, rest.to_owned()))
    }
}

/// The refusal of a path that leads out.
pub(super) fn outside(path: &Path) -> Refusal {
    let message = format!("{} is not in the workspace", path.display());
    Refusal::new(Reason::OutsideRoot, message)
        .next("Use a path within the workspace, relative to it")
}

/// A path without `.` steps.
fn plain(path: &Path) -> PathBuf {
    path.components()
        .filter(|component| *component != Component::CurDir)
        .collect()
}

/// Other spellings of the same characters.
pub(super) fn spellings(path: &Path) -> Vec<PathBuf> {
    let Some(text) = path.to_str().filter(|text| !text.is_ascii()) else {
        return Vec::new();
    };
    let composed: String = text.nfc().collect();
    let decomposed: String = text.nfd().collect();
    let others = [composed, decomposed].into_iter();
    others
        .filter(|other| other != text)
        .map(PathBuf::from)
        .collect()
}
