// Package prompt writes prompts for models: for a node's turn, for the unified interrupt handler,
// for a reviewer, and for repairing a reply that was refused. Prose comes from templates,
// everything else from the tables of a program and a [View].
//
// Templates are strict. A template is text and {{.name}} actions, nothing else. The actions of a
// node's template are exactly the variables that the spec lists, each a visible field of the node's
// request and on a line of its own; [New] refuses anything else, so no prompt is ever rendered with
// a hole. A program brings its folder of node templates as templates.Prompts(os.DirFS("prompts")),
// which adds the sections.
//
// What users and models wrote is data: it is never parsed as a template; control, direction and
// invisible characters are removed; its length is bounded; and it stands in a fenced block that it
// cannot end, see [Data]. Hidden fields of records are never shown, at any depth.
package prompt
