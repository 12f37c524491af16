//! What a guide is asked for: tools by name and by category, and what is asked for in vain.

use toolsmith_core::Effect;
use toolsmith_runtime::guide::Request;

use crate::guide::{catalogue, plain_guide, tool};

pub(crate) fn names(names: &[&str]) -> Request {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Request::everything().with_tool_names(Some(names))
}

#[test]
fn names_and_categories_filter() {
    let tools = catalogue();
    let count = |request: &Request| {
        let response = plain_guide().answer(&tools, request);
        let metadata = &response.metadata;
        (
            metadata.total_tools,
            metadata.filtered_count,
            response.warnings,
        )
    };
    let none = Vec::<String>::new();
    assert_eq!(
        count(&names(&["read_file", "show_tree"])),
        (9, 2, none.clone())
    );
    assert_eq!(
        count(&names(&["read_file", "read_file"])),
        (9, 1, none.clone())
    );
    let navigation = Request::everything().with_category(Some("Navigation".to_owned()));
    assert_eq!(count(&navigation), (9, 2, none.clone()));
    let response = plain_guide().answer(&tools, &navigation);
    assert!(
        response
            .content
            .contains("| Tools: 2 | Category Filter: navigation\n")
    );
    let both = names(&["show_tree", "read_file"]).with_category(Some("read".to_owned()));
    assert_eq!(count(&both), (9, 1, none));
    let (_, shown, warnings) = count(&names(&[]));
    assert_eq!(shown, 9);
    assert_eq!(
        warnings,
        ["The list of tool names is empty; all tools are shown."]
    );
    let blank = Request::everything().with_category(Some(" ".to_owned()));
    assert_eq!(count(&blank).1, 9);
    assert_eq!(count(&blank).2.len(), 1);
}

#[test]
fn an_unknown_name_is_warned_of_once_with_the_nearest_first() {
    let tools = catalogue();
    let request = names(&["nope", "read_fiel", "read_file", "nope"]);
    let response = plain_guide().answer(&tools, &request);
    assert_eq!(response.metadata.invalid_names, ["nope", "read_fiel"]);
    assert_eq!(response.metadata.tool_count, 1);
    assert_eq!(
        response.warnings,
        [
            "Tool 'nope' not found. Available: show_tree, fetch_page, run_command, \
             search_in_files, get_help, read_file, write_file, create_issue, list_directory",
            "Tool 'read_fiel' not found. Available: read_file, write_file, search_in_files, \
             create_issue, get_help, show_tree, list_directory, fetch_page, run_command",
        ]
    );
}

#[test]
fn what_finds_nothing_is_answered_by_an_index() {
    let tools = catalogue();
    let index = "**Available tools (9)**: list_directory, show_tree, search_in_files, read_file, \
                 get_help, write_file, run_command, create_issue, fetch_page\n";
    let response = plain_guide().answer(&tools, &names(&["a", "b"]));
    assert!(response.content.ends_with(index), "{}", response.content);
    assert_eq!(response.warnings.len(), 2);
    assert_eq!(response.metadata.filtered_count, 0);
    let unknown = Request::everything().with_category(Some("nope".to_owned()));
    let response = plain_guide().answer(&tools, &unknown);
    assert!(response.content.ends_with(index));
    assert_eq!(
        response.warnings,
        [
            "There are no tools in category 'nope'. Available: navigation, search, read, guide, \
          edit, execution, github, network"
        ]
    );
    let elsewhere = names(&["read_file"]).with_category(Some("search".to_owned()));
    let response = plain_guide().answer(&tools, &elsewhere);
    assert!(response.content.ends_with(index));
    assert_eq!(
        response.warnings,
        ["None of the tools asked for is in category 'search'."]
    );
    let response = plain_guide().answer(&[], &Request::everything());
    assert!(response.content.ends_with("\n\nNo tools are available.\n"));
    assert_eq!(response.warnings, ["There are no tools."]);
    assert_eq!(response.metadata.total_tools, 0);
}

#[test]
fn thousands_of_names_are_answered_in_bounded_time_and_space() {
    let tools: Vec<_> = (0..1000)
        .map(|n| tool(&format!("tool_number_{n}"), Effect::Read))
        .collect();
    let mut wanted: Vec<String> = (0..20_000)
        .map(|n| format!("{n}{}", "x".repeat(500)))
        .collect();
    wanted.push("tool_number_7".to_owned());
    let request = Request::everything().with_tool_names(Some(wanted));
    let response = plain_guide().answer(&tools, &request);
    assert_eq!(response.metadata.tool_count, 1);
    assert_eq!(response.warnings.len(), 101);
    assert_eq!(
        response.warnings[100],
        "19900 more of the names are no tools."
    );
    assert_eq!(response.metadata.invalid_names.len(), 1000);
    let whole = serde_json::to_string(&response).unwrap();
    assert!(whole.len() < 150_000, "{} bytes", whole.len());
    // To look for the nearest takes longest: that is done for the first few names only, and
    // for none that is far longer than names are. The others are offered the first tools.
    let first = "Available: tool_number_0, tool_number_1, tool_number_2, ";
    assert!(response.warnings[..100].iter().all(|it| it.contains(first)));
    let misspelt: Vec<String> = (0..100).map(|n| format!("tool_numbr_9{n:02}")).collect();
    let request = Request::everything().with_tool_names(Some(misspelt));
    let warnings = plain_guide().answer(&tools, &request).warnings;
    let guessed = warnings.iter().filter(|it| !it.contains(first)).count();
    assert_eq!((warnings.len(), guessed), (100, 20));
}
