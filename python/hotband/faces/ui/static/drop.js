// Files and folders that are dropped or chosen: which there are, and a line for each of what became of it.

import { folded, freshId, h, replace } from "./dom.js";

// Of a folder as large as this nobody wants all files as results: the server takes 1,000 in all.
const MOST_FILES = 1000;

const read = (entry) =>
  new Promise((resolve, reject) => {
    entry.file(resolve, reject);
  });

const entriesOf = (reader) =>
  new Promise((resolve, reject) => {
    reader.readEntries(resolve, reject);
  });

const byName = (a, b) => a.name.localeCompare(b.name, "en", { numeric: true });

const isHidden = (path) => path.split("/").some((part) => part.startsWith("."));

// A folder gives its files in batches, until one is empty.
const walk = async (entry, files) => {
  if (isHidden(entry.fullPath) || files.length >= MOST_FILES) {
    return;
  }
  if (entry.isFile) {
    files.push({ file: await read(entry), name: entry.fullPath.replace(/^\//, "") });
    return;
  }
  const reader = entry.createReader();
  for (let batch = await entriesOf(reader); batch.length; batch = await entriesOf(reader)) {
    for (const each of batch.sort(byName)) {
      await walk(each, files);
    }
  }
};

// All files of a drop, those of folders with their paths within the folder. The entries are taken at once: they are gone
// when the event is over.
export const droppedFiles = async (transfer) => {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => [item.webkitGetAsEntry?.(), item.getAsFile()]);
  const files = [];
  for (const [entry, file] of entries) {
    if (entry?.isDirectory) {
      await walk(entry, files);
    } else if (file) {
      files.push({ file, name: file.name });
    }
  }
  return files;
};

const chosenFiles = (input) =>
  [...input.files]
    .map((file) => ({ file, name: file.webkitRelativePath || file.name }))
    .filter(({ name }) => !isHidden(name))
    .sort(byName)
    .slice(0, MOST_FILES);

const KINDS = "drives, machines, workloads, job files, traces, prices, fleets, and results of fio, vdbench, DiskSpd, Iometer";

const ITS_KIND = { prices: "price table" };

// A place to drop files; `take` is given the files that are chosen here.
export const dropPlace = (take) => {
  const list = h("ul", { class: "dropped", role: "status" });
  const chooser = (label, props) => {
    const input = h("input", { type: "file", id: freshId("file"), class: "file", multiple: true, ...props });
    input.addEventListener("change", async () => {
      await take(chosenFiles(input));
      input.value = "";
    });
    return [h("label", { for: input.id, class: "as-button" }, label), input];
  };
  const element = h(
    "div",
    { class: "drop field", "data-field": "file" },
    h("p", { class: "choose" }, chooser("Choose files", {}), chooser("Choose a folder", { webkitdirectory: true }), h("span", { class: "muted" }, ` or drop them: ${KINDS}`)),
    list,
  );
  const line = (name) => {
    const item = h("li", { class: "hint" }, `Reading ${name} ...`);
    list.append(item);
    return {
      took: (found) => {
        const open = found.results.length ? h("a", { href: `#job/${found.results[0]}` }, "Show it") : null;
        const title = found.title === found.label ? "" : `: ${found.title}`;
        item.className = "took";
        replace(item, h("strong", {}, found.label), ` ${ITS_KIND[found.kind] ?? found.kind}${title} `, open, found.notes.map((note) => h("p", { class: "hint" }, note)));
      },
      refused: (text) => {
        item.className = "mistake";
        replace(item, folded(`${name}${text.startsWith("is ") ? " " : ": "}${text}`));
      },
      remove: () => item.remove(),
    };
  };
  return { element, line, clear: () => replace(list) };
};
