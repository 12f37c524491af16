//! Titles and templates that users bring, and what happens when a template fails.

use toolsmith_runtime::guide::Request;

use crate::guide::{catalogue, plain_guide};
use crate::guide_filter::names;

#[test]
fn another_title_and_another_template_can_be_given() {
    let template = "{% if part == 'tool' %}{{ name }}: {{ purpose }}{% elif part == 'head' %}\
                    {{ title }}!{% endif %}";
    let guide = plain_guide().with_title(" My\n*Server* ");
    let titled = guide.answer(&catalogue(), &Request::everything());
    assert!(
        titled
            .content
            .starts_with("# My \\*Server\\* Tools Usage Guide\n")
    );
    let guide = guide.with_template("own.j2", template).unwrap();
    let request = names(&["read_file"]);
    let response = guide.answer(&catalogue(), &request);
    let purpose = "Does something that takes a sentence to tell.";
    assert_eq!(
        response.content,
        format!("My \\*Server\\*!\n\n\n\nread_file: {purpose}\n")
    );
}

#[test]
fn a_template_that_fails_is_told_of_with_its_line() {
    let error = plain_guide()
        .with_template("own.j2", "\n\n{% if %}")
        .unwrap_err();
    assert_eq!((error.name.as_str(), error.line), ("own.j2", Some(3)));
    let endless =
        "{% for a in range(9999) %}{% for b in range(9999) %}text{% endfor %}{% endfor %}";
    for (template, reason) in [
        ("{{ part }}\n{{ nobody }}", "own.j2:2: "),
        (endless, "it writes more than there is room for"),
        (
            &endless.replace("text", ""),
            "own.j2:1: engine ran out of fuel",
        ),
    ] {
        let guide = plain_guide().with_template("own.j2", template).unwrap();
        let response = guide.answer(&catalogue(), &Request::everything());
        assert!(response.content.starts_with("# Toolsmith"), "{template}");
        let [warning] = response.warnings.as_slice() else {
            panic!("{:?}", response.warnings);
        };
        assert!(warning.contains(reason), "{warning}");
    }
    let large = "x".repeat(300_000);
    assert!(plain_guide().with_template("own.j2", &large).is_err());
}
