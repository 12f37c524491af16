//! What a program finds in its environment, and the folder it runs in.
//!
//! Little passes by itself: what programs cannot do without. The rest is named in the
//! file, as a value or by its name.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use toolsmith_process::{SAFE_VARIABLES, inherited};

use crate::form::Entry;
use crate::make::{Made, Problem, Surroundings};

/// Where a program runs and with what. `Debug` shows no values.
#[derive(Clone)]
pub(super) struct Environment {
    pub(super) folder: PathBuf,
    pub(super) variables: Vec<(OsString, OsString)>,
    /// What is missing, so that the program cannot be started.
    pub(super) missing: Option<String>,
}

impl Environment {
    /// What an entry says about it. Secrets and what is missing are noted in `made`.
    ///
    /// # Errors
    /// When a folder lies outside of the root, or a name can be no variable's.
    pub(super) fn of(
        entry: &Entry,
        surroundings: &Surroundings,
        made: &mut Made,
    ) -> Result<Self, Problem> {
        let host = &surroundings.environment;
        let folder = match &entry.cwd {
            Some(cwd) => surroundings.root.join(beneath(cwd)?),
            None => surroundings.root.clone(),
        };
        let mut variables = inherited(SAFE_VARIABLES, host.iter().cloned());
        for name in &entry.env_passthrough {
            if !is_name(name) {
                return Err(Problem::new(format!(
                    "`env_passthrough` names {name:?}, which can be no variable's name"
                )));
            }
            // What is not set here is not set there.
            if let Some((_, value)) = host.iter().find(|(other, _)| other == name.as_str()) {
                variables.push((name.into(), value.clone()));
                made.secrets.push(value.to_string_lossy().into_owned());
            }
        }
        let mut missing = None;
        for (name, template) in &entry.env {
            if !is_name(name) {
                let message = format!("`env` names {name:?}, which can be no variable's name");
                return Err(Problem::at(template.place, message));
            }
            match template.value.fill(&*surroundings.lookup) {
                Ok(filled) => {
                    variables.push((name.into(), filled.text.into()));
                    made.secrets.extend(filled.secrets);
                }
                Err(error) => {
                    let message = format!("`env.{name}`: {error}");
                    missing.get_or_insert_with(|| message.clone());
                    made.missing.push(Problem::at(template.place, message));
                }
            }
        }
        Ok(Self {
            folder,
            variables,
            missing,
        })
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.variables.iter().map(|(name, _)| name).collect();
        f.debug_struct("Environment")
            .field("folder", &self.folder)
            .field("variables", &names)
            .field("missing", &self.missing)
            .finish()
    }
}

/// A path that leads down and nowhere else.
fn beneath(path: &Path) -> Result<&Path, Problem> {
    let leads_down = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if path.components().all(leads_down) {
        Ok(path)
    } else {
        Err(Problem::new(format!(
            "`cwd` is {path:?}, which may lie outside of the root; write a path seen from the \
             root, without `..`"
        )))
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}
