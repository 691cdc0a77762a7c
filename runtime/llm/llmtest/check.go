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
	server *Server
	first  string
	seen   map[string]bool // names of tools
}

var legalName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func (c *checker) faultf(format string, args ...any) {
	if c.first == "" {
		c.first = fmt.Sprintf(format, args...)
	}
}

// checkKeys refuses keys that are not among these.
func (c *checker) checkKeys(where string, v *schema.Value, keys ...string) {
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

// checkSchema checks a schema against the rules of a dialect, if it is strict, and against what the
// test expects.
func (c *checker) checkSchema(where string, d runtime.Dialect, v *schema.Value, strict bool) {
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
	}
	c.server.mu.Lock()
	expected := c.server.expected // it only grows
	c.server.mu.Unlock()
	if len(expected) > 0 && !slices.Contains(expected, v.String()) {
		c.faultf("%s: this schema is not expected, or its keys have lost their order", where)
	}
}

// checkTool refuses a name that is not legal or not new.
func (c *checker) checkTool(name string) {
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	if !legalName.MatchString(name) || c.seen[name] {
		c.faultf("tools: the name %q is not legal, or is there twice", name)
	}
	c.seen[name] = true
}

// checkResults refuses results that are not exactly those of the calls before.
func (c *checker) checkResults(calls, results []string) {
	calls, results = slices.Clone(calls), slices.Clone(results)
	slices.Sort(calls)
	slices.Sort(results)
	if !slices.Equal(calls, results) {
		c.faultf("messages: the calls %q have the results of %q", calls, results)
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

func stringOf(v *schema.Value) string {
	if v == nil || v.Kind != schema.String {
		return ""
	}
	return v.Text
}

func isTrue(v *schema.Value) bool { return v != nil && v.Text == "true" }
