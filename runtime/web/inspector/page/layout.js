// Layered layout of a graph, from top to bottom. It only computes.

// layout places nodes [{id, w, h}] and edges [{from, to}] and returns {nodes: Map id -> {x, y, w, h, helper}, edges: [{from, to, kind, d}], w, h}; x and y are
// the middle of a node, d is the path of an edge. The first node is where the work begins. The same input gets the same picture.
//
// Only the edges that lead on decide where nodes stand. Those that lead back, and those to nodes that serve many and return to the caller,
// would hide them: kind is "back" and "help" for these, and such nodes stand in a column of their own.
export function layout(nodes, edges, {rowGap = 46, gap = 26, lane = 10} = {}) {
  const ids = new Map(nodes.map((n, i) => [n.id, i]));
  const seen = new Set();
  const links = edges.filter((e) => {
    const key = `${e.from} ${e.to}`;
    return ids.has(e.from) && ids.has(e.to) && e.from !== e.to && !seen.has(key) && seen.add(key);
  }).map((e) => ({from: ids.get(e.from), to: ids.get(e.to), edge: e, kind: "on"}));
  const helps = helpers(nodes.length, links);
  for (const l of links) if (helps.has(l.from) || helps.has(l.to)) l.kind = "help";
  markBack(nodes.length, links.filter((l) => l.kind === "on"));
  const on = links.filter((l) => l.kind === "on");
  const rank = ranks(nodes.map((_, i) => !helps.has(i)), on);
  const cells = nodes.map((n, i) => ({w: n.w, h: n.h, rank: rank[i], up: [], down: []}));
  for (const l of on) thread(l, rank, cells, lane);
  const rows = [];
  cells.forEach((c, i) => { if (!helps.has(i)) (rows[c.rank] ??= []).push(i); });
  order(rows, cells);
  const x = across(rows, cells, gap);
  const standing = rows.flat();
  const low = Math.min(...standing.map((i) => x[i] - cells[i].w / 2));
  const wide = Math.max(...standing.map((i) => x[i] + cells[i].w / 2)) - low;
  let top = 0;
  const middle = rows.map((row) => {
    const tall = Math.max(...row.map((i) => cells[i].h), 1);
    const y = top + tall / 2;
    top += tall + rowGap;
    return y;
  });
  const at = cells.map((c, i) => ({x: Math.round(x[i] - low), y: middle[c.rank], w: c.w, h: c.h, helper: false}));
  const arcs = links.filter((l) => l.kind === "back").map((l) => arc(l, at, rows, rank));
  const column = aside([...helps], links, at, wide + 34, top);
  return {
    nodes: new Map(nodes.map((n, i) => [n.id, at[i]])),
    edges: links.map((l) => ({from: l.edge.from, to: l.edge.to, kind: l.kind, d: l.d ?? (l.kind === "on" ? curve(l.path.map((i) => at[i])) : sideways(at[l.from], at[l.to]))})),
    w: Math.ceil(helps.size > 0 ? column : Math.max(wide, ...arcs)), h: Math.max(0, top - rowGap),
  };
}

// helpers are the nodes that serve: most of those that go there are also those it returns to.
function helpers(count, links) {
  const out = new Set();
  const ways = new Set(links.map((l) => `${l.from} ${l.to}`));
  for (let n = 1; n < count; n++) {
    const near = new Set(links.flatMap((l) => (l.from === n ? [l.to] : l.to === n ? [l.from] : [])));
    const both = [...near].filter((m) => ways.has(`${n} ${m}`) && ways.has(`${m} ${n}`)).length;
    if (both >= 3 && both >= 0.75 * near.size) out.add(n);
  }
  return out.size < count / 2 ? out : new Set();
}

// markBack finds edges that close a circle. Of several orders to follow the edges in, it takes the one whose circles begin at the fewest nodes.
function markBack(count, links) {
  const out = Array.from({length: count}, () => []);
  for (const l of links) out[l.from].push(l);
  const many = (l) => out[l.to].length;
  const orders = [() => 0, (a, b) => many(a) - many(b), (a, b) => many(b) - many(a)];
  let best = null, least = Infinity;
  for (const by of orders) {
    const found = new Set(), state = new Uint8Array(count); // 0 new, 1 on the way, 2 done
    const visit = (n) => {
      state[n] = 1;
      for (const l of [...out[n]].sort(by)) {
        if (state[l.to] === 1) found.add(l); else if (state[l.to] === 0) visit(l.to);
      }
      state[n] = 2;
    };
    for (let n = 0; n < count; n++) if (state[n] === 0) visit(n);
    const cost = 1000 * new Set([...found].map((l) => l.to)).size + found.size;
    if (cost < least) { least = cost; best = found; }
  }
  for (const l of best) l.kind = "back";
}

// ranks gives each node the row after the last of those before it, and pulls sources down to what they lead to.
function ranks(stands, on) {
  const count = stands.length, rank = new Array(count).fill(0);
  for (let round = 0, moved = true; moved && round <= count; round++) {
    moved = false;
    for (const {from, to} of on) if (rank[to] < rank[from] + 1) { rank[to] = rank[from] + 1; moved = true; }
  }
  for (let n = 1; n < count; n++) {
    const next = on.filter((l) => l.from === n).map((l) => rank[l.to]);
    if (next.length > 0 && !on.some((l) => l.to === n)) rank[n] = Math.min(...next) - 1;
  }
  return rank;
}

// thread leads an edge through the rows between its ends, by cells of its own, so that nothing is drawn over a node.
function thread(l, rank, cells, lane) {
  const path = [l.from];
  for (let r = rank[l.from] + 1; r < rank[l.to]; r++) {
    cells.push({w: lane, h: 0, rank: r, up: [], down: [], dummy: true});
    path.push(cells.length - 1);
  }
  path.push(l.to);
  for (let i = 1; i < path.length; i++) {
    cells[path[i - 1]].down.push(path[i]);
    cells[path[i]].up.push(path[i - 1]);
  }
  l.path = path;
}

// order moves the cells of each row to where their neighbours are, down and up again, and keeps the order with the fewest crossings.
function order(rows, cells) {
  const place = new Array(cells.length);
  const note = () => rows.forEach((row) => row.forEach((c, i) => { place[c] = i; }));
  const mean = (list, c) => (list.length ? list.reduce((sum, n) => sum + place[n], 0) / list.length : place[c]);
  note();
  let best = rows.map((row) => [...row]), least = crossings(rows, cells, place);
  for (let round = 0; round < 24 && least > 0; round++) {
    const downward = round % 2 === 0;
    for (let k = 1; k < rows.length; k++) {
      const row = rows[downward ? k : rows.length - 1 - k];
      const want = new Map(row.map((c) => [c, mean(downward ? cells[c].up : cells[c].down, c)]));
      row.sort((a, b) => want.get(a) - want.get(b) || place[a] - place[b]);
      row.forEach((c, i) => { place[c] = i; });
    }
    const found = crossings(rows, cells, place);
    if (found < least) { least = found; best = rows.map((row) => [...row]); }
  }
  best.forEach((row, r) => { rows[r] = row; });
}

function crossings(rows, cells, place) {
  let n = 0;
  for (const row of rows) {
    const ends = row.flatMap((c) => cells[c].down.map((d) => place[d]).sort((a, b) => a - b));
    for (let i = 0; i < ends.length; i++) for (let j = i + 1; j < ends.length; j++) if (ends[i] > ends[j]) n++;
  }
  return n;
}

// across finds the x of every cell: near to its neighbours, in the order of its row, with gaps.
function across(rows, cells, gap) {
  const x = new Array(cells.length).fill(0);
  const apart = (a, b) => (cells[a].w + cells[b].w) / 2 + (cells[a].dummy && cells[b].dummy ? gap / 3 : gap);
  for (const row of rows) {
    for (let i = 1; i < row.length; i++) x[row[i]] = x[row[i - 1]] + apart(row[i - 1], row[i]);
    const half = (x[row[0]] + x[row.at(-1)]) / 2;
    for (const c of row) x[c] -= half;
  }
  for (let round = 0; round < 30; round++) {
    const way = round % 3; // down, up, both
    for (const row of round % 2 ? [...rows].reverse() : rows) {
      const want = row.map((c) => {
        const near = way === 0 ? cells[c].up : way === 1 ? cells[c].down : [...cells[c].up, ...cells[c].down];
        if (near.length === 0) return x[c];
        const all = near.map((n) => x[n]).sort((a, b) => a - b), m = all.length >> 1;
        return all.length % 2 ? all[m] : (all[m - 1] + all[m]) / 2;
      });
      settle(row, want, cells, apart).forEach((v, i) => { x[row[i]] = v; });
    }
  }
  return x;
}

// settle keeps the order and the gaps: cells that would overlap form a block, and the block stands where its members want it on average.
function settle(row, want, cells, apart) {
  const blocks = [];
  row.forEach((c, i) => {
    let block = {at: want[i], weight: cells[c].dummy ? 3 : 1, first: i, offsets: [0]};
    while (blocks.length > 0) {
      const left = blocks.at(-1);
      const far = left.offsets.at(-1) + apart(row[left.first + left.offsets.length - 1], row[block.first]);
      if (left.at + far <= block.at) break;
      blocks.pop();
      const weight = left.weight + block.weight;
      block = {
        at: (left.at * left.weight + (block.at - far) * block.weight) / weight, weight, first: left.first,
        offsets: [...left.offsets, ...block.offsets.map((o) => o + far)],
      };
    }
    blocks.push(block);
  });
  return blocks.flatMap((b) => b.offsets.map((o) => b.at + o));
}

// arc leads an edge back up, on the right of what stands between its ends, and returns how far to the right it goes.
function arc(l, at, rows, rank) {
  const from = at[l.from], to = at[l.to];
  const between = rows.slice(Math.min(rank[l.from], rank[l.to]), Math.max(rank[l.from], rank[l.to]) + 1).flat();
  const far = Math.max(...between.filter((i) => at[i].h > 0).map((i) => at[i].x + at[i].w / 2)) + 16 + 5 * Math.abs(rank[l.from] - rank[l.to]);
  const a = {x: from.x + from.w / 2, y: from.y - 4}, b = {x: to.x + to.w / 2, y: to.y + 4};
  const bend = far + (far - Math.max(a.x, b.x)) / 3;
  l.d = `M${a.x} ${a.y}C${bend} ${a.y} ${bend} ${b.y} ${b.x} ${b.y}`;
  return far;
}

// aside puts the helpers into a column, each as near as it can be to those it serves, and returns where the column ends.
function aside(helps, links, at, left, tall) {
  const wide = Math.max(0, ...helps.map((n) => at[n].w));
  const mean = (n) => {
    const near = links.filter((l) => l.from === n || l.to === n).map((l) => at[l.from === n ? l.to : l.from].y).filter((y) => y !== undefined);
    return near.reduce((sum, y) => sum + y, 0) / (near.length || 1);
  };
  const want = helps.map((n) => ({n, y: mean(n)})).sort((a, b) => a.y - b.y || a.n - b.n);
  const step = Math.max(64, Math.min(120, tall / (want.length + 1)));
  const first = Math.max(17, (tall - step * want.length) / 2);
  want.forEach(({n}, i) => Object.assign(at[n], {x: left + wide / 2, y: Math.round(first + step * i), helper: true}));
  return left + wide;
}

// sideways is the path between a node and a helper.
function sideways(a, b) {
  const way = a.x <= b.x ? 1 : -1, from = a.x + (way * a.w) / 2, to = b.x - (way * b.w) / 2;
  const shift = way * 5; // there and back are two lines
  if (a.helper && b.helper) return `M${a.x + a.w / 2} ${a.y}C${a.x + a.w / 2 + 30} ${a.y} ${b.x + b.w / 2 + 30} ${b.y} ${b.x + b.w / 2} ${b.y}`;
  return `M${from} ${a.y + shift}C${(from + to) / 2} ${a.y + shift} ${(from + to) / 2} ${b.y + shift} ${to} ${b.y + shift}`;
}

// curve is the path of an edge that leads on: straight out of one node, through the rows between, straight into the other.
function curve(points) {
  const first = points[0], last = points.at(-1);
  const way = [{x: first.x, y: first.y + first.h / 2}, ...points.slice(1, -1), {x: last.x, y: last.y - last.h / 2}];
  let d = `M${way[0].x} ${way[0].y}`;
  for (let i = 1; i < way.length; i++) {
    const a = way[i - 1], b = way[i], half = (b.y - a.y) / 2;
    d += `C${a.x} ${a.y + half} ${b.x} ${b.y - half} ${b.x} ${b.y}`;
  }
  return d;
}
