//! `toolsmith connect`: the entry that makes an MCP client use `toolsmith serve`.
//!
//! What each client wants and where is a table ([`clients`], [`entry`]). Without
//! `--write` nothing is changed. With it the client's file is edited in place
//! ([`mod@json`], [`toml`]), everything else in it staying as it is, and only after a
//! backup ([`UserFile`]).

mod clients;
mod edit;
mod entry;
mod json;
mod link;
mod toml;

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::cli::{Cli, Client, Connect, Scope};
use crate::command::user_file::{Privacy, UserFile};
use crate::failure::Failure;
use crate::print;

use clients::{Facts, Format};
use edit::{Edit, EditError, Spot, Taken};
use link::Link;

pub(crate) fn run(cli: &Cli, options: &Connect) -> Result<u8, Failure> {
    let facts = clients::facts(options.client);
    let scope = facts.scope(options.scope)?;
    let path = facts.path(scope, &link::absolute(cli.root())?)?;
    if options.remove {
        return remove(cli, options, facts, UserFile::read(&path)?);
    }
    let mut link = link::link(cli, options, facts)?;
    if !options.write {
        link = link.shown();
    }
    let entry = entry::entry(options.client, &link);
    entry::check(options.client, &entry)?;
    if options.write {
        let settings = UserFile::read(&path)?;
        return write(cli, options, facts, settings, &entry, &link);
    }
    show(
        cli,
        options,
        facts,
        &path.display().to_string(),
        &entry,
        &link,
    )?;
    if options.client == Client::ClaudeCode {
        print::note(&format!("Or: {}", claude_line(options, scope, &link)));
    }
    if link.holds_token() {
        let (place, file) = (link::PLACE, link::token_file(options));
        print::note(&format!("{place} stands for the token in {file}."));
    }
    Ok(0)
}

/// Prints the entry, as it stands in the client's file.
fn show(
    cli: &Cli,
    options: &Connect,
    facts: &Facts,
    path: &str,
    entry: &Value,
    link: &Link,
) -> Result<(), Failure> {
    let name = options.client_name();
    if cli.json {
        print::json(&json!({ "client": name, "path": path, "entry": entry }))?;
        return Ok(());
    }
    // As it would stand in a file of its own, so that it can be copied.
    let spot = Spot::new(facts, options.name.as_str());
    let edited = match facts.format {
        Format::Toml => toml::add("", &spot, entry, Taken::Refuse),
        Format::Json(dialect) => json::add("", dialect, &spot, entry, Taken::Refuse, link.input()),
    };
    if let Edit::Changed(text) = edited.map_err(|error| refused(path, &spot, error))? {
        print::line(&text)?;
    }
    print::note(&format!("This belongs into {path}; --write puts it there."));
    if let Some(note) = facts.note {
        print::note(note);
    }
    Ok(())
}

fn write(
    cli: &Cli,
    options: &Connect,
    facts: &Facts,
    settings: UserFile,
    entry: &Value,
    link: &Link,
) -> Result<u8, Failure> {
    let spot = Spot::new(facts, options.name.as_str());
    let taken = if options.force {
        Taken::Replace
    } else {
        Taken::Refuse
    };
    let text = settings.text();
    let edited = match facts.format {
        Format::Toml => toml::add(text, &spot, entry, taken),
        Format::Json(dialect) => json::add(text, dialect, &spot, entry, taken, link.input()),
    };
    let shown = settings.shown();
    match edited.map_err(|error| refused(&shown, &spot, error))? {
        Edit::Same => {
            print::note(&format!("{shown} has this entry already."));
            done(cli, options, &shown, Done::Nothing)?;
        }
        Edit::Changed(text) => {
            let backup = settings.replace(&text, link.privacy())?;
            print::note(&format!("Wrote `{}` into {shown}.", spot.name));
            done(cli, options, &shown, Done::Changed(backup))?;
            if link.holds_token() {
                print::warning(&format!("the token now stands in {shown}"));
            }
            if let Some(note) = facts.note {
                print::note(note);
            }
        }
    }
    Ok(0)
}

fn remove(cli: &Cli, options: &Connect, facts: &Facts, settings: UserFile) -> Result<u8, Failure> {
    let spot = Spot::new(facts, options.name.as_str());
    let text = settings.text();
    let edited = match facts.format {
        Format::Toml => toml::remove(text, &spot),
        Format::Json(dialect) => json::remove(text, dialect, &spot),
    };
    let shown = settings.shown();
    match edited.map_err(|error| refused(&shown, &spot, error))? {
        Edit::Same => {
            print::note(&format!("{shown} has no entry `{}`.", spot.name));
            done(cli, options, &shown, Done::Nothing)?;
        }
        Edit::Changed(text) => {
            let backup = settings.replace(&text, Privacy::AsUsual)?;
            print::note(&format!("Took `{}` out of {shown}.", spot.name));
            done(cli, options, &shown, Done::Changed(backup))?;
        }
    }
    Ok(0)
}

/// What became of a file.
enum Done {
    Nothing,
    /// Changed, with a copy of what it was, if it was there.
    Changed(Option<PathBuf>),
}

fn done(cli: &Cli, options: &Connect, path: &str, done: Done) -> Result<(), Failure> {
    let (is_changed, backup) = match done {
        Done::Nothing => (false, None),
        Done::Changed(backup) => (true, backup),
    };
    let backup = backup.map(|backup| backup.display().to_string());
    if let Some(backup) = &backup {
        print::note(&format!("What it was before is in {backup}."));
    }
    if cli.json {
        let client = options.client_name();
        let report = json!({
            "client": client, "path": path, "changed": is_changed, "backup": backup,
        });
        print::json(&report)?;
    }
    Ok(())
}

/// Why a file was left as it is.
fn refused(file: &str, spot: &Spot<'_>, error: EditError) -> Failure {
    Failure::usage(match error {
        EditError::Syntax {
            line,
            column,
            message,
        } => format!("{file}:{line}:{column}: {message}; the file was left as it is"),
        EditError::Shape(message) => format!("{file}: {message}; the file was left as it is"),
        EditError::Taken(found) => {
            let (name, found) = (spot.name, entry::masked(&found));
            format!(
                "{file} has another entry `{name}`: {found}\n  \
                 --force replaces it, --name gives this one another name"
            )
        }
    })
}

/// What does the same with Claude Code's own command.
fn claude_line(options: &Connect, scope: Scope, link: &Link) -> String {
    let scope = match scope {
        Scope::User => "user",
        Scope::Project => "project",
    };
    let name = options.name.as_str();
    let mut words = vec!["claude", "mcp", "add", "--scope", scope];
    match link {
        Link::Stdio { command, args } => {
            words.extend([name, "--", command]);
            words.extend(args.iter().map(String::as_str));
            shell_words::join(words)
        }
        Link::Http { url, token } => {
            let header = format!(
                "Authorization: {}",
                entry::bearer(Client::ClaudeCode, token)
            );
            words.extend(["--transport", "http", name, url, "--header", &header]);
            shell_words::join(words)
        }
    }
}

impl Connect {
    /// The client as it is written on the command line.
    fn client_name(&self) -> String {
        let value = clap::ValueEnum::to_possible_value(&self.client);
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}
