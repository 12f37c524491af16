//! `cargo xtask book`: the pages below `docs/` and the papers of the root as a book for
//! browsers, in `target/book`.
//!
//! mdBook is installed into `target/` at the first time, which takes a network and some
//! minutes, so this is no part of `cargo xtask test`. That each page has its place in the book
//! is a matter of `tidy`; that each link of the finished pages leads somewhere is checked here,
//! because only the finished pages know what headings are called.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::docs::Show;
use crate::interop::{Home, mdbook};

/// Pages that repeat others, or are shown at any address.
const NO_PAGES: &[&str] = &["404.html", "print.html", "toc.html"];

/// The page readers begin with.
const FIRST_PAGE: &str = "docs/introduction.html";

/// The program that shows a file to a person.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Builds the book, and fails where a link in it leads nowhere.
pub(crate) fn run(root: &Path, show: Show) -> anyhow::Result<()> {
    let home = Home::of(root)?;
    let program = mdbook::install(&home)?;
    let source = home.target().join("book-source");
    stage(root, &source)?;
    let place = home.target().join("book");
    let mut command = Command::new(&program);
    command
        .arg("build")
        .arg("--dest-dir")
        .arg(&place)
        .arg(&source);
    succeed(&mut command)?;
    // mdBook copies its first page there, with links that are meant for where it lies.
    fs::write(place.join("index.html"), to_first_page()).context("failed to write index.html")?;
    let book = Book::read(&place)?;
    let dead = book.dead_links();
    for link in &dead {
        println!("{link}");
    }
    if !dead.is_empty() {
        bail!("{} links of the book lead nowhere", dead.len());
    }
    let pages = book.pages.len();
    println!("{pages} pages, {} links: {}", book.links(), place.display());
    match show {
        Show::Build => Ok(()),
        Show::Open => succeed(Command::new(OPENER).arg(place.join(FIRST_PAGE))),
    }
}

fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().to_owned();
    let status = command
        .status()
        .with_context(|| format!("failed to start {program:?}"))?;
    if !status.success() {
        bail!("{program:?} ended with {status}");
    }
    Ok(())
}

/// Returns a page that leads to the first one.
fn to_first_page() -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Toolsmith</title>\
         <meta http-equiv=\"refresh\" content=\"0; url={FIRST_PAGE}\"></head>\
         <body><a href=\"{FIRST_PAGE}\">The book</a></body></html>\n"
    )
}

/// Puts the pages together as they lie in the checkout: those of `docs/`, and what links lead
/// to in the root. The table of contents, which mdBook wants at the top, sees them from there.
fn stage(root: &Path, source: &Path) -> anyhow::Result<()> {
    let pages = source.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages).with_context(|| format!("failed to empty {pages:?}"))?;
    }
    copy(&root.join("docs"), &pages.join("docs"))?;
    for entry in fs::read_dir(root).context("failed to list the root")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|name| is_paper(name)) {
            let to = pages.join(name);
            fs::copy(&path, &to).with_context(|| format!("failed to copy {path:?}"))?;
        }
    }
    let docs = pages.join("docs");
    fs::rename(docs.join("book.toml"), source.join("book.toml"))
        .context("failed to move docs/book.toml")?;
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).context("docs/SUMMARY.md")?;
    fs::remove_file(docs.join("SUMMARY.md"))?;
    fs::write(pages.join("SUMMARY.md"), seen_from_root(&summary))?;
    Ok(())
}

fn is_paper(name: &str) -> bool {
    name.ends_with(".md") || name.starts_with("LICENSE")
}

/// Returns a table of contents whose entries are seen from the root and not from `docs/`.
fn seen_from_root(summary: &str) -> String {
    let line = |line: &str| match line.split_once("](") {
        Some((before, entry)) if entry.starts_with("../") => {
            format!("{before}]({}\n", &entry["../".len()..])
        }
        Some((before, entry)) => format!("{before}](docs/{entry}\n"),
        None => format!("{line}\n"),
    };
    summary.lines().map(line).collect()
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).with_context(|| format!("failed to make {to:?}"))?;
    for entry in fs::read_dir(from).with_context(|| format!("failed to list {from:?}"))? {
        let path = entry?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        let place = to.join(name);
        if path.is_dir() {
            copy(&path, &place)?;
        } else {
            fs::copy(&path, &place).with_context(|| format!("failed to copy {path:?}"))?;
        }
    }
    Ok(())
}

/// The finished pages by their paths, and all other files there are.
#[derive(Debug, Default)]
struct Book {
    pages: BTreeMap<String, String>,
    files: Vec<String>,
}

impl Book {
    fn read(place: &Path) -> anyhow::Result<Self> {
        let mut book = Self::default();
        let mut folders: Vec<PathBuf> = vec![place.to_owned()];
        while let Some(folder) = folders.pop() {
            let entries =
                fs::read_dir(&folder).with_context(|| format!("failed to list {folder:?}"))?;
            for entry in entries {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(place)?.to_string_lossy().into_owned();
                if name.ends_with(".html") && !NO_PAGES.contains(&name.as_str()) {
                    let text = fs::read_to_string(&path)
                        .with_context(|| format!("failed to read {path:?}"))?;
                    book.pages.insert(name.clone(), text);
                }
                book.files.push(name);
            }
        }
        Ok(book)
    }

    fn links(&self) -> usize {
        self.pages.values().map(|page| targets(page).count()).sum()
    }

    /// Returns each link that leads nowhere, with its page.
    fn dead_links(&self) -> Vec<String> {
        let mut dead = Vec::new();
        for (name, page) in &self.pages {
            for target in targets(page) {
                if !self.holds(name, target) {
                    dead.push(format!("{name}: the link to '{target}' leads nowhere"));
                }
            }
        }
        dead
    }

    fn holds(&self, from: &str, target: &str) -> bool {
        if target.contains(':') || target.starts_with("//") {
            return true;
        }
        let (path, part) = target.split_once('#').unwrap_or((target, ""));
        let path = path.split('?').next().unwrap_or_default();
        let path = match path {
            "" => from.to_owned(),
            path => resolved(from, path),
        };
        // A folder is shown by its first page.
        let page = match path.is_empty() || path.ends_with('/') {
            true => format!("{path}index.html"),
            false => path,
        };
        let has_part = |text: &String| {
            part.is_empty()
                || text.contains(&format!(" id=\"{part}\""))
                || text.contains(&format!(" name=\"{part}\""))
        };
        match self.pages.get(&page) {
            Some(text) => has_part(text),
            None => self.files.contains(&page),
        }
    }
}

/// Returns what a page links to and takes in.
fn targets(page: &str) -> impl Iterator<Item = &str> {
    let after = |mark: &'static str| page.split(mark).skip(1);
    let values = after(" href=\"").chain(after(" src=\""));
    values.filter_map(|rest| rest.split('"').next())
}

/// Returns the path a link means, seen from a page.
fn resolved(from: &str, path: &str) -> String {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_contents_is_seen_from_the_root() {
        let summary = "# Summary\n\n[A](a.md)\n- [B](b/c.md)\n  - [D](../D.md)\n";
        assert_eq!(
            seen_from_root(summary),
            "# Summary\n\n[A](docs/a.md)\n- [B](docs/b/c.md)\n  - [D](D.md)\n"
        );
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let page = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let book = Book {
            pages: BTreeMap::from([
                page(
                    "a/b.html",
                    "<a href=\"../c.html#here\"> <a href=\"#top\" id=\"top\"> <img src=\"../d.svg\"> \
                     <a href=\"https://e.example/#f\"> <a href=\"../\"> <a href=\"../c.html#there\"> \
                     <a href=\"c.html\"> <a href=\"#bottom\">",
                ),
                page("c.html", "<h2 id=\"here\">"),
                page("index.html", ""),
            ]),
            files: vec!["d.svg".to_owned()],
        };
        assert_eq!(
            book.dead_links(),
            ["../c.html#there", "c.html", "#bottom"]
                .map(|target| format!("a/b.html: the link to '{target}' leads nowhere"))
        );
        assert_eq!(book.links(), 8);
    }
}
