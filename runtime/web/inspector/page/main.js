// The page: who is here, where they are, and what is shown for that.

import {learn, recognize, session, signOut, whenLeft} from "./api.js";
import {clean, h, once, say, swap, tick} from "./dom.js";
import {connect, disconnect, live} from "./live.js";
import {showLogin} from "./login.js";
import {Inbox} from "./inbox.js";
import {Threads} from "./threads.js";
import {showStats} from "./stats.js";
import {ThreadView} from "./thread.js";
import {showQuestion} from "./single.js";
import {keyboard, showHelp} from "./keys.js";

const shell = document.querySelector(".shell");
const list = document.querySelector("aside.list");
const detail = document.querySelector("main.detail");
const link = document.querySelector(".top .link");
const title = document.title;

const inbox = new Inbox(), threads = new Threads();
let kept = "inbox"; // the list beside a thread
let thread = null; // the view of one
let place = null;

// takeToken takes what came with the address, and takes it out of there. Somebody who is signed in is asked first: a stranger's link must not
// make another person of them. It reports whether the session is another one now.
function takeToken() {
  if (!location.hash.includes("token=")) return false;
  const given = new URLSearchParams(location.hash.slice(1)), token = given.get("token") ?? "";
  history.replaceState(null, "", `${location.pathname}${location.search}#/${given.get("at") ?? ""}`);
  const same = session.token === token, who = clean(session.by || (session.thread ? "a guest" : "the operator"));
  const asks = `This link signs you in with another token. You are signed in as ${who}. Sign out, and follow the link?`;
  if (!token || session.here && !same && !confirm(asks)) return false;
  session.enter({token, by: given.get("by"), interrupt: given.get("interrupt")});
  return true;
}

// decoded reads an id of the address; what is no id of a thread is none.
function decoded(text) {
  try {
    const id = decodeURIComponent(text);
    return /^[\w.~-]{1,200}$/.test(id) && !id.includes("..") ? id : "";
  } catch {
    return "";
  }
}

function where() {
  const [name, id = ""] = location.hash.replace(/^#\/?/, "").split("/");
  if (session.interrupt) return {name: "q", id: session.interrupt};
  if (session.thread) return {name: "t", id: session.thread};
  if (name === "t" && decoded(id)) return {name, id: decoded(id)};
  return {name: ["threads", "stats"].includes(name) ? name : "inbox", id: ""};
}

function route() {
  if (!session.here) { leave(); return; }
  const at = where(), same = place && place.name === at.name && place.id === at.id;
  place = at;
  if (at.name === "inbox" || at.name === "threads") kept = at.name;
  const alone = Boolean(session.thread);
  shell.dataset.view = at.name;
  shell.classList.toggle("alone", alone || at.name === "stats");
  document.body.classList.toggle("in", true);
  for (const tab of document.querySelectorAll(".tabs a")) {
    tab.hidden = alone;
    const current = tab.dataset.view === (at.name === "t" ? kept : at.name);
    if (current) tab.setAttribute("aria-current", "page"); else tab.removeAttribute("aria-current");
  }
  if (same) return;
  if (!alone && at.name !== "stats") swap(list, (kept === "inbox" ? inbox : threads).el);
  inbox.choose(at.id);
  threads.choose(at.id);
  thread?.close();
  thread = null;
  show(at);
}

function show(at) {
  document.title = at.id ? clean(`${at.id} · ${title}`) : title;
  switch (at.name) {
    case "t":
      thread = new ThreadView(at.id);
      swap(detail, thread.el);
      detail.focus({preventScroll: true});
      scrollTo(0, 0);
      break;
    case "q": showQuestion(detail, at.id); break;
    case "stats": showStats(detail); break;
    default: swap(detail, nothing());
  }
}

const nothing = () => h("div", {class: "empty"},
  h("img", {src: "icon.svg", alt: "", width: 40, height: 40}),
  h("h2", null, "Nothing is open"),
  h("p", null, "Choose a question to answer it, or a thread to see where it is. Everything here is live."),
  h("p", {class: "keys"}, h("kbd", null, "j"), " ", h("kbd", null, "k"), " move, ", h("kbd", null, "Enter"), " open, ", h("kbd", null, "?"), " all keys"));

function leave(problem) {
  disconnect();
  thread?.close();
  thread = place = null;
  const ended = session.person ? "You are signed in no longer. Sign in again." : "That token is not valid here, or has expired.";
  session.leave();
  document.body.classList.remove("in", "guest", "once");
  shell.dataset.view = "none";
  swap(list);
  link.dataset.state = "off";
  showLogin(detail, problem && ended, enter);
}

async function enter() {
  const token = session.token;
  await learn(); // before anything is offered
  if (token !== session.token) return;
  const who = document.querySelector("[data-do=leave]");
  who.hidden = false;
  swap(who, session.by || (session.thread ? "Guest" : "Operator"));
  who.title = "Sign out of this tab";
  route();
  document.body.classList.toggle("guest", Boolean(session.thread));
  document.body.classList.toggle("once", Boolean(session.interrupt));
  if (session.interrupt) return; // a token for one question has no stream
  refresh().then(() => inbox.newest()).then((cursor) => { if (session.token === token) connect(cursor); });
}

// refresh reads the lists again; several rows at once ask once.
const refresh = once(async () => {
  if (!session.here || session.thread) return;
  await Promise.all([inbox.load(), kept === "threads" || place?.name === "threads" ? threads.load() : null]);
  const count = document.querySelector("[data-count=inbox]");
  count.hidden = inbox.count === 0;
  count.textContent = inbox.count;
});

live.addEventListener("fresh", refresh);
live.addEventListener("fresh", () => { if (!session.known) learn().then(() => thread?.load()); });
live.addEventListener("row", (e) => { inbox.heard(e.detail); refresh(); });
live.addEventListener("state", ({detail: {name, detail: problem}}) => {
  const said = clean({live: "Live: changes appear as they happen", lost: "Connection lost: trying again", refused: `Not connected: ${problem?.message ?? ""}`}[name]);
  const was = link.dataset.state;
  link.dataset.state = name;
  link.setAttribute("aria-label", said);
  link.title = said;
  document.body.classList.toggle("lost", name === "lost");
  if (name === "lost" && was === "live") say("Connection lost. Trying again; nothing is lost.", {bad: true});
  if (name === "live" && was === "lost") say("Connected again");
});

const themes = ["auto", "light", "dark"];
function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("routegen.theme", name);
  const button = document.querySelector("[data-do=theme]");
  button.textContent = {auto: "◐", light: "○", dark: "●"}[name];
  button.setAttribute("aria-label", `Theme: ${name}`);
}

document.querySelector(".top").addEventListener("click", (e) => {
  switch (e.target.closest("[data-do]")?.dataset.do) {
    case "theme": theme(themes[(themes.indexOf(document.documentElement.dataset.theme) + 1) % 3]); break;
    case "help": showHelp(); break;
    case "leave":
      (session.person ? signOut() : Promise.resolve()).then(() => {
        location.hash = "";
        leave();
      });
      break;
  }
});
for (const a of document.querySelectorAll(".places a")) {
  if (a.pathname === location.pathname) a.setAttribute("aria-current", "true");
}

theme(themes.includes(localStorage.getItem("routegen.theme")) ? localStorage.getItem("routegen.theme") : "auto");
keyboard({
  list: () => list,
  pause: () => Boolean(thread?.pause()),
  step: (by) => thread?.step(by),
  answer: () => detail.querySelector("form.answer input:not([type=hidden]), form.answer textarea, form.answer select")?.focus(),
  theme: () => document.querySelector("[data-do=theme]").click(),
});
whenLeft(leave);
addEventListener("hashchange", () => {
  if (takeToken()) { place = null; enter(); } else route();
});
setInterval(tick, 10_000);
takeToken();
await recognize();
if (session.here) enter(); else leave();

