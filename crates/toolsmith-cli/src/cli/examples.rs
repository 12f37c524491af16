//! Examples of the commands, as their help ends with them.

pub(super) const PROGRAM: &str = "Examples:
  toolsmith tools                              what there is
  toolsmith call grep pattern=TODO             call a tool
  toolsmith serve --stdio                      serve the tools to an MCP client
  toolsmith ask 'What is in here?' --model ollama/llama3.1

Exit status: 0 done, 1 the tool failed, 2 wrong usage or configuration, 3 refused, \
124 timed out, 130 interrupted.";

pub(super) const ADD: &str = "Examples:
  toolsmith add mcp git uvx mcp-server-git
  toolsmith add rest get_user 'https://api.example/users/{id}'
  toolsmith add set reading read grep";

pub(super) const IMPORT: &str = "Examples:
  toolsmith import openapi petstore.yaml
  toolsmith import openapi https://api.example/openapi.json --dry-run";

pub(super) const TOOLS: &str = "Examples:
  toolsmith tools
  toolsmith tools --source mcp
  toolsmith tools --category search --json";

pub(super) const SHOW: &str = "Examples:
  toolsmith show edit
  toolsmith show mcp__git__log --json";

pub(super) const CALL: &str = "Examples:
  toolsmith call read file_path=README.md limit=20
  toolsmith call grep --args '{\"pattern\": \"TODO\", \"output_mode\": \"count\"}' --as message
  toolsmith call write file_path=notes.md content=hello --dry-run

Values are read by the tool's schema: numbers, booleans, text; lists by repeating
the key or as JSON; nested fields as a.b=1.";

pub(super) const BATCH: &str = "Examples:
  toolsmith batch calls.json
  toolsmith batch --sequential --as message < calls.jsonl

The calls are a JSON list, or one JSON object a line:
  {\"id\": \"1\", \"name\": \"read\", \"arguments\": {\"file_path\": \"README.md\"}}
The replies come in the same form and order.";

pub(super) const PROMPT: &str = "Examples:
  toolsmith prompt
  toolsmith --set reading prompt --format xml

For models that cannot call functions: put the prompt into their instructions, and read
what they write with `toolsmith parse --for text`.";

pub(super) const CHECK: &str = "Examples:
  toolsmith check
  toolsmith check --strict                     before it is committed
  toolsmith check --accept                     after a look at what a program made
  toolsmith --root project check --json";

pub(super) const DOCTOR: &str = "Examples:
  toolsmith doctor
  toolsmith doctor --json";

pub(super) const SETS: &str = "Examples:
  toolsmith sets
  toolsmith --set reading tools                what one of them comes to";

pub(super) const SERVERS: &str = "Examples:
  toolsmith servers
  toolsmith servers --login docs";

pub(super) const SCHEMA: &str = "Examples:
  toolsmith schema
  toolsmith schema tools/native/weather.yaml
  toolsmith schema toolsmith > toolsmith.schema.json

Editors with a YAML language server read the schema that the first line of a file names:
  # yaml-language-server: $schema=toolsmith.schema.json";

pub(super) const MAN: &str = "Examples:
  toolsmith man | man -l -
  toolsmith man add mcp | man -l -
  mkdir -p ~/.local/share/man/man1
  toolsmith man ask > ~/.local/share/man/man1/toolsmith-ask.1";

pub(super) const COMPLETIONS: &str = "Examples:
  toolsmith completions bash > ~/.local/share/bash-completion/completions/toolsmith
  toolsmith completions fish > ~/.config/fish/completions/toolsmith.fish";

pub(super) const PINS_SHOW: &str = "Examples:
  toolsmith pins show mcp__git__log            what changed, word by word";

pub(super) const PINS_APPROVE: &str = "Examples:
  toolsmith pins approve mcp__git__log
  toolsmith pins approve --source git";

pub(super) const PINS_FORGET: &str = "Examples:
  toolsmith pins forget mcp__git__log
  toolsmith pins forget --source git           pin it anew when it is next used";

pub(super) const REVOKE: &str = "Examples:
  toolsmith approvals revoke 1f0c2b9a
  toolsmith approvals revoke --all";

pub(super) const CONVERSATIONS_SHOW: &str = "Examples:
  toolsmith conversations show                 the last one, as Markdown
  toolsmith conversations show 20261117-093000";

pub(super) const CONVERSATIONS_FORGET: &str = "Examples:
  toolsmith conversations forget 20261117-093000";
