// The drives of the catalog in a table with filters: on the page of the catalog, and in the dialog that picks a drive.

import { h, replace } from "./dom.js";

const TB = 1e12;

// Values of a filter in the catalog, in order of the alphabet.
const choices = (rows, key) => [...new Set(rows.map((row) => row[key]))].sort((a, b) => a.localeCompare(b));

const select = (rows, key, label, any) =>
  h("select", { "aria-label": label, "data-filter": key }, h("option", { value: "" }, any), choices(rows, key).map((value) => h("option", { value }, value)));

const size = (label, placeholder) =>
  h("input", { type: "text", inputmode: "decimal", autocomplete: "off", "aria-label": label, placeholder, class: "size" });

// Capacity in bytes of a text such as "4", "3.84 TB" or "960 GB"; NaN for anything else.
const bytes = (text) => {
  const found = /^\s*(\d+(?:\.\d+)?)\s*(GB|TB)?\s*$/i.exec(text);
  return found ? Number(found[1]) * (found[2]?.toUpperCase() === "GB" ? 1e9 : TB) : NaN;
};

const compare = (a, b) => (a === null) - (b === null) || (typeof a === "number" ? a - b : String(a).localeCompare(String(b)));

// `actions` gives the cell at the end of a row for a drive; `first` makes the cell with its name.
export const driveTable = ({ columns, rows }, { first, actions }) => {
  const words = h("input", { type: "search", autocomplete: "off", spellcheck: false, "aria-label": "Search drives", placeholder: "name, maker or year" });
  const selects = [select(rows, "market", "Class", "any class"), select(rows, "bus", "Interface", "any interface"), select(rows, "media", "Media", "any media")];
  const [least, most] = [size("Smallest size (TB)", "min TB"), size("Largest size (TB)", "max TB")];
  const count = h("p", { class: "hint", role: "status" });
  const body = h("tbody");
  let sorted = { column: 0, down: false };
  const heads = columns.map(({ name, numeric }, column) =>
    h("th", { scope: "col", class: numeric ? "number" : undefined }, h("button", { type: "button", class: "sort", onclick: () => sort(column) }, name)),
  );
  const fits = (row) => {
    const text = [row.title, ...row.texts].join(" ").toLowerCase();
    const [low, high] = [bytes(least.value), bytes(most.value)];
    return (
      words.value.toLowerCase().split(/\s+/).every((word) => text.includes(word)) &&
      selects.every((filter) => !filter.value || row[filter.dataset.filter] === filter.value) &&
      !(row.capacity_bytes < low) &&
      !(row.capacity_bytes > high)
    );
  };
  const show = () => {
    const { column, down } = sorted;
    const chosen = rows.filter(fits).sort((a, b) => {
      const [left, right] = [a.values[column], b.values[column]];
      return down && left !== null && right !== null ? compare(right, left) : compare(left, right);
    });
    count.textContent = `${chosen.length} of ${rows.length} drives`;
    heads.forEach((head, place) => (place === column ? head.setAttribute("aria-sort", down ? "descending" : "ascending") : head.removeAttribute("aria-sort")));
    replace(
      body,
      chosen.map((row) =>
        h(
          "tr",
          {},
          row.texts.map((text, place) => h("td", { class: columns[place].numeric ? "number" : undefined }, place ? text : first(row))),
          actions ? h("td", {}, actions(row)) : null,
        ),
      ),
    );
    if (!chosen.length) {
      replace(body, h("tr", {}, h("td", { colSpan: columns.length + 1 }, "No drive matches these filters.")));
    }
  };
  // Numbers begin with the largest: of rates and sizes that is the interesting end.
  const sort = (column) => {
    sorted = { column, down: sorted.column === column ? !sorted.down : columns[column].numeric };
    show();
  };
  const filters = h("div", { class: "filters", role: "search", "aria-label": "Filters" }, words, selects, least, most);
  filters.addEventListener("input", show);
  show();
  const table = h("table", { class: "drives" }, h("thead", {}, h("tr", {}, heads, actions ? h("th", {}, h("span", { class: "sr" }, "Actions")) : null)), body);
  return { element: h("div", { class: "picker" }, filters, count, h("div", { class: "scroll" }, table)), focus: () => words.focus() };
};

// A dialog that gives the name of a drive to `take`.
export const pickDrive = (picker, take) => {
  const choose = (name) => {
    dialog.close();
    take(name);
  };
  const table = driveTable(picker, {
    first: (row) => h("button", { type: "button", class: "link", title: row.title, onclick: () => choose(row.name) }, row.name),
  });
  // Drives and machines that were dropped as files come before those of the catalog.
  const files = (picker.dropped ?? []).map(({ name, label, title }) => h("li", {}, h("button", { type: "button", class: "link", title, onclick: () => choose(name) }, label)));
  const dropped = files.length ? h("ul", { class: "picked-files", "aria-label": "Your files" }, h("li", { class: "muted" }, "Your files:"), files) : null;
  const close = h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { class: "wide-dialog", "aria-label": "Choose a drive" }, h("div", { class: "dialog-head" }, h("h2", {}, "Choose a drive"), close), dropped, table.element);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  table.focus();
};

// The page of the catalog: drives with filters, and the workloads; `ask` opens a form with fields filled in.
export const catalogPage = (catalog, ask) => {
  const chosen = new Set();
  const compared = h("button", { type: "button", disabled: true }, "Compare");
  const count = () => {
    compared.disabled = chosen.size < 2;
    compared.textContent = chosen.size < 2 ? "Compare (tick two or more)" : `Compare ${chosen.size}`;
  };
  const tick = (row) => {
    const box = h("input", { type: "checkbox", checked: chosen.has(row.name), "aria-label": `Compare ${row.name}` });
    box.addEventListener("change", () => {
      chosen[box.checked ? "add" : "delete"](row.name);
      count();
    });
    return box;
  };
  const drives = driveTable(catalog.picker, {
    first: (row) => h("span", { class: "pick" }, tick(row), h("button", { type: "button", class: "link", title: `Predict ${row.title}`, onclick: () => ask("run", { workload: "randread", on: [row.name] }) }, row.name)),
  });
  compared.addEventListener("click", () => ask("run", { workload: "randread", on: [...chosen] }));
  count();
  const workloads = h(
    "table",
    { class: "listing" },
    h("thead", {}, h("tr", {}, ["Workload", "What it does", "Source"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, catalog.workloads.map((row) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "link", onclick: () => ask("run", { workload: row.name }) }, row.name)), h("td", {}, row.title), h("td", { class: "muted spread" }, row.source)))),
  );
  const layouts = h("p", { class: "hint" }, `Layouts: ${catalog.layouts.join(", ")}. A machine of several drives is LAYOUT:COUNTxDRIVE, such as raid5:8xent-10k.`);
  return h(
    "section",
    { class: "wide catalog" },
    h("h1", {}, "Catalog"),
    h("p", { class: "sub" }, "Choose a drive to predict it, or tick several to compare them."),
    h("div", { class: "bar" }, compared),
    drives.element,
    layouts,
    h("h2", { class: "below" }, "Workloads"),
    h("div", { class: "scroll" }, workloads),
  );
};
