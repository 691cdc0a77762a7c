// Package review compares two plans of one spec, an old one and a new one, and says what the change
// means: for Go that uses the generated package, for models, and for data that is stored. It is
// pure: two plans in, findings or a report out.
//
// Everything starts from one list of changes, each with one cause: a node that went away is one
// change, with its routes, branches and messages among the consequences; a rename that the spec
// declares with was: is one change, too. Two forms of one thing are compared member by member, and
// a table of effects says what each change of a member does. [Breaking] holds the changes against
// the rules of [Catalogue]; [Compare] tells them to a reviewer. What stored data can take is
// decided by package compat, which an engine asks too, before it resumes a thread.
package review

import (
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/runtime"
)

// Report is what a reviewer needs of a change. The zero value says that nothing changed.
type Report struct {
	Source string `json:"source"` // base name of the spec
	// what the old plan is, in the caller's words: a revision or a file
	Base    string        `json:"base,omitempty"`
	Changes []Change      `json:"changes"`
	Access  []Cell        `json:"access"`  // who can now go where: changed cells only
	Schemas []SchemaDelta `json:"schemas"` // filled by Measure
	// what changed in those schemas, filled by Measure
	SchemaEdits []SchemaEdit     `json:"schemaEdits,omitempty"`
	Texts       []TextDelta      `json:"texts"` // docs and prompts that a model reads
	Interfaces  []InterfaceDelta `json:"interfaces"`
	API         APIDelta         `json:"api"`
	// of a store, for JSON; nil: none was looked at
	Threads    *Threads       `json:"threads,omitempty"`
	Severities map[string]int `json:"severities"` // how many findings Breaking has, by severity
	// what old programs cannot read of what new ones store, as names of the new spec
	Unread   []string `json:"unread,omitempty"`
	Uses     *GoUses  `json:"uses,omitempty"` // of the module around the package, where it was read
	old, now *plan.Plan
}

// Change is one edit with its consequences. A consequence that is empty means: no effect.
type Change struct {
	Op string `json:"op"` // added, removed, renamed or changed
	// node, route, branch, type, field, enum, value, kind, prompt, doc or setting
	Thing string `json:"thing"`
	Name  string `json:"name"`
	Was   string `json:"was,omitempty"` // the name before a rename
	// in the new spec: of the thing, or of what is left around it
	Line     int      `json:"line"`
	File     string   `json:"file,omitempty"` // of that line, where it is not Source
	Details  []string `json:"details,omitempty"`
	Severity string   `json:"severity,omitempty"` // of the finding: error, expected or notice
	Rule     string   `json:"rule,omitempty"`     // of the finding
	// of the rule: how the same is done with less harm
	Advice    string   `json:"advice,omitempty"`
	Callers   []string `json:"callers,omitempty"` // what it does to Go that uses the package
	Senders   []string `json:"senders,omitempty"` // what it does to those who send messages
	Models    []string `json:"models,omitempty"`  // what models see and may choose
	Ways      []string `json:"ways,omitempty"`    // what people meet, and how work is run; beside Access
	Stored    []string `json:"stored,omitempty"`  // what becomes of stored threads
	inSchemas bool     // schemas tell what models see of it
}

// Cell is one changed place of the table of who can go where. Who is a node; Where a route or a
// node; an empty Where is the end of the frame. Before and After say how: "" means not at all.
type Cell struct {
	// interrupt: back from an interrupt of Who; branch: by a branch of Who's routing
	Table  string `json:"table"`
	Who    string `json:"who"`
	Where  string `json:"where"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// SchemaDelta is the size in bytes of a plain schema that a model is sent. 0 means: there is none.
type SchemaDelta struct {
	Name   string `json:"name"` // what it is sent for
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// SchemaEdit is one difference between schemas that models are sent.
type SchemaEdit struct {
	Where  string `json:"where"` // a definition, or Definition.property
	Before string `json:"before"`
	After  string `json:"after"`
	Text   bool   `json:"text,omitempty"` // Before and After are descriptions
}

// TextDelta is a text that a model reads and that changed.
type TextDelta struct {
	Name   string `json:"name"` // of a template, "template" and its name
	Line   int    `json:"line"`
	File   string `json:"file,omitempty"` // of that line, where it is not Source
	Prompt bool   `json:"prompt"`         // guidance or a template, not a doc
	Before string `json:"before"`
	After  string `json:"after"`
}

// InterfaceDelta is an interface of the generated package that changed. What implements it stops
// compiling when Added or Changed holds a method.
type InterfaceDelta struct {
	Name    string   `json:"name"`
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// APIDelta lists names of the generated package, as "type X", "func F", "method T.M", "field T.F"
// or "const C", sorted. Changed are those whose type is another one.
type APIDelta struct {
	Added   []string `json:"added,omitempty"`
	Changed []string `json:"changed,omitempty"`
	Removed []string `json:"removed,omitempty"`
}

// Schemas composes the schemas of a plan. The composer of package emit is one.
type Schemas interface {
	// Routes returns the schema of the interrupt routing narrowed to routes of the plan, counted
	// from 0.
	Routes(d runtime.Dialect, routes ...int) string
	// Routing returns the schema of a whole routing.
	Routing(d runtime.Dialect, r plan.Routing) string
}

// Compare returns what changed from the old plan to the new one. Both must come from specs without
// errors, and are not written to. Compare(p, p) is empty. Compare is safe for concurrent use.
func Compare(old, now *plan.Plan) *Report {
	w := comparePlans(old, now)
	r := &Report{
		Source: now.Source, Changes: w.listChanges(), Access: w.access, Texts: w.texts,
		Interfaces: interfaces(w.oldAPI, w.newAPI), API: apiDelta(w.oldAPI, w.newAPI), old: old,
		now: now, Unread: unread(w),
	}
	for i := range r.Changes {
		c := &r.Changes[i]
		c.File, c.Line = lineIn(now, c.Line)
	}
	for i := range r.Texts {
		t := &r.Texts[i]
		t.File, t.Line = lineIn(now, t.Line)
	}
	r.Severities = map[string]int{}
	for _, c := range r.Changes {
		if c.Rule != "" {
			r.Severities[c.Severity]++
		}
	}
	return r
}

// lineIn returns the file of a line, "" for the main one, and the line there.
func lineIn(p *plan.Plan, line int) (file string, there int) {
	main, _ := p.Places.Find(report.Pos{Line: 1})
	file, at := p.Places.Find(report.Pos{Line: line})
	if file == main {
		file = ""
	}
	return file, at.Line
}

// Empty reports whether nothing changed that a report could tell.
func (r *Report) Empty() bool {
	return len(r.Changes)+len(r.Access)+len(r.Texts)+len(r.API.Added)+len(r.API.Changed)+
		len(r.API.Removed) == 0
}

// Breaking returns what the new plan breaks, or makes others pay for, sorted by position in the new
// spec: one finding for each cause, with its most severe consequence as the finding and the others
// as Related. Severities are error, expected and notice. File is the new plan's Source, or the file
// that it includes.
func Breaking(old, now *plan.Plan) []report.Finding {
	return comparePlans(old, now).findings(nil)
}

// BreakingIn does what Breaking does for the rules of some categories only: SOURCE, WIRE_JSON,
// SCHEMA, TOPOLOGY or PROMPT. A cause with consequences in several categories is found in each of
// them.
func BreakingIn(old, now *plan.Plan, categories ...report.Category) []report.Finding {
	return comparePlans(old, now).findings(categories)
}
