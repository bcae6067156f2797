// Everything in the store: the newest first, what of it can be opened, and what is to be compared.

import { get } from "./api.js";
import { shown } from "./chart.js";
import { folded, h, replace } from "./dom.js";
import { wordOf } from "./job.js";

const when = (seconds) => (seconds ? new Date(1000 * seconds).toLocaleString() : "");

// Runs of the results store: a condition in SQL finds them.
const stored = (ticks) => {
  const where = h("input", { type: "text", autocomplete: "off", spellcheck: false, "aria-label": "Condition", placeholder: "qd >= 8 and latency_p99_ns < 20e6" });
  const mistake = h("p", { class: "mistake", role: "alert", hidden: true });
  const said = h("p", { class: "hint", role: "status" });
  const body = h("tbody");
  const heads = [[""], ["Workload"], ["Machine", "spread"], ["Settings", "spread"], ["IOPS", "number"], ["p99 (ms)", "number"], ["Added"]];
  const scroll = h("div", { class: "scroll" }, h("table", { class: "listing" }, h("thead", {}, h("tr", {}, heads.map(([one, kind]) => h("th", { scope: "col", class: kind }, one)))), body));
  const show = ({ count, rows }) => {
    said.textContent = count > rows.length ? `${count.toLocaleString("en-US")} runs; the ${rows.length} added last are listed.` : `${count.toLocaleString("en-US")} ${count === 1 ? "run" : "runs"}.`;
    scroll.hidden = !rows.length;
    replace(
      body,
      rows.map((one) =>
        h(
          "tr",
          {},
          h("td", {}, h("input", { type: "checkbox", value: one.run, "aria-label": `Compare ${one.workload} on ${one.target} ${one.factors}` })),
          h("td", {}, h("a", { href: `#stored/${one.run}` }, one.workload), h("span", { class: "narrow" }, [one.target, one.factors].filter(Boolean).join(", "))),
          h("td", { class: "spread" }, one.target),
          h("td", { class: "spread" }, one.factors),
          h("td", { class: "number" }, shown(one.iops)),
          h("td", { class: "number" }, shown(one.p99_ms)),
          h("td", { class: "muted" }, when(one.at)),
        ),
      ),
    );
    ticks();
  };
  const refresh = async () => {
    mistake.hidden = true;
    try {
      show(await get(`/api/runs?where=${encodeURIComponent(where.value)}`));
    } catch (error) {
      replace(mistake, folded(error.message));
      mistake.hidden = false;
    }
  };
  const form = h("form", { class: "bar" }, where, h("button", { type: "submit" }, "List"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    refresh();
  });
  body.addEventListener("change", ticks);
  const element = h("section", { class: "stored" }, h("h2", {}, "Stored runs"), h("p", { class: "hint" }, "All runs, including those of sweeps, studies and reviews, and those added by hotband store add. Filter them with an SQL condition."), form, mistake, said, scroll);
  return { element, refresh, ticked: () => [...body.querySelectorAll("input:checked")].map((one) => one.value) };
};

export const results = ({ compare }) => {
  const filter = h("input", { type: "search", "aria-label": "Filter", placeholder: "filter", autocomplete: "off" });
  const body = h("tbody");
  const button = h("button", { type: "button", disabled: true }, "Compare");
  const none = h("p", { class: "empty" }, "No results yet. Run a workload, or drop a result on the page.");
  const scroll = h("div", { class: "scroll" }, h("table", { class: "listing" }, h("thead", {}, h("tr", {}, ["", "Result", "What", "State", "When"].map((one) => h("th", { scope: "col" }, one)))), body));
  const runs = stored(() => count());
  const element = h("section", { class: "wide" }, h("h1", {}, "Results"), h("div", { class: "bar" }, filter, button), scroll, none, runs.element);
  const own = () => [...body.querySelectorAll("input:checked")].map((one) => one.value);
  const ticked = () => [...own(), ...runs.ticked()];
  let rows = [];
  const show = () => {
    const words = filter.value.toLowerCase();
    const held = new Set(own());
    const fits = rows.filter((one) => `${one.id} ${one.title} ${one.state}`.toLowerCase().includes(words));
    replace(
      body,
      fits.map((one) =>
        h(
          "tr",
          {},
          h("td", {}, one.has_record && one.state !== "running" ? h("input", { type: "checkbox", value: one.id, checked: held.has(one.id), "aria-label": `Compare ${one.id}` }) : null),
          h("td", {}, h("a", { href: `#job/${one.id}` }, one.id)),
          h("td", {}, one.title),
          h("td", { class: `state ${one.state}` }, wordOf(one.state)),
          h("td", { class: "muted" }, when(one.at)),
        ),
      ),
    );
    none.hidden = fits.length > 0;
    scroll.hidden = fits.length === 0;
    if (rows.length && !fits.length) {
      none.textContent = "No result matches the filter.";
    }
    count();
  };
  const count = () => {
    const chosen = ticked().length;
    button.disabled = chosen < 2;
    button.textContent = chosen > 1 ? `Compare ${chosen}` : "Compare (tick two or more)";
  };
  filter.addEventListener("input", show);
  body.addEventListener("change", count);
  button.addEventListener("click", () => compare(ticked()));
  const refresh = async () => {
    rows = await get("/api/jobs").catch(() => rows);
    show();
    await runs.refresh();
  };
  count();
  return { element, refresh };
};
