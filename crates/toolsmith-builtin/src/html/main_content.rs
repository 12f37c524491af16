//! Finds what a page is about among what is around it.
//!
//! A page that marks its main part is believed. Otherwise paragraphs vote for what they
//! lie in, by their length and their commas; links and telling names count against.
//! Where too little of the page would be kept, all of it is.

use super::tree::{Document, Id, ROOT};

/// What part of the page's text the main part must have.
const LEAST_SHARE: f64 = 0.25;

/// How much of the votes of the best a parent must have to be better.
const SHARED: f64 = 0.75;

const TELLING: [&str; 9] = [
    "article", "body", "content", "entry", "main", "page", "post", "story", "text",
];

const NOISE: [&str; 20] = [
    "ad-",
    "advert",
    "banner",
    "breadcrumb",
    "comment",
    "cookie",
    "footer",
    "header",
    "masthead",
    "menu",
    "modal",
    "nav",
    "newsletter",
    "popup",
    "promo",
    "related",
    "share",
    "sidebar",
    "social",
    "sponsor",
];

/// The element that holds what the page is about; the body where that is not clear.
pub(crate) fn main_content(document: &Document) -> Id {
    let body = document.find("body").unwrap_or(ROOT);
    let lengths = Lengths::of(document);
    let whole = lengths.text[body as usize];
    let is_enough =
        |id: &Id| f64::from(lengths.text[*id as usize]) >= LEAST_SHARE * f64::from(whole);
    let found = marked(document, body).or_else(|| voted(document, body, &lengths));
    found.filter(is_enough).unwrap_or(body)
}

/// Takes out what lies around texts within the main part.
pub(crate) fn take_out_noise(document: &mut Document, within: Id) {
    let lengths = Lengths::of(document);
    let whole = lengths.text[within as usize];
    let mut is_out = vec![false; document.nodes.len()];
    for id in document.beneath(within).skip(1) {
        let text = lengths.text[id as usize];
        let is_aside = matches!(document.name(id), "aside" | "footer");
        let is_noise = is_aside || (weight(document, id) < 0 && lengths.link_share(id) > 0.5);
        // Whatever is called noise and is most of the text is none.
        is_out[id as usize] = is_noise && f64::from(text) < LEAST_SHARE * f64::from(whole);
    }
    document.take_out(&is_out);
}

/// The one element that is marked as the main part.
fn marked(document: &Document, body: Id) -> Option<Id> {
    let is_main =
        |id: &Id| document.name(*id) == "main" || document.attribute(*id, "role") == Some("main");
    let mut mains = document.beneath(body).filter(is_main);
    if let Some(main) = mains.next() {
        return mains.next().is_none().then_some(main);
    }
    let mut articles = document
        .beneath(body)
        .filter(|id| document.name(*id) == "article");
    let article = articles.next()?;
    articles.next().is_none().then_some(article)
}

/// The element that paragraphs vote for.
fn voted(document: &Document, body: Id, lengths: &Lengths) -> Option<Id> {
    let mut votes = vec![0.0_f64; document.nodes.len()];
    for id in document.beneath(body) {
        if !matches!(document.name(id), "p" | "pre" | "blockquote" | "li" | "dd") {
            continue;
        }
        let length = lengths.text[id as usize];
        if length < 25 {
            continue;
        }
        let commas = f64::from(lengths.commas[id as usize]).min(10.0);
        let vote = 1.0 + commas + f64::from(length / 100).min(3.0);
        let parent = document.parent(id);
        votes[parent as usize] += vote;
        votes[document.parent(parent) as usize] += vote / 2.0;
    }
    let score = |id: Id| {
        let by_name = f64::from(weight(document, id)).mul_add(0.25, 1.0);
        votes[id as usize] * by_name * (1.0 - lengths.link_share(id))
    };
    let mut best = document
        .beneath(body)
        .filter(|id| votes[*id as usize] > 0.0)
        .max_by(|one, other| score(*one).total_cmp(&score(*other)))?;
    // Parts of an article in boxes of their own are found by what holds them.
    for _ in 0..3 {
        let parent = document.parent(best);
        if parent == ROOT || parent == body || score(parent) < SHARED * score(best) {
            break;
        }
        best = parent;
    }
    Some(best)
}

/// What the names of an element say: 1 for a text, -1 for what lies around one.
fn weight(document: &Document, id: Id) -> i32 {
    let names = ["class", "id"].map(|name| document.attribute(id, name).unwrap_or_default());
    let names = names.join(" ");
    let names: String = names.chars().take(200).collect::<String>().to_lowercase();
    if NOISE.iter().any(|word| names.contains(word)) {
        return -1;
    }
    i32::from(TELLING.iter().any(|word| names.contains(word)))
}

/// How much text lies beneath each node.
struct Lengths {
    text: Vec<u32>,
    in_links: Vec<u32>,
    commas: Vec<u32>,
}

impl Lengths {
    fn of(document: &Document) -> Self {
        let nothing = vec![0_u32; document.nodes.len()];
        let mut lengths = Self {
            text: nothing.clone(),
            in_links: nothing.clone(),
            commas: nothing,
        };
        for id in document.ids().rev() {
            let at = id as usize;
            if let Some(text) = document.text(id) {
                let letters = text.chars().filter(|c| !c.is_whitespace()).count();
                lengths.text[at] = u32::try_from(letters).unwrap_or(u32::MAX);
                let commas = text
                    .chars()
                    .filter(|c| matches!(c, ',' | '，' | '、'))
                    .count();
                lengths.commas[at] = u32::try_from(commas).unwrap_or(u32::MAX);
                continue;
            }
            // Children have greater numbers, so they are known already.
            for child in document.children(id) {
                let child = *child as usize;
                lengths.text[at] = lengths.text[at].saturating_add(lengths.text[child]);
                lengths.in_links[at] = lengths.in_links[at].saturating_add(lengths.in_links[child]);
                lengths.commas[at] = lengths.commas[at].saturating_add(lengths.commas[child]);
            }
            if document.name(id) == "a" {
                lengths.in_links[at] = lengths.text[at];
            }
        }
        lengths
    }

    fn link_share(&self, id: Id) -> f64 {
        match self.text[id as usize] {
            0 => 0.0,
            text => f64::from(self.in_links[id as usize]) / f64::from(text),
        }
    }
}
