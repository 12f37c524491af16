//! How a client is to reach us: by starting this program, or over HTTP with a token.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use toolsmith_manager::sets::SetName;

use super::clients::Facts;
use crate::cli::{Cli, Client, Connect};
use crate::command::user_file::Privacy;
use crate::environment;
use crate::failure::Failure;
use crate::print;

/// What is shown in the place of a token.
pub(super) const PLACE: &str = "TOKEN";

/// How a client reaches us.
pub(super) enum Link {
    /// It starts this program.
    Stdio { command: String, args: Vec<String> },
    /// It asks a server that runs by itself.
    Http { url: String, token: Token },
}

/// Where a client has the token from.
pub(super) enum Token {
    /// From its environment.
    Variable(String),
    /// It asks its user once, under this name.
    Asked(String),
    /// It stands in the client's file.
    Written(String),
}

impl Link {
    /// What VS Code is to ask its user for.
    pub(super) fn input(&self) -> Option<Value> {
        let Self::Http {
            token: Token::Asked(id),
            ..
        } = self
        else {
            return None;
        };
        Some(json!({
            "type": "promptString",
            "id": id,
            "description": "The token of toolsmith serve",
            "password": true,
        }))
    }

    /// The same with a word in the place of a token that would be written out: what is
    /// shown ends up in logs and recordings.
    pub(super) fn shown(self) -> Self {
        match self {
            Self::Http {
                url,
                token: Token::Written(_),
            } => Self::Http {
                url,
                token: Token::Written(PLACE.to_owned()),
            },
            other => other,
        }
    }

    /// Tells whether a token stands in it.
    pub(super) fn holds_token(&self) -> bool {
        let Self::Http { token, .. } = self else {
            return false;
        };
        matches!(token, Token::Written(_))
    }

    /// Who may read a file with this link in it, if it is new.
    pub(super) fn privacy(&self) -> Privacy {
        match self.holds_token() {
            true => Privacy::OwnerOnly,
            false => Privacy::AsUsual,
        }
    }
}

/// What a client is to be offered, where it is not everything.
struct Part {
    /// The option that names it.
    option: &'static str,
    /// Where such parts stand beneath the address of everything.
    folder: &'static str,
    name: SetName,
}

impl Part {
    /// The set or the agent the command line names.
    fn named(cli: &Cli) -> Result<Option<Self>, Failure> {
        let (option, folder, name) = match (&cli.set, &cli.agent) {
            (Some(set), _) => ("--set", "sets", set),
            (None, Some(agent)) => ("--agent", "agents", agent),
            (None, None) => return Ok(None),
        };
        let name = name
            .parse()
            .map_err(|error| Failure::usage(format!("{option}: {error}")))?;
        Ok(Some(Self {
            option,
            folder,
            name,
        }))
    }

    /// The words a command line names it with.
    fn words(&self) -> Vec<String> {
        let (option, name) = (self.option, &self.name);
        if name.as_str().starts_with('-') {
            // By itself it would be another option.
            return vec![format!("{option}={name}")];
        }
        vec![option.to_owned(), name.to_string()]
    }

    /// Its address beneath that of everything.
    fn beneath(&self, url: &str) -> Result<String, Failure> {
        let (option, folder, name) = (self.option, self.folder, &self.name);
        let url = url.trim_end_matches('/');
        if !url.ends_with("/mcp") || url.contains(['?', '#']) {
            return Err(Failure::usage(format!(
                "{option} {name}: it is found beneath /mcp, and the URL ends otherwise\n  \
                 give one that ends in /mcp, or leave {option} out"
            )));
        }
        Ok(format!("{url}/{folder}/{name}"))
    }
}

/// The link the command line asks for.
pub(super) fn link(cli: &Cli, options: &Connect, facts: &Facts) -> Result<Link, Failure> {
    let part = Part::named(cli)?;
    if let Some(url) = &options.http {
        if !facts.http {
            return Err(Failure::usage(format!(
                "{} starts programs only: its file takes no server with a URL\n  \
                 leave --http out, or add the URL in its settings under Connectors",
                facts.name
            )));
        }
        let token = token_for(options, facts)?;
        let url = match part {
            Some(part) => part.beneath(url)?,
            None => url.clone(),
        };
        return Ok(Link::Http { url, token });
    }
    let program = environment::this_program()?;
    let mut args = Vec::new();
    for root in cli.roots() {
        if !root.is_dir() {
            let root = root.display();
            return Err(Failure::usage(format!(
                "--root {root}: there is no such folder"
            )));
        }
        args.extend(["--root".to_owned(), text(absolute(root)?)?]);
    }
    if let Some(config) = &cli.config {
        if !config.is_file() {
            let config = config.display();
            return Err(Failure::usage(format!(
                "--config {config}: there is no such file"
            )));
        }
        args.extend(["--config".to_owned(), text(absolute(config)?)?]);
    }
    args.extend(part.iter().flat_map(Part::words));
    args.extend(["serve".to_owned(), "--stdio".to_owned()]);
    let command = text(program)?;
    Ok(Link::Stdio { command, args })
}

/// A path that means the same wherever the client runs.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    Ok(std::path::absolute(path)?)
}

fn token_for(options: &Connect, facts: &Facts) -> Result<Token, Failure> {
    let reads_environment = options.client != Client::Zed;
    if let Some(variable) = &options.token_env {
        if !reads_environment {
            return Err(Failure::usage(format!(
                "{} takes no token from the environment; give it with --token-file FILE",
                facts.name
            )));
        }
        if options.client == Client::VsCode {
            print::warning(
                "some versions of VS Code send a variable in a header as it is written; \
                 without --token-env it asks for the token instead",
            );
        }
        return Ok(Token::Variable(variable.clone()));
    }
    if let Some(file) = &options.token_file {
        return Ok(Token::Written(read_token(file)?));
    }
    if options.client == Client::VsCode {
        return Ok(Token::Asked(format!("{}-token", options.name)));
    }
    let advice = if reads_environment {
        "name the variable it is in with --token-env NAME"
    } else {
        "give it with --token-file FILE"
    };
    token().map(Token::Written).ok_or_else(|| {
        let name = facts.name;
        Failure::usage(format!(
            "{name} needs the token of `toolsmith serve`: {advice}"
        ))
    })
}

/// The file a token that is written out comes from, as it is told.
pub(super) fn token_file(options: &Connect) -> String {
    let file = options.token_file.clone().or_else(environment::token_file);
    print::visible(&file.unwrap_or_default().display().to_string())
}

/// The token of the server on this machine, if it has run here before.
fn token() -> Option<String> {
    read_token(&environment::token_file()?).ok()
}

fn read_token(file: &Path) -> Result<String, Failure> {
    let shown = file.display();
    let refused = |why: String| Failure::usage(format!("--token-file {shown}: {why}"));
    let is_small = std::fs::metadata(file)
        .map_err(|error| refused(error.to_string()))
        .map(|metadata| metadata.is_file() && metadata.len() <= 4096)?;
    if !is_small {
        return Err(refused("it is no file of at most 4 kB".to_owned()));
    }
    let token = std::fs::read_to_string(file).map_err(|error| refused(error.to_string()))?;
    let token = token.trim();
    if token.is_empty() || !token.chars().all(|c| c.is_ascii_graphic()) {
        return Err(refused(
            "a token is one word of letters, digits and signs".to_owned(),
        ));
    }
    Ok(token.to_owned())
}

fn text(path: PathBuf) -> Result<String, Failure> {
    path.into_os_string().into_string().map_err(|path| {
        Failure::usage(format!(
            "{path:?} is not UTF-8, and the client's file must be"
        ))
    })
}
