// The forms: which fields each has, what it sends, and the command that does the same.

import { get, Mistake, post } from "./api.js";
import { copier, folded, h, replace } from "./dom.js";
import { dropPlace } from "./drop.js";
import * as fields from "./fields.js";

const SEED = ["seed", "Seed", { placeholder: "1", inputmode: "numeric" }];
const EXAMPLE = "exos-15e900-512n";

const common = (catalog, { many, swept, values = [EXAMPLE] }) => {
  const workload = fields.text("workload", "Workload", { value: "fio-randread", list: "workloads" });
  const on = fields.machines(catalog, many ? "Machines" : "Machine", { many, values });
  const about = fields.keysOf(workload.read, () => on.read()[0] ?? "");
  const settings = fields.settings(about, swept ? "1..256" : "32");
  return { workload, on, settings };
};

const events = () => {
  const field = fields.text("events", "Event", { placeholder: "at 60 s: fail d3", hint: "What happens to the machine. Separate several events with a semicolon." });
  const read = field.read;
  field.read = () => read().split(";").map((one) => one.trim()).filter(Boolean);
  const fill = field.fill;
  field.fill = (next) => fill((next ?? []).join("; "));
  return field;
};

const more = (list) => ({ more: list });
const interval = () => fields.text("interval", "Interval (%)", { placeholder: "90", inputmode: "decimal", hint: "Confidence level of the prediction intervals. Takes 64 more runs." });
const duration = (value) => fields.text("duration", "Measured time", { value, placeholder: "10 s" });

const draws = () => fields.text("draws", "Samples for the intervals", { placeholder: "16", inputmode: "numeric" });
const RESULTS = { values: [""], add: "Add a result", hint: "Drop results of fio, vdbench, DiskSpd or Iometer." };
const ofResult = (catalog, on) => {
  const workload = fields.text("workload", "Workload", { list: "workloads", hint: "Needed when the result does not name its workload." });
  const settings = fields.settings(fields.keysOf(() => workload.read() || "fio-randread", () => on.read()[0] ?? ""), "off");
  return [workload, settings, fields.text(...SEED)];
};

const FORMS = {
  run: {
    title: "Predict a workload on one machine or several",
    verb: "Run",
    make: (catalog) => {
      const { workload, on, settings } = common(catalog, { many: true });
      return [workload, on, duration("60 s"), settings, more([fields.text(...SEED), events(), interval()])];
    },
  },
  sweep: {
    title: "Compare machines and settings",
    verb: "Sweep",
    make: (catalog) => {
      const { workload, on, settings } = common(catalog, { many: true, swept: true });
      settings.fill([["qd", "1..256"]]);
      const repeat = fields.text("repeat", "Runs per point (seeds)", { placeholder: "1", inputmode: "numeric" });
      return [workload, on, settings, duration("10 s"), more([repeat, fields.text(...SEED), events(), interval()])];
    },
  },
  find: {
    title: "How many drives, how many IOPS, which queue depth?",
    verb: "Find",
    make: (catalog) => {
      const question = fields.text("question", "Question", { value: "IOPS at p99 < 20 ms", list: "questions", hint: "For “drives for ...”, write {n} as the number of drives." });
      const { workload, on, settings } = common(catalog, { many: true });
      const range = fields.text("range", "Range", { placeholder: "1..64", hint: "Values to search, of the setting or count that varies." });
      const within = fields.text("within", "Within (%)", { placeholder: "2", inputmode: "decimal" });
      return [question, workload, on, settings, more([range, within, duration(""), fields.text(...SEED), interval()])];
    },
  },
  advise: {
    title: "What to buy?",
    verb: "Advise",
    make: (catalog) => {
      const workload = fields.texts("workload", "Workloads", { values: ["iometer-database"], list: "workloads", add: "Add a workload", hint: "Each workload must meet the target on its own." });
      const slo = fields.text("slo", "Target", { value: "p99 < 40 ms", hint: "For example: p99 < 5 ms and IOPS > 2000." });
      const capacity = fields.text("capacity", "Usable capacity", { value: "40 TB" });
      const protect = fields.text("protect", "Must survive", { value: "one failure", list: "protections" });
      const drives = fields.texts("drives", "Drives to choose from", { values: [""], list: "drives", add: "Add a drive", hint: "Leave empty to search the whole catalog." });
      const layouts = fields.several("layouts", "Layouts", "None ticked means all.");
      layouts.offer(["raid1", "raid10", "raid5", "raid6", "raidz1", "raidz2", "raidz3"].filter((one) => catalog.layouts.includes(one)));
      const counts = fields.text("counts", "Numbers of drives", { placeholder: "12,24" });
      const prices = fields.text("prices", "Prices", { placeholder: "drop a table: drive,price,currency,watts", hint: "Without a table, prices of the drive classes apply." });
      const read = counts.read;
      counts.read = () => [read()].filter(Boolean);
      const fill = counts.fill;
      counts.fill = (next) => fill((next ?? []).join(","));
      const others = [
        fields.text("power", "Most power", { placeholder: "500 W" }),
        fields.text("grow", "Growth", { placeholder: "30 %/year" }),
        fields.text("years", "Years", { placeholder: "5", inputmode: "decimal" }),
        fields.text("duty", "Share of the time under load", { placeholder: "30 %", hint: "Used for endurance." }),
        fields.text("slo_degraded", "With a drive failed", { placeholder: "p99 < 60 ms" }),
        fields.text("draws", "Samples for the intervals", { placeholder: "16", inputmode: "numeric" }),
        fields.text(...SEED),
      ];
      return [workload, slo, capacity, protect, drives, prices, more([layouts, counts, ...others])];
    },
  },
  fleet: {
    title: "Simulate a fleet over years",
    verb: "Simulate",
    make: () => {
      const fleet = fields.text("fleet", "Fleet", { placeholder: "drop its file (.toml)", hint: "Groups of machines with their workloads, spares and prices: docs/guides/fleet.md, docs/examples/fleet.toml." });
      const repetitions = fields.text("repetitions", "Repetitions", { placeholder: "from the file, else 1000", inputmode: "numeric" });
      return [fleet, repetitions, more([fields.text("seed", "Seed", { placeholder: "from the file", inputmode: "numeric" })])];
    },
  },
  expect: {
    title: "Is my result good?",
    verb: "Check",
    make: (catalog) => {
      const on = fields.machines(catalog, "Machine", { many: false, values: [""], hint: "The machine that was measured. Leave empty to rank the nearest drives." });
      return [fields.texts("result", "Results", RESULTS), on, more([...ofResult(catalog, on), duration(""), interval(), draws()])];
    },
  },
  calibrate: {
    title: "Fit a drive model to results",
    verb: "Fit",
    make: (catalog) => {
      const like = fields.text("like", "Like", { value: EXAMPLE, list: "drives", hint: "The catalog drive to start from. To measure a drive of this computer, run hotband measure calibrate real:PATH in a terminal." });
      const on = { read: () => [like.read()] };
      return [fields.texts("result", "Results", RESULTS), like, more(ofResult(catalog, on))];
    },
  },
  review: {
    title: "Review drives with standard tests",
    verb: "Review",
    make: (catalog) => {
      const on = fields.machines(catalog, "Machines", { values: [EXAMPLE], hint: "The first machine is the baseline." });
      const quick = fields.box("quick", "Quick: a quarter of the I/Os");
      quick.fill(true);
      const only = fields.several("only", "Parts", "None ticked means all.");
      only.offer(catalog.parts);
      const about = fields.keysOf(() => "fio-randread", () => on.read()[0] ?? "");
      return [on, quick, only, more([fields.settings(about, "off"), fields.text(...SEED)])];
    },
  },
  study: {
    title: "Predict a published evaluation",
    verb: "Predict",
    make: (catalog) => {
      const names = catalog.studies.map((one) => [one.name, `${one.name}: ${one.title}`]);
      const study = fields.choice("study", "Study", names, " ");
      const hint = study.element.querySelector(".hint");
      const only = fields.several("only", "Loads", "None ticked means all. The answer and the claims need all loads.");
      const offer = () => {
        const one = catalog.studies.find(({ name }) => name === study.read());
        hint.textContent = one.question;
        only.offer(one.loads);
      };
      study.select.addEventListener("change", offer);
      const fill = study.fill;
      study.fill = (next) => {
        fill(next);
        offer();
      };
      offer();
      return [study, more([only, fields.text("seed", "Seed", { placeholder: "from the study", inputmode: "numeric" })])];
    },
  },
  compare: {
    title: "Is one result faster than another?",
    verb: "Compare",
    make: () => {
      const results = fields.several("results", "Results", "The result that you tick first is the baseline.");
      const dropped = new Set();
      const anyway = fields.box("anyway", "Compare even if the workloads differ");
      results.refresh = async () => {
        const ended = (await get("/api/jobs")).filter((one) => one.has_record && ["done", "stopped"].includes(one.state));
        // Runs of the store that were ticked in the list of results come with their keys.
        const others = results.asked.filter((id) => !ended.some((one) => one.id === id));
        const rows = [...others.map((id) => ({ id, title: "stored run" })), ...ended];
        const ticked = results.read();
        results.offer(rows.map((one) => one.id));
        results.fill([...new Set([...(ticked.length ? ticked : results.asked), ...dropped])]);
        rows.forEach(({ id }) => dropped.delete(id));
        const titles = new Map(rows.map((one) => [one.id, one.title]));
        results.element.querySelectorAll(".boxes label").forEach((label) => label.append(h("span", { class: "muted" }, ` ${titles.get(label.querySelector("input").value)}`)));
        if (!rows.length) {
          replace(results.element.querySelector(".boxes"), h("p", { class: "empty" }, "No results yet. Run a workload, or drop a result."));
        }
      };
      results.asked = [];
      const fill = results.fill;
      results.fill = (next) => fill((results.asked = next ?? []));
      // A result that was dropped is ticked.
      results.take = (id) => {
        dropped.add(id);
        results.refresh();
      };
      return [results, anyway];
    },
  },
};

export const KINDS = Object.keys(FORMS);

// The field that a dropped file is for; undefined where this form has none.
const fieldOf = (fields, { kind }) => {
  const by = Object.fromEntries(fields.map((field) => [field.name, field]));
  return { result: by.results ?? by.result, prices: by.prices, fleet: by.fleet, workload: by.workload, drive: by.drives ?? by.on ?? by.like, machine: by.on }[kind];
};

// One form: `begun` is called with the job that it began, `received` with files. `fill` takes the fields of another job.
export const form = (kind, catalog, { begun, received }) => {
  const { title, verb, make } = FORMS[kind];
  const made = make(catalog);
  const flat = made.flatMap((field) => field.more ?? [field]);
  const command = h("code", {}, " ");
  const whole = h("p", { class: "mistake", role: "alert", hidden: true });
  const read = () => Object.fromEntries(flat.map((field) => [field.name, field.read()]));
  let turn = 0;
  const show = async () => {
    const mine = (turn += 1);
    const found = await post("/api/command", { kind, form: read() }).catch((mistake) => ({ command: "", mistake }));
    if (mine === turn) {
      command.textContent = found.command || "Fill in the fields to see the command.";
      command.parentElement.parentElement.classList.toggle("open", !found.command);
    }
  };
  let soon = 0;
  const changed = () => {
    clearTimeout(soon);
    soon = setTimeout(show, 150);
  };
  const explain = (mistake) => {
    flat.forEach((field) => field.say(""));
    whole.hidden = true;
    if (!mistake) {
      return;
    }
    const field = flat.find((one) => one.name === mistake.field);
    if (!field) {
      replace(whole, folded(mistake.text));
      whole.hidden = false;
      return;
    }
    field.say(mistake.text);
    field.element.closest("details")?.setAttribute("open", "");
    field.focus();
  };
  const go = h("button", { type: "submit", class: "go" }, verb);
  const place = dropPlace((files) => received(files, kind));
  const element = h(
    "form",
    { class: "ask", novalidate: true },
    h("h1", {}, title),
    made.map((field) =>
      field.more ? h("details", {}, h("summary", {}, "More"), field.more.map((one) => one.element)) : field.element,
    ),
    place.element,
    whole,
    h("p", { class: "buttons" }, go),
    h("div", { class: "command" }, h("pre", {}, command), copier(() => command.textContent)),
  );
  element.addEventListener("input", changed);
  element.addEventListener("change", changed);
  const submit = async () => {
    explain(null);
    go.disabled = true;
    try {
      begun((await post("/api/jobs", { kind, form: read() })).id);
    } catch (mistake) {
      if (mistake instanceof Mistake) {
        explain({ field: mistake.field, text: mistake.message });
      }
    } finally {
      go.disabled = false;
    }
  };
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  const fill = (asked) => {
    flat.forEach((field) => field.fill(asked[field.name]));
    flat.filter((field) => field.name === "results").forEach((field) => field.refresh());
    changed();
  };
  flat.filter((field) => field.refresh).forEach((field) => field.refresh());
  show();
  const take = (found) => {
    const field = fieldOf(flat, found);
    const value = found.kind === "result" && field.name === "results" ? found.results : [found.name];
    value.forEach((name) => (field.take ?? field.fill)(name));
    changed();
  };
  return { element, explain, fill, submit, take, place, accepts: (found) => Boolean(fieldOf(flat, found)), refresh: () => flat.forEach((field) => field.refresh?.()) };
};
