//! A folder of its own for a soak: the configuration, files to be read, and a mark by which its processes are known.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::upstream;

/// The folder; it is removed with this value.
#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
    mark: String,
}

impl Place {
    pub(crate) fn make() -> io::Result<Self> {
        let mark = format!("toolsmith-soak-{}", std::process::id());
        let path = std::env::temp_dir().join(&mark);
        fs::create_dir_all(path.join("home"))?;
        fs::create_dir_all(path.join("work"))?;
        let place = Self { path, mark };
        fs::write(place.work().join("small.txt"), "a line\n".repeat(40))?;
        fs::write(
            place.work().join("large.txt"),
            "a long line of text\n".repeat(200_000),
        )?;
        let ourselves = std::env::current_exe()?;
        fs::write(
            place.work().join("toolsmith.yaml"),
            place.configuration(&ourselves),
        )?;
        Ok(place)
    }

    /// Where the servers work.
    pub(crate) fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// What is home to them.
    pub(crate) fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// The file the token of the server is kept in.
    pub(crate) fn token(&self) -> PathBuf {
        self.path.join("token")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Stands in the command line or the environment of whatever is started here.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    fn configuration(&self, ourselves: &Path) -> String {
        let mut text = String::from("policy: { mode: auto }\npins: off\nservers:\n");
        for habit in upstream::HABITS {
            let words = [upstream::WORD, habit, &self.mark].map(|word| format!("{word:?}"));
            text += &format!(
                "  {habit}: {{ command: {:?}, args: [{}] }}\n",
                ourselves.display().to_string(),
                words.join(", "),
            );
        }
        // Calls that hang end soon, so that many of them do in a few minutes.
        text += "bindings:\n  \"mcp__*\": { timeout: 2s }\n";
        text
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
