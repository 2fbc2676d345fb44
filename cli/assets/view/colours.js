// Values as shades: one byte a value, and a table of 256 colours. Drawing looks at shades alone.
//
// Few values are categories, a shade each; else shades run from the least number to the greatest. Shade 0 is what is no number.

const MOST_CATEGORIES = 250;
const NEUTRAL = [[200, 205, 210], [66, 71, 76]]; // On white, and on black.

class Shades {
  constructor(tree) {
    this.tree = tree;
    const counts = countValues(tree);
    this.counts = counts;
    // Labels are one value beside another; what a field counts grows.
    this.canBeLabels = counts !== null && counts.size <= MOST_CATEGORIES;
    const integers = !about.cell.startsWith("f");
    this.labels = this.canBeLabels && (about.labels.length > 0 || counts.size <= 4 || (integers && about.rule === "full" && counts.size <= 64));
    [this.least, this.greatest] = ends(counts, tree);
    // Counts are shown as `run -o` has them in pictures.
    this.logarithmic = !this.labels && integers && about.rule !== "full";
    this.palette = about.palettes.findIndex(([name]) => name === (this.logarithmic ? "inferno" : "viridis"));
    this.refresh();
  }

  // Shades of all values, after a choice of how they are made.
  refresh() {
    const { tree } = this;
    this.ofRow = new Uint8Array(tree.rows);
    this.ofCell = new Uint8Array(tree.cells.length);
    this.shares = new Float64Array(256);
    const shade = this.shading();
    const total = about.size.reduce((product, n) => product * n, 1);
    for (let row = 0; row < tree.rows; row++) {
      this.ofRow[row] = shade(tree.value[row]);
      if (!tree.isLeaf(row)) this.shares[this.ofRow[row]] += tree.volume[row] / total;
    }
    // A cell is most often what the one before it is.
    eachRun(tree.cells, (value, start, end) => {
      const of = shade(value);
      this.ofCell.fill(of, start, end);
      this.shares[of] += (end - start) / total;
    });
    this.background = this.shares.indexOf(Math.max(...this.shares));
    this.paint();
  }

  // The function from values to shades.
  shading() {
    if (this.labels) {
      const numbers = [...this.counts.keys()].filter((value) => value === value).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      this.categories = numbers.map((number, i) => {
        const value = textOf(number), own = about.labels.find((label) => label.value === value)?.colour;
        return { shade: i + 1, value, name: nameOf(number), own };
      });
      const shades = new Map(numbers.map((number, i) => [number, i + 1]));
      return (value) => shades.get(value) ?? 0;
    }
    this.categories = [];
    const { least, greatest } = this, above = this.logarithmic ? Math.log1p : (x) => x;
    // Of half the distance, which is a number where the whole may be none; of whole numbers, which have digits to lose, the whole.
    const whole = !about.cell.startsWith("f");
    const distance = (value) => (whole ? Number(value - least) : value / 2 - least / 2), range = above(distance(greatest));
    return (value) => {
      if (value !== value || isNoData(value)) return 0;
      const shown = value < least ? least : value > greatest ? greatest : value;
      return range > 0 ? 1 + Math.round((254 * above(distance(shown))) / range) : 1;
    };
  }

  // A value of which a shade is the middle, as text; of categories their own.
  valueOf(shade) {
    if (this.labels) return this.categories[shade - 1]?.value ?? "NaN";
    const { least, greatest } = this, t = (shade - 1) / 254;
    if (t === 0 || t === 1) return inFewDigits(t ? greatest : least);
    const width = Number(greatest - least);
    if (!about.cell.startsWith("f")) {
      const above = Math.round(this.logarithmic ? Math.expm1(t * Math.log1p(width)) : t * width);
      return String(typeof least === "bigint" ? least + BigInt(above) : least + above);
    }
    const value = least * (1 - t) + greatest * t;
    // As many digits as tell shades apart, more or less.
    const digits = Math.min(Math.max(3 - Math.floor(Math.log10(width || 1)), 0), 100);
    return digits > 12 ? value.toExponential(3) : String(Number(value.toFixed(digits)));
  }

  // The table of colours: red, green, blue of each shade, and the same as pixels.
  paint() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.colours = Array.from({ length: 256 }, () => (dark ? [60, 64, 68] : [214, 218, 222]));
    if (this.labels) {
      for (const { shade, value, own, name } of this.categories) {
        if (own) this.colours[shade] = own.slice(0, 3);
        // What lies around the others has no colour of its own.
        else if (value === "0" && !name) this.colours[shade] = NEUTRAL[dark ? 1 : 0];
        else this.colours[shade] = distinct(labelNumber(value));
      }
    } else {
      const stops = about.palettes[this.palette][1], at = (i) => colourAt(stops, i);
      const last = stops.length / 6 - 1;
      for (let shade = 1; shade < 256; shade++) {
        const t = ((shade - 1) / 254) * last, i = Math.min(Math.floor(t), last - 1);
        const [a, b] = [at(i), at(i + 1)];
        this.colours[shade] = a.map((c, n) => Math.round(c + (b[n] - c) * (t - i)));
      }
    }
    this.pixels = Uint32Array.from(this.colours, ([r, g, b]) => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0);
  }
}

// The number of a label's colour, as pictures have it: itself, or where that is large, below 0 or no whole number, some letters of its text.
function labelNumber(value) {
  const number = Number(value);
  if (Number.isInteger(number) && number >= 0 && number < 1e6) return number;
  return [...value].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 16777216, 7);
}

// One of many colours that are told apart: hues by the golden angle in OKLCH, as `distinct` of pictures makes them.
function distinct(number) {
  const [light, chroma] = [[0.72, 0.15], [0.6, 0.17], [0.8, 0.12]][number % 3], turn = ((number * 137.508 + 25) * Math.PI) / 180;
  const a = chroma * Math.cos(turn), b = chroma * Math.sin(turn);
  const cones = [[0.3963377774, 0.2158037573], [-0.1055613458, -0.0638541728], [-0.0894841775, -1.291485548]].map(
    ([ofA, ofB]) => (light + ofA * a + ofB * b) ** 3,
  );
  const rows = [[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965], [-0.0041960863, -0.7034186147, 1.707614701]];
  return rows.map((row) => {
    const linear = row.reduce((sum, of, i) => sum + of * cones[i], 0);
    const coded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
    return Math.min(Math.max(Math.round(255 * coded), 0), 255);
  });
}

// Calls with cells of one value in a row, until that answers false.
function eachRun(cells, visit) {
  for (let start = 0, end; start < cells.length; start = end) {
    const value = cells[start];
    for (end = start + 1; end < cells.length && cells[end] === value; end++);
    if (visit(value, start, end) === false) return;
  }
}

// Cells of each value, as far as there are few enough of them to be told apart; else null.
function countValues(tree) {
  const counts = new Map();
  const add = (value, cells) => counts.set(value, (counts.get(value) ?? 0) + cells);
  const few = () => counts.size <= 1 << 16;
  for (let row = 0; row < tree.rows && few(); row++) if (!tree.isLeaf(row)) add(tree.value[row], tree.volume[row]);
  eachRun(tree.cells, (value, start, end) => {
    add(value, end - start);
    return few();
  });
  return few() ? counts : null;
}

// The least finite value and the greatest.
function ends(counts, tree) {
  let [least, greatest] = [null, null];
  const look = (value) => {
    if (!Number.isFinite(Number(value)) || isNoData(value)) return;
    if (least === null || value < least) least = value;
    if (greatest === null || value > greatest) greatest = value;
  };
  if (counts) [...counts.keys()].forEach(look);
  else {
    for (let row = 0; row < tree.rows; row++) if (!tree.isLeaf(row)) look(tree.value[row]);
    eachRun(tree.cells, look);
  }
  const none = tree.value instanceof BigUint64Array || tree.value instanceof BigInt64Array ? 0n : 0;
  return [least ?? none, greatest ?? none];
}

// A value in few digits.
function inFewDigits(value) {
  const text = textOf(value);
  return text.length <= 8 || typeof value === "bigint" || Number.isSafeInteger(value) ? text : value.toPrecision(4);
}

// One of several colours that are written in hexadecimal digits.
const colourAt = (text, i) => [0, 2, 4].map((c) => parseInt(text.slice(6 * i + c, 6 * i + c + 2), 16));
