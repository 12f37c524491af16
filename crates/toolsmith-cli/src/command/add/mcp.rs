//! A server: from the words of the command line to `tools/mcp/NAME.yaml`.

use tokio::runtime::Handle;
use toolsmith_manager::edit::scalar;
use toolsmith_manager::servers::{MCP_FOLDER, ServerEntry, Template, Transport};

use super::Fresh;
use crate::cli::{AddMcp, Cli};
use crate::command::user_file::Privacy;
use crate::failure::Failure;

pub(super) fn run(cli: &Cli, options: &AddMcp, tools: &Handle) -> Result<u8, Failure> {
    let server = server(options)?;
    // What is written out is for its owner's eyes; that it is, loading it tells.
    let privacy = match server.written_secrets().is_empty() {
        true => Privacy::AsUsual,
        false => Privacy::OwnerOnly,
    };
    let name = &options.name;
    let file = Fresh {
        sort: "mcp",
        folder: MCP_FOLDER,
        name: name.as_str(),
        body: body(&server),
        privacy,
        force: options.force,
        warnings: Vec::new(),
        next: format!(
            "Next: `toolsmith servers` reaches it, and its tools are called mcp__{name}__…"
        ),
    };
    file.write(cli, tools)
}

/// The server that was described.
fn server(options: &AddMcp) -> Result<ServerEntry, Failure> {
    let mut server = match options.what.as_slice() {
        [one] => one_word(options, one)?,
        words => {
            let words = words.iter().map(|word| template("the command", word));
            let mut words = words.collect::<Result<Vec<_>, _>>()?.into_iter();
            let command = words
                .next()
                .filter(|command| !command.expose_written().trim().is_empty())
                .ok_or_else(|| Failure::usage("the command is empty"))?;
            let (args, cwd) = (words.collect(), None);
            let transport = Transport::Stdio { command, args, cwd };
            ServerEntry::new(options.name.clone(), transport)
        }
    };
    for pair in &options.env {
        let (name, value) = pair.split_once('=').ok_or_else(|| {
            Failure::usage("--env takes KEY=VALUE, such as --env 'TOKEN=${env:TOKEN}'")
        })?;
        let value = template(&format!("--env {name}"), value)?;
        if server.env.insert(name.to_owned(), value).is_some() {
            return Err(Failure::usage(format!("--env {name} is given twice")));
        }
    }
    match &mut server.transport {
        Transport::Http { headers, .. } => {
            for pair in &options.header {
                let (name, value) = header(pair)?;
                let value = template(&format!("--header {name}"), value)?;
                if headers.insert(name.to_owned(), value).is_some() {
                    return Err(Failure::usage(format!("--header {name} is given twice")));
                }
            }
            if !options.env.is_empty() {
                return Err(Failure::usage(
                    "--env goes with a command, and this server has a URL",
                ));
            }
        }
        _ if !options.header.is_empty() => {
            return Err(Failure::usage(
                "--header goes with a URL, and this server has a command",
            ));
        }
        _ => {}
    }
    Ok(server)
}

/// A URL, or a command in one word, as `--server` takes it.
fn one_word(options: &AddMcp, word: &str) -> Result<ServerEntry, Failure> {
    let scheme = word.split_once("://").map(|(scheme, _)| scheme);
    let is_scheme = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    };
    if let Some(scheme) = scheme.filter(|scheme| is_scheme(scheme))
        && !matches!(scheme, "http" | "https")
    {
        return Err(Failure::usage(format!(
            "a server is reached by http:// or https://, not by {scheme}://"
        )));
    }
    let server: Result<ServerEntry, _> = format!("{}={word}", options.name).parse();
    server.map_err(|error| Failure::usage(error.to_string()))
}

fn header(pair: &str) -> Result<(&str, &str), Failure> {
    let (name, value) = pair.split_once(':').ok_or_else(|| {
        Failure::usage("--header takes 'NAME: VALUE', such as --header 'X-Key: ${env:KEY}'")
    })?;
    Ok((name.trim(), value.trim()))
}

fn template(what: &str, text: &str) -> Result<Template, Failure> {
    let template = text.parse();
    template.map_err(|error| Failure::usage(format!("{what}: {error}")))
}

/// What the file says.
fn body(server: &ServerEntry) -> String {
    let written = |template: &Template| scalar(template.expose_written());
    let mut body = match &server.transport {
        Transport::Stdio { command, args, .. } => {
            let words: Vec<String> = std::iter::once(command).chain(args).map(written).collect();
            format!("command: [{}]\n", words.join(", "))
        }
        Transport::Http { url, headers } => {
            let mut body = format!("url: {}\n", written(url));
            if !headers.is_empty() {
                body.push_str("headers:\n");
            }
            for (name, value) in headers {
                body.push_str(&format!("  {}: {}\n", scalar(name), written(value)));
            }
            body
        }
        // There is no other way on the command line.
        _ => String::new(),
    };
    if !server.env.is_empty() {
        body.push_str("env:\n");
    }
    for (name, value) in &server.env {
        body.push_str(&format!("  {}: {}\n", scalar(name), written(value)));
    }
    body
}
