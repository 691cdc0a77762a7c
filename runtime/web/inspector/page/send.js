// The dialog that sends running work to another node: a reroute event.

import {path, poster, session} from "./api.js";
import {h, modal, say, swap, uid} from "./dom.js";
import {say as fill} from "./tale.js";

// line is a line of the table about work that is sent from a node to another.
const line = (key, from, to) => fill([key], (fact) => ({from, to})[fact]);

// confirmSend asks why, and which node when several run, and sends the event. It resolves to whether
// one was sent. sources are frames with their nodes, to is a route of the program.
export async function confirmSend(id, sources, to) {
  let sent = false;
  await modal(line("send"), (dialog) => {
    const from = h("select", {id: uid("f")}, sources.map((s) => h("option", {value: s.frame}, s.node.title)));
    const reason = h("textarea", {id: uid("r"), rows: 2, maxlength: 4000, required: true});
    const alarm = h("p", {class: "refusal", role: "alert", hidden: true});
    const post = poster();
    const submit = async (e) => {
      e.preventDefault();
      if (!reason.value.trim()) {
        reason.value = "";
        reason.reportValidity();
        return;
      }
      const source = sources.find((s) => s.frame === from.value);
      const event = {
        nodeId: source.frame, sourceAgentType: source.node.agentType, rerouteToAgentType: to.agentType,
        interruptType: "HUMAN_REVIEW", reason: reason.value.trim(),
      };
      if (session.by) event.requestedBy = session.by;
      try {
        const {ack} = await post(path`interrupt-events?thread=${id}`, event);
        sent = true;
        say(line(`send.${ack}`, source.node.title, to.title) || ack);
        dialog.close();
      } catch (err) {
        swap(alarm, err.message);
        alarm.hidden = false;
      }
    };
    const names = sources.map((s) => s.node.title);
    dialog.append(h("form", {class: "escape", on: {submit}}, h("h2", null, line("send.to", "", to.title)),
      h("p", {class: "soft"}, line("send.how", names.length === 1 ? names[0] : "The node", to.title)),
      names.length > 1 && [h("label", {for: from.id}, "Which node"), from],
      h("label", {for: reason.id}, line("send.why")), reason, alarm,
      h("div", {class: "row end"},
        h("button", {type: "button", class: "quiet", on: {click: () => dialog.close()}}, "Leave it"),
        h("button", {class: "primary", type: "submit", data: {act: "send"}}, "Send it there"))));
  });
  return sent;
}
