// The form that asks for the token, where none came with the address.

import {login, session} from "./api.js";
import {h, swap, uid} from "./dom.js";

export function showLogin(into, problem, enter) {
  const token = h("input", {id: uid(), type: "password", required: true, autocomplete: "off", spellcheck: "false", minlength: 16});
  const by = h("input", {id: uid(), type: "text", autocomplete: "username", maxlength: 200, placeholder: "for example ann"});
  const form = h("form", {
    class: "login card", novalidate: true,
    on: {submit(e) {
      e.preventDefault();
      if (!token.value.trim()) { token.focus(); return; }
      session.enter({token: token.value.trim(), by: by.value.trim()});
      enter();
    }},
  },
  h("h1", null, "Sign in"),
  login && h("a", {class: "signin", href: login}, "Sign in with your account"),
  login && h("p", {class: "soft"}, "Or with a token:"),
  h("p", {class: "soft"}, "With the operator's token, or with one for a single thread. It stays in this tab, and is gone when you close it."),
  problem && h("p", {class: "refusal", role: "alert"}, problem),
  h("label", {for: token.id}, "Token"), token,
  h("label", {for: by.id}, "Your name ", h("span", {class: "soft"}, "as it stands beside your answers")), by,
  h("button", {class: "primary", type: "submit"}, "Sign in"));
  swap(into, form);
  token.focus();
}
