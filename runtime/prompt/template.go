package prompt

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// piece is a part of a prompt template: a text, or the name of the value that is put there.
type piece struct{ text, name string }

// CheckTemplate checks the prompt template of a node: text and {{.name}} on a line of its own,
// nothing else, with exactly the given variables. It returns an error for logic and functions, for
// a name that is not in vars, and for a variable that is not used.
func CheckTemplate(name, text string, vars []string) error {
	_, err := parseTemplate(name, text, vars, true)
	return err
}

// parseTemplate reads a template as [CheckTemplate] describes it. Without alone, a name may stand
// anywhere in a line. Windows line ends are read as "\n". Errors call the template by name.
func parseTemplate(name, text string, vars []string, alone bool) ([]piece, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	tree := parse.New(name)
	tree.Mode = parse.SkipFuncCheck // functions are refused below, with clearer texts
	if _, err := tree.Parse(text, "", "", map[string]*parse.Tree{}); err != nil {
		return nil, fmt.Errorf("template %s: %w", name, err)
	}
	nodes := tree.Root.Nodes
	var used []string
	var pieces []piece
	for i, node := range nodes {
		if text, ok := node.(*parse.TextNode); ok {
			pieces = append(pieces, piece{text: string(text.Text)})
			continue
		}
		v, ok := variable(node)
		switch {
		case !ok:
			return nil, fmt.Errorf(
				"template %s: %s: a template is text and {{.name}} only: what to print is "+
					"decided in Go", name, node)
		case !slices.Contains(vars, v):
			return nil, fmt.Errorf("template %s: {{.%s}} is not supplied: it may use %s", name, v,
				strings.Join(vars, ", "))
		case alone && (i > 0 && !meets(nodes[i-1], strings.HasSuffix) || i+1 < len(nodes) &&
			!meets(nodes[i+1], strings.HasPrefix)):
			return nil, fmt.Errorf(
				"template %s: {{.%s}} needs a line of its own: it is shown as a fenced block", name,
				v)
		}
		used, pieces = append(used, v), append(pieces, piece{name: v})
	}
	for _, v := range vars {
		if !slices.Contains(used, v) {
			return nil, fmt.Errorf(
				"template %s: {{.%s}} is supplied and not used, so it would be lost", name, v)
		}
	}
	return pieces, nil
}

// variable returns the name in {{.name}}.
func variable(n parse.Node) (string, bool) {
	action, ok := n.(*parse.ActionNode)
	if !ok || len(action.Pipe.Decl) > 0 || len(action.Pipe.Cmds) != 1 ||
		len(action.Pipe.Cmds[0].Args) != 1 {
		return "", false
	}
	field, ok := action.Pipe.Cmds[0].Args[0].(*parse.FieldNode)
	if !ok || len(field.Ident) != 1 {
		return "", false
	}
	return field.Ident[0], true
}

// meets reports whether a node is a text with a line end at the side that has looks at:
// strings.HasPrefix or strings.HasSuffix.
func meets(n parse.Node, has func(s, with string) bool) bool {
	text, ok := n.(*parse.TextNode)
	return ok && has(string(text.Text), "\n")
}
