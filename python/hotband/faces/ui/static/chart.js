// Charts of lines as SVG: axes, a legend, and the values where the pointer is. Colours are classes, for light and dark.

import { freshId, h, s } from "./dom.js";

const MARGIN = { top: 8, right: 14, bottom: 34, left: 56 };
const HEIGHT = 220;
// More points than pixels cannot be seen: of each pixel the lowest and the highest are drawn.
const LEGEND_LINES = 12;
const COLORS = 8;

const STEPS = [1, 2, 2.5, 5, 10];

const ticksOf = (low, high, count) => {
  const span = high - low || Math.abs(high) || 1;
  const size = 10 ** Math.floor(Math.log10(span / count));
  const step = size * STEPS.find((one) => span / (size * one) <= count);
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) {
    found.push(Math.abs(at) < step / 1e6 ? 0 : at);
  }
  return found;
};

const powers = (low, high) => {
  const found = [];
  for (let at = 2 ** Math.ceil(Math.log2(low) - 1e-9); at <= high * 1.001; at *= 2) {
    found.push(at);
  }
  return found;
};

// Of a logarithmic axis: 1, 2 and 5 of each decade, or the decades alone where those are too many.
const MOST_LOG_TICKS = 7;

const decades = (low, high) => {
  const found = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    found.push(...[1, 2, 5].map((step) => step * 10 ** power));
  }
  const within = found.filter((at) => at >= low * 0.999 && at <= high * 1.001);
  return within.length > MOST_LOG_TICKS ? within.filter((at) => Number.isInteger(Math.log10(Number(at.toPrecision(6))))) : within;
};

// The ends of a logarithmic axis: the nearest 1, 2 or 5 outside of the values.
const widened = (low, high) => {
  const steps = (at) => [1, 2, 5, 10].map((step) => step * 10 ** Math.floor(Math.log10(at)));
  return [Math.max(...steps(low).filter((step) => step <= low * 1.0001)), Math.min(...steps(high).filter((step) => step >= high * 0.9999))];
};

// 1 is the 90th percentile, 2 the 99th, 3 the 99.9th.
const percentile = (nines) => `${(100 * (1 - 10 ** -nines)).toFixed(Math.max(0, Math.ceil(nines) - 2))} %`;

const UNITS = [[1e9, "G"], [1e6, "M"], [1e4, "k", 1e3]];

export const shown = (value) => {
  if (value === null || value === undefined) {
    return "–";
  }
  const [from, unit, by] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [0, "", 1];
  const scaled = value / (by ?? (from || 1));
  return `${Number(scaled.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 4 })}${unit}`;
};

const extentOf = (lines, place) => {
  let [low, high] = [Infinity, -Infinity];
  for (const { points } of lines) {
    for (const point of points) {
      if (point[place] !== null && Number.isFinite(point[place])) {
        low = Math.min(low, point[place]);
        high = Math.max(high, point[place]);
      }
    }
  }
  return low <= high ? [low, high] : null;
};

const thinned = (points, x, width) => {
  if (points.length <= 2 * width) {
    return points;
  }
  const columns = new Map();
  for (const point of points.filter(([, y]) => y !== null)) {
    const column = Math.round(x(point[0]));
    const held = columns.get(column);
    if (!held) {
      columns.set(column, [point, point]);
    } else if (point[1] < held[0][1]) {
      held[0] = point;
    } else if (point[1] > held[1][1]) {
      held[1] = point;
    }
  }
  return [...columns.values()].flatMap((pair) => pair.sort((a, b) => a[0] - b[0]));
};

const pathOf = (points, x, y) => {
  let [path, pen] = ["", "M"];
  for (const [at, value] of points) {
    if (value === null) {
      pen = "M";
      continue;
    }
    path += `${pen}${x(at).toFixed(1)} ${y(value).toFixed(1)}`;
    pen = "L";
  }
  return path;
};

const summary = (doc) => {
  const range = extentOf(doc.lines, 1);
  return range ? `${doc.title}, from ${shown(range[0])} to ${shown(range[1])}` : `${doc.title}, no values yet`;
};

const named = (doc, value) => (doc.nines ? percentile(value) : shown(value));

const axis = (svg, doc, { x, y, width, xs, ys }) => {
  for (const value of ys) {
    const at = y(value).toFixed(1);
    svg.append(s("line", { class: "grid", x1: MARGIN.left, x2: width - MARGIN.right, y1: at, y2: at }));
    svg.append(s("text", { class: "tick end", x: MARGIN.left - 7, y: at, dy: ".32em" }, shown(value)));
  }
  for (const value of xs) {
    svg.append(s("text", { class: "tick middle", x: x(value).toFixed(1), y: HEIGHT - MARGIN.bottom + 15 }, named(doc, value)));
  }
  const middle = (MARGIN.left + width - MARGIN.right) / 2;
  svg.append(s("text", { class: "tick middle", x: middle, y: HEIGHT - 4 }, doc.x));
};

// The nearest points of all lines where the pointer is.
const follow = (svg, doc, { x, invert, width }) => {
  const rule = s("line", { class: "rule", y1: MARGIN.top, y2: HEIGHT - MARGIN.bottom, visibility: "hidden" });
  svg.append(rule);
  const words = svg.parentElement.querySelector(".values");
  const nearest = (points, at) => {
    let best = null;
    for (const point of points) {
      if (!best || Math.abs(point[0] - at) < Math.abs(best[0] - at)) {
        best = point;
      }
    }
    return best;
  };
  svg.onpointermove = (event) => {
    const box = svg.getBoundingClientRect();
    const at = invert(((event.clientX - box.left) * width) / box.width);
    const all = doc.lines.map((line) => [line.name, nearest(line.points, at)]).filter(([, point]) => point);
    if (!all.length) {
      return;
    }
    const place = x(all[0][1][0]);
    rule.setAttribute("x1", place);
    rule.setAttribute("x2", place);
    rule.setAttribute("visibility", "visible");
    const each = all.slice(0, LEGEND_LINES).map(([name, point]) => `${name} ${shown(point[1])}`);
    words.textContent = `${doc.x} ${named(doc, all[0][1][0])}: ${each.join(" · ")}`;
  };
  svg.onpointerleave = () => {
    rule.setAttribute("visibility", "hidden");
    words.textContent = "";
  };
};

const draw = (figure, doc) => {
  const svg = figure.querySelector("svg");
  const width = Math.max(260, Math.round(svg.getBoundingClientRect().width || figure.clientWidth || 480));
  svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
  svg.querySelector("title").textContent = summary(doc);
  const high = doc.y_log && (extentOf(doc.lines, 1)?.[1] ?? 0) > 0;
  // A logarithmic axis has no place for zero: such a point is a gap.
  const lines = high ? doc.lines.map((line) => ({ ...line, points: line.points.map(([at, value]) => [at, value > 0 ? value : null]) })) : doc.lines;
  const [xe, ye] = [extentOf(lines, 0), extentOf(lines, 1)];
  svg.replaceChildren(svg.querySelector("title"));
  if (!xe || !ye) {
    svg.append(s("text", { class: "tick middle", x: width / 2, y: HEIGHT / 2 }, "no values yet"));
    return;
  }
  const log = doc.x_log && xe[0] > 0;
  const along = log ? Math.log2 : (value) => value;
  const [x0, x1] = [along(xe[0]), along(xe[1])];
  const room = width - MARGIN.left - MARGIN.right;
  const ends = high ? widened(ye[0], ye[1]) : [Math.min(0, ye[0]), ye[1] || 1];
  const up = high ? Math.log10 : (value) => value;
  const [y0, y1] = ends.map(up);
  const x = (value) => MARGIN.left + ((along(value) - x0) / (x1 - x0 || 1)) * room;
  const invert = (at) => {
    const value = x0 + ((at - MARGIN.left) / room) * (x1 - x0);
    return log ? 2 ** value : value;
  };
  const y = (value) => HEIGHT - MARGIN.bottom - ((up(value) - y0) / (y1 - y0 || 1)) * (HEIGHT - MARGIN.top - MARGIN.bottom);
  const many = Math.max(3, Math.floor(room / 70));
  let xs = doc.nines ? ticksOf(x0, x1, many).filter(Number.isInteger) : log ? powers(xe[0], xe[1]) : ticksOf(xe[0], xe[1], many);
  const every = Math.ceil(xs.length / many);
  xs = xs.filter((_, place) => place % every === 0);
  axis(svg, doc, { x, y, width, xs, ys: high ? decades(...ends) : ticksOf(y0, y1, 4) });
  lines.forEach(({ points }, number) => {
    const color = `line c${number % COLORS}`;
    if (!doc.dots) {
      svg.append(s("path", { class: color, d: pathOf(thinned(points, x, room), x, y) }));
    }
    if (doc.dots || points.length <= 40) {
      for (const [at, value] of points.filter(([, value]) => value !== null)) {
        svg.append(s("circle", { class: `dot c${number % COLORS}`, cx: x(at).toFixed(1), cy: y(value).toFixed(1), r: doc.dots ? 4.5 : 2.5 }));
      }
    }
  });
  follow(svg, doc, { x, invert, width });
};

const legend = (doc) => {
  const many = doc.lines.length > LEGEND_LINES ? [h("li", {}, `and ${doc.lines.length - LEGEND_LINES} more`)] : [];
  const items = doc.lines
    .slice(0, LEGEND_LINES)
    .map(({ name }, number) => h("li", {}, h("span", { class: `key c${number % COLORS}` }), name));
  return h("ul", { class: "legend" }, items, many);
};

// Ratio of the largest value to the smallest from which on a reader can choose between both scales.
const WIDE = 100;

const isWide = ({ lines }) => {
  const values = lines.flatMap(({ points }) => points.map(([, value]) => value)).filter((value) => value > 0);
  return values.length > 1 && values.reduce((a, b) => Math.max(a, b)) > WIDE * values.reduce((a, b) => Math.min(a, b));
};

// A figure of {title, x, x_log, y_log, nines, lines: [{name, points: [[x, y]]}]}; `update` draws another in its place.
// Of a wide range the reader chooses a linear or a logarithmic scale, which later updates keep.
export const chart = (doc) => {
  const label = freshId("chart");
  const svg = s("svg", { role: "img", height: HEIGHT, "aria-labelledby": label }, s("title", { id: label }));
  const keys = h("div", { class: "keys" });
  const scale = h("button", { type: "button", class: "plain scale", hidden: true });
  const figure = h("figure", { class: "chart" }, h("figcaption", {}, doc.title), scale, svg, h("p", { class: "values" }), keys);
  let current = doc;
  let chosen = null;
  let width = 0;
  const redraw = () => {
    const high = chosen ?? Boolean(current.y_log);
    scale.textContent = high ? "Linear scale" : "Log scale";
    draw(figure, { ...current, y_log: high });
  };
  const update = (next) => {
    current = next;
    keys.replaceChildren(...(next.lines.length > 1 ? [legend(next)] : []));
    scale.hidden = !isWide(next);
    redraw();
  };
  scale.addEventListener("click", () => {
    chosen = !(chosen ?? Boolean(current.y_log));
    redraw();
  });
  new ResizeObserver(() => {
    const now = Math.round(svg.getBoundingClientRect().width);
    if (now && now !== width) {
      width = now;
      redraw();
    }
  }).observe(figure);
  update(doc);
  return { figure, update };
};
