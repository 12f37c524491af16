//! Encodings, line ends, marks and last lines: a change touches nothing else.

use encoding_rs::{BIG5, EUC_KR, Encoding, GBK, SHIFT_JIS, WINDOWS_1251, WINDOWS_1252};
use serde_json::json;

use super::ground::{Ground, reason, text};

/// A way of writing a text down.
struct Way {
    name: &'static str,
    text: &'static str,
    write: fn(&str) -> Vec<u8>,
    bom: &'static [u8],
}

fn legacy(encoding: &'static Encoding, text: &str) -> Vec<u8> {
    let (bytes, _, failed) = encoding.encode(text);
    assert!(!failed, "{text}");
    bytes.into_owned()
}

fn utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
}

const WAYS: &[Way] = &[
    Way {
        name: "utf-8",
        text: "grüße 世界",
        write: |t| t.as_bytes().to_vec(),
        bom: b"",
    },
    Way {
        name: "utf-8",
        text: "grüße 世界",
        write: |t| t.as_bytes().to_vec(),
        bom: b"\xef\xbb\xbf",
    },
    Way {
        name: "utf-16le",
        text: "grüße 世界",
        write: |t| utf16(t, u16::to_le_bytes),
        bom: b"\xff\xfe",
    },
    Way {
        name: "utf-16be",
        text: "grüße 世界",
        write: |t| utf16(t, u16::to_be_bytes),
        bom: b"\xfe\xff",
    },
    Way {
        name: "utf-16le",
        text: "plain and simple",
        write: |t| utf16(t, u16::to_le_bytes),
        bom: b"",
    },
    Way {
        name: "utf-16be",
        text: "plain and simple",
        write: |t| utf16(t, u16::to_be_bytes),
        bom: b"",
    },
    Way {
        name: "gbk",
        text: "中文文件的内容很长，足够辨认出它的编码。",
        write: |t| legacy(GBK, t),
        bom: b"",
    },
    Way {
        name: "shift_jis",
        text: "日本語のテキストはとても長いので、判別できます。",
        write: |t| legacy(SHIFT_JIS, t),
        bom: b"",
    },
    Way {
        name: "euc-kr",
        text: "한국어 텍스트는 충분히 길어서 알아볼 수 있습니다.",
        write: |t| legacy(EUC_KR, t),
        bom: b"",
    },
    Way {
        name: "big5",
        text: "這是一個足夠長的繁體中文檔案，可以被辨認出來。",
        write: |t| legacy(BIG5, t),
        bom: b"",
    },
    Way {
        name: "windows-1251",
        text: "Это достаточно длинный русский текст, чтобы узнать кодировку.",
        write: |t| legacy(WINDOWS_1251, t),
        bom: b"",
    },
    Way {
        name: "windows-1252",
        text: "Les élèves français ont déjà mangé à la crêperie.",
        write: |t| legacy(WINDOWS_1252, t),
        bom: b"",
    },
];

/// One line is changed, of files in every combination; all other bytes stay.
#[tokio::test]
async fn editing_one_line_leaves_every_other_byte() {
    let ground = Ground::new();
    let mut tried = 0;
    for (index, way) in WAYS.iter().enumerate() {
        for eol in ["\n", "\r\n", "\r", "mixed"] {
            for ends in [true, false] {
                let ends_of = |line: usize| match eol {
                    "mixed" => ["\n", "\r\n", "\n", "\r\n"][line % 4],
                    eol => eol,
                };
                let lines = [way.text, "\tchange me  ", way.text, "", "last"];
                let mut old = String::new();
                for (line, text) in lines.iter().enumerate() {
                    old += text;
                    if line + 1 < lines.len() || ends {
                        old += ends_of(line);
                    }
                }
                let file = |text: &str| [way.bom, &(way.write)(text)[..]].concat();
                let name = format!("{index}-{}-{ends}.txt", eol.escape_debug());
                ground.file(&name, file(&old));
                let outcome = ground
                    .call("edit", json!({ "file_path": name, "old_string": "change me", "new_string": "changed" }))
                    .await;
                assert!(
                    outcome.is_success(),
                    "{name} {}: {}",
                    way.name,
                    text(&outcome)
                );
                let new = old.replace("change me", "changed");
                assert_eq!(ground.bytes(&name), file(&new), "{name} {}", way.name);
                let outcome = ground
                    .call("read_entire_file", json!({ "file_path": name }))
                    .await;
                let value = outcome.value.unwrap();
                assert_eq!(value["encoding"], way.name, "{name}");
                let shown = match eol {
                    "\r" => new.replace('\r', "\n"),
                    _ => new,
                };
                assert_eq!(value["content"], shown, "{name}");
                tried += 1;
            }
        }
    }
    assert_eq!(tried, WAYS.len() * 8);
}

/// What an encoding has no bytes for is refused, not replaced by something else.
#[tokio::test]
async fn what_cannot_be_written_is_refused() {
    let ground = Ground::new();
    let content = legacy(
        WINDOWS_1252,
        "Les élèves français ont déjà mangé à la crêperie.\n",
    );
    ground.file("old.txt", &content);
    let call = json!({ "file_path": "old.txt", "old_string": "crêperie", "new_string": "世界" });
    let outcome = ground.call("edit", call).await;
    assert_eq!(reason(&outcome), "ENCODING", "{}", text(&outcome));
    assert_eq!(ground.bytes("old.txt"), content);
}

/// Text in one encoding with bytes of another stays as it is.
#[tokio::test]
async fn what_would_be_damaged_is_not_edited() {
    let ground = Ground::new();
    let mut content = b"\xff\xfe".to_vec();
    content.extend(utf16("hello\n", u16::to_le_bytes));
    // Half of a character that needs two units.
    content.extend([0x00, 0xd8]);
    content.extend(utf16("\nend\n", u16::to_le_bytes));
    ground.file("broken.txt", &content);
    let call = json!({ "file_path": "broken.txt", "old_string": "hello", "new_string": "bye" });
    let outcome = ground.call("edit", call).await;
    assert_eq!(reason(&outcome), "ENCODING", "{}", text(&outcome));
    assert_eq!(ground.bytes("broken.txt"), content);
}

/// What GBK cannot write, GB18030 can, which has the same bytes for all the rest.
#[tokio::test]
async fn characters_beyond_gbk_are_edited_in_place() {
    let ground = Ground::new();
    let (bytes, _, lost) =
        encoding_rs::GB18030.encode("第一行：你好，世界。\n这是一个用来测试的文件。😀\n");
    assert!(!lost);
    ground.file("a.txt", &bytes);
    let arguments = json!({ "file_path": "a.txt", "old_string": "世界", "new_string": "朋友" });
    let outcome = ground.call("edit", arguments).await;
    assert!(outcome.is_success(), "{}", text(&outcome));
    let (expected, _, _) =
        encoding_rs::GB18030.encode("第一行：你好，朋友。\n这是一个用来测试的文件。😀\n");
    assert_eq!(ground.bytes("a.txt"), &*expected);
}
