package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// View is all that a prompt is rendered from. Numbers are rows of the program's tables, counted from 1.
type View struct {
	Node      int             // whose turn it is; when an interrupt is resolved or reviewed, the node it goes back to
	Request   json.RawMessage // the last request of that node, as it is stored
	Allowed   []string        // branches that may be set, JSON names: of the node, or of the interrupt routing; nil means all
	History   []Visit         // what came before, oldest first; the present turn is not in it
	Answer    json.RawMessage // what a person answered; nil means nobody did
	Interrupt int             // the type of the interrupt that is resolved or reviewed
	Asked     json.RawMessage // the interrupt request, as it is stored
}

// Visit is one row of a thread's history: a node took a request, or a node's interrupt reached the handler.
type Visit struct {
	Node      int    // who took the request, or who asked
	Request   int    // what it took
	Interrupt int    // what it asked; 0 when this is no interrupt
	Type      string // interrupt type
	Reason    string // of the interrupt
}

// Prompts renders the prompts of one program. Safe for concurrent use.
type Prompts struct {
	program   *runtime.Program
	tables    *runtime.Tables
	templates map[string][]runtime.Piece
	forms     []*form
	graph     []string   // by node, the lines below its name
	options   [][]string // by routing and branch
}

// New reads the templates of a program: section/*.tmpl, and the template of every node. The folder of a program that has no sections of its
// own is completed by Prompts of package templates.
//
// It refuses with [runtime.CodeInvalid], all at once, a template that is missing or does not parse, one that is more than text and {{.name}},
// a name that is not among the node's variables or not a visible field of its request, and a variable that its template does not use.
func New(p *runtime.Program, fsys fs.FS) (*Prompts, error) {
	out := &Prompts{program: p, tables: p.Tables, templates: map[string][]runtime.Piece{}}
	var err error
	if out.forms, err = forms(p.Tables.Definitions); err == nil {
		err = out.load(fsys)
	}
	if err != nil {
		return nil, &runtime.Error{Code: runtime.CodeInvalid, Op: "load prompts", Err: err}
	}
	out.describe()
	return out, nil
}

// Node returns the prompt of a node's turn: its own template, the rest of its request, the answer it waited for, its place in the workflow,
// the branches it may set, and when to interrupt or to stop interrupting. It refuses a view without node or request, and an allowed branch
// that the node does not have, with [runtime.CodeInvalid], and a view that allows none with [runtime.CodeNoRoute].
func (p *Prompts) Node(v View) (string, error) {
	n, page, err := p.open("prompt of a node", v)
	if err != nil {
		return "", err
	}
	branches, err := p.allowed(n.Routing, v.Allowed)
	if err != nil {
		return "", err
	}
	page.add("head", map[string]string{"Name": n.DisplayName})
	if page.task != "" {
		page.gap()
		page.out = append(page.out, page.task...)
	}
	if page.rest != "" {
		page.add("request", map[string]string{"Fields": page.rest})
	}
	if v.Answer != nil {
		page.add("answer", map[string]string{"Answer": page.answer(v.Answer)})
	}
	page.position(v, branches, n.Routing, false)
	page.choices(n.DisplayName, n.Guidance, n.Routing, branches)
	page.loop(v, n, branches)
	for _, b := range branches {
		if b := p.tables.Routings[n.Routing-1].Branches[b]; b.Kind == runtime.ToInterrupt {
			back := "the node in charge of this work"
			if n.Route != 0 {
				back = n.DisplayName
			}
			page.add("interrupt", map[string]string{"Branch": b.Name, "Handler": cmp.Or(p.tables.Handler.DisplayName, "the interrupt handler"), "Return": back})
		}
	}
	return page.done()
}

// Resolution returns the prompt by which the unified handler's model writes the request that goes on after an interrupt. The last request,
// the interrupt, the person's answer and the allowed routes must be there; a view that lacks one is refused with [runtime.CodeInvalid].
func (p *Prompts) Resolution(v View) (string, error) {
	const op = "prompt of the interrupt handler"
	n, page, err := p.open(op, v)
	switch {
	case err != nil:
		return "", err
	case v.Answer == nil:
		return "", invalid(op, "there is no answer")
	case len(v.Allowed) == 0:
		return "", invalid(op, "there is no target")
	}
	routes, err := p.allowed(1, v.Allowed)
	if err != nil {
		return "", err
	}
	var targets []string
	for _, b := range p.pick(1, routes) {
		targets = append(targets, p.name(b.Node)+" (`"+b.Name+"`)")
	}
	handler := p.tables.Handler
	page.add("head", map[string]string{"Name": handler.DisplayName})
	page.add("resolution", map[string]string{
		"Origin": n.DisplayName, "Request": page.whole, "Interrupt": page.interrupt(v), "Asked": page.asked(op, v),
		"Answer": page.answer(v.Answer), "Target": strings.Join(targets, " or "),
	})
	if page.task != "" {
		page.add("task", map[string]string{"Origin": n.DisplayName, "Task": page.task})
	}
	page.position(v, routes, 1, true)
	page.choices(handler.DisplayName, handler.Guidance, 1, routes)
	return page.done()
}

// Review returns the prompt of the model that judges an interrupt in place of a person. It refuses what [Prompts.Resolution] does, but needs
// neither answer nor target.
func (p *Prompts) Review(v View) (string, error) {
	const op = "prompt of a review"
	n, page, err := p.open(op, v)
	if err != nil {
		return "", err
	}
	page.add("review", map[string]string{
		"Origin": n.DisplayName, "Request": page.whole, "Interrupt": page.interrupt(v), "Asked": page.asked(op, v),
	})
	return page.done()
}

// Repair returns what is added to a prompt when the model's reply was refused: the reply, and each problem with its JSON pointer. A refusal
// that is not about the reply, neither a [runtime.InvalidError] nor a [runtime.SelectionError], is returned as it is.
func (p *Prompts) Repair(reply string, refused error) (string, error) {
	var lines []string
	if e, ok := errors.AsType[*runtime.InvalidError](refused); ok {
		for _, problem := range e.Problems {
			lines = append(lines, strings.TrimPrefix(Line(problem.Pointer)+": "+Line(problem.Reason), ": "))
		}
	} else if e, ok := errors.AsType[*runtime.SelectionError](refused); ok {
		lines = append(lines, Line(e.Error()))
	} else {
		return "", refused
	}
	text, err := p.render(nil, "section/repair", map[string]string{"Reply": Data("text", reply), "Problems": Data("text", strings.Join(lines, "\n"))})
	return string(text), err
}

// page is a prompt that is being written.
type page struct {
	*Prompts
	task  string // the node's own template
	whole string // the request
	rest  string // what of it the task does not show
	out   []byte
	err   error
}

// open reads the node and its request.
func (p *Prompts) open(op string, v View) (*runtime.Node, *page, error) {
	if v.Node < 1 || v.Node > len(p.tables.Nodes) {
		return nil, nil, invalid(op, "there is no node %d", v.Node)
	}
	n := &p.tables.Nodes[v.Node-1]
	if n.Request == 0 || v.Request == nil {
		return nil, nil, invalid(op, "%s has no request", n.Key)
	}
	fields, err := p.forms[p.tables.Requests[n.Request-1].Def-1].fields(v.Request)
	if err != nil {
		return nil, nil, &runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: err}
	}
	const usual = 16 << 10
	out := &page{Prompts: p, out: make([]byte, 0, usual)}
	vars := make(map[string]string, len(n.Vars))
	for _, name := range n.Vars {
		vars[name] = none
	}
	var whole, rest []string
	for _, f := range fields {
		text := "`" + f.name + "`:\n\n" + f.text
		whole = append(whole, text)
		if _, shown := vars[f.name]; shown && n.Template != "" {
			vars[f.name] = f.text
		} else {
			rest = append(rest, text)
		}
	}
	out.whole, out.rest = strings.Join(whole, "\n\n"), strings.Join(rest, "\n\n")
	if out.whole == "" {
		out.whole = none
	}
	text, err := p.render(nil, n.Template, vars)
	out.task = string(text)
	return n, out, err
}

// add appends a section; the first error stays.
func (p *page) add(section string, with map[string]string) {
	p.gap()
	if out, err := p.render(p.out, "section/"+section, with); err == nil {
		p.out = out
	} else if p.err == nil {
		p.err = err
	}
}

func (p *page) gap() {
	if len(p.out) > 0 {
		p.out = append(p.out, "\n\n"...)
	}
}

func (p *page) done() (string, error) {
	if p.err != nil {
		return "", p.err
	}
	return string(append(p.out, '\n')), nil
}

// answer shows an answer of any kind: an empty one is an answer too.
func (p *page) answer(answer json.RawMessage) string {
	text, err := asData(nil, answer)
	if err != nil {
		p.err = errors.Join(p.err, &runtime.Error{Code: runtime.CodeInvalid, Op: "show the answer", Err: err})
	}
	if text == none {
		return Data("json", `""`)
	}
	return text
}

// interrupt names what is asked.
func (p *page) interrupt(v View) string {
	return at(p.tables.Interrupts, v.Interrupt).DisplayName
}

// asked shows the visible fields of an interrupt request.
func (p *page) asked(op string, v View) string {
	row := at(p.tables.Interrupts, v.Interrupt)
	if row.Def == 0 || v.Asked == nil {
		p.err = errors.Join(p.err, invalid(op, "there is no interrupt"))
		return ""
	}
	fields, err := p.forms[row.Def-1].fields(v.Asked)
	if err != nil {
		p.err = errors.Join(p.err, &runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: err})
	}
	var out []string
	for _, f := range fields {
		out = append(out, "`"+f.name+"`:\n\n"+f.text)
	}
	if len(out) == 0 {
		return none
	}
	return strings.Join(out, "\n\n")
}

// allowed returns the indexes of the branches of a routing that may be set.
func (p *Prompts) allowed(routing int, names []string) ([]int, error) {
	row := at(p.tables.Routings, routing)
	var out []int
	for i, b := range row.Branches {
		if names == nil || slices.Contains(names, b.Name) {
			out = append(out, i)
		}
	}
	if names != nil && len(out) < len(names) {
		return nil, invalid("prompt", "%s is allowed, and %s does not have all of these branches once each", strings.Join(names, ", "), row.Name)
	}
	if len(out) == 0 {
		return nil, &runtime.Error{Code: runtime.CodeNoRoute, Op: "prompt", Err: &runtime.SelectionError{Routing: row.Name}}
	}
	return out, nil
}

// pick returns branches of a routing by their indexes.
func (p *Prompts) pick(routing int, indexes []int) []runtime.BranchRow {
	out := make([]runtime.BranchRow, 0, len(indexes))
	for _, i := range indexes {
		out = append(out, p.tables.Routings[routing-1].Branches[i])
	}
	return out
}

func (p *Prompts) name(node int) string {
	return at(p.tables.Nodes, node).DisplayName
}

func invalid(op, format string, args ...any) error {
	return &runtime.Error{Code: runtime.CodeInvalid, Op: op, Err: fmt.Errorf(format, args...)}
}

// at returns the row of that number, counted from 1, and the zero row where there is none.
func at[T any](rows []T, number int) T {
	if number < 1 || number > len(rows) {
		var none T
		return none
	}
	return rows[number-1]
}
