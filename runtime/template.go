package runtime

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// Piece is a part of a prompt template: a text, or the name of what stands there.
type Piece struct{ Text, Name string }

// ParseTemplate reads a prompt template: text and {{.name}}, nothing else. What it uses is exactly vars: it is refused when it uses a name
// that is not among them, or leaves one out, and so are logic and functions. With alone, a name stands on a line of its own, since what
// comes there is a fenced block. Line ends of Windows are read as others. The error says what is wrong; name is that of the template in it.
func ParseTemplate(name, text string, vars []string, alone bool) ([]Piece, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n") // as an editor, or a checkout, on Windows writes it
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck // functions are refused below, in better words
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	nodes := tree.Root.Nodes
	var used []string
	var pieces []Piece
	for i, node := range nodes {
		if text, ok := node.(*parse.TextNode); ok {
			pieces = append(pieces, Piece{Text: string(text.Text)})
			continue
		}
		v, ok := variable(node)
		switch {
		case !ok:
			return nil, fmt.Errorf("template %s: %s: a template is text and {{.name}} only: what to print is decided in Go", name, node)
		case !slices.Contains(vars, v):
			return nil, fmt.Errorf("template %s: {{.%s}} is not supplied: it may use %s", name, v, strings.Join(vars, ", "))
		case alone && (i > 0 && !meets(nodes[i-1], strings.HasSuffix) || i+1 < len(nodes) && !meets(nodes[i+1], strings.HasPrefix)):
			return nil, fmt.Errorf("template %s: {{.%s}} needs a line of its own: it is shown as a fenced block", name, v)
		}
		used, pieces = append(used, v), append(pieces, Piece{Name: v})
	}
	for _, v := range vars {
		if !slices.Contains(used, v) {
			return nil, fmt.Errorf("template %s: {{.%s}} is supplied and not used, so it would be lost", name, v)
		}
	}
	return pieces, nil
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

// meets reports whether a text has its line end on the side that is asked.
func meets(n parse.Node, has func(s, with string) bool) bool {
	text, ok := n.(*parse.TextNode)
	return ok && has(string(text.Text), "\n")
}
