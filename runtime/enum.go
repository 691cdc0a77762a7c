package runtime

import (
	"slices"

	"github.com/routegen/routegen/runtime/internal/brief"
)

// NameText returns the text of v, the number of a row. A value without a row is refused with
// [CodeInvalid]; what says what v is, as a message would: "agent type".
func NameText[T interface {
	~uint32
	String() string
}](what string, v T) ([]byte, error) {
	text := v.String()
	if text == "" {
		return nil, Errorf(CodeInvalid, "write "+what,
			"%s %d has no name: use one of the declared constants", what, uint32(v))
	}
	return []byte(text), nil
}

// SetName sets v to the number that parse finds for a text.
func SetName[T ~uint32](v *T, text []byte, parse func(text string) (int, error)) error {
	n, err := parse(string(text))
	*v = T(n)
	return err
}

// ParseNode returns the number of the node of that key. Letter case counts. Any other text is
// refused with [CodeInvalid] and the nearest key.
func (t *Tables) ParseNode(key string) (int, error) {
	return parseName("node", key, t.Nodes, func(n *Node) (string, []string) { return n.Key, nil })
}

// ParseAgentType is ParseNode for agent types and their aliases.
func (t *Tables) ParseAgentType(text string) (int, error) {
	return parseName("agent type", text, t.Nodes,
		func(n *Node) (string, []string) { return n.AgentType, n.Aliases })
}

// ParseRoute is ParseNode for the branches of routes, by JSON name.
func (t *Tables) ParseRoute(field string) (int, error) {
	return parseName("route", field, t.Routes,
		func(r *Route) (string, []string) { return r.Field, nil })
}

// ParseKind is ParseNode for interrupt kinds.
func (t *Tables) ParseKind(name string) (int, error) {
	return parseName("interrupt kind", name, t.Kinds,
		func(k *Kind) (string, []string) { return k.Name, nil })
}

func parseName[T any](what, text string, rows []T, texts func(*T) (string, []string)) (int, error) {
	for i := range rows {
		if name, _ := texts(&rows[i]); name == text {
			return i + 1, nil
		}
	}
	known := make([]string, len(rows))
	for i := range rows {
		name, aliases := texts(&rows[i])
		if slices.Contains(aliases, text) {
			return i + 1, nil
		}
		known[i] = name
	}
	return 0, Errorf(CodeInvalid, "parse "+what, "unknown %s %q%s", what, brief.Shorten(text),
		brief.Suggest(text, known))
}

// Row returns row i of a table, counted from 1, or a zero row if there is none. Callers must not
// write to it.
func Row[T any, I ~uint32 | ~int](rows []T, i I) *T {
	if j := uint(i) - 1; j < uint(len(rows)) {
		return &rows[j]
	}
	return new(T)
}
