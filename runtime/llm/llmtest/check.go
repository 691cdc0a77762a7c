package llmtest

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/schema"
)

// checker keeps the first rule that a request breaks.
type checker struct {
	server  *Server
	first   string
	seen    map[string]bool // names of tools
	strict  int             // tools held to their schema
	counted count           // over all strict schemas of the request
}

// count is what Anthropic limits over a whole request.
type count struct{ optional, unions int }

var legalName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (c *checker) faultf(format string, args ...any) {
	if c.first == "" {
		c.first = fmt.Sprintf(format, args...)
	}
}

// only refuses keys that are not among these.
func (c *checker) only(where string, v *schema.Value, keys ...string) {
	if v.Kind != schema.Object {
		c.faultf("%s: must be an object", where)
		return
	}
	for _, m := range v.Members {
		if !slices.Contains(keys, m.Key) {
			c.faultf("%s: unknown parameter %q", where, m.Key)
		}
	}
}

// form holds a schema to the rules of a dialect, where it is strict, and to what the test expects.
func (c *checker) form(where string, d runtime.Dialect, v *schema.Value, strict bool) {
	if v == nil || v.Kind != schema.Object {
		c.faultf("%s: there is no schema", where)
		return
	}
	if strict {
		findings, err := schema.Lint(d, []byte(v.String()))
		if err != nil {
			c.faultf("%s: %s", where, err)
		}
		for _, f := range findings {
			if !f.Notice {
				c.faultf("%s: invalid schema at %q: %s", where, f.Pointer, f.Message)
			}
		}
		c.counted.add(v)
	}
	c.server.mu.Lock()
	expected := slices.Clone(c.server.expected)
	c.server.mu.Unlock()
	if len(expected) > 0 && !slices.ContainsFunc(expected, func(text string) bool { return canonical(text) == v.String() }) {
		c.faultf("%s: this schema is not expected, or its keys have lost their order", where)
	}
}

// tool refuses a name that is not legal or not new.
func (c *checker) tool(name string, strict bool) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !legalName.MatchString(name) || c.seen[name] {
		c.faultf("tools: %q is no name, or is there twice", name)
	}
	c.seen[name] = true
	if strict {
		c.strict++
	}
}

// paired refuses results that are not exactly those of the calls before.
func (c *checker) paired(calls, results []string) {
	calls, results = slices.Clone(calls), slices.Clone(results)
	slices.Sort(calls)
	slices.Sort(results)
	if !slices.Equal(calls, results) {
		c.faultf("messages: the calls %q have the results of %q", calls, results)
	}
}

// add counts by the place of a keyword, never by a name alone.
func (n *count) add(v *schema.Value) {
	if v == nil || v.Kind != schema.Object {
		return
	}
	if kind := v.Get("type"); v.Get("anyOf") != nil || kind != nil && kind.Kind == schema.Array {
		n.unions++
	}
	required := items(v.Get("required"))
	for _, m := range v.Members {
		switch m.Key {
		case "properties":
			for _, p := range m.Value.Members {
				if !slices.ContainsFunc(required, func(r *schema.Value) bool { return r.Text == p.Key }) {
					n.optional++
				}
				n.add(p.Value)
			}
		case "$defs":
			for _, d := range m.Value.Members {
				n.add(d.Value)
			}
		case "items":
			n.add(m.Value)
		case "anyOf", "allOf":
			for _, part := range items(m.Value) {
				n.add(part)
			}
		}
	}
}

func items(v *schema.Value) []*schema.Value {
	if v == nil || v.Kind != schema.Array {
		return nil
	}
	out := make([]*schema.Value, len(v.Members))
	for i, m := range v.Members {
		out[i] = m.Value
	}
	return out
}

func textOf(v *schema.Value) string {
	if v == nil || v.Kind != schema.String {
		return ""
	}
	return v.Text
}

func isTrue(v *schema.Value) bool { return v != nil && v.Text == "true" }

// canonical is a text without its blanks and with one way of writing each string; keys keep their order.
func canonical(text string) string {
	v, err := schema.Parse([]byte(text))
	if err != nil {
		return ""
	}
	return v.String()
}
