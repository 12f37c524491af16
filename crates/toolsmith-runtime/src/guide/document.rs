//! The guide as one document: pieces are rendered once each, measured, and put together
//! within the budget. Whatever happens, the document costs no more than was asked for.

use super::assemble::Assembler;
use super::budget::{self, Costs};
use super::metadata::ToolMetadata;
use super::render::{self, Level, Renderer, TemplateError};
use super::request::Budget;
use super::select::{Chosen, Selected};

/// What stands between two pieces.
const BETWEEN: &str = "\n\n";

/// What stands between two names.
const COMMA: &str = ", ";

/// What every piece of a guide is made from.
pub(super) struct Writer<'g> {
    pub(super) renderer: Renderer<'g>,
    pub(super) budget: Budget,
    pub(super) title: &'g str,
    pub(super) date: &'g str,
    pub(super) assembler: Assembler<'g>,
}

/// A guide within its budget.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) content: String,
    /// Which of the chosen tools are shown.
    pub(super) shown: Vec<bool>,
    /// Whether there was no room for any piece of the template.
    pub(super) is_least: bool,
}

impl Document {
    /// An empty one, for so many tools.
    pub(super) fn nothing(tools: usize) -> Self {
        Self {
            content: String::new(),
            shown: vec![false; tools],
            is_least: true,
        }
    }
}

impl Writer<'_> {
    /// Writes the guide, or an index of all tools where none was chosen.
    pub(super) fn write(&self, selected: &Selected<'_>) -> Result<Document, TemplateError> {
        let filter = selected.filter.as_deref();
        if selected.chosen.is_empty() {
            let content = self.listing("index", &selected.all, filter)?;
            return Ok(self.within_budget(content, selected.all.len(), Vec::new()));
        }
        let count = selected.chosen.len();
        let mut sections = Sections::new(self, &selected.chosen)?;
        let Some(head) = self.head(count, filter)? else {
            return Ok(self.within_budget(None, count, vec![false; count]));
        };
        // The last line ends too.
        let limit = self.budget.limit().saturating_sub(1);
        let room = limit.checked_sub(self.budget.cost(&head));
        if let Some(room) = room
            && let Some(levels) = budget::levels(&mut sections, room)?
        {
            let mut content = head;
            sections.append(&mut content, &levels, &vec![true; count])?;
            content.push('\n');
            return Ok(self.within_budget(Some(content), count, vec![true; count]));
        }
        let document = self.with_some_left_out(&mut sections, &selected.chosen, filter)?;
        if self.budget.cost(&document.content) <= self.budget.limit() {
            return Ok(document);
        }
        // Only a template that writes names more than once gets here.
        let content = self.listing("left_out", &selected.chosen, filter)?;
        Ok(self.within_budget(content, count, vec![false; count]))
    }

    /// As many tools as there is room for when all others are listed by name; where there
    /// is not even room for all names, names only.
    fn with_some_left_out(
        &self,
        sections: &mut Sections<'_, '_>,
        chosen: &[Chosen<'_>],
        filter: Option<&str>,
    ) -> Result<Document, TemplateError> {
        let names: usize = (0..chosen.len()).map(|tool| sections.name(tool)).sum();
        let around = self.around("left_out", chosen.len(), filter)?;
        let room = around.and_then(|around| self.budget.limit().checked_sub(around + names));
        let Some(room) = room else {
            let content = self.listing("left_out", chosen, filter)?;
            let nothing = vec![false; chosen.len()];
            return Ok(self.within_budget(content, chosen.len(), nothing));
        };
        let shown = budget::shown(sections, room)?;
        let count = shown.iter().filter(|shown| **shown).count();
        let mut content = self.head(count, filter)?.unwrap_or_default();
        sections.append(&mut content, &vec![Level::Compact; chosen.len()], &shown)?;
        let omitted = chosen.iter().zip(&shown).filter(|(_, shown)| !**shown);
        let names: Vec<_> = omitted
            .map(|(chosen, _)| render::name(chosen.tool.name.as_str()))
            .collect();
        let list = self
            .renderer
            .names("left_out", names.len(), &names.join(COMMA), 0)?;
        content.push_str(BETWEEN);
        content.push_str(&list.unwrap_or_default());
        content.push('\n');
        Ok(Document {
            content,
            shown,
            is_least: false,
        })
    }

    /// The head, and as many names as there is room for.
    fn listing(
        &self,
        part: &str,
        chosen: &[Chosen<'_>],
        filter: Option<&str>,
    ) -> Result<Option<String>, TemplateError> {
        let Some(around) = self.around(part, chosen.len(), filter)? else {
            return Ok(None);
        };
        let Some(mut room) = self.budget.limit().checked_sub(around) else {
            return Ok(None);
        };
        let mut names = Vec::new();
        for chosen in chosen {
            let name = render::name(chosen.tool.name.as_str());
            match room.checked_sub(self.budget.cost(&name) + COMMA.len()) {
                Some(left) => room = left,
                None => break,
            }
            names.push(name);
        }
        let more = chosen.len() - names.len();
        let head = self.head(0, filter)?;
        let list = self
            .renderer
            .names(part, chosen.len(), &names.join(COMMA), more)?;
        let join = |head: String, list: String| [&head, BETWEEN, &list, "\n"].concat();
        Ok(head.zip(list).map(|(head, list)| join(head, list)))
    }

    /// What a list of no names costs, with all that stands around it.
    fn around(
        &self,
        part: &str,
        count: usize,
        filter: Option<&str>,
    ) -> Result<Option<usize>, TemplateError> {
        // No number is longer than that of all tools.
        let head = self.head(count, filter)?;
        let list = self.renderer.names(part, count, "", count)?;
        let cost = |head: String, list: String| {
            self.budget.cost(&head) + self.budget.cost(&list) + BETWEEN.len() + 1
        };
        Ok(head.zip(list).map(|(head, list)| cost(head, list)))
    }

    fn head(&self, tools: usize, filter: Option<&str>) -> render::Piece {
        self.renderer.head(self.title, self.date, tools, filter)
    }

    /// The content, if it keeps the budget; else the least that can be said, or nothing.
    fn within_budget(&self, content: Option<String>, count: usize, shown: Vec<bool>) -> Document {
        let fits = |content: &String| self.budget.cost(content) <= self.budget.limit();
        if let Some(content) = content.filter(fits) {
            return Document {
                content,
                shown,
                is_least: false,
            };
        }
        let least = format!("{count} tools left out.\n");
        Document {
            content: Some(least).filter(fits).unwrap_or_default(),
            ..Document::nothing(shown.len())
        }
    }
}

/// The sections of the chosen tools, each rendered when it is first needed.
struct Sections<'w, 'g> {
    writer: &'w Writer<'g>,
    chosen: &'w [Chosen<'w>],
    metadata: Vec<Option<Box<ToolMetadata>>>,
    rendered: Vec<[Slot; Level::ALL.len()]>,
    /// For each tool the number of its category.
    categories: Vec<usize>,
    /// What the heading of each category costs when all its tools are shown.
    headings: Vec<usize>,
}

/// A section, once it was needed.
#[derive(Default)]
enum Slot {
    #[default]
    Open,
    TooLarge,
    Section(String),
}

impl<'w, 'g> Sections<'w, 'g> {
    fn new(writer: &'w Writer<'g>, chosen: &'w [Chosen<'w>]) -> Result<Self, TemplateError> {
        let mut categories = Vec::with_capacity(chosen.len());
        let mut headings = Vec::new();
        for (number, group) in chosen.chunk_by(|a, b| a.category == b.category).enumerate() {
            let heading = writer.renderer.category(&group[0].category, group.len())?;
            let cost = heading.map_or(writer.budget.limit() + 1, |text| writer.budget.cost(&text));
            headings.push(cost + BETWEEN.len());
            categories.extend(std::iter::repeat_n(number, group.len()));
        }
        Ok(Self {
            writer,
            chosen,
            metadata: chosen.iter().map(|_| None).collect(),
            rendered: chosen.iter().map(|_| Default::default()).collect(),
            categories,
            headings,
        })
    }

    fn rendered(&mut self, tool: usize, level: Level) -> Result<Option<&str>, TemplateError> {
        let slot = &mut self.rendered[tool][level as usize];
        if matches!(slot, Slot::Open) {
            let chosen = &self.chosen[tool];
            let metadata = self.metadata[tool].get_or_insert_with(|| {
                let assembler = &self.writer.assembler;
                Box::new(assembler.metadata(chosen.tool, &chosen.category))
            });
            let section = self.writer.renderer.tool(metadata, level)?;
            *slot = section.map_or(Slot::TooLarge, Slot::Section);
        }
        Ok(match slot {
            Slot::Section(section) => Some(section),
            _ => None,
        })
    }

    /// Appends the tools that are shown, under the headings of their categories.
    fn append(
        &mut self,
        content: &mut String,
        levels: &[Level],
        shown: &[bool],
    ) -> Result<(), TemplateError> {
        let mut counts = vec![0_usize; self.headings.len()];
        for (category, _) in self
            .categories
            .iter()
            .zip(shown)
            .filter(|(_, shown)| **shown)
        {
            counts[*category] += 1;
        }
        let mut opened = None;
        for tool in (0..shown.len()).filter(|tool| shown[*tool]) {
            let category = self.categories[tool];
            if opened != Some(category) {
                opened = Some(category);
                let name = &self.chosen[tool].category;
                let heading = self.writer.renderer.category(name, counts[category])?;
                content.push_str(BETWEEN);
                content.push_str(&heading.unwrap_or_default());
            }
            content.push_str(BETWEEN);
            content.push_str(self.rendered(tool, levels[tool])?.unwrap_or_default());
        }
        Ok(())
    }
}

impl Costs for Sections<'_, '_> {
    type Error = TemplateError;

    fn count(&self) -> usize {
        self.chosen.len()
    }

    fn section(&mut self, tool: usize, level: Level) -> Result<Option<usize>, TemplateError> {
        let budget = self.writer.budget;
        let section = self.rendered(tool, level)?;
        Ok(section.map(|section| budget.cost(section) + BETWEEN.len()))
    }

    fn heading(&self, tool: usize) -> usize {
        self.headings[self.categories[tool]]
    }

    fn category(&self, tool: usize) -> usize {
        self.categories[tool]
    }

    fn name(&self, tool: usize) -> usize {
        let name = render::name(self.chosen[tool].tool.name.as_str());
        self.writer.budget.cost(&name) + COMMA.len()
    }
}
