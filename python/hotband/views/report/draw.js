// Draws the page's charts: unpacks their rows, keeps those of the chosen runs, hands them to vega-embed.
(() => {
  "use strict";
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const options = {
    renderer: "svg",
    actions: { export: true, source: false, compiled: false, editor: false },
    tooltip: { theme: "light" },
  };
  const unpacked = new Map();
  const views = new Map();

  const spread = (column) =>
    column.values ?? column.repeats.flatMap(([value, count]) => Array(count).fill(value));

  const columns = (name) => {
    if (!unpacked.has(name)) {
      const frame = page.frames[name];
      unpacked.set(name, { count: frame.count, columns: frame.columns.map((c) => [c.name, spread(c)]) });
    }
    return unpacked.get(name);
  };

  // The rows of a frame; where runs are chosen, only theirs.
  const rows = (name, runs) => {
    const frame = columns(name);
    const run = frame.columns.find(([key]) => key === "run");
    const found = [];
    for (let n = 0; n < frame.count; n += 1) {
      if (!runs || !run || runs.includes(run[1][n])) {
        found.push(Object.fromEntries(frame.columns.map(([key, values]) => [key, values[n]])));
      }
    }
    return found;
  };

  const say = (place, kind, text) => {
    const note = document.createElement("p");
    note.className = kind;
    note.textContent = text;
    place.replaceChildren(note);
  };

  // Of a phone's width: texts of rows stand above their marks, and legends one below the other.
  const NARROW = 560;
  const room = (place) => place.closest("figure").clientWidth;

  const encodings = (view) => [view, ...(view.layer ?? []).flatMap(encodings)].filter((one) => one.encoding);

  const LEGENDS = ["color", "stroke", "fill", "shape", "strokeDash", "strokeWidth", "size", "opacity"];
  const WRAPPED = (chars) =>
    `slice(split(replace(datum.label, regexp('(.{1,${chars}})( |$)', 'g'), '$1\\n'), '\\n'), 0, -1)`;

  const lines_of = (text, chars) => text.match(new RegExp(`.{1,${chars}}( |$)`, "g"))?.map((line) => line.trim()) ?? text;

  const narrowed = (spec, width) => {
    const copy = structuredClone(spec);
    let rows = 0;
    let lines = 1;
    const narrow = copy.usermeta?.narrow;
    for (const view of encodings(copy)) {
      const { encoding, mark } = view;
      if (!narrow && encoding.y?.type === "nominal" && (mark === "bar" || mark?.type === "bar")) {
        view.mark = { ...(mark.type ? mark : { type: mark }), height: 13 };
      }
      const axis = encoding.y?.axis;
      if (axis && narrow && encoding.y.type === "nominal") {
        const above = { labelAlign: "left", labelPadding: 0, labelLimit: 0 };
        Object.assign(axis, above, narrow.axis);
        encoding.y.scale = { ...encoding.y.scale, ...narrow.scale };
      } else if (axis && encoding.y.type === "nominal") {
        const tall = axis.labelOffset?.condition;
        rows = Math.max(rows, encoding.y.scale?.domain?.length ?? encoding.y.sort?.length ?? 0);
        lines = tall ? 2 : lines;
        const above = { labelAlign: "left", labelPadding: 0, labelLimit: width - 8, ticks: false, domain: false };
        Object.assign(axis, above, { labelOffset: tall ? { condition: { ...tall, value: -24 }, value: -17 } : -17 });
      }
      const below = encoding.x?.axis;
      if (typeof below?.title === "string") {
        below.title = lines_of(below.title, Math.floor(width / 7));
      }
      for (const channel of LEGENDS) {
        const legend = encoding[channel]?.legend;
        if (legend) {
          legend.labelExpr ??= WRAPPED(Math.floor((width - 40) / 7));
          const longest = Math.max(...(encoding[channel].scale?.domain ?? [" ".repeat(99)]).map((one) => `${one}`.length));
          const columns = Math.max(1, Math.min(4, Math.floor(width / (7 * longest + 50))));
          Object.assign(legend, { columns, labelLimit: width - 36 });
        }
      }
    }
    if (copy.config?.legend) {
      Object.assign(copy.config.legend, { columns: 1, labelLimit: width - 36 });
    }
    if (narrow) {
      copy.height = narrow.height;
    } else if (rows && typeof copy.height === "number") {
      copy.height = Math.max(copy.height, rows * (lines > 1 ? 52 : 40));
    }
    return copy;
  };

  // Of chosen runs, legends name their lines alone.
  const named = (spec, found) => {
    if (!found) {
      return spec;
    }
    const copy = structuredClone(spec);
    const lines = [...new Set(found.map((row) => row.line))].filter((line) => line !== undefined);
    for (const { encoding } of [copy, ...(copy.layer ?? [])].flatMap(encodings)) {
      for (const channel of LEGENDS) {
        if (encoding[channel]?.field === "line" && encoding[channel].legend) {
          encoding[channel].legend.values = lines;
        }
      }
    }
    return copy;
  };

  const draw = async (place, runs) => {
    const chart = page.charts[Number(place.dataset.chart)];
    const width = room(place);
    const fits = width < NARROW && !chart.spec.facet && !chart.spec.hconcat && !chart.spec.vconcat;
    place.classList.toggle("fits", fits);
    const datasets = Object.fromEntries(chart.frames.map((name) => [name, rows(name, runs)]));
    views.get(place)?.finalize();
    views.delete(place);
    if (runs && Object.values(datasets).every((found) => found.length === 0)) {
      say(place, "nothing", "Nothing was recorded for this run.");
      return;
    }
    const spec = named(fits ? narrowed(chart.spec, width) : chart.spec, runs && Object.values(datasets).flat());
    const file = chart.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    try {
      views.set(place, await vegaEmbed(place, { ...spec, datasets }, { ...options, downloadFileName: file }));
    } catch (error) {
      say(place, "chart-error", `This chart could not be drawn: ${error.message}`);
    }
  };

  const drawBlock = async (block) => {
    const form = block.querySelector("form.choose");
    const runs = form && [form.elements.run.value, form.elements.other.value];
    for (const place of block.querySelectorAll(".chart")) {
      await draw(place, runs);
    }
  };

  // What is folded away has no width: it is drawn when it is unfolded.
  const hidden = (block) => block.closest("details:not([open])") !== null;
  const drawn = new Set();

  // One drawing after the other: a choice made while the last is being drawn waits for its turn.
  let queue = Promise.resolve();
  const enqueue = (some) => {
    some.forEach((block) => drawn.delete(block));
    queue = queue.then(async () => {
      for (const block of some.filter((one) => !hidden(one) && !drawn.has(one))) {
        drawn.add(block);
        await drawBlock(block);
      }
      document.body.dataset.drawn = String(views.size);
    });
  };

  // A choice made in one place holds in all of them: the reader looks at a run, not at a chart.
  const blocks = [...document.querySelectorAll(".charts")];
  const forms = [...document.querySelectorAll("form.choose")];
  for (const form of forms) {
    form.addEventListener("change", (event) => {
      for (const other of forms) {
        other.elements[event.target.name].value = event.target.value;
      }
      enqueue(blocks.filter((block) => "choose" in block.dataset));
    });
  }

  document.addEventListener("toggle", () => enqueue(blocks.filter((block) => !drawn.has(block))), true);
  // A phone that is turned: what is on the other side of the border between narrow and wide is drawn anew.
  window.addEventListener("resize", () => {
    const turned = (place) => views.has(place) && place.classList.contains("fits") !== room(place) < NARROW;
    enqueue(blocks.filter((block) => !hidden(block) && [...block.querySelectorAll(".chart")].some(turned)));
  });

  const folds = [...document.querySelectorAll(".folded > details")];
  const unfold = document.querySelector(".unfold");
  if (unfold && folds.length) {
    unfold.hidden = false;
    unfold.addEventListener("click", () => folds.forEach((fold) => (fold.open = true)));
  }
  const arrive = () => {
    const found = location.hash ? document.getElementById(decodeURIComponent(location.hash.slice(1))) : null;
    const folds = found ? [found.querySelector(":scope > details")] : [];
    for (let outer = found?.closest("details"); outer; outer = outer.parentElement.closest("details")) {
      folds.push(outer);
    }
    if (folds.some((fold) => fold && !fold.open)) {
      folds.forEach((fold) => fold && (fold.open = true));
      found.scrollIntoView();
    }
  };
  window.addEventListener("hashchange", arrive);
  arrive();

  enqueue(blocks);
})();
