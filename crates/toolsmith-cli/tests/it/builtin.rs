//! The built-in tools from the command line: each answers with the fields it promises.

use serde_json::Value;

use crate::support::{User, newcomer};

fn somebody() -> User {
    newcomer()
        .having("a.txt", "one\ntwo\nthree\n")
        .having("b.md", "# one\n")
        .having("AGENTS.md", "Be kind.\n")
}

/// The answer of a call as JSON.
fn answer(user: &User, name: &str, arguments: &[&str]) -> Value {
    let words = [&["--yes", "--json", "call", name], arguments].concat();
    user.runs(words).ends_with(0).json()
}

#[test]
fn results_carry_the_metadata_they_promise() {
    let expected: &[(&str, &[&str], &[&str])] = &[
        (
            "read",
            &["file_path=a.txt"],
            &[
                "file_path",
                "file_size",
                "file_type",
                "encoding",
                "is_binary",
                "lines_read",
                "total_lines",
                "start_line",
                "end_line",
                "last_modified",
            ],
        ),
        (
            "write",
            &["file_path=new/c.txt", "content=x"],
            &[
                "content_size",
                "encoding",
                "created_directories",
                "has_diff",
            ],
        ),
        (
            "edit",
            &["file_path=a.txt", "old_string=two", "new_string=zwei"],
            &[
                "matches_found",
                "replacements_made",
                "original_size",
                "new_size",
                "size_diff",
                "diff_snippet",
            ],
        ),
        (
            "multi_edit",
            &[
                "file_path=a.txt",
                r#"edits=[{"old_string":"one","new_string":"eins"}]"#,
            ],
            &[
                "matches_found",
                "replacements_made",
                "original_size",
                "new_size",
                "size_diff",
                "diff_snippet",
            ],
        ),
        (
            "glob",
            &["pattern=*.txt"],
            &[
                "search_path",
                "total_matches",
                "returned_matches",
                "truncated",
                "matches",
            ],
        ),
        (
            "grep",
            &["pattern=three"],
            &[
                "search_pattern",
                "search_path",
                "output_mode",
                "total_matches",
                "offset",
                "head_limit",
            ],
        ),
        (
            "find",
            &["name=*.md"],
            &[
                "search_path",
                "total_matches",
                "returned_matches",
                "truncated",
                "matches",
            ],
        ),
    ];
    let user = somebody();
    for (name, arguments, fields) in expected {
        let answer = answer(&user, name, arguments);
        for field in *fields {
            assert!(
                !answer["metadata"][field].is_null(),
                "{name}: {field} of {answer}"
            );
        }
        let display = answer["display"].as_str().unwrap();
        assert!(!display.is_empty() && !display.contains('\n'), "{name}");
    }
    let found = answer(&user, "glob", &["pattern=*.md"]);
    for field in ["path", "relative_path", "is_directory", "mtime"] {
        assert!(!found["metadata"]["matches"][0][field].is_null(), "{found}");
    }
}

#[test]
fn values_have_the_fields_they_promise() {
    let expected: &[(&str, &[&str], &[&str])] = &[
        ("list_directory", &[], &["entries", "total", "truncated"]),
        ("show_tree", &[], &["tree", "max_depth_reached"]),
        (
            "read_project_context",
            &[],
            &["files", "message", "total_found"],
        ),
        (
            "search_in_file",
            &["query=two", "file_path=a.txt"],
            &["matches", "total_matches"],
        ),
        (
            "search_in_files",
            &["query=two"],
            &["matches", "total_matches", "timed_out"],
        ),
        (
            "find_files_by_name",
            &["name_pattern=*.txt"],
            &["files", "total_found"],
        ),
        (
            "find_recently_modified_files",
            &["hours_ago=1"],
            &["files", "total_found"],
        ),
        (
            "read_entire_file",
            &["file_path=a.txt"],
            &["content", "encoding", "line_count", "file_path"],
        ),
        (
            "read_file_lines",
            &["file_path=a.txt", "start_line=2", "end_line=3"],
            &[
                "content",
                "encoding",
                "line_count",
                "file_path",
                "is_partial",
                "total_lines",
            ],
        ),
        (
            "read_file_tail",
            &["file_path=a.txt"],
            &[
                "content",
                "encoding",
                "line_count",
                "file_path",
                "is_partial",
                "total_lines",
            ],
        ),
        (
            "read_files",
            &[r#"file_paths=["a.txt","none"]"#],
            &["files", "success_count", "error_count"],
        ),
    ];
    let user = somebody();
    for (name, arguments, fields) in expected {
        let answer = answer(&user, name, arguments);
        for field in *fields {
            assert!(
                !answer["value"][field].is_null(),
                "{name}: {field} of {answer}"
            );
        }
    }
    let items: &[(&str, &[&str], &str, &[&str])] = &[
        (
            "list_directory",
            &[],
            "entries",
            &["name", "type", "size", "mtime", "path"],
        ),
        (
            "read_project_context",
            &[],
            "files",
            &["filename", "exists", "readable", "size_bytes", "content"],
        ),
        (
            "search_in_file",
            &["query=two", "file_path=a.txt"],
            "matches",
            &["line_number", "line_content"],
        ),
        (
            "search_in_files",
            &["query=two"],
            "matches",
            &["file_path", "line_number", "line_content"],
        ),
        (
            "find_recently_modified_files",
            &["hours_ago=1"],
            "files",
            &["path", "mtime"],
        ),
    ];
    for (name, arguments, list, fields) in items {
        let answer = answer(&user, name, arguments);
        for field in *fields {
            assert!(
                !answer["value"][list][0][field].is_null(),
                "{name}: {field} of {answer}"
            );
        }
    }
}

/// Reads run, writes are asked for, and further roots are named by their whole path.
#[test]
fn the_workspace_is_where_one_stands() {
    let user = somebody();
    user.runs(["call", "read", "file_path=a.txt", "limit=1"])
        .ends_with(0)
        .says("");
    user.runs(["call", "write", "file_path=a.txt", "content=x"])
        .ends_with(3);
    let other = tempfile::tempdir().unwrap();
    std::fs::write(other.path().join("c.txt"), "elsewhere\n").unwrap();
    let path = format!("file_path={}", other.path().join("c.txt").display());
    user.runs(["call", "read", &path]).ends_with(3);
    let root = other.path().display().to_string();
    let ran = user.runs(["--root", ".", "--root", &root, "call", "read", &path]);
    assert!(ran.ends_with(0).stdout.contains("elsewhere"));
}
