// A JSON value as a person reads it: names and values, one below the other, and lists as lists. What is empty is left out.

import {h, words} from "./dom.js";

const empty = (value) => value === undefined || value === null || value === "" || (Array.isArray(value) ? value.every(empty) : typeof value === "object" && Object.values(value).every(empty));

// fields returns an element, or null when there is nothing to show.
export function fields(value) {
  if (empty(value)) return null;
  if (typeof value === "boolean") return h("span", null, value ? "Yes" : "No");
  if (typeof value !== "object") return h("span", {class: "written"}, String(value));
  if (Array.isArray(value)) {
    const items = value.filter((v) => !empty(v));
    return items.every((v) => typeof v !== "object") && items.join("").length < 80 ? h("span", null, items.join(", ")) : h("ul", {class: "fields"}, items.map((v) => h("li", null, fields(v))));
  }
  const all = Object.entries(value).filter(([, v]) => !empty(v));
  if (all.length === 1 && typeof all[0][1] === "object" && !Array.isArray(all[0][1])) return fields(all[0][1]); // under the name of its type
  return h("dl", {class: "fields"}, all.map(([key, v]) => [h("dt", null, words(key)), h("dd", null, fields(v))]));
}
