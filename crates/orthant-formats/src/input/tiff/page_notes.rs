//! What ImageJ and OME write of pages into the description of the first.

/// What a description says.
#[derive(Debug, Default)]
pub(in crate::input) struct PageNotes {
    /// Pages, if ImageJ says how many.
    pub(super) images: Option<u64>,
    /// Of `c`, `z` and `t`: how many, the fastest first.
    order: Vec<(&'static str, u64)>,
    /// The unit of x and y.
    pub(super) unit: Option<String>,
    /// ImageJ's is in the resolution of the page, OME's is said.
    own: [Option<f64>; 2],
    imagej: bool,
    /// From page to page along `z`, and along `t`, in a unit.
    steps: [Option<(f64, Option<String>)>; 2],
}

/// What units are called.
fn unit(text: &str) -> Option<String> {
    let text = text.trim().replace("\\u00B5", "u").replace(['µ', 'μ'], "u");
    let known = match &*text {
        "" | "pixel" | "pixels" => return None,
        "micron" | "microns" => "um",
        "sec" => "s",
        other => other,
    };
    Some(known.to_owned())
}

impl PageNotes {
    pub(super) fn of(text: &str) -> Self {
        if text.starts_with("ImageJ=") {
            Self::imagej(text)
        } else if text.contains("<OME") {
            Self::ome(text).unwrap_or_default()
        } else {
            Self::default()
        }
    }

    fn imagej(text: &str) -> Self {
        let value = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        let count = |name| value(name).and_then(|text| text.trim().parse().ok());
        let number =
            |name| value(name).and_then(|text| text.trim().parse().ok()).filter(|number: &f64| number.is_finite());
        let order = [("c", count("channels")), ("z", count("slices")), ("t", count("frames"))];
        let between = number("finterval").filter(|&seconds| seconds > 0.0);
        Self {
            images: count("images"),
            order: order.into_iter().map(|(name, count)| (name, count.unwrap_or(1))).collect(),
            unit: value("unit").and_then(unit),
            own: [None; 2],
            imagej: value("unit").and_then(unit).is_some(),
            steps: [
                number("spacing").map(|step| (step, value("zunit").or(value("unit")).and_then(unit))),
                between.map(|step| (step, value("tunit").and_then(unit).or(Some("s".into())))),
            ],
        }
    }

    /// OME's is XML, of which the attributes of the first `Pixels` are looked at.
    fn ome(text: &str) -> Option<Self> {
        let pixels = text.split_once("<Pixels")?.1.split_once('>')?.0;
        let value = |name: &str| {
            let after = pixels.split_once(&format!(" {name}=\""))?.1;
            after.split_once('"').map(|(value, _)| value)
        };
        let count = |name: &str| value(name).and_then(|text| text.parse().ok()).unwrap_or(1);
        let number = |name: &str| {
            value(name).and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite() && *number > 0.0)
        };
        let of = |name: &str| unit(value(name).unwrap_or("um"));
        // XYZCT: what follows x and y, the fastest first.
        let letters = value("DimensionOrder").and_then(|order| order.strip_prefix("XY")).unwrap_or("CZT");
        let order = letters.chars().filter_map(|letter| match letter {
            'C' => Some(("c", count("SizeC"))),
            'Z' => Some(("z", count("SizeZ"))),
            'T' => Some(("t", count("SizeT"))),
            _ => None,
        });
        let time = unit(value("TimeIncrementUnit").unwrap_or("s"));
        Some(Self {
            images: None,
            order: order.collect(),
            unit: of("PhysicalSizeXUnit"),
            own: [number("PhysicalSizeX"), number("PhysicalSizeY")],
            imagej: false,
            steps: [
                number("PhysicalSizeZ").map(|step| (step, of("PhysicalSizeZUnit"))),
                number("TimeIncrement").map(|step| (step, time)),
            ],
        })
    }

    /// From one cell of a page to the next.
    pub(super) fn spacing(&self, axis: usize, resolution: [Option<f64>; 2]) -> Option<f64> {
        self.own[axis].or(resolution[axis].filter(|_| self.imagej).map(|cells| 1.0 / cells))
    }

    /// The axes of `pages`, the fastest first: those that are said, if there are as many pages, else `z`.
    pub(super) fn axes(&self, pages: u64) -> Vec<(&'static str, u64)> {
        let known: Vec<_> = self.order.iter().filter(|(_, count)| *count > 1).copied().collect();
        let product = known.iter().try_fold(1u64, |product, (_, count)| product.checked_mul(*count));
        match (pages, product) {
            (1, _) => Vec::new(),
            (_, Some(product)) if product == pages => known,
            _ => vec![("z", pages)],
        }
    }

    /// From one page to the next along an axis, and in which unit.
    pub(super) fn between(&self, axis: &str) -> Option<(f64, Option<String>)> {
        match axis {
            "z" => self.steps[0].clone(),
            "t" => self.steps[1].clone(),
            _ => None,
        }
    }
}
