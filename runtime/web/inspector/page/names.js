// What programs, nodes and kinds are called for people, and how an identifier without such a name is read.

import {get, path} from "./api.js";
import {words} from "./dom.js";

const nodes = new Map(), programs = new Map(), graphs = new Map(); // by key and agent type; by machine

// named is what a node, or a place to go on at, is called.
export const named = (word) => nodes.get(word) ?? words(word);

// known reports whether the server has a name for it.
export const known = (word) => nodes.has(word);

// titled is what a machine is called.
export const titled = (machine) => programs.get(machine) ?? words(machine);

// programOf reads the graph of a machine, once, and learns its names. A machine that has none is null.
export function programOf(machine) {
  if (!machine) return null;
  if (!graphs.has(machine)) {
    graphs.set(machine, get(path`programs/${machine}`).then(learn, (err) => { if (err.status !== 404) graphs.delete(machine); return null; }));
  }
  return graphs.get(machine);
}

export function learn(graph) {
  programs.set(graph.machine, graph.title);
  for (const n of graph.nodes) for (const word of [n.key, n.agentType]) nodes.set(word, n.title);
  for (const r of graph.routes) nodes.set(r.agentType, r.title);
  return graph;
}

// learnPrograms learns what the programs are called, once. Only an operator may list them.
let listed = null;
export function learnPrograms() {
  listed ??= get("programs").then((list) => { for (const p of list.items) programs.set(p.machine, p.title); return list.items; }, () => { listed = null; return []; });
  return listed;
}

// learnAll reads the graphs of all programs, where some of these words has no name yet.
export async function learnAll(wanted) {
  if (wanted.some((word) => word && !nodes.has(word))) await Promise.all((await learnPrograms()).map((p) => programOf(p.machine)));
}
