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
    [this.least, this.greatest] = ends(tree);
    this.logarithmic = !this.labels && this.least >= 0 && this.greatest > 12 * Math.max(1, middle(counts));
    const dwell = about.rule !== "full";
    this.palette = about.palettes.findIndex(([name]) => name === (dwell ? "inferno" : "viridis"));
    this.refresh();
  }

  // Shades of all values, after a choice of how they are made.
  refresh() {
    const { tree } = this;
    this.ofRow = new Uint8Array(tree.rows);
    this.ofCell = new Uint8Array(tree.cells.length);
    this.shares = new Float64Array(256);
    const shade = this.shading();
    const put = (from, to) => {
      // A cell is most often what the one before it is.
      let last = NaN, lastShade = 0;
      for (let i = 0; i < from.length; i++) {
        if (from[i] !== last) [last, lastShade] = [from[i], shade(from[i])];
        to[i] = lastShade;
      }
    };
    put(tree.value, this.ofRow);
    put(tree.cells, this.ofCell);
    const total = about.size.reduce((product, n) => product * n, 1);
    for (let row = 0; row < tree.rows; row++) if (!tree.isLeaf(row)) this.shares[this.ofRow[row]] += tree.volume[row] / total;
    for (let i = 0; i < this.ofCell.length; i++) this.shares[this.ofCell[i]] += 1 / total;
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
    const above = this.logarithmic ? Math.log1p : (x) => x;
    const width = this.greatest - this.least, range = above(width);
    return (value) => {
      const number = Number(value);
      if (Number.isNaN(number) || isNoData(value)) return 0;
      return range > 0 ? 1 + Math.round((254 * above(Math.min(Math.max(number - this.least, 0), width))) / range) : 1;
    };
  }

  // A value of which a shade is the middle, as text; of categories their own.
  valueOf(shade) {
    if (this.labels) return this.categories[shade - 1]?.value ?? "NaN";
    const t = (shade - 1) / 254, width = this.greatest - this.least;
    const value = this.least + (this.logarithmic ? Math.expm1(t * Math.log1p(width)) : t * width);
    return Number.isInteger(this.least) && width > 20 ? String(Math.round(value)) : String(Number(value.toPrecision(4)));
  }

  // The table of colours: red, green, blue of each shade, and the same as pixels.
  paint() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.colours = Array.from({ length: 256 }, () => (dark ? [60, 64, 68] : [214, 218, 222]));
    if (this.labels) {
      let number = 0;
      for (const { shade, own } of this.categories) {
        if (own) this.colours[shade] = own.slice(0, 3);
        else if (shade === this.background) this.colours[shade] = NEUTRAL[dark ? 1 : 0];
        else this.colours[shade] = distinct(number++);
      }
    } else {
      const stops = about.palettes[this.palette][1];
      const at = (i) => [0, 2, 4].map((c) => parseInt(stops.substr(6 * i + c, 2), 16));
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

// Cells of each value, as far as there are few enough of them to be told apart; else null.
function countValues(tree) {
  const counts = new Map();
  const add = (value, cells) => counts.set(value, (counts.get(value) ?? 0) + cells);
  const few = () => counts.size <= 1 << 16;
  for (let row = 0; row < tree.rows && few(); row++) if (!tree.isLeaf(row)) add(tree.value[row], tree.volume[row]);
  let start = 0;
  const { cells } = tree;
  for (let i = 1; i <= cells.length && few(); i++) {
    if (i < cells.length && cells[i] === cells[start]) continue;
    add(cells[start], i - start);
    start = i;
  }
  return few() ? counts : null;
}

// The least finite number and the greatest.
function ends(tree) {
  let [least, greatest] = [Infinity, -Infinity];
  const look = (value) => {
    const number = Number(value);
    if (!Number.isFinite(number) || isNoData(value)) return;
    least = Math.min(least, number);
    greatest = Math.max(greatest, number);
  };
  for (let row = 0; row < tree.rows; row++) if (!tree.isLeaf(row)) look(tree.value[row]);
  let last = NaN;
  for (let i = 0; i < tree.cells.length; i++) if (tree.cells[i] !== last) look((last = tree.cells[i]));
  return least <= greatest ? [least, greatest] : [0, 0];
}

// The value that half of the cells are below that have not the most frequent one.
function middle(counts) {
  if (!counts) return Infinity;
  const most = Math.max(...counts.values());
  const sorted = [...counts].filter(([, cells]) => cells < most).map(([value, cells]) => [Number(value), cells]).sort((a, b) => a[0] - b[0]);
  let left = sorted.reduce((sum, [, cells]) => sum + cells, 0) / 2;
  return sorted.find(([, cells]) => (left -= cells) <= 0)?.[0] ?? 0;
}

// Colours that are told apart: hues by the golden angle, three lightnesses, all of them seen on white and on black.
function distinct(number) {
  const hue = (number * 137.508 + 25) % 360, light = [0.72, 0.6, 0.8][number % 3], chroma = [0.15, 0.17, 0.12][number % 3];
  const [a, b] = [chroma * Math.cos((hue * Math.PI) / 180), chroma * Math.sin((hue * Math.PI) / 180)];
  const [l, m, s] = [light + 0.3963377774 * a + 0.2158037573 * b, light - 0.1055613458 * a - 0.0638541728 * b,
    light - 0.0894841775 * a - 1.291485548 * b].map((x) => x ** 3);
  const linear = [4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s];
  const byte = (c) => Math.round(255 * Math.min(1, Math.max(0, c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055)));
  return linear.map(byte);
}
