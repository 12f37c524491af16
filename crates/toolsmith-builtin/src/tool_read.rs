//! `read`: lines of a file as a model needs them to edit it, images as images, and a few
//! words about everything else.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolsmith_core::{Block, Kind, Plan, ToolContext, ToolDef};

use crate::budget::{self, MOST};
use crate::built_in::{self, Answer, BuiltIn, described, example, idempotent, noted};
use crate::missing;
use crate::numbered::{self, Style};
use crate::reading::{self, Lines, Slice};
use crate::refusal::{Reason, Refusal};
use crate::text::{Encoding, FileKind, Shape, kind_of};
use crate::time::Moment;
use crate::tool_list_directory::{Entries, Entry, listing};
use crate::workspace::{OpenDirectory, OpenFile, Opened, Workspace};

/// How many bytes the lines above and beneath a text have, beside the path.
const AROUND: usize = 280;

/// The largest image that is shown.
const IMAGE: u64 = 5 << 20;

/// The tool.
#[derive(Debug)]
pub(crate) struct Read(pub(crate) Workspace);

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Arguments {
    /// The file: relative to the workspace, or absolute within it.
    file_path: String,
    /// The line to begin at, counted from 1 (0 means 1). A negative number counts from
    /// the end: -20 is the last twenty lines.
    #[serde(default = "first")]
    offset: i64,
    /// How many lines to read.
    #[serde(default = "usual")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u64,
    /// `utf8` reads text in whatever encoding the file has, `base64` and `binary` (as
    /// hexadecimal) its bytes. The name of an encoding, such as `gbk`, reads it as that.
    #[serde(default = "utf8")]
    encoding: String,
    /// Whether lines are numbered.
    #[serde(default = "yes")]
    line_numbers: bool,
    /// The column overlong lines are shown from.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    column: usize,
    /// How many bytes the answer may have.
    #[serde(default = "budget::usual")]
    #[schemars(range(min = 1000, max = 1_048_576))]
    max_bytes: usize,
}

impl Arguments {
    /// The call that goes on from another line, with whatever else was asked for.
    fn continued(&self, offset: i64) -> Value {
        let mut next = json!({ "file_path": self.file_path, "offset": offset });
        // Along one line it was not the caller who asked for one.
        let is_along = self.limit == 1 && self.column > 1;
        if self.limit != usual() && !is_along {
            next["limit"] = self.limit.into();
        }
        if self.encoding != utf8() {
            next["encoding"] = self.encoding.clone().into();
        }
        if !self.line_numbers {
            next["line_numbers"] = false.into();
        }
        if self.max_bytes != budget::usual() {
            next["max_bytes"] = self.max_bytes.into();
        }
        next
    }

    /// The call that shows what follows of a line that was cut.
    fn along(&self, line: u64) -> Value {
        let mut next = self.continued(i64::try_from(line).unwrap_or(i64::MAX));
        next["limit"] = 1.into();
        next["column"] = self.column.saturating_add(numbered::LINE).into();
        next
    }
}

fn first() -> i64 {
    1
}
fn usual() -> u64 {
    2000
}
fn utf8() -> String {
    "utf8".to_owned()
}
fn yes() -> bool {
    true
}
fn one() -> usize {
    1
}

/// What it tells of the file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Facts {
    /// The file, relative to the workspace.
    file_path: String,
    /// Its size in bytes.
    file_size: u64,
    /// `text`, `directory`, or the type of its content.
    file_type: String,
    /// Its encoding, or how its bytes are shown.
    encoding: String,
    /// How sure it is that this is the encoding: `sure` or `likely`.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<String>,
    /// Whether it is something else than text.
    is_binary: bool,
    /// How many lines were read.
    lines_read: u64,
    /// How many lines it has, unless it is too large to count.
    total_lines: Option<u64>,
    /// The first line read.
    start_line: Option<u64>,
    /// The last line read.
    end_line: Option<u64>,
    /// When it was changed last, in UTC.
    last_modified: String,
    /// The hash of its content, unless it is too large.
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// How its lines end: `lf`, `crlf`, `cr`, `mixed` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    line_ending: Option<String>,
    /// What its lines are indented with.
    #[serde(skip_serializing_if = "Option::is_none")]
    indentation: Option<String>,
    /// Whether it begins with a byte order mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    bom: Option<bool>,
    /// Whether its last line has an end.
    #[serde(skip_serializing_if = "Option::is_none")]
    final_newline: Option<bool>,
    /// The lines without their numbers, or the bytes in the form that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
    /// What a folder holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    entries: Option<Vec<Entry>>,
    /// How much a folder holds in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// Whether something was left out.
    truncated: bool,
    /// The arguments that read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Value>,
    /// The tool that takes them, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_tool: Option<&'static str>,
}

impl BuiltIn for Read {
    type Arguments = Arguments;
    type Value = Facts;

    const HAS_METADATA: bool = true;

    fn define() -> ToolDef {
        let definition = described("read", "Read", "read", &["file", "text", "image"])
            .with_kind(Kind::Read)
            .with_hints(idempotent())
            .with_description(
                "Reads a file: numbered lines of text, an image, or what kind of file it is.\n\n\
                 The first line of the answer tells encoding, line endings, indentation, size and \
                 hash. Lines are counted from 1. Long files are read in parts, with offset and \
                 limit; overlong lines with column. A folder is listed.",
            )
            .with_returns(
                "The lines, each as its number, a tab and the line; beneath a header that tells \
                 what the file is like.",
            )
            .with_example(example("A whole file", json!({ "file_path": "README.md" })))
            .with_example(example(
                "Forty lines from line 120 on",
                json!({ "file_path": "src/main.rs", "offset": 120, "limit": 40 }),
            ))
            .with_example(example(
                "The last fifty lines",
                json!({ "file_path": "server.log", "offset": -50 }),
            ));
        noted(
            definition,
            &[
                "Read a file before changing it: edits must match it exactly.",
                "The numbers and the tab after them are no part of the file.",
            ],
        )
    }

    fn workspace(&self) -> &Workspace {
        &self.0
    }

    fn plan(&self, arguments: &Arguments) -> Result<Plan, Refusal> {
        built_in::reading(&self.0, "file_path", &arguments.file_path, |shown| {
            format!("Read {shown}")
        })
    }

    fn call(&self, arguments: Arguments, context: &ToolContext) -> Result<Answer<Facts>, Refusal> {
        let open = match self.0.open_any(&arguments.file_path) {
            Ok(Opened::File(open)) => open,
            Ok(Opened::Directory(folder)) => {
                let listed = listing(&self.0, &arguments.file_path, arguments.max_bytes, context)?;
                return Ok(listed.map(|listed| of_folder(folder, listed)));
            }
            Err(refusal) => {
                let path = &arguments.file_path;
                return Err(missing::explained(refusal, &self.0, path, context));
            }
        };
        let head = reading::head(&open)?;
        let answer = match (arguments.encoding.as_str(), kind_of(&head)) {
            ("base64" | "binary", _) => bytes(&open, &arguments)?,
            ("utf8" | "utf-8", FileKind::Image(mime)) if is_small(&open) => image(&open, mime)?,
            ("utf8" | "utf-8", FileKind::Image(mime) | FileKind::Binary(mime)) => {
                unreadable(&open, &head, mime)
            }
            _ => return self.text(&open, &head, &arguments, context),
        };
        let digest = reading::digest(&open, &|| context.is_cancelled());
        if let Some(digest) = digest {
            self.0.saw(context.caller(), &open.shown, digest, None)?;
        }
        Ok(answer.map(|mut facts| {
            facts.sha256 = digest.map(|digest| digest.hex());
            facts
        }))
    }
}

impl Read {
    fn text(
        &self,
        open: &OpenFile,
        head: &[u8],
        arguments: &Arguments,
        context: &ToolContext,
    ) -> Result<Answer<Facts>, Refusal> {
        let encoding = match arguments.encoding.as_str() {
            "utf8" | "utf-8" => None,
            named => Some(Encoding::named(named).ok_or_else(|| unknown_encoding(named))?),
        };
        let wanted = match u64::try_from(arguments.offset) {
            Ok(first) => Lines::From {
                first: first.max(1),
                count: arguments.limit,
            },
            Err(_) => Lines::Last {
                back: arguments.offset.unsigned_abs(),
                count: arguments.limit,
            },
        };
        let slice = reading::lines(open, head, wanted, encoding, &|| context.is_cancelled())?;
        let text = slice.encoding.read_lossy(&slice.bytes);
        let shown = numbered::show(
            &text,
            Style {
                first: slice.first.filter(|_| arguments.line_numbers),
                column: arguments.column,
                budget: (arguments.max_bytes.min(MOST)).saturating_sub(open.shown.len() + AROUND),
                end: slice.end,
            },
        );
        // Who was shown nothing of it has not seen it.
        if shown.lines > 0 || open.stat.st_size == 0 {
            self.remember(open, &slice, &text, context)?;
        }
        let first = slice.first.filter(|_| shown.lines > 0);
        let mut facts = Facts {
            encoding: match slice.encoding.name() {
                name if name == "utf-8" => "utf8".to_owned(),
                name => name,
            },
            confidence: Some(slice.confidence.word().to_owned()),
            lines_read: shown.lines,
            total_lines: slice.total,
            start_line: first,
            end_line: first.map(|first| first + shown.lines - 1),
            sha256: slice.digest.as_ref().map(crate::workspace::Digest::hex),
            bom: Some(slice.encoding.has_bom()),
            final_newline: Some(slice.ends_with_newline),
            truncated: shown.is_short
                || shown.first_cut.is_some()
                || slice.is_cut
                || slice.has_more,
            ..facts(open, "text")
        };
        let shape = Shape::of(&slice.encoding.read_lossy(head));
        facts.line_ending = Some(shape.eol.word().to_owned());
        facts.indentation = Some(shape.indent.to_string());
        let is_one_line = shown.lines == 1;
        if let (true, Some(line), Some(_)) = (is_one_line, first, shown.first_cut) {
            // The rest of it comes before the lines that follow.
            facts.next = Some(arguments.along(line));
        } else if shown.lines > 0 && (shown.is_short || slice.has_more) {
            let lines = i64::try_from(shown.lines).unwrap_or(i64::MAX);
            facts.next = match facts.end_line {
                Some(end) => Some(arguments.continued(i64::try_from(end + 1).unwrap_or(i64::MAX))),
                // A file that is too large to count has lines counted from its end.
                None => Some(arguments.offset + lines)
                    .filter(|offset| *offset < 0)
                    .map(|offset| arguments.continued(offset)),
            };
        } else if let (Some(first), Some(cut)) = (first, shown.first_cut) {
            facts.next = Some(arguments.along(first + cut));
        }
        let body = match (shown.lines, open.stat.st_size) {
            (0, 0) => "(the file is empty)\n".to_owned(),
            (0, _) => format!(
                "(there is no line {}; the file has {})\n",
                arguments.offset,
                facts.total_lines.unwrap_or_default()
            ),
            _ => shown.text,
        };
        facts.content = Some(shown.plain);
        let text = format!(
            "{}\n{body}{}",
            header(&facts, arguments.offset),
            ending(&facts)
        );
        let display = format!("Read {} ({} lines)", open.shown, shown.lines);
        Ok(Answer::new(facts, display)
            .text(text)
            .within(arguments.max_bytes))
    }

    /// Notes that the caller has seen the file.
    fn remember(
        &self,
        open: &OpenFile,
        slice: &Slice,
        text: &str,
        context: &ToolContext,
    ) -> Result<(), Refusal> {
        let Some(digest) = slice.digest else {
            return Ok(());
        };
        let is_all = !slice.has_more && !slice.is_cut && slice.first == Some(1);
        self.0.saw(
            context.caller(),
            &open.shown,
            digest,
            is_all.then_some(text),
        )
    }
}

/// What is told of a folder.
fn of_folder(folder: OpenDirectory, listed: Entries) -> Facts {
    let changed = rustix::fs::fstat(&folder.handle).map(|stat| Moment::modified(&stat).written());
    Facts {
        file_type: "directory".to_owned(),
        file_path: folder.shown,
        encoding: "none".to_owned(),
        last_modified: changed.unwrap_or_default(),
        entries: Some(listed.entries),
        total: Some(listed.total),
        truncated: listed.truncated,
        next_tool: listed.next.as_ref().map(|_| "list_directory"),
        next: listed.next,
        ..Facts::default()
    }
}

/// The bytes of a file in another form.
fn bytes(open: &OpenFile, arguments: &Arguments) -> Result<Answer<Facts>, Refusal> {
    let budget = arguments.max_bytes.min(MOST);
    // Four characters for three bytes, two for one.
    let most = match arguments.encoding.as_str() {
        "base64" => budget / 4 * 3,
        _ => budget / 2,
    };
    let size = u64::try_from(open.stat.st_size).unwrap_or(0);
    if size > most as u64 {
        let message = format!(
            "{} has {size} bytes, and {most} fit into an answer",
            open.shown
        );
        return Err(Refusal::new(Reason::TooLarge, message)
            .next("Raise max_bytes, up to 1048576, or read it as text"));
    }
    let bytes = reading::whole(open, size)?;
    let text = match arguments.encoding.as_str() {
        "base64" => BASE64_STANDARD.encode(&bytes),
        _ => hex(&bytes),
    };
    let facts = Facts {
        encoding: arguments.encoding.clone(),
        is_binary: true,
        content: Some(text.clone()),
        ..facts(open, "application/octet-stream")
    };
    let display = format!("Read {} ({} bytes)", open.shown, bytes.len());
    Ok(Answer::new(facts, display).text(text).within(budget))
}

/// Whether an image is small enough to be shown.
fn is_small(open: &OpenFile) -> bool {
    u64::try_from(open.stat.st_size).is_ok_and(|size| size <= IMAGE)
}

fn image(open: &OpenFile, mime: &'static str) -> Result<Answer<Facts>, Refusal> {
    let bytes = reading::whole(open, IMAGE)?;
    let facts = Facts {
        encoding: "base64".to_owned(),
        is_binary: true,
        ..facts(open, mime)
    };
    let display = format!("Read {} (image, {} bytes)", open.shown, bytes.len());
    let text = format!("[{}: {mime}, {} bytes]", open.shown, bytes.len());
    let block = Block::Image {
        data: BASE64_STANDARD.encode(bytes),
        mime_type: mime.to_owned(),
    };
    Ok(Answer::new(facts, display).text(text).block(block))
}

/// What there is to say of a file that is no text.
fn unreadable(open: &OpenFile, head: &[u8], mime: &'static str) -> Answer<Facts> {
    const SHOWN: usize = 256;
    let facts = Facts {
        encoding: "binary".to_owned(),
        is_binary: true,
        truncated: true,
        ..facts(open, mime)
    };
    let begin = &head[..head.len().min(SHOWN)];
    let text = format!(
        "[{}: {mime}, {} bytes, no text; it begins with]\n{}\n",
        open.shown,
        facts.file_size,
        hex(begin)
    );
    let display = format!("Read {} (binary, {} bytes)", open.shown, facts.file_size);
    Answer::new(facts, display).text(text)
}

fn facts(open: &OpenFile, file_type: &str) -> Facts {
    Facts {
        file_path: open.shown.clone(),
        file_size: u64::try_from(open.stat.st_size).unwrap_or(0),
        file_type: file_type.to_owned(),
        last_modified: Moment::modified(&open.stat).written(),
        ..Facts::default()
    }
}

/// The line above the text: what must be known to edit it.
fn header(facts: &Facts, offset: i64) -> String {
    let lines = match (facts.start_line, facts.end_line, facts.total_lines) {
        (Some(first), Some(last), Some(total)) => format!("lines {first}-{last} of {total}"),
        (Some(first), Some(last), None) => format!("lines {first}-{last} of ≥{last}"),
        (_, _, Some(total)) => format!("{total} lines"),
        _ => format!(
            "{} lines, from {} before the end",
            facts.lines_read,
            offset.unsigned_abs()
        ),
    };
    let word = |word: &Option<String>| word.clone().unwrap_or_default();
    let mut parts = vec![
        lines,
        facts.encoding.clone(),
        format!("line ends: {}", word(&facts.line_ending)),
        format!("indent: {}", word(&facts.indentation)),
        format!("{} bytes", facts.file_size),
    ];
    if facts.confidence.as_deref() == Some("likely") {
        parts[1] += " (likely)";
    }
    parts.push(match facts.bom {
        Some(true) => "BOM".to_owned(),
        _ => "no BOM".to_owned(),
    });
    if facts.file_size > 0 {
        parts.push(match facts.final_newline {
            Some(false) => "final newline: no".to_owned(),
            _ => "final newline: yes".to_owned(),
        });
    }
    if let Some(hash) = &facts.sha256 {
        parts.push(format!("sha256 {}", &hash[..12]));
    }
    format!("[{}: {}]", facts.file_path, parts.join("; "))
}

/// The line beneath the text, where there is more.
fn ending(facts: &Facts) -> String {
    match facts
        .next
        .as_ref()
        .map(|next| (&next["offset"], next.get("column")))
    {
        Some((offset, None)) => format!("[more follows: go on with offset={offset}]\n"),
        // The line itself says where it goes on.
        _ => String::new(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unknown_encoding(named: &str) -> Refusal {
    let message = format!("`{named}` is no encoding this tool knows");
    Refusal::new(Reason::BadArgument, message)
        .next("Use utf8, base64, binary, or a name such as gbk, shift_jis or windows-1252")
}
