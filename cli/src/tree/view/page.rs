//! The page's text: what is known of the tree as JSON, its arrays, and the files that show them.

use minijinja::value::Serde;
use minijinja::{Environment, context};
use serde::Serialize;
use serde_json::{Value, json};

use orthant::CellType;
use orthant::geometry::Sample;
use orthant::per_axis::text as by;
use orthant::rule::RuleKind;
use orthant::tree::{TreeFile, TreeInfo};

use super::detail::Detail;
use crate::error::Error;
use crate::output::png::gradients;

/// The style: that of all pages, and of this one.
const STYLES: [&str; 2] = [include_str!("../../report/page.css"), include_str!("../../../assets/view/style.css")];

/// What draws, in the order in which it is read.
const SCRIPTS: [&str; 5] = [
    include_str!("../../../assets/view/tree.js"),
    include_str!("../../../assets/view/colours.js"),
    include_str!("../../../assets/view/slices.js"),
    include_str!("../../../assets/view/boxes.js"),
    include_str!("../../../assets/view/page.js"),
];

/// Colours of a gradient that are written down; others lie between them.
const STOPS: usize = 33;

/// What is told of a tree, whatever its number of dimensions.
struct PageFacts<'t> {
    size: &'t [u32],
    cells: u128,
    sample: Sample,
    rule: RuleKind,
    kind: CellType,
    leaf_cells: u64,
    levels: &'t [LevelFacts<'t>],
}

/// A level: its regions per axis, and how many terminal ones are uniform and leaves.
#[derive(Serialize)]
struct LevelFacts<'t> {
    grid: &'t [u32],
    terminals: &'t [u64; 2],
}

/// What a page says, whatever it shows.
pub(super) struct TreePage {
    title: String,
    summary: String,
    source: Option<String>,
    about: Value,
}

impl TreePage {
    /// Of a tree.
    pub(super) fn of<const K: usize>(tree: &TreeFile<K>, title: Option<String>) -> Self {
        let (plan, domain) = (tree.plan(), tree.plan().domain());
        let mut levels = Vec::new();
        for (level, terminals) in plan.levels().iter().zip(tree.terminals()) {
            levels.push(LevelFacts { grid: &level.grid, terminals });
        }
        let facts = PageFacts {
            size: &domain.size(),
            cells: domain.cells(),
            sample: domain.sample(),
            rule: plan.rule(),
            kind: tree.kind(),
            leaf_cells: tree.leaf_cells(),
            levels: &levels,
        };
        Self::saying(&facts, tree.info(), title)
    }

    fn saying(tree: &PageFacts<'_>, info: &TreeInfo, title: Option<String>) -> Self {
        let &PageFacts { kind, size, .. } = tree;
        // Values are texts, which hold all of their digits.
        let label = |label: &orthant::tree::TreeLabel| json!({"value": kind.text(label.word), "name": label.name, "colour": label.colour});
        let about = json!({
            "size": size,
            "cell": kind.name(),
            "sample": tree.sample.offset(),
            "axes": info.axes,
            "rule": tree.rule.name(),
            "levels": tree.levels,
            "labels": info.labels.iter().map(label).collect::<Vec<_>>(),
            "nodata": info.nodata.map(|word| kind.text(word)),
            "palettes": gradients().map(|(name, gradient)| json!([name, stops(gradient)])).collect::<Vec<_>>(),
        });
        let sum = |which: usize| tree.levels.iter().map(|level| level.terminals[which]).sum::<u64>();
        let (uniform, leaves) = (sum(0), sum(1));
        let summary = format!(
            "{} cells of {kind} in {} on {}: {uniform} of one value, and {} with {:.1} % of the cells.",
            by(size).replace('x', " × "),
            many(uniform + leaves, "region", "regions"),
            many(tree.levels.len() as u64, "level", "levels"),
            many(leaves, "leaf", "leaves"),
            tree.leaf_cells as f64 / tree.cells as f64 * 100.0
        );
        let title = title.or_else(|| info.source.clone()).unwrap_or_else(|| "A tree".into());
        Self { title, summary, source: info.source.clone(), about }
    }

    /// The text, with a tree or without any.
    pub(super) fn html(&self, shown: Option<(&Detail, Option<String>)>) -> Result<String, Error> {
        let mut about = self.about.clone();
        let (mut arrays, mut left_out) = (&[][..], None);
        if let Some((detail, sentence)) = shown {
            about["rows"] = json!(detail.arrays.rows);
            about["position"] = json!(detail.arrays.position);
            about["cut"] = json!(detail.cut.map(|(level, by)| json!({"level": level, "by": by.name()})));
            arrays = &detail.arrays.texts;
            left_out =
                sentence.map(|sentence| format!("This page shows less than the tree has. {}.", capital(&sentence)));
        }
        let mut pages = Environment::new();
        // The name's ending says that values are escaped.
        pages.add_template("page.html", include_str!("../../../assets/view/page.html")).map_err(failed)?;
        let text = pages.get_template("page.html").and_then(|page| {
            page.render(context! {
                title => self.title.as_str(),
                summary => self.summary.as_str(),
                source => self.source.as_deref(),
                left_out,
                version => env!("CARGO_PKG_VERSION"),
                // No name in it can end the element that it lies in.
                about => about.to_string().replace('<', "\\u003c"),
                arrays => minijinja::Value::from(Serde(arrays)),
                style => STYLES.concat(),
                library => include_str!("../../../assets/view/vendor/twgl.min.js"),
                script => SCRIPTS.concat(),
            })
        });
        text.map_err(failed)
    }
}

/// Colours at equal distances, as hexadecimal digits.
fn stops(gradient: colorous::Gradient) -> String {
    (0..STOPS).map(|stop| format!("{:x}", gradient.eval_rational(stop, STOPS))).collect()
}

/// So many of something.
fn many(number: u64, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

fn failed(error: minijinja::Error) -> Error {
    Error::System(format!("making the page: {error}"))
}
