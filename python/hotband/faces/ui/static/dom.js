// Elements without markup: texts are always texts, so that a name cannot become a tag.

export const h = (tag, props = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith("on")) {
      made.addEventListener(name.slice(2), value);
    } else if (name === "class") {
      made.className = value;
    } else if (name in made && name !== "list" && name !== "form") {
      made[name] = value;
    } else {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
};

const SVG = "http://www.w3.org/2000/svg";

export const s = (tag, props = {}, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(props)) {
    made.setAttribute(name, value);
  }
  made.append(...children.flat());
  return made;
};

export const replace = (place, ...children) => {
  place.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
};

let numbers = 0;

export const freshId = (of) => `${of}-${(numbers += 1)}`;

const LONGEST = 260;

// A long text with its end folded away: of a list of all that is accepted the first are enough.
export const folded = (text) => {
  if (text.length <= LONGEST) {
    return [text];
  }
  const cut = text.lastIndexOf(" ", LONGEST - 20);
  const all = h("button", { type: "button", class: "link" }, "all of it");
  const place = h("span", {}, `${text.slice(0, cut)} ... `, all);
  all.addEventListener("click", () => place.replaceChildren(text));
  return [place];
};

// A copy that says so for a moment.
export const copier = (text, label = "Copy as command") => {
  const button = h("button", { type: "button", class: "plain" }, label);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text());
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1500);
  });
  return button;
};
