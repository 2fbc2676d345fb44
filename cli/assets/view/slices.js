// Slices: planes of two axes through the cursor, drawn at the size of the screen, however many cells there are. Axis 1 of a plane
// points up, as on paper.

const OFF = 0xff808080;
const NEAR = 5; // Lines closer together than so many pixels are left out.

class Slice {
  // `axes` across and up; in 1-D the one up is -1.
  constructor(page, axes) {
    this.page = page;
    this.axes = axes;
    const name = axes[1] < 0 ? about.axes[axes[0]].name : axes.map((j) => about.axes[j].name).join("–");
    this.figure = document.createElement("figure");
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "application");
    this.canvas.setAttribute("aria-roledescription", "slice");
    this.canvas.setAttribute("aria-describedby", "keys");
    this.caption = document.createElement("figcaption");
    this.figure.append(this.canvas, this.caption);
    this.name = name;
    this.zoom = 1;
    this.centre = axes.map((j) => (j < 0 ? 0.5 : about.size[j] / 2));
    this.listen();
  }

  // Cells across and up, and how long one is beside the other.
  extent() {
    return this.axes.map((j) => (j < 0 ? 1 : about.size[j]));
  }

  aspect() {
    const [across, up] = this.extent(), pitch = this.axes.map((j) => (j < 0 ? 1 : this.page.pitch[j]));
    return this.axes[1] < 0 ? 6 : (across * pitch[0]) / (up * pitch[1]);
  }

  resize() {
    const width = this.figure.clientWidth, tallest = Math.max(220, Math.min(innerHeight * 0.62, 620));
    const height = Math.round(Math.min(tallest, Math.max(90, width / this.aspect())));
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.ratio = ratio;
  }

  // Pixels per cell on each axis, and the cell coordinates of the lower left corner.
  view() {
    const { width, height } = this.canvas, [across, up] = this.extent();
    const pitch = this.axes.map((j) => (j < 0 ? 1 : this.page.pitch[j]));
    let scale;
    if (this.axes[1] < 0) scale = [(width / across) * this.zoom, height];
    else {
      const fit = Math.min(width / (across * pitch[0]), height / (up * pitch[1]));
      scale = pitch.map((length) => fit * length * this.zoom);
    }
    return { scale, corner: [this.centre[0] - width / 2 / scale[0], this.centre[1] - height / 2 / scale[1]] };
  }

  // The cell under a pixel of the canvas; null beside the domain.
  cellUnder(x, y) {
    const { scale, corner } = this.view();
    const place = [corner[0] + x / scale[0], corner[1] + (this.canvas.height - y) / scale[1]].map(Math.floor);
    const inside = this.extent().every((n, i) => place[i] >= 0 && place[i] < n);
    return inside ? this.page.cursor.map((index, j) => (j === this.axes[0] ? place[0] : j === this.axes[1] ? place[1] : index)) : null;
  }

  // Where the middle of the cursor's cell, or of another, is on the screen, in CSS pixels of the window.
  placeOf(cell) {
    const { scale, corner } = this.view(), box = this.canvas.getBoundingClientRect();
    const at = this.axes.map((j, i) => ((j < 0 ? 0 : cell[j]) + 0.5 - corner[i]) * scale[i]);
    return [box.left + at[0] / this.ratio, box.top + (this.canvas.height - at[1]) / this.ratio];
  }

  draw() {
    const { page, canvas, axes } = this, { width, height } = canvas;
    if (!width || !height) return;
    const context = canvas.getContext("2d"), image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer), view = this.view(), { tree, shades } = page;
    const held = about.size.map((_, j) => j).filter((j) => !axes.includes(j));
    // The rows of a plane change with what is held alone.
    const key = held.map((j) => page.cursor[j]).join();
    if (key !== this.key) [this.key, this.rows] = [key, tree.rowsThrough(page.cursor, held)];
    const edges = [];
    for (const row of this.rows) {
      const [x0, x1] = span(this.bounds(row, 0), view.corner[0], view.scale[0], width);
      const [y0, y1] = span(this.bounds(row, 1), view.corner[1], view.scale[1], height);
      if (x0 >= x1 || y0 >= y1) continue;
      const colour = !page.levels[tree.level[row]] ? OFF : tree.isLeaf(row) ? null : shades.pixels[shades.ofRow[row]];
      if (colour !== null) {
        for (let y = y0; y < y1; y++) pixels.fill(colour, (height - 1 - y) * width + x0, (height - 1 - y) * width + x1);
      } else this.drawLeaf(pixels, row, [x0, x1, y0, y1], view);
      if (page.lines && x1 - x0 >= NEAR && y1 - y0 >= NEAR) edges.push(x0, x1, y0, y1);
    }
    for (let i = 0; i < edges.length; i += 4) {
      const [x0, x1, y0, y1] = edges.slice(i, i + 4);
      for (let x = x0; x < x1; x++) line(pixels, (height - 1 - y0) * width + x);
      for (let y = y0 + 1; y < y1; y++) line(pixels, (height - 1 - y) * width + x0);
    }
    context.putImageData(image, 0, 0);
    this.drawCursor(context, view);
    this.label(held);
  }

  bounds(row, i) {
    const j = this.axes[i];
    return j < 0 ? [0, 1] : [this.page.tree.low[j][row], this.page.tree.high[j][row]];
  }

  drawLeaf(pixels, row, [x0, x1, y0, y1], { corner, scale }) {
    const { page, axes } = this, { tree, shades } = page, { width, height } = this.canvas;
    const strides = tree.strides(row), cell = page.cursor.map((index, j) => (axes.includes(j) ? tree.low[j][row] : index));
    const start = tree.place(row, cell);
    const step = (i, pixel) => {
      const j = axes[i];
      if (j < 0) return 0;
      const index = Math.floor(corner[i] + (pixel + 0.5) / scale[i]);
      return (Math.min(Math.max(index, tree.low[j][row]), tree.high[j][row] - 1) - tree.low[j][row]) * strides[j];
    };
    const across = Array.from({ length: x1 - x0 }, (_, i) => step(0, x0 + i));
    for (let y = y0; y < y1; y++) {
      const from = start + step(1, y), to = (height - 1 - y) * width + x0;
      for (let i = 0; i < across.length; i++) pixels[to + i] = shades.pixels[shades.ofCell[from + across[i]]];
    }
  }

  drawCursor(context, { corner, scale }) {
    const { page, axes, canvas } = this, { width, height } = canvas;
    const [x, y] = axes.map((j, i) => ((j < 0 ? 0 : page.cursor[j]) + 0.5 - corner[i]) * scale[i]);
    const gap = 6 * this.ratio, top = height - y;
    for (const [style, wide] of [["#000a", 3], ["#fff", 1]]) {
      context.beginPath();
      for (const [a, b, c, d] of [[0, top, x - gap, top], [x + gap, top, width, top], [x, 0, x, top - gap], [x, top + gap, x, height]]) {
        if (axes[1] < 0 && b === d) continue;
        context.moveTo(a, b);
        context.lineTo(c, d);
      }
      context.strokeStyle = style;
      context.lineWidth = wide * Math.max(1, this.ratio / 1.5);
      context.globalAlpha = 0.55;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  label(held) {
    const at = held.map((j) => `${about.axes[j].name} = ${this.page.cursor[j]}`).join(", ");
    const zoomed = this.zoom > 1.01 ? `, ${this.zoom.toFixed(1)} times` : "";
    this.caption.textContent = `${this.name}${at ? ` at ${at}` : ""}${zoomed}`;
    this.canvas.setAttribute("aria-label", `Slice ${this.caption.textContent}`);
  }

  // Zooms, keeping what is under a pixel where it is.
  zoomBy(factor, x = this.canvas.width / 2, y = this.canvas.height / 2) {
    const before = this.view(), most = Math.max(1, ...this.extent()) * 2;
    const at = [before.corner[0] + x / before.scale[0], before.corner[1] + (this.canvas.height - y) / before.scale[1]];
    this.zoom = Math.min(Math.max(this.zoom * factor, 1), most);
    const { scale } = this.view();
    this.centre = [at[0] - (x - this.canvas.width / 2) / scale[0], at[1] + (y - this.canvas.height / 2) / scale[1]];
    this.keepInside();
  }

  keepInside() {
    const { scale } = this.view(), size = [this.canvas.width, this.canvas.height];
    this.centre = this.extent().map((n, i) => {
      const half = size[i] / 2 / scale[i];
      return 2 * half >= n ? n / 2 : Math.min(Math.max(this.centre[i], half), n - half);
    });
    this.canvas.style.touchAction = this.zoom > 1 ? "none" : "pan-y pinch-zoom";
    this.page.redraw();
  }

  listen() {
    const { canvas, page } = this, down = new Map();
    const pixel = (event) => [event.offsetX * this.ratio, event.offsetY * this.ratio];
    let moved = 0;
    canvas.style.touchAction = "pan-y pinch-zoom";
    canvas.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, pixel(event));
      canvas.setPointerCapture(event.pointerId);
      moved = 0;
    });
    canvas.addEventListener("pointermove", (event) => {
      const now = pixel(event), before = down.get(event.pointerId);
      if (!before) return page.read(this.cellUnder(...now));
      const others = [...down].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      const { scale } = this.view();
      moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
      if (others.length === 1) {
        const [other] = others, distance = ([x, y]) => Math.hypot(x - other[0], y - other[1]);
        this.zoomBy(distance(now) / Math.max(1, distance(before)), ...other);
      } else if (this.zoom > 1) {
        this.centre = [this.centre[0] - (now[0] - before[0]) / scale[0], this.centre[1] + (now[1] - before[1]) / scale[1]];
        this.keepInside();
      }
      down.set(event.pointerId, now);
    });
    const up = (event) => {
      const cell = this.cellUnder(...pixel(event));
      if (down.delete(event.pointerId) && event.type === "pointerup" && moved < 6 * this.ratio && cell) page.moveTo(cell);
    };
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", up);
    canvas.addEventListener("pointerleave", () => page.read(null));
    canvas.addEventListener("dblclick", (event) => this.zoomBy(2, ...pixel(event)));
    // A page is scrolled past a picture that nobody works with.
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300), ...pixel(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key_(event));
  }

  key_(event) {
    const { page, axes } = this, by = event.shiftKey ? 10 : 1;
    const through = about.size.map((_, j) => j).find((j) => page.axes.includes(j) && !axes.includes(j));
    const move = (j, step) => j >= 0 && j !== undefined && page.moveTo(page.cursor.map((index, axis) => (axis === j ? index + step : index)), true);
    const keys = {
      ArrowLeft: () => move(axes[0], -by), ArrowRight: () => move(axes[0], by), ArrowDown: () => move(axes[1], -by),
      ArrowUp: () => move(axes[1], by), PageUp: () => move(through, by), PageDown: () => move(through, -by),
      "+": () => this.zoomBy(1.5), "=": () => this.zoomBy(1.5), "-": () => this.zoomBy(1 / 1.5), 0: () => this.zoomBy(0),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
    if (this.zoom > 1 && event.key.startsWith("Arrow")) this.follow();
  }

  // Keeps the cursor in sight.
  follow() {
    const { scale } = this.view(), size = [this.canvas.width, this.canvas.height];
    this.centre = this.axes.map((j, i) => {
      const at = (j < 0 ? 0 : this.page.cursor[j]) + 0.5, half = (0.45 * size[i]) / scale[i];
      return Math.min(Math.max(this.centre[i], at - half), at + half);
    });
    this.keepInside();
  }
}

// The pixels whose middles lie in some cells.
function span([low, high], corner, scale, pixels) {
  const first = (cell) => Math.min(Math.max(Math.ceil((cell - corner) * scale - 0.5), 0), pixels);
  return [first(low), first(high)];
}

// A pixel of a line: what is there, darker where it is light and lighter where it is dark.
function line(pixels, at) {
  const colour = pixels[at], [r, g, b] = [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255];
  const ink = 0.3 * r + 0.59 * g + 0.11 * b > 110 ? 0 : 255, mix = (c) => (c * 13 + ink * 7) / 20;
  pixels[at] = ((255 << 24) | (mix(b) << 16) | (mix(g) << 8) | mix(r)) >>> 0;
}
