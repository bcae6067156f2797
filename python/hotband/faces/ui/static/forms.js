// The forms: which fields each has, what it sends, and what stands beside it.

import { get, Gone, Mistake, post, upload } from "./api.js";
import { copier, folded, freshId, h, replace } from "./dom.js";
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
  const field = fields.text("events", "Event", { placeholder: "at 60 s: fail d3", hint: "What happens to the machine; several with ; between." });
  const read = field.read;
  field.read = () => read().split(";").map((one) => one.trim()).filter(Boolean);
  const fill = field.fill;
  field.fill = (next) => fill((next ?? []).join("; "));
  return field;
};

const more = (list) => ({ more: list });
const interval = () => fields.text("interval", "Interval (%)", { placeholder: "90", inputmode: "decimal", hint: "How far figures may be off: uncertain values are drawn, which takes 64 more runs." });
const duration = (value) => fields.text("duration", "Measured time", { value, placeholder: "10 s" });

const draws = () => fields.text("draws", "Draws for the intervals", { placeholder: "16", inputmode: "numeric" });
const RESULTS = { values: [""], add: "Add a result", hint: "Drop what fio, vdbench, DiskSpd or Iometer left." };
const ofResult = (catalog, on) => {
  const workload = fields.text("workload", "Workload", { list: "workloads", hint: "What was run, where the result does not say." });
  const settings = fields.settings(fields.keysOf(() => workload.read() || "fio-randread", () => on.read()[0] ?? ""), "off");
  return [workload, settings, fields.text(...SEED)];
};

const FORMS = {
  run: {
    title: "Run a workload on a machine",
    verb: "Run",
    make: (catalog) => {
      const { workload, on, settings } = common(catalog, { many: false });
      return [workload, on, duration("60 s"), settings, more([fields.text(...SEED), events(), interval()])];
    },
  },
  sweep: {
    title: "Run at every combination of settings",
    verb: "Sweep",
    make: (catalog) => {
      const { workload, on, settings } = common(catalog, { many: true, swept: true });
      settings.fill([["qd", "1..256"]]);
      const repeat = fields.text("repeat", "Seeds of every point", { placeholder: "1", inputmode: "numeric" });
      return [workload, on, settings, duration("10 s"), more([repeat, fields.text(...SEED), events(), interval()])];
    },
  },
  find: {
    title: "Find what meets a condition",
    verb: "Find",
    make: (catalog) => {
      const question = fields.text("question", "Question", { value: "IOPS at p99 < 20 ms", list: "questions", hint: "With “drives for ...” the number of drives is {n}." });
      const { workload, on, settings } = common(catalog, { many: true });
      const range = fields.text("range", "Range", { placeholder: "1..64", hint: "Of what is varied." });
      const within = fields.text("within", "Within (%)", { placeholder: "2", inputmode: "decimal" });
      return [question, workload, on, settings, more([range, within, duration(""), fields.text(...SEED), interval()])];
    },
  },
  advise: {
    title: "Say what to buy",
    verb: "Advise",
    make: (catalog) => {
      const workload = fields.texts("workload", "Workloads", { values: ["iometer-database"], list: "workloads", add: "Add a workload", hint: "Each is to be met alone." });
      const slo = fields.text("slo", "What has to hold", { value: "p99 < 40 ms", hint: "Such as p99 < 5 ms and IOPS > 2000." });
      const capacity = fields.text("capacity", "Usable capacity", { value: "40 TB" });
      const protect = fields.text("protect", "It survives", { value: "one failure", list: "protections" });
      const drives = fields.texts("drives", "Drives to choose from", { values: [""], list: "drives", add: "Add a drive", hint: "All of the catalog where none is named." });
      const layouts = fields.several("layouts", "Layouts", "All where none is ticked.");
      layouts.offer(["raid1", "raid10", "raid5", "raid6", "raidz1", "raidz2", "raidz3"].filter((one) => catalog.layouts.includes(one)));
      const counts = fields.text("counts", "Numbers of drives", { placeholder: "12,24" });
      const cost = fields.text("cost", "Prices", { placeholder: "drop a table: drive,price,currency,watts", hint: "Without prices it ranks by drives and watts." });
      const read = counts.read;
      counts.read = () => [read()].filter(Boolean);
      const fill = counts.fill;
      counts.fill = (next) => fill((next ?? []).join(","));
      const others = [
        fields.text("power", "Most power", { placeholder: "500 W" }),
        fields.text("grow", "Growth", { placeholder: "30 %/year" }),
        fields.text("years", "Years", { placeholder: "5", inputmode: "decimal" }),
        fields.text("duty", "Share of the time under load", { placeholder: "30 %", hint: "For endurance." }),
        fields.text("slo_degraded", "With a drive failed", { placeholder: "p99 < 60 ms" }),
        fields.text("draws", "Draws for the intervals", { placeholder: "16", inputmode: "numeric" }),
        fields.text(...SEED),
      ];
      return [workload, slo, capacity, protect, drives, cost, more([layouts, counts, ...others])];
    },
  },
  fleet: {
    title: "Simulate a fleet over years",
    verb: "Simulate",
    make: () => {
      const fleet = fields.text("fleet", "Fleet", { placeholder: "drop its file (.toml)", hint: "Groups of machines with their workloads, spares and prices: docs/guides/fleet.md, docs/examples/fleet.toml." });
      const repetitions = fields.text("repetitions", "Repetitions", { placeholder: "as the file says, else 1000", inputmode: "numeric" });
      return [fleet, repetitions, more([fields.text("seed", "Seed", { placeholder: "the file's own", inputmode: "numeric" })])];
    },
  },
  expect: {
    title: "Say whether a result is as good as expected",
    verb: "Judge",
    make: (catalog) => {
      const on = fields.machines(catalog, "Machine", { many: false, values: [""], hint: "What was measured; the drives that come nearest where none is named." });
      return [fields.texts("result", "Results", RESULTS), on, more([...ofResult(catalog, on), duration(""), interval(), draws()])];
    },
  },
  calibrate: {
    title: "Fit a drive's uncertain values to results",
    verb: "Fit",
    make: (catalog) => {
      const like = fields.text("like", "Like", { value: EXAMPLE, list: "drives", hint: "The product whose values are fitted. To measure a drive of this computer: hotband measure calibrate real:PATH in a terminal." });
      const on = { read: () => [like.read()] };
      return [fields.texts("result", "Results", RESULTS), like, more(ofResult(catalog, on))];
    },
  },
  review: {
    title: "Review machines as reviewers measure drives",
    verb: "Review",
    make: (catalog) => {
      const on = fields.machines(catalog, "Machines", { values: [EXAMPLE], hint: "The first is what the others are compared with." });
      const quick = fields.box("quick", "Quick: a quarter of the I/Os");
      quick.fill(true);
      const only = fields.several("only", "Parts", "All where none is ticked.");
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
      const only = fields.several("only", "Loads", "All where none is ticked: the answer and the claims need all.");
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
      return [study, more([only, fields.text("seed", "Seed", { placeholder: "the study's own", inputmode: "numeric" })])];
    },
  },
  compare: {
    title: "Say whether one result is faster than another",
    verb: "Compare",
    make: () => {
      const results = fields.several("results", "Results", "The one that you tick first is what the others are compared with.");
      const anyway = fields.box("anyway", "Even if they were not asked the same");
      results.refresh = async () => {
        const ended = (await get("/api/jobs")).filter((one) => one.has_record && ["done", "stopped"].includes(one.state));
        // Runs of the store that were ticked in the list of results come with their keys.
        const others = results.asked.filter((id) => !ended.some((one) => one.id === id));
        const rows = [...others.map((id) => ({ id, title: "of the store" })), ...ended];
        const held = results.read();
        results.offer(rows.map((one) => one.id));
        results.fill(held.length ? held : results.asked);
        const titles = new Map(rows.map((one) => [one.id, one.title]));
        results.element.querySelectorAll(".boxes label").forEach((label) => label.append(h("span", { class: "muted" }, ` ${titles.get(label.querySelector("input").value)}`)));
        if (!rows.length) {
          replace(results.element.querySelector(".boxes"), h("p", { class: "empty" }, "There are no results yet: run something, or drop a result."));
        }
      };
      results.asked = [];
      const fill = results.fill;
      results.fill = (next) => fill((results.asked = next ?? []));
      return [results, anyway];
    },
  },
};

export const KINDS = Object.keys(FORMS);

// A file that was dropped goes into the field that it is for.
const takeFile = (made, found) => {
  const by = Object.fromEntries(made.map((field) => [field.name, field]));
  if (found.kind === "result") {
    by.results?.refresh?.();
    by.result?.take(found.name);
    return;
  }
  if (found.kind === "prices") {
    by.cost?.fill(found.name);
  } else if (found.kind === "fleet") {
    by.fleet?.fill(found.name);
  } else if (found.kind === "workload") {
    (by.workload?.take ?? by.workload?.fill)?.(found.name);
  } else if (by.drives) {
    by.drives.take(found.name);
  } else {
    (by.on?.take ?? by.like?.fill)?.(found.name);
  }
};

const dropPlace = (made, changed, toResult) => {
  const input = h("input", { type: "file", id: freshId("file"), class: "file" });
  const said = h("div", { class: "dropped", role: "status" });
  const error = h("p", { class: "mistake", hidden: true, role: "alert" });
  const place = h(
    "div",
    { class: "drop field", "data-field": "file" },
    h("label", { for: input.id }, h("span", { class: "as-button" }, "Choose a file"), h("span", { class: "muted" }, " or drop one: a drive, machine or workload (.toml), fio job, trace, result, prices, fleet")),
    input,
    error,
    said,
  );
  const take = async (file) => {
    error.hidden = true;
    replace(said, h("p", { class: "hint" }, `Reading ${file.name} ...`));
    try {
      const found = await upload(file);
      const open = found.results.length ? h("a", { href: `#job/${found.results[0]}` }, "Show it") : null;
      replace(said, h("p", { class: "took" }, `${found.kind}: ${found.title} `, open), found.notes.map((note) => h("p", { class: "hint" }, note)));
      takeFile(made, found);
      toResult(found);
      changed();
    } catch (mistake) {
      replace(said);
      if (!(mistake instanceof Gone)) {
        replace(error, folded(`${file.name}: ${mistake.message.replace(`'${file.name}': `, "")}`));
        error.hidden = false;
      }
    }
  };
  input.addEventListener("change", async () => {
    for (const file of input.files) {
      await take(file);
    }
    input.value = "";
  });
  return { place, take };
};

// One form: `begun` is called with the job that it began. `fill` takes what another was asked.
export const form = (kind, catalog, { begun, dropped }) => {
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
      command.textContent = found.command || "hotband ... once the fields are filled in";
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
  const { place, take } = dropPlace(flat, changed, dropped);
  const element = h(
    "form",
    { class: "ask", novalidate: true },
    h("h1", {}, title),
    made.map((field) =>
      field.more ? h("details", {}, h("summary", {}, "More"), field.more.map((one) => one.element)) : field.element,
    ),
    place,
    whole,
    h("p", { class: "buttons" }, go),
    h("div", { class: "command" }, h("pre", {}, command), copier(() => command.textContent)),
  );
  element.addEventListener("input", changed);
  element.addEventListener("change", changed);
  element.addEventListener("submit", async (event) => {
    event.preventDefault();
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
  });
  const fill = (asked) => {
    flat.forEach((field) => field.fill(asked[field.name]));
    flat.filter((field) => field.name === "results").forEach((field) => field.refresh());
    changed();
  };
  flat.filter((field) => field.refresh).forEach((field) => field.refresh());
  show();
  return { element, explain, fill, take, refresh: () => flat.forEach((field) => field.refresh?.()) };
};
