// Fields of forms: each has an element, reads its value, and says what is wrong with it beside itself.

import { get } from "./api.js";
import { folded, freshId, h, replace } from "./dom.js";
import { pickDrive } from "./picker.js";

const wrapped = (name, label, control, hint) => {
  const error = h("p", { class: "mistake", id: freshId("mistake"), hidden: true });
  const id = control.id || (control.id = freshId(name));
  const element = h(
    "div",
    { class: "field", "data-field": name },
    h("label", { for: id }, label),
    control,
    hint ? h("p", { class: "hint" }, hint) : null,
    error,
  );
  const say = (text) => {
    replace(error, folded(text));
    error.hidden = !text;
    element.classList.toggle("wrong", Boolean(text));
    const focused = element.querySelectorAll("input, select, textarea");
    focused.forEach((one) => (text ? one.setAttribute("aria-invalid", "true") : one.removeAttribute("aria-invalid")));
    focused.forEach((one) => (text ? one.setAttribute("aria-describedby", error.id) : one.removeAttribute("aria-describedby")));
  };
  // What was wrong may be right now: it is looked at when it is sent again.
  element.addEventListener("input", () => say(""));
  return { name, element, say, focus: () => element.querySelector("input, select, textarea, button")?.focus() };
};

// Browsers and password stores have nothing to fill in here.
const plain = { type: "text", autocomplete: "off", spellcheck: false };

export const text = (name, label, { hint, placeholder, value = "", list, inputmode } = {}) => {
  const input = h("input", { ...plain, value, placeholder, list, inputmode });
  return { ...wrapped(name, label, input, hint), read: () => input.value.trim(), fill: (next) => (input.value = next ?? "") };
};

export const box = (name, label) => {
  const input = h("input", { type: "checkbox", id: freshId(name) });
  const field = wrapped(name, "", input);
  field.element.classList.add("box");
  replace(field.element, h("label", {}, input, " ", label), field.element.querySelector(".mistake"));
  return { ...field, read: () => input.checked, fill: (next) => (input.checked = Boolean(next)) };
};

export const choice = (name, label, options, hint) => {
  const select = h("select", {}, options.map(([value, words]) => h("option", { value }, words)));
  const field = wrapped(name, label, select, hint);
  return { ...field, select, read: () => select.value, fill: (next) => next && (select.value = next) };
};

// Whether nobody has changed a field yet: then its value is our example, which a dropped file replaces.
const untouched = (element) => {
  let is = true;
  element.addEventListener("input", () => (is = false));
  return () => is;
};

// Lines of text, as many as are needed; what is dropped takes an empty one.
export const texts = (name, label, { values = [""], list, add, hint } = {}) => {
  const rows = h("div", { class: "rows" });
  const field = wrapped(name, label, rows, hint);
  rows.removeAttribute("id");
  field.element.querySelector("label").replaceWith(h("p", { class: "label" }, label));
  const changed = () => field.element.dispatchEvent(new Event("input", { bubbles: true }));
  const inputs = () => [...rows.querySelectorAll("input")];
  const put = (value) => {
    const input = h("input", { ...plain, value, list, "aria-label": label });
    const remove = h("button", { type: "button", class: "remove", "aria-label": "Remove", title: "Remove" }, "×");
    const row = h("div", { class: "machine" }, input, rows.children.length ? remove : null);
    remove.addEventListener("click", () => {
      row.remove();
      changed();
    });
    rows.append(row);
    return input;
  };
  values.forEach(put);
  const more = h("button", { type: "button", class: "plain" }, add);
  more.addEventListener("click", () => put("").focus());
  rows.after(more);
  const fill = (next) => {
    replace(rows);
    (next?.length ? next : [""]).forEach(put);
    changed();
  };
  const isExample = untouched(field.element);
  const take = (value) => {
    const free = isExample() ? inputs()[0] : inputs().find((one) => !one.value.trim());
    free ? (free.value = value) : put(value);
    changed();
  };
  return { ...field, read: () => inputs().map((one) => one.value.trim()).filter(Boolean), fill, take };
};

// Boxes of which any may be ticked.
export const several = (name, label, hint) => {
  const group = h("div", { class: "boxes", role: "group", "aria-label": label });
  const field = wrapped(name, label, group, hint);
  // In the order in which they were ticked.
  let wanted = [];
  const offer = (names) =>
    replace(group, names.map((one) => h("label", {}, h("input", { type: "checkbox", value: one, checked: wanted.includes(one) }), " ", one)));
  group.addEventListener("change", ({ target }) => {
    wanted = wanted.filter((one) => one !== target.value).concat(target.checked ? [target.value] : []);
  });
  const read = () => wanted.filter((one) => [...group.querySelectorAll("input")].some(({ value }) => value === one));
  const fill = (next) => {
    wanted = [...(next ?? [])];
    group.querySelectorAll("input").forEach((one) => (one.checked = wanted.includes(one.value)));
  };
  return { ...field, offer, read, fill };
};

// A machine: a drive, and how many of it in which layout; or whatever a short form says.
const machineRow = (catalog, value, removable, changed) => {
  const drive = h("input", { ...plain, list: "drives", "aria-label": "Drive", class: "drive", placeholder: "7450-pro-3840" });
  const pick = h("button", { type: "button", class: "plain pick-drive", title: "Choose from the catalog, with filters" }, "Choose ...");
  const layout = h("select", { "aria-label": "Layout", class: "layout" }, catalog.layouts.map((one) => h("option", { value: one }, one)));
  const count = h("input", { ...plain, inputmode: "numeric", "aria-label": "Number of drives", class: "count", value: "1" });
  const parts = () => drive.value.trim().includes(":");
  const show = () => [layout, count].forEach((one) => (one.disabled = parts()));
  const read = () => {
    const [of, many] = [drive.value.trim(), count.value.trim() || "1"];
    return !of || parts() || (layout.value === "single" && many === "1") ? of : `${layout.value}:${many}x${of}`;
  };
  const fill = (next) => {
    const found = /^([a-z0-9]+):(\d+|\{n\})x(.+)$/.exec(next);
    const known = found && catalog.layouts.includes(found[1]) && !found[3].includes(":");
    drive.value = known ? found[3] : next;
    layout.value = known ? found[1] : "single";
    count.value = known ? found[2] : "1";
    show();
  };
  drive.addEventListener("input", show);
  // A short form that was typed, in its parts.
  drive.addEventListener("change", () => parts() && fill(drive.value.trim()));
  layout.addEventListener("change", () => {
    if (layout.value !== "single" && count.value.trim() === "1") {
      count.value = { raid1: "2", raid10: "4" }[layout.value] ?? "8";
    } else if (layout.value === "single") {
      count.value = "1";
    }
  });
  const remove = removable && h("button", { type: "button", class: "remove", "aria-label": "Remove this machine", title: "Remove" }, "×");
  const element = h("div", { class: "machine" }, drive, pick, layout, count, remove);
  pick.addEventListener("click", () =>
    pickDrive(catalog.picker, (name) => {
      drive.value = name;
      show();
      drive.focus();
      changed();
    }),
  );
  if (remove) {
    remove.addEventListener("click", () => {
      element.remove();
      changed();
    });
  }
  fill(value);
  return { element, read, fill, drive };
};

export const machines = (catalog, label, { many = true, values = [""], hint } = {}) => {
  const list = h("div", { class: "rows" });
  const rows = [];
  const field = wrapped("on", label, list, hint);
  list.removeAttribute("id");
  const head = field.element.querySelector("label");
  head.replaceWith(h("p", { class: "label" }, label));
  const changed = () => field.element.dispatchEvent(new Event("input", { bubbles: true }));
  const add = (value) => {
    const row = machineRow(catalog, value, many && rows.length > 0, changed);
    rows.push(row);
    list.append(row.element);
    return row;
  };
  values.forEach(add);
  if (many) {
    const more = h("button", { type: "button", class: "plain" }, "Add a machine");
    more.addEventListener("click", () => {
      add("").drive.focus();
      changed();
    });
    list.after(more);
  }
  const isExample = untouched(field.element);
  const live = () => rows.filter((row) => row.element.isConnected || !list.isConnected);
  return {
    ...field,
    read: () => rows.filter((row) => list.contains(row.element)).map((row) => row.read()).filter(Boolean),
    fill: (next) => {
      rows.splice(0).forEach((row) => row.element.remove());
      (next?.length ? next : [""]).forEach(add);
      changed();
    },
    // A file that was dropped takes the place of the example, else the first empty one, else a new one.
    take: (name) => {
      const free = isExample() ? rows[0] : live().find((row) => !row.drive.value.trim()) ?? (many && rows.length ? add("") : rows[0]);
      free.fill(name);
      changed();
    },
  };
};

// Settings: keys that the workload on the machine takes, with what they take.
export const settings = (about, placeholder) => {
  const list = h("div", { class: "rows" });
  const field = wrapped("settings", "Settings", list);
  list.removeAttribute("id");
  field.element.querySelector("label").replaceWith(h("p", { class: "label" }, "Settings"));
  const known = freshId("keys");
  const options = h("datalist", { id: known });
  let found = [];
  const add = (key = "", value = "") => {
    const name = h("input", { ...plain, value: key, list: known, "aria-label": "Key", class: "key-name", placeholder: "qd" });
    const given = h("input", { ...plain, value, "aria-label": "Value", placeholder });
    const remove = h("button", { type: "button", class: "remove", "aria-label": "Remove this setting", title: "Remove" }, "×");
    const note = h("p", { class: "hint" });
    const explain = () => {
      const one = found.find((key) => key.key === name.value.trim());
      note.textContent = one ? `${one.meaning}${one.value ? `; default: ${one.value}` : ""}` : "";
    };
    const row = h("div", { class: "setting" }, name, given, remove, note);
    remove.addEventListener("click", () => {
      row.remove();
      field.element.dispatchEvent(new Event("input", { bubbles: true }));
    });
    name.addEventListener("input", explain);
    name.addEventListener("focus", async () => {
      found = await about.keys();
      replace(options, found.map((one) => h("option", { value: one.key }, one.meaning)));
      explain();
    });
    list.append(row);
    return name;
  };
  const more = h("button", { type: "button", class: "plain" }, "Add a setting");
  more.addEventListener("click", () => add().focus());
  const all = h("button", { type: "button", class: "plain" }, "List all settings");
  all.addEventListener("click", () => about.list((key) => add(key)));
  list.after(options, h("p", { class: "buttons" }, more, all));
  return {
    ...field,
    read: () => [...list.querySelectorAll(".setting")].map((row) => [...row.querySelectorAll("input")].map((one) => one.value.trim())),
    fill: (next) => {
      replace(list);
      (next ?? []).forEach(([key, value]) => add(key, value));
    },
  };
};

// What `settings` asks about: the keys for the workload and the machine of the form as they are now.
export const keysOf = (workload, on) => {
  let [asked, found] = ["", []];
  const keys = async () => {
    const wanted = `workload=${encodeURIComponent(workload())}&on=${encodeURIComponent(on())}`;
    if (wanted !== asked) {
      found = await get(`/api/keys?${wanted}`).catch(() => []);
      asked = wanted;
    }
    return found;
  };
  const list = async (take) => {
    const rows = await keys();
    const filter = h("input", { ...plain, type: "search", "aria-label": "Filter", placeholder: "filter, such as cache" });
    const body = h("tbody");
    const dialog = h(
      "dialog",
      { "aria-label": "Settings" },
      h("div", { class: "dialog-head" }, h("h2", {}, `Settings of ${workload()} on ${on()}`), h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, "Close")),
      filter,
      h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ["Key", "Current value", "Allowed values", "Meaning"].map((one) => h("th", {}, one)))), body)),
    );
    const choose = (key) => {
      dialog.close();
      take(key).focus();
    };
    const show = () => {
      const words = filter.value.toLowerCase();
      const fits = rows.filter((row) => `${row.key} ${row.meaning} ${row.part}`.toLowerCase().includes(words));
      replace(body, fits.map((row) => h("tr", {}, h("td", {}, h("button", { type: "button", class: "link", onclick: () => choose(row.key) }, row.key)), h("td", {}, row.value ?? "–"), h("td", {}, row.accepted), h("td", {}, `${row.meaning} (${row.part})`))));
      if (!fits.length) {
        replace(body, h("tr", {}, h("td", { colSpan: 4 }, rows.length ? "No key matches." : "Choose a workload and a machine first.")));
      }
    };
    filter.addEventListener("input", show);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    show();
    dialog.showModal();
    filter.focus();
  };
  return { keys, list };
};
