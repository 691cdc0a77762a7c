package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/routegen/routegen/runtime"
)

// sections are the parts that prompts are made of, with what each is given.
var sections = []struct {
	name string
	vars []string
}{
	{"head", []string{"Name"}},
	{"request", []string{"Fields"}},
	{"answer", []string{"Answer"}},
	{"position", []string{"Graph", "History"}},
	{"options", []string{"Name", "Branches", "Guidance"}},
	{"loop", []string{"Name", "Count", "Interrupt", "Earlier", "Instead"}},
	{"interrupt", []string{"Branch"}},
	{"resolution", []string{"Origin", "Request", "Interrupt", "Asked", "Answer", "Target"}},
	{"task", []string{"Origin", "Task"}},
	{"review", []string{"Origin", "Request", "Interrupt", "Asked"}},
	{"repair", []string{"Reply", "Problems"}},
}

// piece is a part of a template: text, or the name of what stands there.
type piece struct{ text, name string }

// load parses every template and returns all that is wrong with them.
func (p *Prompts) load(fsys fs.FS) error {
	var wrong []error
	for _, s := range sections {
		wrong = append(wrong, p.parse(fsys, "section/"+s.name, s.vars, false))
	}
	for i := range p.tables.Nodes {
		n := &p.tables.Nodes[i]
		if n.Template == "" {
			continue
		}
		if err := p.offered(n); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if err := p.parse(fsys, n.Template, n.Vars, true); err != nil {
			wrong = append(wrong, fmt.Errorf("node %s: %w", n.Key, err))
		}
	}
	return errors.Join(wrong...)
}

// offered makes sure that a node's variables are visible fields of its request.
func (p *Prompts) offered(n *runtime.Node) error {
	name := at(p.tables.Requests, n.Request).Name
	request := p.program.Request(name)
	for _, v := range n.Vars {
		if request == nil {
			return fmt.Errorf("node %s: variable %q is no field: the node takes no request", n.Key, v)
		}
		fields := request.Shape().Fields
		i := slices.IndexFunc(fields, func(f runtime.Field) bool { return f.Name == v })
		switch {
		case i < 0:
			return fmt.Errorf("node %s: variable %q is no field of %s", n.Key, v, name)
		case fields[i].Hidden:
			return fmt.Errorf("node %s: variable %q is a hidden field of %s, which no model may see", n.Key, v, name)
		}
	}
	return nil
}

// parse reads one template. What it uses is exactly vars; data stands on lines of its own, for a fence begins a line.
func (p *Prompts) parse(fsys fs.FS, name string, vars []string, data bool) error {
	text, err := fs.ReadFile(fsys, name+".tmpl")
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	var used []string
	var pieces []piece
	var nodes []parse.Node
	if t.Tree != nil {
		nodes = t.Root.Nodes
	}
	for i, node := range nodes {
		if text, ok := node.(*parse.TextNode); ok {
			pieces = append(pieces, piece{text: string(text.Text)})
			continue
		}
		v, ok := variable(node)
		switch {
		case !ok:
			return fmt.Errorf("template %s: %s: a template is text and {{.name}} only: what to print is decided in Go", name, node)
		case !slices.Contains(vars, v):
			return fmt.Errorf("template %s: {{.%s}} is not supplied: it may use %s", name, v, strings.Join(vars, ", "))
		case data && !(i == 0 || ends(nodes[i-1], "\n")) || data && i+1 < len(nodes) && !begins(nodes[i+1], "\n"):
			return fmt.Errorf("template %s: {{.%s}} needs a line of its own: it is shown as a fenced block", name, v)
		}
		used, pieces = append(used, v), append(pieces, piece{name: v})
	}
	for _, v := range vars {
		if !slices.Contains(used, v) {
			return fmt.Errorf("template %s: {{.%s}} is supplied and not used, so it would be lost", name, v)
		}
	}
	p.templates[name] = pieces
	return nil
}

// variable returns the name in {{.name}}.
func variable(n parse.Node) (string, bool) {
	action, ok := n.(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 || len(action.Pipe.Cmds) != 1 || len(action.Pipe.Cmds[0].Args) != 1 {
		return "", false
	}
	field, ok := action.Pipe.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return "", false
	}
	return field.Ident[0], true
}

func ends(n parse.Node, with string) bool {
	text, ok := n.(*parse.TextNode)
	return ok && strings.HasSuffix(string(text.Text), with)
}

func begins(n parse.Node, with string) bool {
	text, ok := n.(*parse.TextNode)
	return ok && strings.HasPrefix(string(text.Text), with)
}

// render appends a template with its values. A value that is missing is refused: no prompt has a hole.
func (p *Prompts) render(to []byte, name string, with map[string]string) ([]byte, error) {
	for _, piece := range p.templates[name] {
		to = append(to, piece.text...)
		if piece.name == "" {
			continue
		}
		value, ok := with[piece.name]
		if !ok {
			return nil, &runtime.Error{Code: runtime.CodeInternal, Op: "render " + name, Err: fmt.Errorf("%s is not supplied", piece.name)}
		}
		to = append(to, value...)
	}
	return bytes.TrimSpace(to), nil
}
