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
    pub(super) tables: &'a [ShownTable],
    pub(super) figures: &'a [Figure],
}

impl Page<'_> {
    /// The page's text.
    pub(super) fn html(&self) -> Result<String, Error> {
        let figures = self.figures.iter().map(|figure| {
            let Figure { name, title, caption, panel } = figure;
            let svg = chart::inline(panel, title, caption).map_err(failed)?;
            Ok(context! { name => name.as_str(), title => title.as_str(), caption => caption.as_str(), svg => svg })
        });
        let figures = figures.collect::<Result<Vec<_>, Error>>()?;
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
            tables => Value::from(Serde(self.tables)),
            figures => figures,
        });
        text.map_err(failed)
    }

    /// The same as Markdown, with links to pictures in `folder` if they are written.
    pub(super) fn markdown(&self, folder: Option<&str>) -> String {
        let mut text = format!("# {}\n\n{}\n", self.title, self.summary);
        for table in self.tables {
            text += &format!("\n## {}\n\n{}\n\n", table.title, table.about);
            let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
            text += &line(table.header.iter().map(|column| column.name.to_owned()).collect());
            text += &line(table.header.iter().map(|column| if column.number { "--:" } else { "---" }.into()).collect());
            for row in &table.rows {
                text += &line(row.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect());
            }
        }
        if let Some(folder) = folder {
            text += "\n## Figures\n";
            for figure in self.figures {
                let Figure { name, title, caption, .. } = figure;
                text += &format!("\n![{title}]({folder}/{name}.svg)\n\n**{title}.** {caption}\n");
            }
        }
        text += &format!("\nMade by orthant {} from {}.\n", env!("CARGO_PKG_VERSION"), self.sources);
        text
    }
}

fn failed(error: impl std::fmt::Display) -> Error {
    Error::System(format!("making the report: {error}"))
}
