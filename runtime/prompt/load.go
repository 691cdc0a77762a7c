package prompt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"

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
	{"interrupt", []string{"Branch", "Handler", "Return"}},
	{"resolution", []string{"Origin", "Request", "Interrupt", "Asked", "Answer", "Target"}},
	{"task", []string{"Origin", "Task"}},
	{"review", []string{"Origin", "Request", "Interrupt", "Asked"}},
	{"repair", []string{"Reply", "Problems"}},
}

// loadTemplates parses every template and returns all faults.
func (p *Prompts) loadTemplates(fsys fs.FS) error {
	var wrong []error
	for _, s := range sections {
		wrong = append(wrong, p.loadTemplate(fsys, "section/"+s.name, s.vars, false))
	}
	for i := range p.tables.Nodes {
		n := &p.tables.Nodes[i]
		if n.Template == "" {
			continue
		}
		if err := p.checkVars(n); err != nil {
			wrong = append(wrong, err)
			continue
		}
		if err := p.loadTemplate(fsys, n.Template, n.Vars, true); err != nil {
			wrong = append(wrong, fmt.Errorf("node %s: %w", n.Key, err))
		}
	}
	return errors.Join(wrong...)
}

// checkVars returns an error if a variable of a node is not a visible field of its request.
func (p *Prompts) checkVars(n *runtime.Node) error {
	name := runtime.Row(p.tables.Requests, n.Request).Name
	request := p.program.Request(name)
	for _, v := range n.Vars {
		if request == nil {
			return fmt.Errorf("node %s: variable %q is not a field: the node takes no request",
				n.Key,
				v)
		}
		fields := request.Shape().Fields
		i := slices.IndexFunc(fields, func(f runtime.Field) bool { return f.Name == v })
		switch {
		case i < 0:
			return fmt.Errorf("node %s: variable %q is not a field of %s", n.Key, v, name)
		case fields[i].Hidden:
			return fmt.Errorf(
				"node %s: variable %q is a hidden field of %s, which no model may see", n.Key, v,
				name)
		}
	}
	return nil
}

// loadTemplate reads one template. Data needs lines of its own, because a fence begins a line.
func (p *Prompts) loadTemplate(fsys fs.FS, name string, vars []string, data bool) error {
	text, err := fs.ReadFile(fsys, name+".tmpl")
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	pieces, err := parseTemplate(name, string(text), vars, data)
	if err == nil {
		p.templates[name] = pieces
	}
	return err
}

// renderTemplate appends a template with its values. It returns CodeInternal if a value is missing.
func (p *Prompts) renderTemplate(to []byte, name string, with map[string]string) ([]byte, error) {
	for _, piece := range p.templates[name] {
		to = append(to, piece.text...)
		if piece.name == "" {
			continue
		}
		value, ok := with[piece.name]
		if !ok {
			return nil, runtime.Errorf(runtime.CodeInternal, "render "+name, "%s is not supplied",
				piece.name)
		}
		to = append(to, value...)
	}
	return bytes.TrimSpace(to), nil
}
