//! What reaches a model: bounded, spilled, cleaned.

use serde_json::{Value, json};
use toolsmith_core::outcome::ResourceContent;
use toolsmith_core::{AnyTool, Block, Outcome, ToolContext};
use toolsmith_runtime::shape::clean;
use toolsmith_runtime::{Limits, Toolbox, ToolboxBuilder};
use toolsmith_testing::spill::Faulty;
use toolsmith_testing::tools::{answering, definition};
use toolsmith_testing::{MemoryStore, Recording, call, value};

const LIMIT: usize = 1000;

fn builder(outcome: impl Fn() -> Outcome + Send + Sync + 'static) -> ToolboxBuilder {
    let mut limits = Limits::default();
    limits.output_bytes = LIMIT;
    limits.blob_bytes = LIMIT;
    Toolbox::builder()
        .tools([answering(definition("tool"), outcome)])
        .limits(limits)
}

async fn shaped(outcome: impl Fn() -> Outcome + Send + Sync + 'static) -> (Outcome, MemoryStore) {
    let store = MemoryStore::new();
    let toolbox = builder(outcome).spill_store(store.clone()).build().unwrap();
    (call(&toolbox, "tool", json!({})).await, store)
}

fn numbered_lines(count: usize) -> String {
    (0..count).map(|n| format!("line {n}\n")).collect()
}

fn text_of(outcome: &Outcome) -> &str {
    match outcome.content.as_slice() {
        [Block::Text { text }] => text,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_long_text_keeps_head_and_tail_and_the_whole_is_spilled() {
    let whole = numbered_lines(500);
    let total = whole.len();
    let given = whole.clone();
    let (outcome, store) = shaped(move || Outcome::text(given.clone())).await;
    let omitted = total - LIMIT;
    let note =
        format!("\n[… {omitted} of {total} bytes left out; read memory:0 from byte 400 …]\n");
    let expected = [&whole[..400], &note, &whole[total - 600..]].concat();
    assert_eq!(text_of(&outcome), expected);
    assert_eq!(outcome.facts.omitted_bytes, Some(omitted as u64));
    let spill = outcome.facts.spill.unwrap();
    assert_eq!(
        (spill.location.as_str(), spill.bytes),
        ("memory:0", total as u64)
    );
    assert_eq!(store.kept(), [("call-1".to_owned(), whole)]);
}

#[tokio::test]
async fn what_fits_is_left_alone() {
    let (outcome, store) = shaped(|| Outcome::text("x".repeat(LIMIT))).await;
    assert_eq!(text_of(&outcome).len(), LIMIT);
    assert_eq!((outcome.facts.omitted_bytes, store.kept().len()), (None, 0));
    let (outcome, _) = shaped(|| Outcome::ok("x".repeat(LIMIT))).await;
    assert_eq!(value(&outcome).as_str().unwrap().len(), LIMIT);
}

#[tokio::test]
async fn cuts_fall_between_characters() {
    for shift in 0..4 {
        let (outcome, store) =
            shaped(move || Outcome::ok(format!("{}{}", "x".repeat(shift), "🦀".repeat(500)))).await;
        let shown = value(&outcome);
        assert!(shown.as_str().unwrap().ends_with('🦀'));
        let (head, _) = shown.as_str().unwrap().split_once("\n[…").unwrap();
        assert!(head.len() > 390 && store.kept()[0].1.starts_with(head));
    }
}

#[tokio::test]
async fn a_large_object_becomes_a_text_about_one() {
    let list = || json!({"list": (0..2000).collect::<Vec<_>>()});
    let (outcome, store) = shaped(move || Outcome::ok(list())).await;
    assert!(outcome.is_success());
    assert_eq!(outcome.value, None);
    assert!(text_of(&outcome).starts_with("{\"list\":[0,1,2,"));
    assert!(text_of(&outcome).ends_with("1998,1999]}"));
    assert_eq!(store.kept()[0].1, list().to_string());
    // Escapes count: a value of few characters can be long once it is written.
    let (outcome, _) = shaped(|| Outcome::ok(json!(["\"".repeat(600)]))).await;
    assert_eq!(outcome.value, None);
}

#[tokio::test]
async fn several_blocks_share_one_limit() {
    let (outcome, store) = shaped(|| {
        let many = (0..100).fold(Outcome::nothing(), |outcome, n| {
            outcome.with_block(Block::text(format!("{n} {}", "x".repeat(100))))
        });
        many.with_block(Block::Link {
            uri: "file:a".to_owned(),
            name: "a".to_owned(),
            description: None,
            mime_type: None,
        })
    })
    .await;
    assert_eq!(outcome.content.len(), 2);
    assert!(matches!(&outcome.content[0], Block::Text { text } if text.starts_with("0 xxx")));
    assert!(matches!(outcome.content[1], Block::Link { .. }));
    assert_eq!(store.kept()[0].1.lines().count(), 100);
}

#[tokio::test]
async fn large_images_sounds_and_blobs_are_left_out_and_said_to_be() {
    let (outcome, _) = shaped(|| {
        let image = |length: usize| Block::Image {
            data: "A".repeat(length),
            mime_type: "image/png".to_owned(),
        };
        let audio = Block::Audio {
            data: "B".repeat(900),
            mime_type: "audio/wav".to_owned(),
        };
        let blob = Block::Resource {
            uri: "file:a".to_owned(),
            mime_type: None,
            content: ResourceContent::Blob("C".repeat(2000)),
        };
        let text = Block::Resource {
            uri: "file:b".to_owned(),
            mime_type: None,
            content: ResourceContent::Text("d".repeat(5000)),
        };
        let blocks = [image(400), audio, blob, text];
        blocks
            .into_iter()
            .fold(Outcome::nothing(), Outcome::with_block)
    })
    .await;
    assert!(matches!(&outcome.content[0], Block::Image { data, .. } if data.len() == 400));
    assert_eq!(
        outcome.content[1],
        Block::text("[audio of 900 bytes in base64 left out: too large]")
    );
    assert_eq!(
        outcome.content[2],
        Block::text("[resource of 2000 bytes in base64 left out: too large]")
    );
    let Block::Resource {
        content: ResourceContent::Text(text),
        ..
    } = &outcome.content[3]
    else {
        panic!("{:?}", outcome.content[3]);
    };
    assert!(text.len() < LIMIT + 100 && text.contains("4000 of 5000 bytes left out"));
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_panics_or_hangs_changes_nothing_else() {
    for (store, why) in [
        (
            Faulty::Fails,
            "could not keep the whole output: the disk is full",
        ),
        (
            Faulty::PanicsAtOnce,
            "the rest was not kept: the store panicked",
        ),
        (
            Faulty::PanicsLater,
            "the rest was not kept: the store panicked",
        ),
        (
            Faulty::Hangs,
            "the rest was not kept: the store did not answer",
        ),
    ] {
        let built = builder(|| Outcome::text(numbered_lines(500)));
        let toolbox = built.spill_store(store).build().unwrap();
        let outcome = call(&toolbox, "tool", json!({})).await;
        assert!(outcome.is_success());
        let total = numbered_lines(500).len();
        let note = format!("[… {} of {total} bytes left out; {why} …]", total - LIMIT);
        assert!(
            text_of(&outcome).contains(&note),
            "{store:?}: {}",
            text_of(&outcome)
        );
        assert_eq!(outcome.facts.spill, None);
    }
    let toolbox = builder(|| Outcome::text(numbered_lines(500)))
        .build()
        .unwrap();
    let outcome = call(&toolbox, "tool", json!({})).await;
    assert!(text_of(&outcome).contains("left out; the rest was not kept …]"));
}

#[tokio::test]
async fn what_is_spilled_holds_no_secret() {
    let store = MemoryStore::new();
    let toolbox = builder(|| Outcome::text(format!("{} hunter2hunter2", numbered_lines(500))))
        .spill_store(store.clone())
        .secrets(["hunter2hunter2"])
        .build()
        .unwrap();
    call(&toolbox, "tool", json!({})).await;
    assert!(store.kept()[0].1.ends_with(" [redacted]"));
}

#[test]
fn characters_that_hide_or_steer_are_removed() {
    for (class, text) in [
        ("C0", "\u{0}\u{1}\u{7}\u{8}\u{b}\u{c}\u{e}\u{1f}\u{7f}"),
        ("C1", "\u{80}\u{85}\u{9f}"),
        ("soft hyphen", "\u{ad}"),
        (
            "joiners",
            "\u{34f}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{180e}",
        ),
        ("marks", "\u{200e}\u{200f}\u{61c}"),
        ("embeddings", "\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}"),
        ("isolates", "\u{2066}\u{2067}\u{2068}\u{2069}"),
        ("invisible operators", "\u{2061}\u{2062}\u{2063}\u{2064}"),
        ("deprecated formats", "\u{206a}\u{206f}"),
        ("interlinear", "\u{fff9}\u{fffa}\u{fffb}"),
        (
            "fillers",
            "\u{115f}\u{1160}\u{3164}\u{ffa0}\u{17b4}\u{17b5}",
        ),
        ("tags", "\u{e0001}\u{e0020}\u{e0041}\u{e007f}"),
        (
            "unassigned ignorables",
            "\u{e0000}\u{e0080}\u{e00ff}\u{e01f0}\u{e0fff}\u{fff0}\u{2065}",
        ),
        (
            "variation selectors",
            "\u{fe00}\u{fe0d}\u{e0100}\u{e01ef}\u{180b}\u{180f}",
        ),
        (
            "music and shorthand formats",
            "\u{1d173}\u{1d17a}\u{1bca0}\u{1bca3}",
        ),
        ("CSI", "\u{1b}[31;1m"),
        ("CSI, private", "\u{1b}[?1049h"),
        ("CSI, one character", "\u{9b}2J"),
        ("OSC, BEL", "\u{1b}]0;title\u{7}"),
        ("OSC, ST", "\u{1b}]8;;https://evil.example\u{1b}\\"),
        ("DCS", "\u{1b}Pq#0\u{1b}\\"),
        ("APC", "\u{1b}_payload\u{1b}\\"),
        ("PM, C1 ST", "\u{1b}^payload\u{9c}"),
        ("two characters", "\u{1b}c"),
        ("alone", "\u{1b}"),
        ("lone CR", "\r"),
    ] {
        assert_eq!(clean(&format!("a{text}\u{2500}")), "a\u{2500}", "{class}");
    }
    for (text, expected) in [
        ("a\tb\n", "a\tb\n"),
        ("a\r\nb\r\n", "a\r\nb\r\n"),
        ("100%\r 50%\r\n", "100% 50%\r\n"),
        ("a\u{2028}b\u{2029}c", "a\nb\nc"),
        ("\u{1b}]0;never ends\nnext", "\nnext"),
        ("é ü 漢字 עברית ❤\u{fe0f}", "é ü 漢字 עברית ❤\u{fe0f}"),
        ("\u{1b}\u{1b}[31mx", "x"),
        ("", ""),
    ] {
        assert_eq!(clean(text), expected, "{text:?}");
    }
}

#[tokio::test]
async fn every_part_of_an_outcome_is_cleaned() {
    let (outcome, _) = shaped(|| {
        let dirty = "a\u{202e}\u{1b}[31mb";
        let blocks = [
            Block::text(dirty),
            Block::Image {
                data: "AAAA".to_owned(),
                mime_type: dirty.to_owned(),
            },
            Block::Resource {
                uri: dirty.to_owned(),
                mime_type: Some(dirty.to_owned()),
                content: ResourceContent::Text(dirty.to_owned()),
            },
            Block::Link {
                uri: dirty.to_owned(),
                name: dirty.to_owned(),
                description: Some(dirty.to_owned()),
                mime_type: Some(dirty.to_owned()),
            },
        ];
        let error = toolsmith_core::ToolError::failed(dirty).with_details(json!({dirty: [dirty]}));
        let outcome = Outcome::failure(error)
            .with_value(json!({dirty: {"x": [dirty]}}))
            .with_display(dirty)
            .with_message(dirty)
            .with_instruction(dirty)
            .with_metadata(dirty, dirty);
        blocks.into_iter().fold(outcome, Outcome::with_block)
    })
    .await;
    let text = format!("{outcome:?}");
    assert!(!text.contains("202e") && !text.contains("1b"), "{text}");
    assert_eq!(outcome.value, Some(json!({"ab": {"x": ["ab"]}})));
}

/// A tool that streams these pieces.
fn streaming(pieces: Vec<String>) -> AnyTool {
    AnyTool::from_fn(definition("tool"), move |_: Value, context: ToolContext| {
        for piece in &pieces {
            context.output(piece.clone());
        }
        std::future::ready(Outcome::nothing())
    })
}

async fn streamed(pieces: &[&str], limit: usize) -> String {
    streamed_with("hunter2hunter2", pieces, limit).await
}

async fn streamed_with(secret: &str, pieces: &[&str], limit: usize) -> String {
    let pieces = pieces.iter().map(|piece| (*piece).to_owned()).collect();
    let mut limits = Limits::default();
    limits.streamed_bytes = limit;
    let recording = Recording::new();
    let toolbox = Toolbox::builder()
        .tools([streaming(pieces)])
        .limits(limits)
        .secrets([secret])
        .recorder(recording.clone())
        .build()
        .unwrap();
    call(&toolbox, "tool", json!({})).await;
    recording.output()
}

#[tokio::test]
async fn streamed_output_is_told_whole_cleaned_and_bounded() {
    assert_eq!(streamed(&["a", "b\nc", "\nd"], 1000).await, "ab\nc\nd");
    assert_eq!(
        streamed(&["a\u{1b}[3", "1mb\n\u{202e}"], 1000).await,
        "ab\n"
    );
    let flood = "x".repeat(999) + "\n";
    let flood: Vec<&str> = vec![&flood; 100];
    let told = streamed(&flood, 5500).await;
    assert!(
        told.ends_with("\n[… no more is streamed …]\n"),
        "{}",
        &told[told.len() - 50..]
    );
    assert_eq!(told.len(), 5500 + "\n[… no more is streamed …]\n".len());
}

#[tokio::test]
async fn a_secret_is_not_streamed_in_pieces() {
    let long = "x".repeat(8200);
    let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC";
    for pieces in [
        vec!["hunter2", "hunter2\n"],
        vec!["hunter2", "hunter2"],
        vec!["h", "u", "nter2hunter", "2", "\n"],
        // A line too long to be kept back whole.
        vec![&long, "hunter2", "hunter2\n"],
        vec![&long[..8190], "hunter2hun", "ter2\n"],
        vec![
            "-----BEGIN PRIVATE KEY-----\n",
            key,
            "\n",
            key,
            "\n-----END PRIVATE KEY-----\n",
            "after\n",
        ],
    ] {
        let told = streamed(&pieces, 1 << 20).await;
        let tail = &told[told.len().saturating_sub(100)..];
        for secret in ["hunter2", "hunter", "MIIE"] {
            assert!(!told.contains(secret), "…{tail}");
        }
        assert!(told.contains("[redacted]"), "…{tail}");
    }
    // Nor is the beginning of one told where the limit cuts it.
    let told = streamed(&["1234567890hunter2hunter2\n"], 18).await;
    assert!(!told.contains("hunter2"), "{told}");
}

#[tokio::test]
async fn a_large_secret_is_not_streamed_in_pieces_however_it_is_written() {
    // Alike for long, so that nearly every place could be its beginning.
    let secret = "/ ".repeat(30_000) + "end";
    let encoded = "%2F%20".repeat(30_000) + "end";
    let form = "%2F+".repeat(30_000) + "end";
    for written in [&secret, &encoded, &form] {
        let text = format!("before {written} after {written}");
        for size in [997, 8_191, 70_000] {
            let pieces: Vec<&str> = text
                .as_bytes()
                .chunks(size)
                .map(|piece| str::from_utf8(piece).unwrap())
                .collect();
            let told = streamed_with(&secret, &pieces, 1 << 20).await;
            assert_eq!(told, "before [redacted] after [redacted]", "{size}");
        }
        let told = streamed_with(&secret, &[&text], 50_000).await;
        assert_eq!(told, "before [redacted]\n[… no more is streamed …]\n");
    }
}

#[tokio::test]
async fn a_long_line_is_not_broken_within_a_secret_of_several_words() {
    let long = "x ".repeat(4100);
    let secret = "correct horse battery";
    let told = streamed_with(secret, &[&long, secret, " staple"], 1 << 20).await;
    assert_eq!(told, format!("{long}[redacted] staple"));
    let told = streamed_with(secret, &[&(long.clone() + secret), " staple"], 1 << 20).await;
    assert_eq!(told, format!("{long}[redacted] staple"));
}
