//! `schema`: what files may say, for editors and for people.

use crate::support::newcomer;

#[test]
fn without_a_file_all_sorts_are_listed() {
    let ran = newcomer().runs(["schema"]).ends_with(0).tells("");
    assert!(
        ran.stdout.contains("agent              agents/*.yaml\n"),
        "{ran:#?}"
    );
    assert_eq!(ran.stdout.lines().count(), 8);
    let rows = newcomer().runs(["schema", "--json"]).ends_with(0).json();
    assert_eq!(rows[0]["name"], "toolsmith");
    assert_eq!(rows[0]["files"], "toolsmith.yaml");
}

#[test]
fn a_name_or_a_path_gives_the_schema() {
    // It must work where no configuration does.
    let user = newcomer().having("toolsmith.yaml", "broken: [");
    for (file, title) in [
        ("toolsmith", "Toolsmith: toolsmith.yaml"),
        ("toolsmith.yaml", "Toolsmith: toolsmith.yaml"),
        ("native", "Toolsmith: a file in tools/native"),
        (
            "tools/native/weather.yaml",
            "Toolsmith: a file in tools/native",
        ),
        ("./agents/writer.yml", "Toolsmith: a file in agents"),
    ] {
        let schema = user.runs(["schema", file]).ends_with(0).tells("").json();
        assert_eq!(schema["title"], title, "{file}");
        assert_eq!(
            schema["$schema"],
            "https://json-schema.org/draft/2020-12/schema"
        );
        let as_json = user.runs(["schema", file, "--json"]).ends_with(0);
        assert_eq!(as_json.stdout.lines().count(), 1);
        assert_eq!(as_json.json(), schema);
    }
}

#[test]
fn another_file_is_wrong_usage() {
    for file in ["x.yaml", "", "\u{1b}[31mred"] {
        newcomer()
            .runs(["schema", file])
            .ends_with(2)
            .prints("")
            .says("is no file that a schema is known for");
    }
}
