// What is asked of the server. Every request carries the token of this start; a mistake of the user is an answer with
// `error`, which is thrown as a Mistake.

const token = document.querySelector('meta[name="token"]').content;

export class Mistake extends Error {
  constructor({ field, key, text }) {
    super(text);
    Object.assign(this, { field, key });
  }
}

export class Gone extends Error {}

const listeners = { gone: () => {}, back: () => {}, anew: () => {} };

export const whenServer = (handlers) => Object.assign(listeners, handlers);

const asked = async (path, options = {}) => {
  let answer;
  try {
    answer = await fetch(path, { ...options, headers: { "x-hotband-token": token, ...options.headers } });
  } catch {
    listeners.gone();
    throw new Gone("The server does not answer.");
  }
  if (answer.status === 403) {
    listeners.anew();
    throw new Gone("The server was started anew.");
  }
  if (!answer.ok) {
    throw new Mistake({ field: "", key: "", text: `The server could not answer (${answer.status}): ${await answer.text()}` });
  }
  const data = await answer.json();
  if (data?.error && typeof data.error === "object") {
    throw new Mistake(data.error);
  }
  return data;
};

export const get = (path) => asked(path);

export const post = (path, data) =>
  asked(path, { method: "POST", body: JSON.stringify(data), headers: { "content-type": "application/json" } });

export const upload = (file, name) =>
  asked(`/api/dropped?name=${encodeURIComponent(name)}`, {
    method: "POST",
    body: file,
    headers: { "content-type": "application/octet-stream" },
  });

// News of jobs, until the server is gone for good. The browser asks again by itself while it does not answer.
export const news = (take) => {
  let failing = false;
  const source = new EventSource("/api/events");
  source.onmessage = (event) => {
    if (failing) {
      failing = false;
      listeners.back();
    }
    take(JSON.parse(event.data));
  };
  source.onerror = () => {
    failing = true;
    (source.readyState === EventSource.CLOSED ? listeners.anew : listeners.gone)();
  };
};
