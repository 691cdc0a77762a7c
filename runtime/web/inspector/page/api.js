// The calls and the stream of runtime/web. The token stays in this tab's session storage and goes out in a header only. Who has signed in with an
// account has a cookie instead, which no script can read.

const base = new URL(document.querySelector("meta[name=api]").content, document.baseURI);
const keys = {token: "routegen.token", by: "routegen.by", interrupt: "routegen.interrupt"};

const meta = (name) => document.querySelector(`meta[name=${name}]`).content;
export const login = meta("login"); // where people sign in with their accounts; "" for nowhere

let rights = null; // of a capability token or a person, as the server tells them
let person = false; // the cookie says who it is

export const session = {
  get token() { return sessionStorage.getItem(keys.token) ?? ""; },
  get here() { return this.token !== "" || person; },
  get person() { return person && this.token === ""; },
  get by() { return rights?.by || (sessionStorage.getItem(keys.by) ?? ""); },
  get groups() { return rights?.groups ?? []; },
  // what a capability token is for; "" for the operator's
  get thread() { return threadOf(this.token); },
  get interrupt() { return sessionStorage.getItem(keys.interrupt) || rights?.interrupt || ""; },
  get once() { return Boolean(rights?.once); },
  // known says whether the rights are; may, whether the token has one. Until they are known all is offered, and the server refuses what must not be.
  get known() { return !this.thread || rights !== null; },
  may(action) { return !this.thread && !this.person || !rights || rights.actions.includes(action); },
  enter({token, by, interrupt}) {
    rights = null;
    person = false;
    sessionStorage.setItem(keys.token, token);
    sessionStorage.setItem(keys.by, by ?? "");
    sessionStorage.setItem(keys.interrupt, interrupt ?? "");
  },
  leave() {
    rights = null;
    person = false;
    for (const key of Object.values(keys)) sessionStorage.removeItem(key);
  },
};

// recognize asks whether somebody is signed in with an account, where that can be and no token is here.
export async function recognize() {
  if (!login || session.token) return;
  const res = await fetch(new URL("token", base), {cache: "no-store", credentials: "same-origin", redirect: "error"}).catch(() => null);
  if (!res?.ok) return;
  rights = await res.json();
  person = true;
}

// signOut ends the session of a person; the server forgets it.
export const signOut = () => fetch(new URL(meta("logout"), document.baseURI), {method: "POST", credentials: "same-origin", redirect: "error"}).catch(() => null);

// learn asks what the token may do. The operator's may do everything.
export async function learn() {
  const token = session.token;
  if (!session.thread) return;
  try {
    const told = await get("token");
    if (token === session.token) rights = told;
  } catch (err) {
    if (!(err instanceof Refused)) throw err;
  }
}

// forbids says why something is not offered; "" when it is.
const deeds = {answer: "answer", escape: "pause it", cancel: "end it", deliver: "say something to it", operate: "decide what the engine asks"};
export const forbids = (action) => (session.may(action) ? "" : `Your ${session.person ? "account" : "token"} does not let you ${deeds[action]}.`);

// A capability token begins with its thread.
function threadOf(token) {
  if (!token.startsWith("rg_")) return "";
  try {
    return atob(token.slice(3).split(".")[0].replaceAll("-", "+").replaceAll("_", "/"));
  } catch {
    return "";
  }
}

// told is why, in words. What was called, and the code, stand before that, and are for programs.
function told({code, detail, title}) {
  const text = detail || title || "refused";
  return text.split(`${code}: `).at(-1);
}

// Refused is a refusal of the server: a problem document, with a code and its data.
export class Refused extends Error {
  constructor(problem) {
    super(told(problem));
    Object.assign(this, {problem, code: problem.code, status: problem.status});
  }
}

const unreachable = () => new Refused({code: "unavailable", status: 0, detail: "The server cannot be reached. Nothing was lost; try again."});

let onLeave = () => {};
export const whenLeft = (f) => { onLeave = f; };

async function request(method, path, {body, key, headers, signal} = {}) {
  const all = {...headers};
  if (!session.person) all.Authorization = `Bearer ${session.token}`;
  if (body !== undefined) all["Content-Type"] = "application/json";
  if (key) all["Idempotency-Key"] = key;
  let res;
  try {
    res = await fetch(new URL(path, base), {
      method, headers: all, signal, cache: "no-store", credentials: session.person ? "same-origin" : "omit", redirect: "error",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (err) {
    throw signal?.aborted ? err : unreachable();
  }
  if (res.ok) return res;
  const problem = await res.json().catch(() => ({status: res.status, code: "internal", detail: res.statusText}));
  if (res.status === 401) onLeave(problem);
  throw new Refused(problem);
}

// call makes one call and returns what it answered.
export async function call(method, path, body, options) {
  const res = await request(method, path, {body, ...options});
  if (res.status === 204) return null;
  return res.json().catch(() => { throw unreachable(); });
}

export const get = (path) => call("GET", path);
export const post = (path, body, key) => call("POST", path, body, {key});

// deciding is the right that it takes to settle a question: the engine's own take another one than what handlers ask.
export const deciding = (i) => (["system_error", "user_escape"].includes(i?.kind) ? "operate" : "answer");

// called is a person or a group of those who may answer, in words.
const called = (who) => (who.startsWith("group:") ? `the group ${who.slice(6)}` : who);

// answerers is who may answer a question, in words; "" for anybody.
export const answerers = (i) => (i.assignees ?? []).map(called).join(" or ");

// asks reports whether a question names this person, or one of their groups.
export const asks = (i) => (i.assignees ?? []).some((who) => (who.startsWith("group:") ? session.groups.includes(who.slice(6)) : who === session.by));

// bars says why an answer to a question is not offered; "" when it is. The operator answers for any person, and the server says who may.
export function bars(i) {
  const why = forbids(deciding(i));
  if (why || !session.known || !session.thread && !session.person) return why;
  if (i.assignees?.length > 0 && !asks(i)) return `Only ${answerers(i)} may answer this.`;
  return i.notOwn && i.askedFor === session.by ? "It is about your own request: another person has to answer." : "";
}

// holder is who has claimed a question now; "" when nobody has, or the claim has ended.
export const holder = (i) => (i.claimedBy && !(i.claimedUntil <= Date.now()) ? i.claimedBy : "");

// path makes a path: what is put into it stays a part of its own.
export const path = (parts, ...ids) => parts.reduce((path, part, n) => path + encodeURIComponent(ids[n - 1]) + part);

// by puts in whose name the operator acts. A capability token has that already.
export const by = (body) => (session.thread || !session.by ? body : {...body, by: session.by});

// poster posts for one place of the page. It gives the same request the same idempotency key until it is done: after a reply that was lost the
// server knows it again, and does it once. Another request, an edited form among them, has another key, and so has the next one after it is done.
export function poster() {
  let key = "", about = "";
  return async (path, body) => {
    const now = JSON.stringify([path, body]);
    if (!key || now !== about) { key = newKey(); about = now; }
    const mine = key, out = await post(path, body, mine);
    if (key === mine) key = "";
    return out;
  };
}

function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

// pages reads a list to its end, or to a bound.
export async function pages(path, after = "", most = 5000) {
  const items = [];
  do {
    const mark = path.includes("?") ? "&" : "?";
    const page = await get(`${path}${after ? `${mark}after=${after}` : ""}`);
    items.push(...page.items);
    after = page.next ?? "";
  } while (after && items.length < most);
  return items;
}

// follow reads a stream of rows, from a cursor on, and comes back after every break with the id of the last row that came: nothing is lost and
// nothing comes twice. state hears live, lost (with the seconds until the next try) and refused. It returns a function that ends it.
export function follow(path, {after = "", row, state}) {
  const end = new AbortController();
  let last = after, wait = 500;
  (async () => {
    while (!end.signal.aborted) {
      try {
        const headers = {Accept: "text/event-stream"};
        if (last) headers["Last-Event-ID"] = last;
        const res = await request("GET", path, {headers, signal: end.signal});
        state("live");
        wait = 500;
        for await (const event of events(res.body)) {
          if (event.id) last = event.id;
          if (event.data) row(JSON.parse(event.data));
        }
      } catch (err) {
        if (end.signal.aborted) return;
        if (err instanceof Refused && err.status >= 400 && err.status < 500 && err.status !== 429) { state("refused", err); return; }
      }
      if (end.signal.aborted) return;
      state("lost", wait);
      await pause(wait * (0.75 + Math.random() / 2), end.signal);
      wait = Math.min(wait * 2, 15_000);
    }
  })();
  return () => end.abort();
}

// pause waits; a network that comes back, or a tab that is looked at again, ends it early.
function pause(ms, signal) {
  return new Promise((done) => {
    const over = () => {
      clearTimeout(timer);
      removeEventListener("online", over);
      document.removeEventListener("visibilitychange", over);
      done();
    };
    const timer = setTimeout(over, ms);
    addEventListener("online", over);
    document.addEventListener("visibilitychange", over);
    signal.addEventListener("abort", over, {once: true});
  });
}

// events takes the events out of a body.
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      text += value;
      for (let at; (at = text.indexOf("\n\n")) >= 0; text = text.slice(at + 2)) {
        const event = {};
        for (const line of text.slice(0, at).split("\n")) {
          const colon = line.indexOf(":");
          if (colon < 1) continue; // a comment: still here
          const name = line.slice(0, colon), value = line.slice(colon + 1).replace(/^ /, "");
          event[name] = name === "data" && event.data ? `${event.data}\n${value}` : value;
        }
        yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
