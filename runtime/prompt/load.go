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

// parse reads one template. Data stands on lines of its own, for a fence begins a line.
func (p *Prompts) parse(fsys fs.FS, name string, vars []string, data bool) error {
	text, err := fs.ReadFile(fsys, name+".tmpl")
	if err != nil {
		return fmt.Errorf("template %s: %w", name, err)
	}
	pieces, err := runtime.ParseTemplate(name, string(text), vars, data)
	if err == nil {
		p.templates[name] = pieces
	}
	return err
}

// render appends a template with its values. A value that is missing is refused: no prompt has a hole.
func (p *Prompts) render(to []byte, name string, with map[string]string) ([]byte, error) {
	for _, piece := range p.templates[name] {
		to = append(to, piece.Text...)
		if piece.Name == "" {
			continue
		}
		value, ok := with[piece.Name]
		if !ok {
			return nil, &runtime.Error{Code: runtime.CodeInternal, Op: "render " + name, Err: fmt.Errorf("%s is not supplied", piece.Name)}
		}
		to = append(to, value...)
	}
	return bytes.TrimSpace(to), nil
}
