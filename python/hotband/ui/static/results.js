// Everything in the store: the newest first, what of it can be opened, and what is to be compared.

import { get } from "./api.js";
import { h, replace } from "./dom.js";
import { wordOf } from "./job.js";

const when = (seconds) => (seconds ? new Date(1000 * seconds).toLocaleString() : "");

export const results = ({ compare }) => {
  const filter = h("input", { type: "search", "aria-label": "Filter", placeholder: "filter", autocomplete: "off" });
  const body = h("tbody");
  const button = h("button", { type: "button", disabled: true }, "Compare");
  const none = h("p", { class: "empty" }, "Nothing is here yet. Run something, or drop a result on the page.");
  const scroll = h("div", { class: "scroll" }, h("table", { class: "listing" }, h("thead", {}, h("tr", {}, ["", "Result", "What", "State", "When"].map((one) => h("th", { scope: "col" }, one)))), body));
  const element = h("section", { class: "wide" }, h("h1", {}, "Results"), h("div", { class: "bar" }, filter, button), scroll, none);
  const ticked = () => [...body.querySelectorAll("input:checked")].map((one) => one.value);
  let rows = [];
  const show = () => {
    const words = filter.value.toLowerCase();
    const held = new Set(ticked());
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
      none.textContent = "Nothing fits the filter.";
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
  };
  count();
  return { element, refresh };
};
