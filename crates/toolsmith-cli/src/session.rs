//! One run of the binary: the toolbox, and on whose behalf it is called.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::runtime::Handle;
use toolsmith_agent::task::Tasks;
#[cfg(target_os = "linux")]
use toolsmith_builtin::Shells;
use toolsmith_core::{CancellationToken, ErrorKind, ToolError};
use toolsmith_manager::approvals::FileApprovals;
use toolsmith_manager::overlays::OverlayFiles;
#[cfg(target_os = "linux")]
use toolsmith_manager::overlays::Shipped;
use toolsmith_manager::records::RecordFile;
use toolsmith_manager::sandbox::ProjectSandbox;
use toolsmith_manager::telemetry::TelemetryHost;
use toolsmith_manager::{
    AskTerms, CONFIG_FILE, ConfigLoader, FileLoader, IfMissing, Manager, ManagerError,
    ProjectWorkers, Remotes, Setup, View, find_root, tape,
};
use toolsmith_mcp::client::{Questions, Upstreams};
use toolsmith_runtime::guide::{self, Guide};
use toolsmith_runtime::permit::{Rule, Verdict, YesToAll};
use toolsmith_runtime::tape::{Recording, Replay};
use toolsmith_runtime::{Caller, Selection, Toolbox};

#[cfg(target_os = "linux")]
use crate::built_in;
use crate::cli::Cli;
use crate::environment;
use crate::failure::Failure;
use crate::logging;
use crate::login;
use crate::print;
#[cfg(target_os = "linux")]
use crate::programs;
use crate::progress::ProgressBars;
use crate::prompt::TerminalApprover;
use crate::withheld;

/// What the tools that came with the program are told to come from. With a blank in it,
/// so that no server can be called that.
pub(crate) const SHIPPED: &str = "built-in tools";

/// How long a collector may take for the last it is told.
const LAST_WORDS: Duration = Duration::from_secs(3);

/// The toolbox and what was read to build it.
pub(crate) struct Session {
    pub(crate) manager: Arc<Manager>,
    pub(crate) toolbox: Toolbox,
    /// What is written about the tools by hand.
    pub(crate) overlays: Arc<OverlayFiles>,
    pub(crate) guide: Arc<Guide>,
    /// Whose tools are offered.
    pub(crate) view: View,
    /// What programs that tools start are kept within.
    pub(crate) sandbox: ProjectSandbox,
    /// The programs that tools have started.
    #[cfg(target_os = "linux")]
    shells: Option<Shells>,
    /// What was given to other agents.
    tasks: Tasks,
}

/// Which upstream servers a command needs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which<'n> {
    /// Every one.
    All,
    /// Those whose tool this name may be.
    Of(&'n str),
}

/// What is reached over the network, for as long as it is needed.
pub(crate) struct Reached {
    pub(crate) upstreams: Upstreams,
    pub(crate) remotes: Remotes,
}

impl Reached {
    /// Waits until each was reached, or was tried in vain.
    pub(crate) async fn settled(&self) {
        self.upstreams.settled().await;
        self.remotes.settled().await;
    }
}

impl Session {
    /// Reads the configuration and builds the toolbox. The prefix is settled first:
    /// the environment's if it is set, else the configuration's. `questions` is what
    /// upstream servers may ask of whoever calls; `tools` is where tools run.
    pub(crate) fn open(cli: &Cli, questions: Questions, tools: &Handle) -> Result<Self, Failure> {
        Self::open_with(cli, questions, tools, Arc::new(FileLoader))
    }

    /// As [`Session::open`], with files from a loader.
    pub(crate) fn open_with(
        cli: &Cli,
        questions: Questions,
        tools: &Handle,
        loader: Arc<dyn ConfigLoader>,
    ) -> Result<Self, Failure> {
        let prefix = environment::tool_prefix();
        if let Some(root) = cli.roots().into_iter().find(|root| !root.is_dir()) {
            let root = root.display();
            return Err(Failure::usage(format!(
                "--root {root}: there is no such folder"
            )));
        }
        let root = project_root(cli);
        let sandbox = environment::sandbox(&root, &cli.roots(), cli.config.as_deref());
        let (file, if_missing) = match &cli.config {
            Some(file) => (file.clone(), IfMissing::Fail),
            None => (root.join(CONFIG_FILE), IfMissing::UseDefaults),
        };
        let setup = Setup::open_in(sandbox.clone(), loader, &file, if_missing)?;
        let overlays = Arc::new(overlays(&root).without(sandbox.appeared().clone()));
        let guide = Arc::new(guide(&setup, &overlays)?);
        let rules = cli
            .deny
            .iter()
            .chain(&cli.allow)
            .cloned()
            .chain(of_ask(cli));
        let (recording, replay) = (recording(cli)?, replay(cli)?);
        let is_replay = replay.is_some();
        let mut setup = setup
            .with_root(&root)
            .with_prefix(prefix)
            .with_mode(cli.mode)
            .with_rules(rules)
            .with_runtime(tools.clone())
            .with_spills(environment::spills(&cli.roots()))
            .with_approvals(environment::approvals(&root))
            .with_records(records(cli, &root))
            .with_telemetry(makes_calls(cli).then(|| telemetry(tools)))
            .with_servers(cli.server.iter().cloned())
            .with_environment(&environment::everything())
            .with_questions(questions)
            .with_clock(SystemTime::now)
            .with_recording(recording)
            .with_replay(replay);
        #[cfg(target_os = "linux")]
        let mut shells = None;
        let tasks = Tasks::default();
        // On a tape are all tools there are.
        if !is_replay {
            #[cfg(target_os = "linux")]
            {
                let (tools, programs) = built_in::over_files(cli, &sandbox)?;
                setup = setup.with_tools(SHIPPED, tools);
                setup = built_in::with_web(setup.with_tools(SHIPPED, programs.tools()));
                shells = Some(programs);
            }
            setup = setup.with_tools(SHIPPED, tasks.tools());
            setup = setup.with_tools(SHIPPED, [guide::tool(Arc::clone(&guide))]);
            if environment::wants_examples() {
                setup = setup.with_examples();
            }
        }
        let manager = Arc::new(setup.load()?);
        logging::without_secrets_of(manager.toolbox());
        #[cfg(target_os = "linux")]
        if let Some(shells) = &shells {
            programs::redact(shells, manager.toolbox());
        }
        warn_of_records(cli, &manager);
        let view = match (&cli.set, &cli.agent) {
            (Some(set), _) => View::Set(set.clone()),
            (None, Some(agent)) => View::Agent(agent.clone()),
            (None, None) => View::Usual,
        };
        manager
            .selection(&view)
            .map_err(|error| Failure::usage(error.to_string()))?;
        let session = Self {
            toolbox: manager.toolbox().clone(),
            manager,
            overlays,
            guide,
            view,
            sandbox,
            #[cfg(target_os = "linux")]
            shells,
            tasks,
        };
        // Who asks a model says first which one that is.
        if !matches!(cli.command, crate::cli::Command::Ask(_)) {
            session.employ(AskTerms::default());
        }
        Ok(session)
    }

    /// Lets the agents of the project do tasks, on the terms of this run.
    pub(crate) fn employ(&self, terms: AskTerms) {
        let workers = ProjectWorkers::new(&self.manager, self.view.clone(), terms);
        self.tasks.employ(workers);
    }

    /// Begins to reach upstream servers and other sources: all of them, or those a name
    /// may mean.
    pub(crate) fn reach(&self, which: Which<'_>) -> Reached {
        let wanted = |name: &str| match which {
            Which::All => true,
            Which::Of(tool) => tool.contains(&format!("mcp__{name}__")),
        };
        let upstreams = self.manager.upstreams().upstreams;
        let wanted: Vec<_> = upstreams
            .into_iter()
            .filter(|each| wanted(&each.name))
            .map(login::with_kept)
            .collect();
        if !wanted.is_empty() {
            // What children leave behind is ours to end.
            let _ = toolsmith_process::become_subreaper();
        }
        // What such a source calls its tools is known only when it was asked.
        let is_known = |tool: &str| self.toolbox.registry().has(tool);
        let remotes = match which {
            Which::Of(tool) if is_known(tool) || tool.contains("mcp__") => Vec::new(),
            _ => self.manager.remotes(),
        };
        let upstreams = Upstreams::start(wanted, &self.toolbox);
        upstreams.set_unready(self.unready());
        Reached {
            upstreams,
            remotes: Remotes::start(remotes, &self.toolbox),
        }
    }

    /// The servers that are described but cannot even be tried.
    pub(crate) fn unready(&self) -> Vec<String> {
        let unready = self.manager.upstreams().unready;
        unready.into_iter().map(|each| each.name).collect()
    }

    /// Ends what goes on beside calls.
    pub(crate) async fn close(&self) {
        self.tasks.close().await;
        #[cfg(target_os = "linux")]
        if let Some(shells) = &self.shells {
            shells.close().await;
        }
        if let Some(telemetry) = self.manager.telemetry() {
            telemetry.close(LAST_WORDS).await;
        }
    }

    /// Tells what is wrong with files: the rest of them is used all the same.
    pub(crate) fn warn_of_files(&self) {
        let errors = self.manager.errors();
        let (missing, unknown) = (
            self.manager.missing(),
            self.manager.unknown_members(&self.view),
        );
        for told in errors.iter().chain(&missing).chain(&unknown) {
            print::warning(told);
        }
        if let Some(problem) = self.manager.approvals().and_then(FileApprovals::problem) {
            print::warning(&problem);
        }
    }

    /// As [`Session::reach`], and waits until each was reached or tried in vain.
    pub(crate) async fn reached(&self, which: Which<'_>) -> Reached {
        self.warn_of_files();
        let reached = self.reach(which);
        reached.settled().await;
        for upstream in reached.upstreams.all() {
            if let Some(error) = upstream.status().error {
                print::warning(&format!("server `{}`: {error}", upstream.name()));
            }
        }
        for (_, status) in reached.remotes.statuses() {
            if let Some(error) = status.error {
                print::warning(&error);
            }
        }
        reached
    }

    /// Tells what is withheld, and what a person can do about it.
    pub(crate) fn warn_of_withheld(&self) {
        for told in self.manager.pins().told() {
            print::warning(&told);
        }
        withheld::tell(&self.toolbox.registry().withheld());
    }

    /// Tells of rules that mean no tool: a typing error in what forbids is otherwise
    /// seen when it is too late.
    pub(crate) fn warn_of_rules(&self) {
        for finding in self.manager.idle_rules() {
            print::warning(&finding);
        }
    }

    /// What is offered to whoever asked for this view. One that came to nothing while
    /// the program runs offers nothing.
    pub(crate) fn selection_of(&self, view: &View) -> Selection {
        let nothing = || Selection::everything().with_tools(Vec::<String>::new());
        self.manager.selection(view).unwrap_or_else(|_| nothing())
    }

    /// Who decides what is offered on the command line; none where everything is.
    pub(crate) fn offerer(&self) -> Option<String> {
        match &self.view {
            View::Set(set) => Some(format!("the tool set `{set}`")),
            View::Agent(agent) => Some(format!("the agent `{agent}`")),
            View::Usual => {
                let config = self.manager.config();
                let is_list = config.tools.is_some() || config.tool_sets.is_some();
                is_list.then(|| CONFIG_FILE.to_owned())
            }
        }
    }

    /// The same error in the words of a person who may know of every tool: that one is there,
    /// and who does not offer it. Models learn of none they are not offered.
    pub(crate) fn told_of(&self, error: &ToolError, name: &str) -> ToolError {
        let is_there = error.kind == ErrorKind::UnknownTool && self.toolbox.registry().has(name);
        if !is_there {
            return error.clone();
        }
        let why = match self.offerer() {
            Some(offerer) => format!("{offerer} does not offer it"),
            None => "it is offered to nobody".to_owned(),
        };
        ToolError::new(error.kind, format!("there is a tool {name:?}, but {why}"))
    }

    /// What is offered on the command line.
    pub(crate) fn selection(&self) -> Selection {
        self.selection_of(&self.view)
    }

    /// The person at the command line, or the script.
    pub(crate) fn caller(&self, cli: &Cli) -> Caller {
        self.caller_of(cli, &self.view)
    }

    /// The same, as somebody else.
    pub(crate) fn caller_of(&self, cli: &Cli, view: &View) -> Caller {
        let offer = self.toolbox.offer(&self.selection_of(view));
        let mut caller = Caller::new("cli")
            .with_offer(Arc::new(offer))
            .with_recorder(ProgressBars::new())
            .with_cancellation(interrupts());
        if let View::Agent(agent) = view {
            caller = caller.with_agent(agent);
        }
        if let Some(timeout) = cli.timeout {
            caller = caller.with_timeout(timeout);
        }
        if cli.yes {
            let by = "--yes".to_owned();
            return caller.with_approver(YesToAll { by });
        }
        caller.with_approver(TerminalApprover)
    }
}

/// The folder that configuration is read from: the one that was named, or the nearest
/// from here upwards that has one.
pub(crate) fn project_root(cli: &Cli) -> PathBuf {
    match cli.root.first() {
        Some(root) => root.clone(),
        None if cli.config.is_some() => PathBuf::from("."),
        None => find_root(Path::new("."), environment::is_doubted),
    }
}

/// Who asks a model has agreed that models work for it: a sub-agent is one more, with no
/// more rights. A rule that says otherwise beats this one.
fn of_ask(cli: &Cli) -> Option<Rule> {
    let is_ask = matches!(cli.command, crate::cli::Command::Ask(_));
    let rule = is_ask.then(|| Rule::parse(Verdict::Allow, "task"));
    rule.and_then(Result::ok)
}

/// Where calls are recorded, by the commands that make some.
fn records(cli: &Cli, root: &Path) -> Option<RecordFile> {
    let place = environment::records(root).filter(|_| makes_calls(cli))?;
    Some(RecordFile::new(place, SystemTime::now))
}

fn makes_calls(cli: &Cli) -> bool {
    use crate::cli::Command;

    // What is replayed did not happen.
    cli.replay.is_none()
        && matches!(
            cli.command,
            Command::Ask(_) | Command::Call(_) | Command::Batch(_) | Command::Serve(_)
        )
}

/// Who is told of calls, where the configuration does not say.
fn telemetry(tools: &Handle) -> TelemetryHost {
    let mut host = TelemetryHost::new(tools.clone(), SystemTime::now);
    host.endpoint = environment::collector();
    host.headers = environment::collector_headers();
    host.service = environment::service_name();
    host
}

/// Who has no home has no records, and should know.
fn warn_of_records(cli: &Cli, manager: &Manager) {
    let are_wanted = makes_calls(cli) && manager.config().records.terms().enabled;
    if are_wanted && environment::state_folder().is_none() {
        print::warning("calls are not recorded: set HOME or XDG_STATE_HOME");
    }
}

/// The tape to record on, if one was named.
fn recording(cli: &Cli) -> Result<Option<Arc<Recording>>, Failure> {
    let Some(file) = &cli.record else {
        return Ok(None);
    };
    let name = print::visible(&file.display().to_string());
    let tell =
        move |why: &str| print::warning(&format!("--record {name}: it is incomplete: {why}"));
    let recording = tape::record(file, tell);
    recording
        .map(Some)
        .map_err(|error| Failure::usage(format!("--record {error}")))
}

/// The tape to play, if one was named.
fn replay(cli: &Cli) -> Result<Option<Arc<Replay>>, Failure> {
    let Some(file) = &cli.replay else {
        return Ok(None);
    };
    let order = cli.replay_order.map(Into::into).unwrap_or_default();
    let replay = tape::replay(file, order);
    let replay = replay.map_err(|error| Failure::usage(format!("--replay {error}")))?;
    let name = print::visible(&file.display().to_string());
    for note in replay.notes() {
        print::warning(&format!("--replay {name}: {}", print::visible(note)));
    }
    Ok(Some(replay))
}

/// What the folder says of the tools, over what came with the program.
fn overlays(root: &Path) -> OverlayFiles {
    let files = OverlayFiles::in_folder(root, SystemTime::now);
    #[cfg(target_os = "linux")]
    let files = files.over(Shipped {
        descriptions: toolsmith_builtin::overlays::DESCRIPTIONS,
        examples: toolsmith_builtin::overlays::EXAMPLES,
    });
    files
}

/// The guide as the configuration wants it.
fn guide(setup: &Setup, overlays: &Arc<OverlayFiles>) -> Result<Guide, Failure> {
    let source: Arc<OverlayFiles> = Arc::clone(overlays);
    let mut guide = Guide::new(source, SystemTime::now);
    let config = &setup.config().guide;
    if let Some(title) = &config.title {
        guide = guide.with_title(title);
    }
    if let Some(template) = &config.template {
        let is_within = |part: Component<'_>| matches!(part, Component::Normal(_));
        if !template.components().all(is_within) {
            let template = print::visible(&template.display().to_string());
            return Err(Failure::usage(format!(
                "guide.template: {template} is not beneath the configuration's folder"
            )));
        }
        let folder = setup.file().and_then(Path::parent);
        let file = folder.map_or_else(|| template.clone(), |folder| folder.join(template));
        guide = with_template(guide, &file)?;
    }
    Ok(guide)
}

/// Reads the template a guide is written by.
pub(crate) fn with_template(guide: Guide, file: &Path) -> Result<Guide, Failure> {
    let name = print::visible(&file.display().to_string());
    let missing = || Failure::usage(format!("{name}: there is no such file"));
    let bytes = FileLoader.load(file).map_err(ManagerError::from)?;
    let bytes = bytes.ok_or_else(missing)?;
    let source =
        String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{name}: it is not UTF-8")))?;
    let guide = guide.with_template(&name, &source);
    guide.map_err(|error| Failure::usage(error.to_string()))
}

/// A token that Ctrl-C and SIGTERM cancel. A second one ends the program at once.
pub(crate) fn interrupts() -> CancellationToken {
    let token = CancellationToken::new();
    let cancelled = token.clone();
    // Listened for from here on, not from whenever the task first runs, and without
    // a gap between the first and the second.
    let Ok(mut interrupts) = Interrupts::listen() else {
        return token;
    };
    tokio::spawn(async move {
        interrupts.next().await;
        cancelled.cancel();
        print::note("interrupted: stopping; once more ends it at once");
        interrupts.next().await;
        #[expect(clippy::exit, reason = "asked twice: nothing may hold it up")]
        std::process::exit(130);
    });
    token
}

#[cfg(unix)]
struct Interrupts {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        // Without a handler nothing can be noticed, which is no interrupt.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
