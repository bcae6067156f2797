// One job: what it is, how far it is, its live chart; then its result, the answer first.

import { get, Gone, post } from "./api.js";
import { chart, shown } from "./chart.js";
import { copier, folded, h, replace } from "./dom.js";

const WORDS = { waiting: "queued", running: "running", done: "done", failed: "failed", stopped: "stopped" };

// Kinds of jobs that have no report.
const UNREPORTED = ["expect", "calibrate"];

const UNDER_WAY = ["waiting", "running"];

export const wordOf = (state) => WORDS[state] ?? state;

const table = ({ title, columns, rows }) => {
  const cell = (value, place) => h("td", { class: columns[place].numeric ? "number" : undefined }, value);
  return h(
    "div",
    { class: "scroll", tabIndex: 0, role: "region", "aria-label": title || "Table" },
    h(
      "table",
      {},
      title ? h("caption", {}, title) : null,
      h("thead", {}, h("tr", {}, columns.map((one) => h("th", { scope: "col", class: one.numeric ? "number" : undefined }, one.name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell)))),
    ),
  );
};

const answer = (found) => [
  h("div", { class: "lead" }, found.lead.map((one) => h("p", {}, one))),
  found.cards.length ? h("dl", { class: "cards" }, found.cards.map(([value, name]) => h("div", {}, h("dt", {}, name), h("dd", {}, value)))) : null,
];

const rest = (found) => [
  found.charts.length ? h("div", { class: "charts" }, found.charts.map((one) => chart(one).figure)) : null,
  found.tables.map(table),
  found.notes.length ? h("ul", { class: "notes" }, found.notes.map((one) => h("li", {}, one))) : null,
];

const live = (points) => [
  { title: "IOPS", x: "measured time (s)", x_log: false, lines: [{ name: "IOPS", points: points.map(([at, iops]) => [at, iops]) }] },
  { title: "Mean latency (ms)", x: "measured time (s)", x_log: false, y_log: true, lines: [{ name: "latency", points: points.map(([at, , ms]) => [at, ms]) }] },
];

// A panel for the job `id`; `onMistake` is told what was wrong with what was asked, `again` opens its form.
export const panel = (id, { onMistake, again, of = "jobs" }) => {
  const at = `/api/${of}/${id}`;
  const head = h("div", { class: "job-head" });
  const bar = h("progress", { max: 1, "aria-label": "Progress" });
  const said = h("p", { class: "far" });
  const state = h("p", { class: "sr", role: "status" });
  const stop = h("button", { type: "button" }, "Stop");
  const running = h("div", { class: "running" }, h("div", { class: "bar" }, bar, stop), said);
  const charts = h("div", { class: "charts" });
  const first = h("div", { class: "answer" });
  const ways = h("div", { class: "ways" });
  const body = h("div", { class: "result" });
  const element = h("section", { class: "job", "aria-label": `Job ${id}` }, head, state, first, running, ways, charts, body);
  let [last, points, drawn, over] = ["", [], null, false];
  stop.addEventListener("click", () => {
    stop.disabled = true;
    post(`/api/jobs/${id}/stop`, {}).catch(() => {});
  });
  const show = (doc) => {
    const files = ["done", "stopped"].includes(doc.state) && doc.shown
      ? [
          UNREPORTED.includes(doc.kind) ? null : h("a", { class: "as-button", href: `${at}/report`, target: "_blank", rel: "noopener" }, "Report"),
          UNREPORTED.includes(doc.kind) ? null : h("a", { class: "as-button", href: `${at}/report?as=file`, download: `${id}.html` }, "Save report (HTML)"),
          doc.has_record ? h("a", { class: "as-button", href: `${at}/record`, download: `${id}.json` }, "Save record (JSON)") : null,
        ]
      : [];
    replace(
      head,
      h("h2", {}, doc.title || doc.command),
      h("p", { class: `state ${doc.state}` }, `${id.slice(0, 16)} ${wordOf(doc.state)}`),
    );
    replace(
      ways,
      h("p", { class: "buttons" }, files, again && doc.form ? h("button", { type: "button", class: "plain again", onclick: () => again(doc) }, "Change and run again") : null),
      h("div", { class: "command" }, h("pre", {}, h("code", {}, doc.command)), copier(() => doc.command)),
    );
  };
  const finish = async () => {
    over = true;
    try {
      const whole = await get(at);
      show(whole);
      element.dataset.state = whole.state;
      if (UNDER_WAY.includes(whole.state)) {
        over = false;
        return;
      }
      running.hidden = true;
      if (whole.mistake) {
        onMistake?.(whole.mistake);
      }
      if (whole.shown) {
        replace(charts);
        replace(first, answer(whole.shown));
        replace(body, rest(whole.shown));
      } else {
        const why = whole.mistake?.text ?? whole.error;
        const far = points.length ? "Stopped; the charts show the part that ran." : "Stopped before any result was stored.";
        replace(first, why ? h("p", { class: "mistake" }, folded(why)) : h("p", {}, whole.state === "stopped" ? far : "This job has no result to show."));
      }
      state.textContent = `${id} is ${wordOf(whole.state)}`;
    } catch (mistake) {
      if (!(mistake instanceof Gone)) {
        replace(body, h("p", { class: "mistake" }, mistake.message));
      }
      over = false;
    }
  };
  const far = (doc) => {
    const parts = [`${(100 * doc.share).toFixed(doc.share < 0.1 ? 1 : 0)} %`];
    if (doc.of > 1) {
      parts.push(`${doc.done.toLocaleString("en-US")} of ${doc.of.toLocaleString("en-US")} runs`);
    }
    parts.push(doc.phase || "", doc.ios ? `${shown(doc.ios)} I/Os` : "");
    return parts.filter(Boolean).join(", ");
  };
  const update = (doc) => {
    if (over) {
      return;
    }
    if (doc.first_point < points.length) {
      points = points.slice(0, doc.first_point);
    }
    points.push(...doc.points);
    if (doc.state !== last) {
      last = doc.state;
      show(doc);
      if (!UNDER_WAY.includes(doc.state)) {
        finish();
        return;
      }
    }
    element.dataset.state = doc.state;
    bar.value = doc.share;
    said.textContent = doc.state === "waiting" ? "Queued until other jobs are done." : far(doc);
    if (doc.points.length) {
      drawn ??= live(points).map((one) => chart(one));
      if (!charts.children.length) {
        replace(charts, drawn.map((one) => one.figure));
      }
      live(points).forEach((one, place) => drawn[place].update(one));
      element.dataset.points = points.length;
    }
  };
  return { element, update, finish };
};
