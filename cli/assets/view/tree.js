// The tree that the page holds: its rows as arrays, where each lies, and what lies where.

const about = JSON.parse(document.getElementById("about").textContent);
const K = about.size.length;
const byId = (id) => document.getElementById(id);
const grouped = (number) => number.toLocaleString("en");

const CELLS = {
  u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, u32: Uint32Array, i32: Int32Array, u64: BigUint64Array,
  i64: BigInt64Array, f32: Float32Array, f64: Float64Array,
};
const POSITIONS = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };
const PROVENANCES = ["proved", "sampled", "cut"];
const LEAF = 128;

// The bytes of an array, which lie in the page as base64 of zlib.
async function bytesOf(id) {
  const text = byId(id).textContent.trim();
  byId(id).remove();
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

// The first cell of region `p` of M, of an axis of n cells; of region M, n.
function firstCell(p, n, m) {
  return n * m < Number.MAX_SAFE_INTEGER ? Math.floor((p * n) / m) : Number((BigInt(p) * BigInt(n)) / BigInt(m));
}

class Tree {
  static async read() {
    const tree = new Tree();
    const [level, how, value, cells, ...positions] = await Promise.all(
      ["level", "how", "value", "cells", ...about.size.map((_, j) => `position${j}`)].map(bytesOf));
    tree.rows = about.rows;
    tree.level = new Uint8Array(level);
    tree.how = new Uint8Array(how);
    tree.value = new CELLS[about.cell](value);
    tree.cells = new CELLS[about.cell](cells);
    // The box of each row: from `low` to before `high` on each axis.
    tree.low = [];
    tree.high = [];
    for (let j = 0; j < K; j++) {
      const position = new POSITIONS[about.position](positions[j]);
      const low = new Uint32Array(tree.rows), high = new Uint32Array(tree.rows), n = about.size[j];
      for (let row = 0; row < tree.rows; row++) {
        const m = about.levels[tree.level[row]].grid[j];
        low[row] = firstCell(position[row], n, m);
        high[row] = firstCell(position[row] + 1, n, m);
      }
      tree.low.push(low);
      tree.high.push(high);
    }
    // Where the brick of a leaf begins, and how many cells a row has. Numbers, for both may have more than 32 bits.
    tree.brick = new Float64Array(tree.rows);
    tree.volume = new Float64Array(tree.rows).fill(1);
    tree.count = about.levels.map(() => 0);
    let next = 0;
    for (let row = 0; row < tree.rows; row++) {
      for (let j = 0; j < K; j++) tree.volume[row] *= tree.high[j][row] - tree.low[j][row];
      tree.brick[row] = tree.isLeaf(row) ? next : -1;
      if (tree.isLeaf(row)) next += tree.volume[row];
      tree.count[tree.level[row]]++;
    }
    return tree;
  }

  isLeaf(row) {
    return this.how[row] >= LEAF;
  }

  // The row that holds a cell.
  rowAt(cell) {
    const { low, high, rows } = this;
    next: for (let row = 0; row < rows; row++) {
      for (let j = 0; j < K; j++) if (cell[j] < low[j][row] || cell[j] >= high[j][row]) continue next;
      return row;
    }
    return -1;
  }

  // The rows that meet the plane, or the box, in which `held` axes are at the cursor.
  rowsThrough(cursor, held) {
    const { low, high, rows } = this, found = [];
    next: for (let row = 0; row < rows; row++) {
      for (const j of held) if (cursor[j] < low[j][row] || cursor[j] >= high[j][row]) continue next;
      found.push(row);
    }
    return found;
  }

  // From one cell of a row's brick to the next, per axis.
  strides(row) {
    let step = 1;
    return this.low.map((low, j) => {
      const stride = step;
      step *= this.high[j][row] - low[row];
      return stride;
    });
  }

  // Where a cell of a leaf lies among all cells of bricks.
  place(row, cell) {
    return this.strides(row).reduce((place, stride, j) => place + (cell[j] - this.low[j][row]) * stride, this.brick[row]);
  }

  // All that is known of a cell.
  at(cell) {
    const row = this.rowAt(cell);
    if (row < 0) return null;
    const value = this.isLeaf(row) ? this.cells[this.place(row, cell)] : this.value[row];
    return {
      cell: [...cell], value: textOf(value), name: nameOf(value), level: this.level[row], leaf: this.isLeaf(row),
      provenance: PROVENANCES[this.how[row] % LEAF], low: this.low.map((low) => low[row]), high: this.high.map((high) => high[row]),
      point: cell.map((index, j) => about.axes[j].origin + (index + about.sample) * about.axes[j].spacing),
    };
  }
}

// A value as `tree sample` prints it: by the fewest digits that tell it from others of its type, without a power of ten.
function textOf(value) {
  if (typeof value === "bigint") return value.toString();
  if (Object.is(value, -0)) return "-0";
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "inf" : "-inf";
  if (about.cell !== "f32") return written(String(value));
  for (let digits = 1; digits < 10; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return written(String(short));
  }
  return written(String(value));
}

// A number with its power of ten written out.
function written(text) {
  const found = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (!found) return text;
  const [, sign, whole, part = "", power] = found, digits = whole + part, point = 1 + Number(power);
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const [before, after] = [digits.slice(0, point).padEnd(point, "0"), digits.slice(point)];
  return sign + before + (after && `.${after}`);
}

const names = new Map(about.labels.map((label) => [label.value, label.name]));
const isNoData = (value) => about.nodata !== null && textOf(value) === about.nodata;
const nameOf = (value) => names.get(textOf(value)) ?? (isNoData(value) ? "no data" : "");
