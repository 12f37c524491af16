//! From files to what is in force.

use std::path::Path;
use std::sync::Arc;

use toolsmith_agent::client;
use toolsmith_core::ToolSource as _;
use toolsmith_core::reference::Lookup as _;
use toolsmith_runtime::{Policy, Reload};

use super::Current;
use super::files::{Content, Files};
use crate::config::{self, Config};
use crate::files::Folder;
use crate::native::{Native, Script};
use crate::overrides::Overrides;
use crate::pins::PinRules;
use crate::remotes::Remote;
use crate::servers::{Loaded, ServerEntry};
use crate::sets::{Catalogue, SetName};
use crate::setup::Setup;
use crate::upstreams;
use crate::yaml::YamlError;

/// What is to be in force, and what the toolbox is to be told.
pub(super) struct Assembled {
    pub(super) current: Current,
    pub(super) reload: Reload,
}

pub(super) fn assemble(setup: &Setup, files: &Files) -> Assembled {
    let mut current = Current {
        has_config: files.config.good().is_some(),
        config: files.config.good().cloned().unwrap_or_default(),
        ..Current::default()
    };
    current.errors.extend(files.config.problem().cloned());
    current.errors.extend(files.native.problems().cloned());
    current.errors.extend(files.scripts.problems().cloned());
    current.errors.extend(files.overrides.problems().cloned());
    current.errors.extend(files.sets.problems().cloned());
    current.errors.extend(files.agents.problems().cloned());

    current.catalogue = catalogue(files, &mut current.errors);
    current.policy = policy(setup, &current.config, &current.catalogue);
    let entries = files.mcp.good().map(|(_, entry)| &**entry);
    let config = (&*current.config, &**files.config.name());
    let mcp_json = files.mcp_json.good().map(|found| &**found);
    current.servers = Loaded::gather(&setup.servers, config, entries, mcp_json);
    let broken = files.mcp.problems().chain(files.mcp_json.problem());
    current.servers.errors.splice(..0, broken.cloned());
    current.upstreams =
        upstreams::prepare(&current.servers.servers, &setup.references, setup.questions);

    current.pins = pin_rules(&current.config, &current.servers);

    let mut reload = Reload::default();
    reload.terms.policy = current.policy.clone();
    reload.terms.limits = current.config.limits.limits();
    let config = &current.config;
    reload.terms.protection = config::protection(&config.sources, config.callers);
    let prefix = setup.prefix.as_deref().or(current.config.prefix());
    reload.terms.prefix = prefix.unwrap_or_default().to_owned();
    reload.terms.secrets = current.upstreams.secrets.0.clone();
    let keys = current.config.providers.secrets(&setup.references);
    reload.terms.secrets.extend(keys);
    let keys = client::key_variables();
    let keys = keys.filter_map(|name| setup.references.variable(name));
    reload.terms.secrets.extend(keys);
    let web = current.config.web.resolve(&setup.references);
    reload.terms.secrets.extend(web.secrets);
    let missing = web.missing.into_iter();
    let missing = missing.map(|message| YamlError::whole(&**files.config.name(), message));
    current.missing.extend(missing);
    current.web = web.terms;
    for (document, name) in files.documents.values().zip(files.documents.keys()) {
        let secrets = document.secrets.iter().cloned();
        reload.terms.secrets.extend(secrets);
        match &document.content {
            Content::File(file) => {
                match file.good() {
                    Some(native) => take(file.name(), native, &mut current, &mut reload),
                    None if file.problem().is_none() => {
                        let message = format!("openapi.{name}: there is no such file");
                        let missing = YamlError::whole(&**file.name(), message);
                        current.errors.push(missing);
                    }
                    None => {}
                }
                current.errors.extend(file.problem().cloned());
            }
            Content::Url(live) => current.remotes.push(Remote::Document(live.clone())),
            Content::Missing(message) => {
                let missing = YamlError::whole(&**files.config.name(), message.as_str());
                current.missing.push(missing);
            }
        }
    }
    for (file, native) in files.native.good() {
        take(file.name(), native, &mut current, &mut reload);
    }
    for (file, script) in files.scripts.good() {
        match &**script {
            Script::Tool(native) => take(file.name(), native, &mut current, &mut reload),
            Script::Silent => current.warnings.push(format!(
                "{}: it is no tool: there is no header in the comments at its top; write lines such as \
                 `# ---`, `# name: NAME`, `# description: TEXT`, `# ---` below its first one",
                file.name()
            )),
            Script::Other => {}
        }
    }
    one_of_each_name(&mut current);
    override_tools(setup, files, &mut current, &mut reload);
    if setup.replay.is_some() {
        only_from_tape(&mut current, &mut reload);
    }
    Assembled { current, reload }
}

/// Leaves out whatever would be reached, started or registered: all tools are on the tape.
fn only_from_tape(current: &mut Current, reload: &mut Reload) {
    current.upstreams.upstreams.clear();
    current.upstreams.unready.clear();
    current.remotes.clear();
    current.missing.clear();
    reload.files.clear();
    reload.loaded.clear();
}

/// Of two sources with one name the first stays: they would take each other's tools away.
fn one_of_each_name(current: &mut Current) {
    let mut names: Vec<String> = Vec::new();
    let (remotes, warnings) = (&mut current.remotes, &mut current.warnings);
    remotes.retain(|remote| {
        let name = remote.name().to_owned();
        let is_first = !names.contains(&name);
        if !is_first {
            warnings.push(format!(
                "source `{name}` is not used: there is another of that name"
            ));
        }
        names.push(name);
        is_first
    });
}

/// Takes in what a file came to.
fn take(name: &Arc<str>, native: &Native, current: &mut Current, reload: &mut Reload) {
    let made = &native.made;
    let tools = made
        .tools
        .iter()
        .map(|tool| (Arc::clone(name), tool.clone()));
    reload.files.extend(tools);
    reload.terms.secrets.extend(made.secrets.iter().cloned());
    current.missing.extend(native.missing.iter().cloned());
    let remotes = made.sources.iter().cloned().map(Remote::Server);
    current.remotes.extend(remotes);
    current.warnings.extend(native.notes.iter().cloned());
    current
        .entries
        .push((Arc::clone(name), native.entry.clone()));
}

/// The tools that come with the program, as the user wants them.
fn override_tools(setup: &Setup, files: &Files, current: &mut Current, reload: &mut Reload) {
    let mut overrides = Overrides::default();
    for (file, each) in files.overrides.good() {
        let twice = overrides.add(file.name(), each);
        current.warnings.extend(twice);
    }
    let shipped = || setup.tools.iter().flat_map(|(_, tools)| tools);
    let is_shipped = |name: &str| shipped().any(|tool| tool.definition().name == name);
    current.warnings.extend(overrides.unknown(&is_shipped));
    let loaded = setup
        .tools
        .iter()
        .map(|(origin, tools)| (origin.clone(), overrides.applied(tools)));
    reload.loaded = loaded.collect();
    // What the configuration says is laid over what such a file says.
    let bindings = current.config.bindings.iter();
    let bindings = bindings.map(|(pattern, binding)| (pattern.clone(), binding.clone()));
    reload.terms.bindings = overrides.bindings().chain(bindings).collect();
}

/// Which servers' tools are pinned, and how.
fn pin_rules(config: &Config, servers: &Loaded) -> PinRules {
    let name = |server: &ServerEntry| server.name.as_str().to_owned();
    let servers = &servers.servers;
    let own = servers
        .iter()
        .filter_map(|server| Some((name(server), server.pins?)));
    // Servers of the command line stand in no file.
    let of_run = servers
        .iter()
        .filter(|server| server.origin.file.is_empty());
    PinRules {
        usual: config.pins,
        own: own.collect(),
        of_run: of_run.map(name).collect(),
    }
}

fn policy(setup: &Setup, config: &Config, catalogue: &Catalogue) -> Policy {
    let policy = config.policy.policy().with_rules(setup.rules.clone());
    let policy = catalogue.beside(policy);
    match setup.mode {
        // What was said for this run holds for everybody in it.
        Some(mode) => policy.with_mode(mode).without_agent_modes(),
        None => policy,
    }
}

/// Sets and agents by their names, which are the files' where none is given.
fn catalogue(files: &Files, errors: &mut Vec<YamlError>) -> Catalogue {
    let sets = named(&files.sets, |form| form.name.clone(), errors);
    let agents = named(&files.agents, |form| form.name.clone(), errors);
    Catalogue::new(sets, agents)
}

fn named<'f, T: Send + Sync>(
    folder: &'f Folder<T>,
    own: impl Fn(&T) -> Option<SetName>,
    errors: &mut Vec<YamlError>,
) -> Vec<(&'f Arc<str>, SetName, &'f T)> {
    let mut named = Vec::new();
    for (file, form) in folder.good() {
        let name = match own(form) {
            Some(name) => Ok(name),
            None => stem(file.path()).parse(),
        };
        match name {
            Ok(name) => named.push((file.name(), name, &**form)),
            Err(message) => {
                let message = format!("the file's name: {message}; or set `name`");
                errors.push(YamlError::whole(&**file.name(), message));
            }
        }
    }
    named
}

fn stem(path: &Path) -> String {
    path.file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
