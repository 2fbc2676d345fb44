// What is shown, the controls that choose it, and `window.orthant`, by which programs ask the page.

class Page {
  constructor(tree) {
    this.tree = tree;
    this.shades = new Shades(tree);
    this.cursor = about.size.map((n) => Math.floor(n / 2));
    this.axes = about.size.map((_, j) => j).slice(0, 3);
    this.levels = about.levels.map(() => true);
    [this.lines, this.solid, this.edges, this.fine] = [true, true, true, false];
    this.dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.pitch = pitches();
    this.boxes = null;
    this.makeControls();
    this.makeSlices();
    new ResizeObserver(() => this.resize()).observe(byId("views"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
      this.dark = event.matches;
      this.shades.paint();
      this.makeLegend();
      this.redraw();
      this.boxes?.gather();
    });
  }

  makeSlices() {
    this.slices?.forEach(({ figure }) => figure.remove());
    const [a, b, c] = this.axes, pairs = K === 1 ? [[0, -1]] : K === 2 ? [[0, 1]] : [[a, b], [a, c], [b, c]];
    this.slices = pairs.map((axes) => new Slice(this, axes));
    const boxes = byId("boxes");
    boxes.before(this.slices[0].figure);
    boxes.after(...this.slices.slice(1).map(({ figure }) => figure));
    byId("views").classList.toggle("single", K < 3);
    boxes.hidden = byId("solids").hidden = K < 3;
  }

  // The boxes come after the first picture, which is that of the slices.
  makeBoxes() {
    if (K < 3) return;
    this.boxes = new Boxes(this);
    this.boxes.resize();
    this.showByDefault();
    this.fine = this.boxes.areMostlyLeaves();
    byId("fine").value = this.fine ? "1" : "0";
    this.boxes.gather();
  }

  resize() {
    this.slices.forEach((slice) => slice.resize());
    this.slices.forEach((slice) => slice.draw());
    this.boxes?.resize();
    this.boxes?.draw();
  }

  redraw() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.slices.forEach((slice) => slice.draw());
    });
  }

  // Puts the cursor on a cell; `aloud` for whoever does not see it.
  moveTo(cell, aloud = false) {
    const before = this.cursor;
    this.cursor = cell.map((index, j) => Math.min(Math.max(Math.round(index) || 0, 0), about.size[j] - 1));
    this.sliders.forEach(([slider, number], j) => (slider.value = number.value = this.cursor[j]));
    this.redraw();
    // What is held decides which boxes there are.
    if (this.cursor.some((index, j) => index !== before[j] && !this.axes.includes(j))) this.boxes?.gather();
    this.read(null);
    if (aloud) byId("said").textContent = sentence(this.tree.at(this.cursor));
  }

  // Says what is at a cell; at the cursor if there is none.
  read(cell) {
    const found = this.tree.at(cell ?? this.cursor), line = byId("read");
    this.under = found;
    const value = document.createElement("b");
    value.textContent = found.name ? `${found.value} ${found.name}` : found.value;
    const parts = [value];
    const part = (text) => {
      const span = document.createElement("span");
      span.textContent = text;
      parts.push(span);
    };
    part(found.cell.map((index, j) => `${about.axes[j].name} ${index}`).join("  "));
    const same = about.axes.every(({ origin, spacing, unit }) => origin === 0 && spacing === 1 && !unit);
    if (!same) part(found.point.map((x, j) => `${shortly(x)}${about.axes[j].unit ? ` ${about.axes[j].unit}` : ""}`).join(", "));
    part(`level ${found.level}, ${found.leaf ? "leaf" : "one value"}`);
    part(`region ${found.low.map((low, j) => `${low}:${found.high[j]}`).join(", ")}`);
    part(found.provenance);
    line.replaceChildren(...parts);
  }

  makeControls() {
    this.sliders = about.axes.map((axis, j) => {
      const line = document.createElement("div"), name = document.createElement("span");
      const make = (type, what) => {
        const input = document.createElement("input");
        Object.assign(input, { type, min: 0, max: about.size[j] - 1, step: 1, value: this.cursor[j] });
        input.setAttribute("aria-label", `${axis.name}, ${what}`);
        input.addEventListener("input", () => {
          if (input.value !== "") this.moveTo(this.cursor.map((index, i) => (i === j ? Number(input.value) : index)), true);
        });
        return input;
      };
      line.className = "axis";
      name.textContent = axis.name;
      const pair = [make("range", "slider"), make("number", "index")];
      line.append(name, ...pair);
      byId("place").append(line);
      return pair;
    });
    about.levels.forEach(({ terminals: [uniform, leaves] }, level) => {
      const there = this.tree.count[level];
      const box = this.check(byId("levels"), `level ${level}`, there === 1 ? "1 region" : `${grouped(there)} regions`, true, (on) => {
        this.levels[level] = on;
        this.redraw();
        this.boxes?.gather();
      });
      box.title = `In the tree ${grouped(uniform)} of one value and ${grouped(leaves)} leaves`;
    });
    const tick = (id, choose) => byId(id).addEventListener("input", (event) => choose(event.target.checked));
    tick("lines", (on) => {
      this.lines = on;
      this.redraw();
    });
    tick("solid", (on) => {
      this.solid = on;
      this.boxes.gather();
    });
    tick("edges", (on) => {
      this.edges = on;
      this.boxes.draw();
    });
    byId("fine").addEventListener("input", (event) => {
      this.fine = event.target.value === "1";
      this.boxes.gather();
    });
    this.makeAxes();
    const palette = byId("palette"), option = (value, text) => palette.add(new Option(text, value));
    if (this.shades.canBeLabels) option("labels", "one per value");
    about.palettes.forEach(([name], i) => option(i, name));
    palette.value = this.shades.labels ? "labels" : this.shades.palette;
    palette.addEventListener("input", () => {
      const labels = palette.value === "labels", other = labels !== this.shades.labels;
      this.shades.labels = labels;
      if (!labels) this.shades.palette = Number(palette.value);
      other ? this.shades.refresh() : this.shades.paint();
      this.recolour(other);
    });
    byId("logarithmic").checked = this.shades.logarithmic;
    tick("logarithmic", (on) => {
      this.shades.logarithmic = on;
      this.shades.refresh();
      this.recolour(true);
    });
    for (const id of ["from", "to", "background"]) byId(id).addEventListener("input", () => this.chooseRange());
    this.makeLegend();
  }

  recolour(anew) {
    if (anew && this.boxes) this.showByDefault();
    this.makeLegend();
    this.redraw();
    this.boxes?.gather();
  }

  // More than three axes: which three are shown.
  makeAxes() {
    const select = byId("axes"), sets = [];
    for (let a = 0; a < K; a++) for (let b = a + 1; b < K; b++) for (let c = b + 1; c < K; c++) sets.push([a, b, c]);
    select.parentElement.hidden = K < 4;
    sets.forEach((set, i) => select.add(new Option(set.map((j) => about.axes[j].name).join(", "), i)));
    select.addEventListener("input", () => {
      this.axes = sets[select.value];
      this.makeSlices();
      this.resize();
      this.boxes.gather();
    });
  }

  check(into, text, more, on, choose) {
    const label = document.createElement("label"), box = document.createElement("input"), name = document.createElement("span");
    box.type = "checkbox";
    box.checked = on;
    name.textContent = text;
    const count = document.createElement("span");
    count.className = "count";
    count.textContent = more;
    label.append(box, name, count);
    box.addEventListener("input", () => choose(box.checked));
    into.append(label);
    return label;
  }

  makeLegend() {
    const { shades } = this, legend = byId("legend");
    legend.replaceChildren();
    byId("logarithmic-label").hidden = shades.labels;
    byId("range").hidden = shades.labels;
    if (shades.labels) return this.makeLabels(legend);
    const bar = document.createElement("div"), ends = document.createElement("div");
    bar.className = "bar";
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", `Colours from ${shades.valueOf(1)} to ${shades.valueOf(255)}`);
    const stops = Array.from({ length: 32 }, (_, i) => `rgb(${shades.colours[1 + Math.round((i * 254) / 31)].join()})`);
    bar.style.background = `linear-gradient(90deg, ${stops.join()})`;
    ends.className = "ends";
    for (const shade of [1, 128, 255]) {
      const end = document.createElement("span");
      end.textContent = shades.valueOf(shade);
      ends.append(end);
    }
    legend.append(bar, ends);
    if (shades.shares[0] === 0) return;
    const none = document.createElement("div"), swatch = document.createElement("span");
    swatch.className = "swatch";
    swatch.style.background = `rgb(${shades.colours[0].join()})`;
    none.className = "none";
    none.append(swatch, "no number, or no data");
    legend.append(none);
  }

  makeLabels(legend) {
    const { shades } = this, list = document.createElement("div"), boxes = [];
    list.id = "labels";
    list.setAttribute("role", "group");
    list.setAttribute("aria-label", K < 3 ? "Values" : "Values shown as boxes");
    for (const { shade, value, name } of shades.categories) {
      const text = name ? `${value} ${name}` : value, share = shades.shares[shade];
      const percent = share >= 0.0995 ? (100 * share).toFixed(0) : share >= 0.001 ? (100 * share).toFixed(1) : "< 0.1";
      const swatch = document.createElement("span");
      swatch.className = "swatch";
      swatch.style.background = `rgb(${shades.colours[shade].join()})`;
      const label = this.check(list, text, `${percent} %`, !!this.boxes?.shown[shade], (on) => {
        this.boxes.shown[shade] = Number(on);
        this.boxes.gather();
      });
      const box = label.querySelector("input");
      box.after(swatch);
      if (K < 3) box.remove();
      boxes.push([box, shade]);
    }
    if (K >= 3) {
      const choose = document.createElement("div");
      choose.className = "choose";
      for (const [text, on] of [["All", 1], ["None", 0]]) {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", textContent: text });
        button.setAttribute("aria-label", `${text} of the values as boxes`);
        button.addEventListener("click", () => {
          this.boxes.shown.fill(on);
          boxes.forEach(([box]) => (box.checked = on === 1));
          this.boxes.gather();
        });
        choose.append(button);
      }
      legend.append(choose);
    }
    legend.append(list);
  }

  // All but what most cells have; of numbers the greatest fifth of the others.
  showByDefault() {
    const { shades, boxes } = this, others = shades.shares.map((share, shade) => (shade === shades.background ? 0 : share));
    boxes.shown.fill(1);
    if (shades.labels) {
      if (shades.categories.length > 1) boxes.shown[shades.background] = 0;
    } else {
      let left = others.reduce((sum, share) => sum + share, 0) * 0.2, from = 255;
      while (from > 1 && (left -= others[from]) > 0) from--;
      [byId("from").value, byId("to").value, byId("background").checked] = [from, 255, false];
      this.chooseRange();
    }
    this.makeLegend();
  }

  chooseRange() {
    const [from, to] = [Number(byId("from").value), Number(byId("to").value)], { shades } = this;
    for (let shade = 0; shade < 256; shade++) {
      this.boxes.shown[shade] = Number(shade >= from && shade <= to && (shade !== shades.background || byId("background").checked));
    }
    byId("range-text").textContent = from > to ? "No value is shown." : `Values from ${shades.valueOf(from)} to ${shades.valueOf(to)}.`;
    this.later ??= requestAnimationFrame(() => {
      this.later = undefined;
      this.boxes.gather();
    });
  }
}

// How long a cell is on each axis; all the same where units differ, or one would be too thin to be seen.
function pitches() {
  const lengths = about.axes.map(({ spacing }) => Math.abs(spacing));
  const same = about.axes.every(({ unit }) => unit === about.axes[0].unit);
  const whole = lengths.map((length, j) => length * about.size[j]);
  return same && Math.max(...whole) < 20 * Math.min(...whole) ? lengths : lengths.map(() => 1);
}

const shortly = (x) => String(Number(x.toPrecision(6)));
const sentence = (found) => `${found.cell.map((index, j) => `${about.axes[j].name} ${index}`).join(", ")}: ${found.value}${
  found.name ? `, ${found.name}` : ""}, level ${found.level}`;

// For scripts: what is drawn, and what lies where. `ready` waits for all of it.
const orthant = (window.orthant = {
  about,
  firstPicture: null,
  ready: Tree.read().then((tree) => {
    const page = new Page(tree);
    page.resize();
    page.read(null);
    orthant.firstPicture = performance.now();
    return new Promise((done) => requestAnimationFrame(() => setTimeout(() => {
      page.makeBoxes();
      Object.assign(orthant, {
        // All that is known of a cell.
        at: (cell) => tree.at(cell),
        // What the line at the foot says.
        under: () => page.under,
        cursor: () => [...page.cursor],
        moveTo: (cell) => page.moveTo(cell),
        // Regions of a level that the page holds, and boxes of them that are drawn.
        regions: (level) => tree.count[level],
        boxes: (level) => page.boxes?.drawn[level] ?? 0,
        drawnAs: () => (page.fine ? "cells" : "regions"),
        // Shows the boxes of these levels, with all values.
        showAll: (levels = about.levels.map((_, i) => i)) => {
          page.levels = page.levels.map((_, level) => levels.includes(level));
          page.fine = false;
          page.boxes?.shown.fill(1);
          page.boxes?.gather();
          page.redraw();
        },
        // Where on the screen a slice shows a cell.
        placeOf: (slice, cell) => page.slices[slice].placeOf(cell),
        slices: () => page.slices.map(({ axes }) => axes),
      });
      done(orthant);
    })));
  }),
});
orthant.ready.catch((error) => {
  const line = document.createElement("p");
  line.className = "left-out";
  line.setAttribute("role", "alert");
  line.textContent = `The tree could not be shown: ${error.message}`;
  document.querySelector("header").append(line);
  console.error(error);
});
