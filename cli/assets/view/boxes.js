// Terminal regions as boxes in 3-D, turned by hand: one cube, drawn once per box.

const BOX_SHADER = [`#version 300 es
  in vec3 position; in vec3 normal; in vec3 low; in vec3 high; in vec4 colour;
  uniform mat4 view; uniform vec3 unit; uniform vec3 middle; uniform vec3 light;
  out vec4 shade; out vec3 face; flat out vec3 across;
  void main() {
    gl_Position = view * vec4((mix(low, high, position) - middle) * unit, 1.0);
    shade = vec4(colour.rgb * (0.7 + 0.36 * max(0.0, dot(normal, light))), colour.a);
    face = position;
    across = 1.0 - abs(normal);
  }`, `#version 300 es
  precision highp float;
  in vec4 shade; in vec3 face; flat in vec3 across; uniform float edges; uniform float opacity; out vec4 pixel;
  void main() {
    vec3 pixel_of = max(fwidth(face), 1e-6);
    vec3 far = min(face, 1.0 - face) / pixel_of + (1.0 - across) * 9.0;
    // Boxes of a few pixels would be nothing but edges.
    float large = smoothstep(3.0, 9.0, 1.0 / max(pixel_of.x * across.x, max(pixel_of.y * across.y, pixel_of.z * across.z)));
    float edge = edges * large * (1.0 - smoothstep(0.0, 1.1, min(far.x, min(far.y, far.z))));
    vec3 ink = mix(shade.rgb, shade.rgb * 0.5, edge);
    float alpha = mix(opacity, 1.0, edge * 0.6 * step(opacity, 0.99));
    pixel = vec4(ink * alpha, alpha);
  }`];
const LINE_SHADER = [`#version 300 es
  in vec3 position; uniform mat4 view; uniform vec3 size;
  void main() { gl_Position = view * vec4((position - 0.5) * size, 1.0); }`, `#version 300 es
  precision mediump float; uniform vec4 ink; out vec4 pixel;
  void main() { pixel = ink; }`];

const CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]];
const FACES = [[[0, 3, 2, 1], [0, 0, -1]], [[4, 5, 6, 7], [0, 0, 1]], [[0, 1, 5, 4], [0, -1, 0]], [[3, 7, 6, 2], [0, 1, 0]],
  [[0, 4, 7, 3], [-1, 0, 0]], [[1, 2, 6, 5], [1, 0, 0]]];
const EDGES = [0, 1, 1, 2, 2, 3, 3, 0, 4, 5, 5, 6, 6, 7, 7, 4, 0, 4, 1, 5, 2, 6, 3, 7];
const MOST_CELLS = 1 << 26; // Cells whose outside is looked for one by one.
const MOST_SORTED = 60000; // Boxes that are drawn from back to front.

class Boxes {
  constructor(page) {
    this.page = page;
    this.figure = byId("boxes");
    this.canvas = this.figure.querySelector("canvas");
    this.caption = this.figure.querySelector("figcaption");
    this.marks = [...this.figure.querySelectorAll(".mark")];
    [this.yaw, this.pitch, this.zoom] = [-0.9, 0.42, 1];
    this.shown = new Uint8Array(256).fill(1);
    this.drawn = about.levels.map(() => 0);
    this.gl = this.canvas.getContext("webgl2", { alpha: true, antialias: true });
    this.figure.classList.toggle("without", !this.gl);
    if (!this.gl) return;
    this.setUp();
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.setUp();
      this.gather();
    });
    this.listen();
  }

  setUp() {
    const { gl } = this;
    this.program = twgl.createProgramInfo(gl, BOX_SHADER);
    this.lines = twgl.createProgramInfo(gl, LINE_SHADER);
    const position = [], normal = [];
    for (const [[a, b, c, d], out] of FACES) {
      for (const corner of [a, b, c, a, c, d]) {
        position.push(...CORNERS[corner]);
        normal.push(...out);
      }
    }
    this.cube = { position, normal };
    const frame = twgl.createBufferInfoFromArrays(gl, { position: EDGES.flatMap((corner) => CORNERS[corner]) });
    this.frame = twgl.createVertexArrayInfo(gl, this.lines, frame);
  }

  // The boxes of what is chosen: of levels, values, and where the axes are held that are not shown.
  gather() {
    if (!this.gl) return;
    const { page } = this, { tree, shades } = page;
    const held = about.size.map((_, j) => j).filter((j) => !page.axes.includes(j));
    const rows = tree.rowsThrough(page.cursor, held).filter((row) => page.levels[tree.level[row]]);
    const boxes = page.fine ? this.outside(rows) : this.regions(rows);
    const count = boxes.shade.length, colour = new Uint8Array(Uint32Array.from(boxes.shade, (shade) => shades.pixels[shade]).buffer);
    this.boxes = { low: Float32Array.from(boxes.low), high: Float32Array.from(boxes.high), colour, count };
    this.upload(this.boxes);
    const all = rows.length, what = page.fine ? "runs of cells" : `of ${grouped(all)} regions`;
    const left = page.fine && this.tooMany() ? ": too many cells for that; boxes are shown" : "";
    this.caption.textContent = `${grouped(count)} ${what}${left}`;
    const names = page.axes.map((j) => about.axes[j].name).join(", ");
    this.canvas.setAttribute("aria-label", `Boxes of regions in ${names}: ${this.caption.textContent}`);
    this.draw();
  }

  // Boxes of leaves are solid where a thin set runs through them: the page opens with cells if most cells are in leaves, and few enough.
  areMostlyLeaves() {
    const { tree } = this.page, cells = about.size.reduce((product, n) => product * n, 1);
    const inLeaves = tree.volume.reduce((sum, volume, row) => sum + (tree.isLeaf(row) ? volume : 0), 0);
    return !this.tooMany() && 2 * inLeaves > cells;
  }

  tooMany() {
    return this.page.axes.reduce((product, j) => product * about.size[j], 1) > MOST_CELLS;
  }

  // A box for each region of which something is shown; a leaf has the colour of most of what is.
  regions(rows) {
    const { tree, shades, axes } = this.page, boxes = { low: [], high: [], shade: [] };
    this.drawn.fill(0);
    for (const row of rows) {
      const shade = tree.isLeaf(row) ? this.most(row) : this.shown[shades.ofRow[row]] ? shades.ofRow[row] : -1;
      if (shade < 0) continue;
      for (const j of axes) {
        boxes.low.push(tree.low[j][row]);
        boxes.high.push(tree.high[j][row]);
      }
      boxes.shade.push(shade);
      this.drawn[tree.level[row]]++;
    }
    return boxes;
  }

  // Calls with the cells of a leaf that are at the cursor on axes that are held: indices on the three axes, and a place.
  each(row, visit) {
    const { tree, axes, cursor } = this.page, strides = tree.strides(row);
    const start = tree.place(row, cursor.map((index, j) => (axes.includes(j) ? tree.low[j][row] : index)));
    const [a, b, c] = axes, [na, nb, nc] = axes.map((j) => tree.high[j][row] - tree.low[j][row]);
    for (let z = 0; z < nc; z++) {
      for (let y = 0; y < nb; y++) {
        let place = start + z * strides[c] + y * strides[b];
        for (let x = 0; x < na; x++, place += strides[a]) visit(x, y, z, place);
      }
    }
  }

  most(row) {
    const counts = new Uint32Array(256), { shades } = this.page;
    this.each(row, (x, y, z, place) => counts[shades.ofCell[place]]++);
    let best = -1;
    for (let shade = 0; shade < 256; shade++) if (counts[shade] && this.shown[shade] && !(counts[shade] <= counts[best])) best = shade;
    return best;
  }

  // What is seen of shown cells from outside: runs of them along the first axis.
  outside(rows) {
    if (this.tooMany()) return this.regions(rows);
    const { tree, shades, axes } = this.page, [na, nb, nc] = axes.map((j) => about.size[j]), [a, b, c] = axes;
    const grid = new Uint8Array(na * nb * nc), boxes = { low: [], high: [], shade: [] };
    for (const row of rows) {
      const from = axes.map((j) => tree.low[j][row]);
      if (tree.isLeaf(row)) {
        this.each(row, (x, y, z, place) => {
          const shade = shades.ofCell[place];
          if (this.shown[shade]) grid[((from[2] + z) * nb + from[1] + y) * na + from[0] + x] = shade;
        });
      } else if (this.shown[shades.ofRow[row]]) {
        for (let z = from[2]; z < tree.high[c][row]; z++) {
          for (let y = from[1]; y < tree.high[b][row]; y++) {
            grid.fill(shades.ofRow[row], (z * nb + y) * na + from[0], (z * nb + y) * na + tree.high[a][row]);
          }
        }
      }
    }
    for (let z = 0; z < nc; z++) {
      for (let y = 0; y < nb; y++) {
        const at = (z * nb + y) * na, rim = z === 0 || y === 0 || z === nc - 1 || y === nb - 1;
        let start = -1;
        for (let x = 0; x <= na; x++) {
          const i = at + x, shade = x < na ? grid[i] : 0;
          const seen = shade && (rim || x === 0 || x === na - 1 || !grid[i - 1] || !grid[i + 1] || !grid[i - na] || !grid[i + na] ||
            !grid[i - na * nb] || !grid[i + na * nb]);
          if (start >= 0 && (!seen || shade !== grid[at + start])) {
            boxes.low.push(start, y, z);
            boxes.high.push(x, y + 1, z + 1);
            boxes.shade.push(grid[at + start]);
            start = -1;
          }
          if (seen && start < 0) start = x;
        }
      }
    }
    this.drawn.fill(0);
    return boxes;
  }

  upload({ low, high, colour }) {
    const { gl } = this, once = (numComponents, data) => ({ numComponents, data, divisor: 1 });
    if (this.buffers) Object.values(this.buffers.attribs).forEach(({ buffer }) => gl.deleteBuffer(buffer));
    if (this.array) gl.deleteVertexArray(this.array.vertexArrayObject);
    this.buffers = twgl.createBufferInfoFromArrays(gl, {
      position: { numComponents: 3, data: this.cube.position }, normal: { numComponents: 3, data: this.cube.normal },
      low: once(3, low), high: once(3, high), colour: { ...once(4, colour), normalize: true },
    });
    this.array = twgl.createVertexArrayInfo(gl, this.program, this.buffers);
  }

  resize() {
    const width = this.figure.clientWidth, beside = parseFloat(this.page.slices[0].canvas.style.height);
    const height = Math.round(Math.max(300, Math.min(width, beside)));
    const ratio = Math.min(devicePixelRatio || 1, 2);
    this.canvas.style.height = `${height}px`;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
  }

  draw() {
    const { gl, page, canvas } = this;
    if (!gl || !this.array || gl.isContextLost()) return;
    const cells = page.axes.map((j) => about.size[j]), pitch = page.axes.map((j) => page.pitch[j]);
    const longest = Math.max(...cells.map((n, i) => n * pitch[i])), unit = pitch.map((length) => length / longest);
    const size = cells.map((n, i) => n * unit[i]), radius = Math.hypot(...size) / 2;
    const { m4, v3 } = twgl, view = (30 * Math.PI) / 180, ratio = canvas.width / canvas.height;
    const distance = (radius / Math.sin(view / 2) / Math.min(1, ratio) / this.zoom) * 0.98;
    const to = [Math.cos(this.pitch) * Math.cos(this.yaw), Math.cos(this.pitch) * Math.sin(this.yaw), Math.sin(this.pitch)];
    const camera = m4.lookAt(v3.mulScalar(to, distance), [0, 0, 0], [0, 0, 1]);
    const lens = m4.perspective(view, ratio, Math.max(distance - 2 * radius, radius / 100), distance + 2 * radius);
    const matrix = m4.multiply(lens, m4.inverse(camera));
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    const ink = page.dark ? [0.64, 0.67, 0.7, 0.9] : [0.35, 0.38, 0.41, 0.9];
    gl.useProgram(this.lines.program);
    twgl.setBuffersAndAttributes(gl, this.lines, this.frame);
    twgl.setUniforms(this.lines, { view: matrix, size, ink });
    twgl.drawBufferInfo(gl, this.frame, gl.LINES);
    if (this.boxes.count > 0) {
      const clear = !page.solid;
      if (clear) this.sort(to, unit);
      gl.enable(gl.CULL_FACE);
      gl.depthMask(!clear);
      clear ? gl.enable(gl.BLEND) : gl.disable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.useProgram(this.program.program);
      twgl.setBuffersAndAttributes(gl, this.program, this.array);
      twgl.setUniforms(this.program, {
        view: matrix, unit, middle: cells.map((n) => n / 2), edges: page.edges && !page.fine ? 1 : 0, opacity: clear ? 0.16 : 1,
        // From above and beside whoever looks.
        light: v3.normalize(v3.add(to, [0.25 * Math.sin(this.yaw), -0.25 * Math.cos(this.yaw), 0.5])),
      });
      twgl.drawBufferInfo(gl, this.array, gl.TRIANGLES, 36, 0, this.boxes.count);
      gl.disable(gl.BLEND);
    }
    this.place(matrix, size, to);
  }

  // From back to front, as what is seen through has to be drawn.
  sort(to, unit) {
    const { low, high, colour, count } = this.boxes;
    if (count > MOST_SORTED) return;
    const depth = Float32Array.from({ length: count }, (_, i) =>
      [0, 1, 2].reduce((sum, j) => sum + (low[3 * i + j] + high[3 * i + j]) * unit[j] * to[j], 0));
    const order = Uint32Array.from({ length: count }, (_, i) => i).sort((a, b) => depth[a] - depth[b]);
    const sorted = (from, n) => from.constructor.from({ length: n * count }, (_, i) => from[n * order[Math.floor(i / n)] + (i % n)]);
    this.upload({ low: sorted(low, 3), high: sorted(high, 3), colour: sorted(colour, 4) });
  }

  // The names of the axes, where the edges end that boxes hide least: the nearest ones at the foot, and the one most to the left.
  place(matrix, size, to) {
    const { clientWidth, clientHeight } = this.canvas, near = to.map((x) => (x < 0 ? -1 : 1));
    const screen = (signs) => twgl.m4.transformPoint(matrix, signs.map((sign, j) => (sign * size[j]) / 2));
    const upright = [[-1, -1], [-1, 1], [1, -1], [1, 1]].sort((a, b) => screen([...a, 1])[0] - screen([...b, 1])[0])[0];
    const ends = [[1.1, near[1], -near[2]], [near[0], 1.1, -near[2]], [...upright, 1.12]];
    this.marks.forEach((mark, i) => {
      const [x, y] = screen(ends[i]), within = (at, most) => Math.min(Math.max(at, 2), most - 18);
      mark.textContent = about.axes[this.page.axes[i]].name;
      mark.style.left = `${within((x * 0.5 + 0.5) * clientWidth - 4, clientWidth)}px`;
      mark.style.top = `${within((0.5 - y * 0.5) * clientHeight - 10, clientHeight)}px`;
    });
  }

  turn(yaw, pitch) {
    this.yaw -= yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, -1.56), 1.56);
    this.later();
  }

  zoomBy(factor) {
    this.zoom = factor === 0 ? 1 : Math.min(Math.max(this.zoom * factor, 0.5), 20);
    this.later();
  }

  later() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = undefined;
      this.draw();
    });
  }

  listen() {
    const { canvas } = this, down = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      down.set(event.pointerId, [event.offsetX, event.offsetY]);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = down.get(event.pointerId);
      if (!before) return;
      const now = [event.offsetX, event.offsetY], [other] = [...down].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      if (other) {
        const distance = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
        this.zoomBy(distance(now) / distance(before));
      } else this.turn((now[0] - before[0]) / 160, (now[1] - before[1]) / 160);
      down.set(event.pointerId, now);
    });
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => down.delete(event.pointerId));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== canvas) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY / 300));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const keys = {
        ArrowLeft: () => this.turn(-0.15, 0), ArrowRight: () => this.turn(0.15, 0), ArrowUp: () => this.turn(0, 0.15),
        ArrowDown: () => this.turn(0, -0.15), "+": () => this.zoomBy(1.25), "=": () => this.zoomBy(1.25), "-": () => this.zoomBy(0.8),
        0: () => this.zoomBy(0),
      };
      if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }
}
