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

  const draw = async (place, runs) => {
    const chart = page.charts[Number(place.dataset.chart)];
    const datasets = Object.fromEntries(chart.frames.map((name) => [name, rows(name, runs)]));
    views.get(place)?.finalize();
    views.delete(place);
    if (runs && Object.values(datasets).every((found) => found.length === 0)) {
      say(place, "nothing", "Nothing was recorded for this run.");
      return;
    }
    const file = chart.title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
    try {
      views.set(place, await vegaEmbed(place, { ...chart.spec, datasets }, { ...options, downloadFileName: file }));
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

  // One drawing after the other: a choice made while the last is being drawn waits for its turn.
  let queue = Promise.resolve();
  const enqueue = (some) => {
    queue = queue.then(async () => {
      for (const block of some) {
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

  enqueue(blocks);
})();
