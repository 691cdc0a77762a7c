// What is new, as it happens. One stream for the tab: of all threads for an operator, of its own thread for a capability token.

import {follow, path, session} from "./api.js";

// live gets "row" with a row of the outbox, "state" with live, lost or refused, and "fresh" when everything should be read again: after the
// stream began, since what came before it did not come through it.
export const live = new EventTarget();

let stop = null;
const send = (type, detail) => live.dispatchEvent(new CustomEvent(type, {detail}));

// connect begins after a row, or at the beginning of the log where none is given.
export function connect(after = "") {
  disconnect();
  stop = follow(session.thread ? path`threads/${session.thread}/stream` : "stream", {
    after,
    row: (row) => send("row", row),
    state(name, detail) {
      send("state", {name, detail});
      if (name === "live") send("fresh");
    },
  });
}

export function disconnect() {
  stop?.();
  stop = null;
}

// The rows that change what the inbox shows.
const waiting = new Set(["asked", "opened", "queued", "superseded", "answered", "voted", "reasked", "expired", "cancelled", "claimed", "extended",
  "reminded", "escalated", "paused", "resumed", "over"]);

export const touchesInbox = (row) => waiting.has(row.type);
