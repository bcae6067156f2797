// The page: which view is shown, news of jobs, files that are dropped, and whether the server is there.

import { get, news, whenServer } from "./api.js";
import { h, replace } from "./dom.js";
import { form, KINDS } from "./forms.js";
import { panel } from "./job.js";
import { results } from "./results.js";

const main = document.getElementById("content");
const banner = document.getElementById("banner");
const underWay = document.getElementById("under-way");
const views = new Map();
const jobs = new Map();
// The newest state of every job of this start, for panels that are opened later.
const told = new Map();
let catalog;
let dragging = 0;

// The token has done its work: what is copied from the address bar, or seen over a shoulder, opens nothing.
if (location.search) {
  history.replaceState(null, "", location.pathname + location.hash);
}

const here = () => location.hash.slice(1) || "run";

const open = (id, options) => {
  let found = jobs.get(id);
  if (!found) {
    found = panel(id, { again, ...options });
    jobs.set(id, found);
    const known = told.get(id);
    if (known) {
      found.update({ ...known, first_point: 0, points: known.all });
    } else {
      found.finish();
    }
  }
  return found;
};

const again = (doc) => {
  if (KINDS.includes(doc.kind)) {
    view(doc.kind).form.fill(doc.form);
    location.hash = doc.kind;
  }
};

const EMPTY = {
  run: "Its result will stand here: the answer first, IOPS and latency over time, and the report.",
  sweep: "Its curves will stand here: where the rate saturates, and what latency costs.",
  find: "The answer will stand here, with the search that led to it.",
  advise: "The advice will stand here: what to buy in a sentence, what it rests on, and the front of cost, watts and latency.",
  fleet: "The fleet will stand here: failures, spares, rebuilds, wear, energy and expected losses, each with its interval.",
  expect: "The verdict will stand here: each figure that was measured, beside the interval of the predicted one.",
  calibrate: "The fitted values will stand here: which the results tell, which stay unknown, and how far the check is off.",
  review: "The review will stand here.",
  compare: "The verdict will stand here, each difference with its interval.",
  study: "Predicted figures will stand here, beside the published ones.",
};

const view = (kind) => {
  if (views.has(kind)) {
    return views.get(kind);
  }
  const out = h("div", { class: "out" }, h("p", { class: "empty" }, EMPTY[kind]));
  const made = form(kind, catalog, {
    begun: (id) => replace(out, open(id, { onMistake: made.explain }).element),
    dropped: (found) => found.kind === "result" && views.get("results")?.refresh(),
  });
  const found = { element: h("div", { class: "view" }, made.element, out), form: made, out };
  views.set(kind, found);
  return found;
};

const show = () => {
  const [name, id] = here().split("/");
  document.querySelectorAll("nav a").forEach((one) => {
    const current = one.hash === `#${name}` || (["job", "stored"].includes(name) && one.hash === "#results");
    one.toggleAttribute("aria-current", current);
    if (current) {
      one.setAttribute("aria-current", "page");
    }
  });
  if (!catalog) {
    return;
  }
  if (["job", "stored"].includes(name) && id) {
    const options = name === "stored" ? { of: "runs", again: undefined } : {};
    replace(main, h("div", { class: "wide" }, open(id, options).element));
  } else if (name === "results") {
    if (!views.has("results")) {
      const compare = (ids) => {
        view("compare").form.fill({ results: ids });
        location.hash = "compare";
      };
      views.set("results", results({ compare }));
    }
    replace(main, views.get("results").element);
    views.get("results").refresh();
  } else if (KINDS.includes(name)) {
    replace(main, view(name).element);
    view(name).form.refresh();
  } else {
    replace(main, view("run").element);
  }
};

const lists = () => {
  const of = (id, rows) => h("datalist", { id }, rows.map(([value, label]) => h("option", { value, label })));
  document.body.append(
    of("drives", catalog.drives.map((one) => [one.name, one.title])),
    of("workloads", catalog.workloads.map((one) => [one.name, one.title])),
    of("protections", [["no failure", ""], ["one failure", ""], ["two failures", ""], ["three failures", ""]]),
    of("questions", [
      ["IOPS at p99 < 20 ms", "the highest rate"],
      ["queue depth for 90 % of the most", "how deep"],
      ["drives for 3000 IOPS at p99 < 30 ms", "how many drives"],
      ["bs for 100 MB/s", "how large"],
    ]),
  );
};

const takeNews = (docs) => {
  for (const doc of docs) {
    const before = told.get(doc.id)?.all ?? [];
    told.set(doc.id, { ...doc, all: [...before.slice(0, doc.first_point), ...doc.points] });
    jobs.get(doc.id)?.update(doc);
  }
  const active = [...told.values()].filter((one) => ["waiting", "running"].includes(one.state));
  replace(underWay, active.length ? h("a", { href: `#job/${active[0].id}` }, `${active.length} under way`) : "");
  document.title = active.length ? `${Math.round(100 * active[0].share)} % · Hotband` : "Hotband";
  if (here() === "results" && docs.some((one) => one.share === 0 || one.state !== "running")) {
    views.get("results")?.refresh();
  }
};

const tell = (text) => {
  banner.textContent = text;
  banner.hidden = !text;
};

whenServer({
  gone: () => tell("hotband ui does not answer: it has ended, or is starting. This page asks again by itself."),
  back: () => tell(""),
  anew: () => tell("hotband ui was started anew: open the address that it printed. What it kept is there."),
});

const files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
document.addEventListener("dragenter", (event) => {
  dragging += files(event) ? 1 : 0;
  document.body.classList.toggle("dragging", dragging > 0);
});
document.addEventListener("dragleave", (event) => {
  dragging = Math.max(0, dragging - (files(event) ? 1 : 0));
  document.body.classList.toggle("dragging", dragging > 0);
});
document.addEventListener("dragover", (event) => files(event) && event.preventDefault());
document.addEventListener("drop", async (event) => {
  if (!files(event)) {
    return;
  }
  event.preventDefault();
  dragging = 0;
  document.body.classList.remove("dragging");
  const name = KINDS.includes(here()) ? here() : "run";
  if (name !== here()) {
    location.hash = name;
  }
  for (const file of event.dataTransfer.files) {
    await view(name).form.take(file);
  }
});

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", show);

show();
get("/api/catalog")
  .then((found) => {
    catalog = found;
    lists();
    show();
    news(takeNews);
    document.body.dataset.ready = "yes";
  })
  .catch((error) => replace(main, h("p", { class: "mistake" }, error.message)));
