// The page: which view is shown, news of jobs, files that are dropped, and whether the server is there.

import { get, Gone, news, upload, whenServer } from "./api.js";
import { h, replace } from "./dom.js";
import { droppedFiles, dropPlace } from "./drop.js";
import { form, KINDS } from "./forms.js";
import { home } from "./home.js";
import { panel } from "./job.js";
import { catalogPage } from "./picker.js";
import { results } from "./results.js";

const main = document.getElementById("content");
const banner = document.getElementById("banner");
const underWay = document.getElementById("under-way");
const forms = document.getElementById("forms");
const views = new Map();
const jobs = new Map();
// The newest state of every job of this start, for panels that are opened later.
const told = new Map();
let catalog;
let dragging = 0;

// The five tabs, and the forms below two of them.
const TABS = {
  home: [["home", "Start"], ["run", "Predict"], ["sweep", "Compare machines"], ["find", "How many?"], ["advise", "What to buy"], ["fleet", "Fleet"]],
  expect: [["expect", "Is it good?"], ["compare", "Compare results"], ["review", "Review"], ["calibrate", "Calibrate"]],
  catalog: [],
  study: [],
  results: [],
};

// The form for a file that was dropped where no form has a field for it.
const GUESSES = { result: "expect", prices: "advise", fleet: "fleet", workload: "run", drive: "run", machine: "run" };

// The token has done its work: what is copied from the address bar, or seen over a shoulder, opens nothing.
if (location.search) {
  history.replaceState(null, "", location.pathname + location.hash);
}

const here = () => location.hash.slice(1) || "home";

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

const ask = (kind, fields) => {
  view(kind).form.fill(fields);
  location.hash = kind;
};

const again = (doc) => KINDS.includes(doc.kind) && ask(doc.kind, doc.form);

const EMPTY = {
  run: "The answer appears here, then IOPS and latency over time, the latency distribution and a report.",
  sweep: "The answer appears here, with curves of IOPS and latency.",
  find: "The answer appears here, with the steps of the search.",
  advise: "The recommendation appears here, with cost, power and latency of the alternatives.",
  fleet: "Failures, spares, rebuilds, wear, energy and expected losses appear here, each with its interval.",
  expect: "The verdict appears here: each measured value next to the predicted interval.",
  calibrate: "The fitted values appear here, with the error on the validation set.",
  review: "The review appears here.",
  compare: "The verdict appears here, each difference with its interval.",
  study: "Predictions appear here, next to the published values.",
};

const view = (kind) => {
  if (views.has(kind)) {
    return views.get(kind);
  }
  const out = h("div", { class: "out" }, h("p", { class: "empty" }, EMPTY[kind]));
  const made = form(kind, catalog, {
    begun: (id) => replace(out, open(id, { onMistake: made.explain }).element),
    received: (files, from) => receive(files, from),
  });
  const found = { element: h("div", { class: "view" }, made.element, out), form: made, out };
  views.set(kind, found);
  return found;
};

// An example of the first page: its file is dropped, its form is filled in and run.
const start = async ({ kind, form: fields, file }) => {
  ask(kind, fields);
  if (file) {
    const text = await (await fetch(`/static/${file}`)).blob();
    await receive([{ file: text, name: file }], kind);
  }
  await view(kind).form.submit();
};

const homeView = () => {
  if (!views.has("home")) {
    const place = dropPlace((files) => receive(files, "home"));
    views.set("home", { element: home(start, place.element), place });
  }
  return views.get("home");
};

const resultsView = () => {
  if (!views.has("results")) {
    views.set("results", results({ compare: (ids) => ask("compare", { results: ids }) }));
  }
  return views.get("results");
};

const catalogView = () => {
  if (!views.has("catalog")) {
    views.set("catalog", { element: catalogPage(catalog, ask) });
  }
  return views.get("catalog");
};

const current = (link, isCurrent) => (isCurrent ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current"));

const navigate = (name) => {
  const shown = ["job", "stored"].includes(name) ? "results" : name;
  const tab = Object.keys(TABS).find((one) => one === shown || TABS[one].some(([kind]) => kind === shown)) ?? "home";
  document.querySelectorAll("#tabs a").forEach((link) => current(link, link.hash === `#${tab}`));
  replace(forms, TABS[tab].map(([kind, label]) => h("a", { href: `#${kind}` }, label)));
  forms.hidden = !TABS[tab].length;
  forms.querySelectorAll("a").forEach((link) => current(link, link.hash === `#${shown}`));
};

const show = () => {
  const [name, id] = here().split("/");
  navigate(name);
  if (!catalog) {
    return;
  }
  if (["job", "stored"].includes(name) && id) {
    const options = name === "stored" ? { of: "runs", again: undefined } : {};
    replace(main, h("div", { class: "wide" }, open(id, options).element));
  } else if (name === "results") {
    replace(main, resultsView().element);
    resultsView().refresh();
  } else if (name === "catalog") {
    replace(main, catalogView().element);
  } else if (KINDS.includes(name)) {
    replace(main, view(name).element);
    view(name).form.refresh();
  } else {
    replace(main, homeView().element);
  }
  document.body.dataset.view = name;
};

const lists = () => {
  const of = (id, rows) => h("datalist", { id }, rows.map(([value, label]) => h("option", { value, label })));
  document.body.append(
    of("drives", catalog.drives.map((one) => [one.name, one.title])),
    of("workloads", catalog.workloads.map((one) => [one.name, one.title])),
    of("protections", [["no failure", ""], ["one failure", ""], ["two failures", ""], ["three failures", ""]]),
    of("questions", [
      ["IOPS at p99 < 20 ms", "the highest rate"],
      ["queue depth for 90 % of the most", "the smallest queue depth"],
      ["drives for 3000 IOPS at p99 < 30 ms", "the number of drives"],
      ["bs for 100 MB/s", "the block size"],
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
  replace(underWay, active.length ? h("a", { href: `#job/${active[0].id}` }, `${active.length} running`) : "");
  document.title = active.length ? `${Math.round(100 * active[0].share)} % · Hotband` : "Hotband";
  if (here() === "results" && docs.some((one) => one.share === 0 || one.state !== "running")) {
    resultsView().refresh();
  }
};

const tell = (text) => {
  banner.textContent = text;
  banner.hidden = !text;
};

whenServer({
  gone: () => tell("hotband ui does not answer: it was stopped or is starting. This page tries again by itself."),
  back: () => tell(""),
  anew: () => tell("hotband ui was restarted: open the address that it printed. Stored results are still there."),
});

// Results of several folders are sides of a comparison; those of one folder are checked against a prediction.
const guess = (found, folders) => (found.kind === "result" && folders > 1 ? "compare" : GUESSES[found.kind]);

// Kinds of files that can be picked where a drive is.
const MACHINES = ["drive", "machine"];

// Uploads files one after the other; each goes to the form it was dropped on, or to the form it is for.
const receive = async (files, from) => {
  const first = KINDS.includes(from) ? view(from) : null;
  const place = first?.form.place ?? homeView().place;
  const folders = new Set(files.map(({ name }) => name.split("/").slice(0, -1).join("/"))).size;
  place.clear();
  let next = from;
  const cleared = new Set([from]);
  const refusals = [];
  for (const { file, name } of files) {
    const line = place.line(name);
    try {
      const found = await upload(file, name);
      if (MACHINES.includes(found.kind)) {
        catalog.picker.dropped = [...(catalog.picker.dropped ?? []), found];
      }
      const kind = first?.form.accepts(found) ? from : guess(found, folders);
      const target = view(kind).form;
      if (kind !== from) {
        line.remove();
        if (!cleared.has(kind)) {
          target.place.clear();
          cleared.add(kind);
        }
        next = next === from ? kind : next;
      }
      (kind === from ? line : target.place.line(name)).took(found);
      target.take(found);
    } catch (mistake) {
      const text = mistake instanceof Gone ? mistake.message : mistake.message.replace(`'${name}': `, "");
      line.refused(text);
      refusals.push({ line, name, text });
    }
  }
  if (next !== from) {
    // What was refused is said where the page goes.
    refusals.forEach(({ line, name, text }) => {
      line.remove();
      view(next).form.place.line(name).refused(text);
    });
    location.hash = next;
  }
};

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
document.addEventListener("dragenter", (event) => {
  dragging += hasFiles(event) ? 1 : 0;
  document.body.classList.toggle("dragging", dragging > 0);
});
document.addEventListener("dragleave", (event) => {
  dragging = Math.max(0, dragging - (hasFiles(event) ? 1 : 0));
  document.body.classList.toggle("dragging", dragging > 0);
});
document.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
document.addEventListener("drop", async (event) => {
  if (!hasFiles(event)) {
    return;
  }
  event.preventDefault();
  dragging = 0;
  document.body.classList.remove("dragging");
  const files = await droppedFiles(event.dataTransfer);
  if (!KINDS.includes(here())) {
    location.hash = "home";
  }
  await receive(files, KINDS.includes(here()) ? here() : "home");
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
