//! Overlays from files: what is read, from where, and over what.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use toolsmith_manager::overlays::{DESCRIPTIONS_FILE, EXAMPLES_FILE, OverlayFiles, Shipped, layer};
use toolsmith_runtime::guide::{Described, OverlaySource, Overlays};

/// What a folder with this file says.
fn read(name: &str, content: &str) -> Arc<Overlays> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    let current = OverlayFiles::in_folder(folder.path(), SystemTime::now).current();
    let descriptions = current.own.descriptions.values().map(|it| &it.place);
    let examples = current.own.examples.values().flatten().map(|it| &it.place);
    for place in descriptions.chain(examples) {
        assert_eq!(*place.file, *path.to_str().unwrap());
    }
    current
}

#[test]
fn texts_and_what_goes_with_them() {
    let read = read(
        DESCRIPTIONS_FILE,
        "# The tools of the house.\n\
         read: Reads a file.\n\
         \n\
         grep:\n  text: |\n    Searches files.\n    Quickly.\n  returns: Lines.\n  category: find\n\
         only_category: { category: odds }\n\
         読む: 日本語\n",
    );
    let own = &read.own;
    let all: Vec<_> = (own.descriptions.iter())
        .map(|(name, it)| {
            let of = |text: &Option<String>| text.clone().unwrap_or_default();
            let line = it.place.line;
            (
                name.as_str(),
                of(&it.text),
                of(&it.returns),
                of(&it.category),
                line,
            )
        })
        .collect();
    let expected = [
        ("grep", "Searches files.\nQuickly.", "Lines.", "find", 4),
        ("only_category", "", "", "odds", 10),
        ("read", "Reads a file.", "", "", 2),
        ("読む", "日本語", "", "", 11),
    ];
    let owned = |(name, text, returns, category, line): (&'static str, &str, &str, &str, usize)| {
        (
            name,
            text.to_owned(),
            returns.to_owned(),
            category.to_owned(),
            line,
        )
    };
    assert_eq!(all, expected.map(owned));
    assert!(own.examples.is_empty());
}

#[test]
fn examples_with_their_lines() {
    let read = read(
        EXAMPLES_FILE,
        "read:\n\
         \x20 - |\n    # A comment\n    read(file_path=\"a\")\n\
         \x20 - read(file_path=\"b\")\n\
         alone: |\n  alone(x=1)\n\
         none: []\n\
         json:\n\
         \x20 - '{\"path\": \".\", \"n\": 1}'\n\
         \x20 - {\"path\": \".\", \"deep\": [1, 2.5, null, true, {\"a\": \"b\"}]}\n",
    );
    let own = &read.own;
    let all: Vec<_> = (own.examples.iter())
        .map(|(name, snippets)| {
            let snippets = snippets.iter().map(|it| (it.code.as_str(), it.place.line));
            (name.as_str(), snippets.collect::<Vec<_>>())
        })
        .collect();
    let expected = [
        ("alone", vec![("alone(x=1)", 7)]),
        (
            "json",
            vec![
                (r#"{"path": ".", "n": 1}"#, 10),
                (r#"{"path":".","deep":[1,2.5,null,true,{"a":"b"}]}"#, 11),
            ],
        ),
        ("none", vec![]),
        (
            "read",
            vec![
                ("# A comment\nread(file_path=\"a\")", 3),
                ("read(file_path=\"b\")", 5),
            ],
        ),
    ];
    assert_eq!(all, expected);
}

#[test]
fn files_that_say_nothing_are_fine() {
    let blank = [
        "",
        "\n\n",
        "# nothing yet\n",
        "\u{feff}",
        "\u{feff}# nothing\n",
        "{}\n",
        "---\n",
        "~\n",
        "null\n",
    ];
    for content in blank {
        for name in [DESCRIPTIONS_FILE, EXAMPLES_FILE] {
            let read = read(name, content);
            assert!(read.own.descriptions.is_empty() && read.own.examples.is_empty());
            assert_eq!(read.warnings, Vec::<String>::new(), "{content:?}");
        }
    }
}

#[test]
fn files_somebody_named_are_expected() {
    let folder = tempfile::tempdir().unwrap();
    let (texts, calls) = (folder.path().join("texts"), folder.path().join("calls"));
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now)
        .with_descriptions(&texts)
        .with_examples(&calls);
    let missing = |path: &Path, consequence: &str| {
        format!("{}: there is no such file; {consequence}", path.display())
    };
    let unused = "it is not used";
    let expected = [missing(&texts, unused), missing(&calls, unused)];
    assert_eq!(files.current().warnings, expected);
    fs::write(&texts, "read: One.\n").unwrap();
    fs::write(&calls, "read: read()\n").unwrap();
    let current = files.current();
    assert_eq!(current.warnings, Vec::<String>::new());
    assert_eq!(
        current.own.descriptions["read"].text.as_deref(),
        Some("One.")
    );
    assert_eq!(current.own.examples["read"].len(), 1);
    fs::remove_file(&texts).unwrap();
    let current = files.current();
    let kept = missing(&texts, "what it said before still holds");
    assert_eq!(current.warnings, [kept]);
    assert!(current.own.descriptions.contains_key("read"));
}

#[test]
fn what_came_with_the_program_lies_beneath() {
    let folder = tempfile::tempdir().unwrap();
    let shipped = Shipped {
        descriptions: "read: Shipped.\nwrite: Shipped too.\n",
        examples: "read: read()\n",
    };
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).over(shipped);
    fs::write(folder.path().join(DESCRIPTIONS_FILE), "read: Own.\n").unwrap();
    let current = files.current();
    let text = |it: &Described| it.text.clone().unwrap();
    assert_eq!(text(&current.own.descriptions["read"]), "Own.");
    assert_eq!(text(&current.shipped.descriptions["read"]), "Shipped.");
    assert_eq!(text(&current.shipped.descriptions["write"]), "Shipped too.");
    assert_eq!(current.shipped.examples["read"][0].code, "read()");
    assert!(current.own.examples.is_empty());
    // It is read once, however often the files change.
    fs::write(folder.path().join(DESCRIPTIONS_FILE), "read: Other.\n").unwrap();
    assert!(Arc::ptr_eq(&current.shipped, &files.current().shipped));

    let broken = Shipped {
        descriptions: "read: 1\n",
        examples: "",
    };
    let files = OverlayFiles::in_folder(folder.path(), SystemTime::now).over(broken);
    let current = files.current();
    assert_eq!(current.warnings.len(), 1, "{:?}", current.warnings);
    assert!(current.warnings[0].starts_with("shipped descriptions:1:7: "));
}

#[test]
fn a_layer_from_texts() {
    let read = layer(("d", "a: Text.\n"), ("e", "a: a()\n")).unwrap();
    assert_eq!(read.descriptions["a"].place.to_string(), "d:1");
    assert_eq!(read.examples["a"][0].place.to_string(), "e:1");
    let error = layer(("d", ""), ("e", "a: 1\n")).expect_err("no call");
    assert_eq!((error.file.as_str(), error.line, error.column), ("e", 1, 4));
}
