//! `write`: a whole file, made or replaced in one step. What is there must have been
//! read, and keeps its encoding, line ends, mode and owner.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolsmith_core::{Hints, Kind, Plan, ToolContext, ToolDef, Touch};

use crate::built_in::{Answer, BuiltIn, described, example, noted};
use crate::edit::{Diff, diff};
use crate::placeholder;
use crate::refusal::{Reason, Refusal};
use crate::text::{Encoding, Eol};
use crate::workspace::{Deed, Digest, Done, Missing, Target, Workspace};
use crate::writing::{self, Current, Freshness};

/// What the name of a kept old content ends with.
const BACKUP: &str = ".bak";

/// The tool.
#[derive(Debug)]
pub(crate) struct Write(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// What the file is to hold, all of it.
    content: String,
    /// `utf8` writes text, in the encoding the file has; `base64` decodes the content;
    /// `binary` takes each character for a byte. The name of an encoding, such as `gbk`,
    /// writes in that.
    #[serde(default = "utf8")]
    encoding: String,
    /// Whether folders that are missing are made.
    #[serde(default = "yes")]
    create_directories: bool,
    /// Whether the old content is kept beside the file, as `<name>.bak`.
    #[serde(default)]
    backup: bool,
    /// The hash the file's content must have now, whole or its first 12 digits, instead
    /// of having been read.
    #[serde(default)]
    expected_sha256: Option<String>,
    /// What happens where there is a file already.
    #[serde(default)]
    if_exists: IfExists,
    /// Whether the content may hold remarks that stand for left-out code.
    #[serde(default)]
    allow_placeholders: bool,
}

/// What happens where there is a file already.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum IfExists {
    #[default]
    Overwrite,
    Fail,
}

fn utf8() -> String {
    "utf8".to_owned()
}
fn yes() -> bool {
    true
}

/// What it tells of the file.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The file, relative to the workspace.
    file_path: String,
    /// How many bytes it has now.
    content_size: u64,
    /// The encoding it was written in.
    encoding: String,
    /// Whether folders were made for it.
    created_directories: bool,
    /// Whether something changed that a diff can show.
    has_diff: bool,
    /// Whether there was no such file before.
    created: bool,
    /// Whether it was written over instead of replaced, because of its other names or its
    /// owner.
    in_place: bool,
    /// The hash of its content now.
    sha256: String,
    /// What changed, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// How many lines are new.
    lines_added: usize,
    /// How many lines are gone.
    lines_removed: usize,
    /// Where the old content is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    backup_path: Option<String>,
}

impl BuiltIn for Write {
    type Arguments = Arguments;
    type Value = Facts;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let mut hints = Hints::default();
        (hints.destructive, hints.idempotent) = (Some(true), Some(true));
        let definition = described("write", "Write", "edit", &["file", "create"])
            .with_kind(Kind::Edit)
            .with_hints(hints)
            .with_description(
                "Writes a whole file: makes it, or replaces what it holds, in one step.\n\n\
                 A file that is there must have been read before, or be named by \
                 expected_sha256. Its encoding, line ends, byte order mark, mode and owner \
                 stay. Missing folders are made.",
            )
            .with_returns("A diff of what changed, the size and the hash of the new content.")
            .with_example(example("A new file, and the folder it is in", json!({ "file_path": "notes/today.md", "content": "# Today\n" })))
            .with_example(example("Bytes", json!({ "file_path": "pixel.gif", "content": "R0lGODlhAQABAAAAACw=", "encoding": "base64" })))
            .with_aliases("content", &["contents", "text", "data"]);
        noted(
            definition,
            &[
                "To change a part of a file, use edit: it sends less and can spoil less.",
                "Give the whole content; nothing is filled in for what is left out.",
            ],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        let place = self.0.place(&arguments.file_path)?;
        let touch = Touch::write(self.0.whole(&place)).from_argument("file_path");
        let size = arguments.content.len();
        let summary = format!("Write {} ({size} bytes)", self.0.shown(&place));
        let mut plan = Plan::new(summary).touching(touch);
        if arguments.backup {
            let mut beside = self.0.whole(&place).into_os_string();
            beside.push(BACKUP);
            plan = plan.touching(Touch::write(beside).from_argument("file_path"));
        }
        Ok(plan)
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Facts>, Refusal> {
        let missing = match arguments.create_directories {
            true => Missing::Make,
            false => Missing::Refuse,
        };
        let held_for = self.0.target(&arguments.file_path, missing)?;
        let beside = match arguments.backup {
            true => Some(held_for.sibling(BACKUP)?),
            false => None,
        };
        let held: Vec<&Target> = [&held_for].into_iter().chain(&beside).collect();
        let _held = self.0.hold(&held, || context.is_cancelled())?;
        let current = Current::of(&self.0, &arguments.file_path, missing)?;
        self.may_replace(&arguments, &current, context)?;
        let (content, encoding) = content(&arguments, &current)?;
        self.carry_out(
            &arguments,
            current,
            content,
            encoding,
            held_for.has_made_folders(),
            context,
        )
    }
}

impl Write {
    fn may_replace(
        &self,
        arguments: &Arguments,
        current: &Current,
        context: &ToolContext,
    ) -> Result<(), Refusal> {
        let Some(bytes) = &current.bytes else {
            return Ok(());
        };
        let shown = &current.target.shown;
        if arguments.if_exists == IfExists::Fail {
            let message = format!("{shown} is there already");
            return Err(Refusal::new(Reason::Exists, message)
                .next("Choose another name, or leave if_exists out to replace it"));
        }
        let expected = arguments.expected_sha256.as_deref();
        match current.freshness(&self.0, context, expected)? {
            Freshness::Fresh => {}
            Freshness::Unread => return Err(writing::not_read(shown)),
            Freshness::Stale { seen } => {
                let message = format!("{shown} changed since it was read");
                let mut refusal = Refusal::new(Reason::Stale, message)
                    .next("Read it again, then repeat the change");
                if let (Some(seen), Ok((text, _))) = (seen, current.text()) {
                    refusal.message += &format!(":\n{}", diff(&seen, &text, shown, 40).text);
                }
                return Err(refusal);
            }
        }
        if !arguments.allow_placeholders
            && arguments.content.len() < bytes.len()
            && let Some((line, remark)) = placeholder::find(&arguments.content)
        {
            let message = format!(
                "line {line} of the content, `{remark}`, stands for code it leaves out; {shown} would lose it"
            );
            return Err(Refusal::new(Reason::Placeholder, message).next(
                "Give the whole content, use edit for a part, or set allow_placeholders if it is meant",
            ));
        }
        Ok(())
    }

    fn carry_out(
        &self,
        arguments: &Arguments,
        current: Current,
        content: Vec<u8>,
        encoding: String,
        has_made: bool,
        context: &ToolContext,
    ) -> Result<Answer<Facts>, Refusal> {
        let shown = current.target.shown.clone();
        let changes = changes(current.bytes.as_deref(), &content, &shown);
        let mut facts = Facts {
            file_path: shown.clone(),
            content_size: content.len() as u64,
            encoding,
            created_directories: has_made,
            has_diff: !changes.text.is_empty(),
            created: current.bytes.is_none(),
            in_place: false,
            sha256: Digest::of(&content).hex(),
            diff: (!changes.text.is_empty()).then(|| changes.text.clone()),
            lines_added: changes.added,
            lines_removed: changes.removed,
            backup_path: None,
        };
        let mut deeds = Vec::new();
        if let (true, Some(old)) = (arguments.backup, &current.bytes) {
            let target = current.target.sibling(BACKUP)?;
            facts.backup_path = Some(target.shown.clone());
            deeds.push(Deed::Write {
                target,
                content: old.clone(),
                like: current.target.stat,
            });
        }
        deeds.push(Deed::Write {
            target: current.target,
            content,
            like: None,
        });
        let done = writing::commit(&self.0, context, &deeds)?;
        facts.in_place = done.last() == Some(&Done::InPlace);
        let deed = if facts.created { "Created" } else { "Wrote" };
        let mut text = format!(
            "{deed} {shown}: {} bytes, lines +{} -{}, sha256 {}",
            facts.content_size,
            facts.lines_added,
            facts.lines_removed,
            &facts.sha256[..12]
        );
        if facts.in_place {
            text += &format!("\nNote: {}.", writing::IN_PLACE);
        }
        if let Some(backup) = &facts.backup_path {
            text += &format!("\nThe old content is in {backup}.");
        }
        if let Some(diff) = facts.diff.as_ref().filter(|_| !facts.created) {
            text += &format!("\n{diff}");
        }
        let display = format!("{deed} {shown} ({} bytes)", facts.content_size);
        Ok(Answer::new(facts, display).text(text))
    }
}

/// The bytes to be written, and the name of how they are.
fn content(arguments: &Arguments, current: &Current) -> Result<(Vec<u8>, String), Refusal> {
    let text = arguments.content.as_str();
    let bad = |message: &str, next: &str| Refusal::new(Reason::BadArgument, message).next(next);
    match arguments.encoding.as_str() {
        "base64" => {
            let compact: String = text.split_ascii_whitespace().collect();
            let bytes = BASE64_STANDARD.decode(compact).map_err(|error| {
                let reason = error.to_string();
                let message = format!("the content is no base64: {}", reason.trim_end_matches('.'));
                bad(&message, "Encode it again, or write it as utf8")
            })?;
            Ok((bytes, "base64".to_owned()))
        }
        "binary" => {
            let bytes: Result<Vec<u8>, _> =
                text.chars().map(|c| u8::try_from(u32::from(c))).collect();
            let bytes = bytes.map_err(|_| {
                let message = "the content has a character that is no byte";
                bad(message, "Use base64 for bytes, or utf8 for text")
            })?;
            Ok((bytes, "binary".to_owned()))
        }
        "utf8" | "utf-8" => {
            let Ok((old, encoding)) = current.text() else {
                return Ok((text.as_bytes().to_vec(), "utf8".to_owned()));
            };
            if current.bytes.as_ref().is_none_or(Vec::is_empty) {
                return Ok((text.as_bytes().to_vec(), "utf8".to_owned()));
            }
            let text = with_ends_of(&old, text.strip_prefix('\u{feff}').unwrap_or(text));
            let bytes = writing::encoded(&text, &encoding, &current.target.shown)?;
            let name = encoding.name();
            Ok((
                bytes,
                if name == "utf-8" {
                    "utf8".to_owned()
                } else {
                    name
                },
            ))
        }
        named => {
            let encoding = Encoding::named(named).ok_or_else(|| {
                let message = format!("`{named}` is no encoding this tool knows");
                bad(
                    &message,
                    "Use utf8, base64, binary, or a name such as gbk or shift_jis",
                )
            })?;
            let bytes = writing::encoded(text, &encoding, &current.target.shown)?;
            Ok((bytes, encoding.name()))
        }
    }
}

/// A text with the line ends of another, where that has but one kind and the text plain
/// newlines.
fn with_ends_of(old: &str, new: &str) -> String {
    match (Eol::of(old), Eol::of(new)) {
        (Eol::Crlf, Eol::Lf) => new.replace('\n', "\r\n"),
        (Eol::Cr, Eol::Lf) => new.replace('\n', "\r"),
        _ => new.to_owned(),
    }
}

/// What changes, where both are text.
fn changes(old: Option<&[u8]>, new: &[u8], shown: &str) -> Diff {
    let text = |bytes: &[u8]| {
        let (encoding, _) = Encoding::of(bytes, true);
        encoding.read(bytes).filter(|text| !text.contains('\0'))
    };
    match (text(old.unwrap_or_default()), text(new)) {
        (Some(old), Some(new)) => diff(&old, &new, shown, 200),
        _ => Diff::default(),
    }
}
