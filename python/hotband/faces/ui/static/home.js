// The first page: five questions with examples to click, and a place to drop files.

import { h } from "./dom.js";

const PAIR = ["7450-pro-3840", "pm9a3-3840"];

// An example is a form that is filled in and run; `file` is dropped first.
const QUESTIONS = [
  {
    kind: "run",
    title: "Predict one machine",
    text: "How many IOPS does it reach, and at what latency? Take a drive or an array, and a workload or your fio job.",
    examples: [
      { label: "Random reads on a Micron 7450 PRO", form: { workload: "randread", on: [PAIR[0]], settings: [["qd", "32"]], duration: "1 s" } },
      { label: "A database on RAID 5 of 10K disks", form: { workload: "iometer-database", on: ["raid5:8xent-10k"], duration: "60 s" } },
    ],
  },
  {
    kind: "sweep",
    title: "Compare machines",
    text: "The same workload on several machines, side by side, over queue depths or block sizes.",
    examples: [
      { label: "Two NVMe drives, random reads", kind: "run", form: { workload: "randread", on: PAIR, settings: [["qd", "32"]], duration: "1 s" } },
      { label: "10K against 15K disks, queue depth 1 to 256", form: { workload: "fio-randread", on: ["ent-10k", "ent-15k"], settings: [["qd", "1..256"]], duration: "10 s" } },
    ],
  },
  {
    kind: "find",
    title: "How many drives?",
    text: "The number of drives, the rate, the queue depth or the block size that meets a target.",
    examples: [
      { label: "Disks for 3,000 IOPS at p99 < 30 ms", form: { question: "drives for 3000 IOPS at p99 < 30 ms", workload: "iometer-database", on: ["raid10:{n}xexos-15e900-512n"] } },
      { label: "IOPS of a 10K disk at p99 < 20 ms", form: { question: "IOPS at p99 < 20 ms", workload: "fio-randread", on: ["ent-10k"] } },
    ],
  },
  {
    kind: "advise",
    title: "What to buy?",
    text: "Give a capacity, a latency target and the failures to survive. The answer lists drives and layouts with cost and power.",
    examples: [
      { label: "40 TB for a database, one failure", form: { workload: ["iometer-database"], slo: "p99 < 40 ms", capacity: "40 TB", protect: "one failure", drives: ["exos-x18-18tb", "ent-10k"], layouts: ["raid10", "raid5"] } },
    ],
  },
  {
    kind: "expect",
    title: "Is my result good?",
    text: "Drop a result of fio, vdbench, DiskSpd or Iometer: is it what the drive should reach?",
    examples: [{ label: "A made-up fio result of a 10K disk", file: "example-fio.json", form: { on: ["ent-10k"] } }],
  },
];

const OTHERS = [
  ["fleet", "Simulate a fleet over years"],
  ["compare", "Is one result faster than another?"],
  ["review", "Review drives with standard tests"],
  ["calibrate", "Fit a drive model to your results"],
  ["study", "Predict published evaluations"],
  ["catalog", "Browse drives and workloads"],
];

const card = ({ kind, title, text, examples }, start) =>
  h(
    "li",
    { class: "question" },
    h("h2", {}, h("a", { href: `#${kind}` }, title)),
    h("p", {}, text),
    h("p", { class: "examples" }, h("span", { class: "muted" }, "Try: "), examples.map((example) => h("button", { type: "button", class: "plain", onclick: () => start({ kind, ...example }) }, example.label))),
  );

// `start` runs an example; `place` is where files are dropped.
export const home = (start, place) =>
  h(
    "section",
    { class: "wide home" },
    h("h1", {}, "What do you want to know about your storage?"),
    h("p", { class: "sub" }, "Hotband predicts, measures and checks storage before you buy it. Everything runs on this computer."),
    h("ul", { class: "questions" }, QUESTIONS.map((question) => card(question, start)), h("li", { class: "question others" }, h("h2", {}, "More"), h("ul", {}, OTHERS.map(([kind, title]) => h("li", {}, h("a", { href: `#${kind}` }, title)))))),
    place,
  );
