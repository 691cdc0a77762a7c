// One question alone, for a token that is for that only.

import {learn, Refused, session} from "./api.js";
import {h, once, swap} from "./dom.js";
import {failure, interrupt} from "./inbox.js";
import {QuestionCard} from "./question.js";

export function showQuestion(into, id) {
  let card = null;
  const load = once(async () => {
    try {
      if (!session.known) await learn();
      const i = await interrupt(id);
      if (card) card.update(i);
      else {
        card = new QuestionCard(i, {answered: load});
        swap(into, h("div", {class: "solo"}, card.el));
      }
    } catch (err) {
      if (!(err instanceof Refused)) throw err;
      swap(into, failure(err, load));
    }
  });
  load();
  // Its token allows no stream: what others do is read in a while, and when the tab is shown again.
  const look = () => { if (!into.querySelector(".solo")) stop(); else if (!document.hidden) load(); };
  const timer = setInterval(look, 10_000);
  const stop = () => { clearInterval(timer); document.removeEventListener("visibilitychange", look); };
  document.addEventListener("visibilitychange", look);
}
