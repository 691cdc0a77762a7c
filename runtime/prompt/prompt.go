package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// View is the input of a prompt. Numbers are rows of the program's tables, counted from 1.
type View struct {
	// the node whose turn it is, or to which the resolved or reviewed interrupt goes back
	Node    int
	Request json.RawMessage // the last request of that node, as it is stored
	// branches that may be set, JSON names: of the node, or of the interrupt routing; nil means all
	Allowed   []string
	History   []Visit         // what came before, oldest first; the present turn is not in it
	Answer    json.RawMessage // the answer to the interrupt; nil if it is not answered
	Interrupt int             // the type of the interrupt that is resolved or reviewed
	Asked     json.RawMessage // the interrupt request, as it is stored
}

// Visit is one row of a thread's history: a node took a request, or a node's interrupt reached the
// handler.
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
	templates map[string][]piece
	forms     map[string]*visibleForm // by type
	graph     []string                // by node, the lines below its name
	options   [][]string              // by routing and branch
}

// New reads the templates of a program: section/*.tmpl, and the template of every node. The folder
// of a program that has no sections of its own is completed by Prompts of package templates.
//
// It returns [runtime.CodeInvalid], with all faults at once, for a template that is missing, does
// not parse or is more than text and {{.name}}; for a name that is not among the node's variables
// or not a visible field of its request; and for a variable that its template does not use.
func New(p *runtime.Program, fsys fs.FS) (*Prompts, error) {
	out := &Prompts{program: p, tables: p.Tables, templates: map[string][]piece{}}
	var err error
	if out.forms, err = parseForms(p.Schemas); err == nil {
		err = out.loadTemplates(fsys)
	}
	if err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, "load prompts", "%w", err)
	}
	out.describeTables()
	return out, nil
}

// Node returns the prompt of a node's turn: its own template, the rest of its request, the answer
// it waited for, its place in the workflow, the branches it may set, and when to interrupt or to
// stop interrupting. It returns [runtime.CodeInvalid] for a view without node or request and for an
// allowed branch that the node does not have, and [runtime.CodeNoRoute] if no branch is allowed.
func (p *Prompts) Node(v View) (string, error) {
	n, page, err := p.newPage("prompt of a node", v)
	if err != nil {
		return "", err
	}
	branches, err := p.allowedBranches(n.Routing, v.Allowed)
	if err != nil {
		return "", err
	}
	page.addSection("head", map[string]string{"Name": n.DisplayName})
	if page.task != "" {
		page.addGap()
		page.out = append(page.out, page.task...)
	}
	if page.rest != "" {
		page.addSection("request", map[string]string{"Fields": page.rest})
	}
	if v.Answer != nil {
		page.addSection("answer", map[string]string{"Answer": page.answerText(v.Answer)})
	}
	page.addPosition(v, branches, n.Routing, false)
	page.addOptions(n.DisplayName, n.Guidance, n.Routing, branches)
	page.addLoopBreaker(v, n, branches)
	for _, b := range branches {
		if b := p.tables.Routings[n.Routing-1].Branches[b]; b.Kind == runtime.ToInterrupt {
			back := "the node in charge of this work"
			if n.Route != 0 {
				back = n.DisplayName
			}
			page.addSection("interrupt", map[string]string{"Branch": b.Name,
				"Handler": cmp.Or(p.tables.Handler.DisplayName, "the interrupt handler"),
				"Return":  back})
		}
	}
	return page.finishText()
}

// Resolution returns the prompt with which the unified handler's model writes the request that
// continues after an interrupt. It returns [runtime.CodeInvalid] if the last request, the
// interrupt, the answer or the allowed routes are missing.
func (p *Prompts) Resolution(v View) (string, error) {
	const op = "prompt of the interrupt handler"
	n, page, err := p.newPage(op, v)
	switch {
	case err != nil:
		return "", err
	case v.Answer == nil:
		return "", runtime.Errorf(runtime.CodeInvalid, op, "there is no answer")
	case len(v.Allowed) == 0:
		return "", runtime.Errorf(runtime.CodeInvalid, op, "there is no target")
	}
	routes, err := p.allowedBranches(1, v.Allowed)
	if err != nil {
		return "", err
	}
	var targets []string
	for _, b := range p.branchRows(1, routes) {
		targets = append(targets, p.nodeName(b.Node)+" (`"+b.Name+"`)")
	}
	handler := p.tables.Handler
	page.addSection("head", map[string]string{"Name": handler.DisplayName})
	page.addSection("resolution", map[string]string{
		"Origin": n.DisplayName, "Request": page.whole, "Interrupt": page.interruptName(v),
		"Asked":  page.askedText(op, v),
		"Answer": page.answerText(v.Answer), "Target": strings.Join(targets, " or "),
	})
	if page.task != "" {
		page.addSection("task", map[string]string{"Origin": n.DisplayName, "Task": page.task})
	}
	page.addPosition(v, routes, 1, true)
	page.addOptions(handler.DisplayName, handler.Guidance, 1, routes)
	return page.finishText()
}

// Review returns the prompt of the model that judges an interrupt in place of a person. It needs
// what [Prompts.Resolution] needs, except answer and routes.
func (p *Prompts) Review(v View) (string, error) {
	const op = "prompt of a review"
	n, page, err := p.newPage(op, v)
	if err != nil {
		return "", err
	}
	page.addSection("review", map[string]string{
		"Origin": n.DisplayName, "Request": page.whole, "Interrupt": page.interruptName(v),
		"Asked": page.askedText(op, v),
	})
	return page.finishText()
}

// Repair returns the text to add to a prompt when the model's reply was refused: the reply, and
// each problem with its JSON pointer. It returns an error that is neither a [runtime.InvalidError]
// nor a [runtime.SelectionError] unchanged.
func (p *Prompts) Repair(reply string, refused error) (string, error) {
	var lines []string
	if e, ok := errors.AsType[*runtime.InvalidError](refused); ok {
		for _, problem := range e.Problems {
			lines = append(lines, strings.TrimPrefix(Line(problem.Pointer)+": "+
				Line(problem.Reason), ": "))
		}
	} else if e, ok := errors.AsType[*runtime.SelectionError](refused); ok {
		lines = append(lines, Line(e.Error()))
	} else {
		return "", refused
	}
	text, err := p.renderTemplate(nil, "section/repair",
		map[string]string{"Reply": Data("text", reply),
			"Problems": Data("text", strings.Join(lines, "\n"))})
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

// newPage reads the node and its request.
func (p *Prompts) newPage(op string, v View) (*runtime.Node, *page, error) {
	if v.Node < 1 || v.Node > len(p.tables.Nodes) {
		return nil, nil, runtime.Errorf(runtime.CodeInvalid, op, "there is no node %d", v.Node)
	}
	n := &p.tables.Nodes[v.Node-1]
	if n.Request == 0 || v.Request == nil {
		return nil, nil, runtime.Errorf(runtime.CodeInvalid, op, "%s has no request", n.Key)
	}
	fields, err := p.forms[p.tables.Requests[n.Request-1].Name].visibleFields(v.Request)
	if err != nil {
		return nil, nil, runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
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
	text, err := p.renderTemplate(nil, n.Template, vars)
	out.task = string(text)
	return n, out, err
}

// addSection appends a section; the first error stays.
func (p *page) addSection(section string, with map[string]string) {
	p.addGap()
	if out, err := p.renderTemplate(p.out, "section/"+section, with); err == nil {
		p.out = out
	} else if p.err == nil {
		p.err = err
	}
}

func (p *page) addGap() {
	if len(p.out) > 0 {
		p.out = append(p.out, "\n\n"...)
	}
}

func (p *page) finishText() (string, error) {
	if p.err != nil {
		return "", p.err
	}
	return string(append(p.out, '\n')), nil
}

// answerText shows an answer of any kind: an empty one is an answer too.
func (p *page) answerText(answer json.RawMessage) string {
	text, err := asData(nil, answer)
	if err != nil {
		p.err = errors.Join(p.err, runtime.Errorf(runtime.CodeInvalid, "show the answer", "%w",
			err))
	}
	if text == none {
		return Data("json", `""`)
	}
	return text
}

// interruptName names what is asked.
func (p *page) interruptName(v View) string {
	return runtime.Row(p.tables.Interrupts, v.Interrupt).DisplayName
}

// askedText shows the visible fields of an interrupt request.
func (p *page) askedText(op string, v View) string {
	row := runtime.Row(p.tables.Interrupts, v.Interrupt)
	if row.Name == "" || v.Asked == nil {
		p.err = errors.Join(p.err, runtime.Errorf(runtime.CodeInvalid, op, "there is no interrupt"))
		return ""
	}
	fields, err := p.forms[row.Name].visibleFields(v.Asked)
	if err != nil {
		p.err = errors.Join(p.err, runtime.Errorf(runtime.CodeInvalid, op, "%w", err))
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

// allowedBranches returns the indexes of the branches of a routing that may be set.
func (p *Prompts) allowedBranches(routing int, names []string) ([]int, error) {
	row := runtime.Row(p.tables.Routings, routing)
	var out []int
	for i, b := range row.Branches {
		if names == nil || slices.Contains(names, b.Name) {
			out = append(out, i)
		}
	}
	if names != nil && len(out) < len(names) {
		return nil, runtime.Errorf(runtime.CodeInvalid, "prompt",
			"%s is allowed, and %s does not have all of these branches once each",
			strings.Join(names, ", "), row.Name)
	}
	if len(out) == 0 {
		return nil, runtime.Errorf(runtime.CodeNoRoute, "prompt", "%w",
			&runtime.SelectionError{Routing: row.Name})
	}
	return out, nil
}

// branchRows returns branches of a routing by their indexes.
func (p *Prompts) branchRows(routing int, indexes []int) []runtime.BranchRow {
	out := make([]runtime.BranchRow, 0, len(indexes))
	for _, i := range indexes {
		out = append(out, p.tables.Routings[routing-1].Branches[i])
	}
	return out
}

func (p *Prompts) nodeName(node int) string { return runtime.Row(p.tables.Nodes, node).DisplayName }
