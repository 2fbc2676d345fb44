//! The report as one page that needs nothing else: pictures, styles and the sorting of tables are in it.

use minijinja::value::Serde;
use minijinja::{Environment, Value, context};

use crate::error::Error;
use crate::output::chart;
use crate::report::figures::Figure;
use crate::report::tables::ShownTable;

/// What a page is made of.
pub(super) struct Page<'a> {
    pub(super) title: &'a str,
    pub(super) summary: &'a str,
    pub(super) sources: &'a str,
    pub(super) experiments: &'a [Experiment],
    pub(super) machines: &'a ShownTable,
}

/// What the rows of one sweep show.
pub(super) struct Experiment {
    pub(super) name: String,
    /// In one sentence.
    pub(super) found: String,
    pub(super) tables: Vec<ShownTable>,
    pub(super) figures: Vec<Figure>,
}

impl Page<'_> {
    /// The page's text.
    pub(super) fn html(&self) -> Result<String, Error> {
        let picture = |figure: &Figure| {
            let Figure { name, title, caption, panel } = figure;
            let svg = chart::inline(panel, title, caption).map_err(failed)?;
            Ok(context! { name => name.as_str(), title => title.as_str(), caption => caption.as_str(), svg => svg })
        };
        let experiment = |Experiment { name, found, tables, figures }: &Experiment| {
            let figures = figures.iter().map(picture).collect::<Result<Vec<_>, Error>>()?;
            Ok(context! { name => name, found => found, tables => Value::from(Serde(tables)), figures => figures })
        };
        let experiments = self.experiments.iter().map(experiment).collect::<Result<Vec<_>, Error>>()?;
        let mut pages = Environment::new();
        // The name's ending says that values are escaped.
        pages.add_template("page.html", include_str!("page.html")).map_err(failed)?;
        let page = pages.get_template("page.html").map_err(failed)?;
        let text = page.render(context! {
            title => self.title,
            summary => self.summary,
            sources => self.sources,
            version => env!("CARGO_PKG_VERSION"),
            style => format!("{}{}", include_str!("page.css"), chart::STYLE),
            script => include_str!("page.js"),
            experiments => experiments,
            machines => Value::from(Serde(self.machines)),
        });
        text.map_err(failed)
    }

    /// The same as Markdown, with links to pictures in `folder` if they are written.
    pub(super) fn markdown(&self, folder: Option<&str>) -> String {
        let mut text = format!("# {}\n\n{}\n", self.title, self.summary);
        for Experiment { name, found, tables, figures } in self.experiments {
            text += &format!("\n## {}\n\n{}\n", escaped(name), escaped(found));
            for table in tables {
                text += &rows(table, "###");
            }
            let Some(folder) = folder else { continue };
            for Figure { name, title, caption, .. } in figures {
                text += &format!("\n![{title}]({folder}/{name}.svg)\n\n**{title}.** {caption}\n");
            }
        }
        text += &rows(self.machines, "##");
        text += &format!("\nMade by orthant {} from {}.\n", env!("CARGO_PKG_VERSION"), self.sources);
        text
    }
}

/// A text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('<', "&lt;").replace('|', "\\|").replace('\n', " ")
}

/// A table as Markdown.
fn rows(table: &ShownTable, level: &str) -> String {
    let mut text = format!("\n{level} {}\n\n{}\n", table.title, table.about);
    if !table.same.is_empty() {
        let same: Vec<String> =
            table.same.iter().map(|(name, value)| format!("{name} **{}**", escaped(value))).collect();
        text += &format!("\nIn every row: {}.\n", same.join("; "));
    }
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    text += "\n";
    text += &line(table.header.iter().map(|column| column.name.clone()).collect());
    text += &line(table.header.iter().map(|column| if column.number { "--:" } else { "---" }.into()).collect());
    for row in &table.rows {
        text += &line(row.iter().map(|cell| escaped(cell)).collect());
    }
    text
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::System(format!("making the report: {error}"))
}
