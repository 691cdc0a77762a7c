package edit_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generator/edit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// planOf is the plan of a spec as JSON: what the text means, apart from how it is written.
func planOf(t require.TestingT, src string) string {
	s, _ := spec.Parse("routes.yaml", []byte(src))
	require.NotNil(t, s)
	p, _ := plan.Build(s)
	text, err := json.Marshal(p)
	require.NoError(t, err)
	return string(text)
}

// restored reports whether a text is what it was before a name was put into a list of old names.
func restored(text, name, want string) bool {
	if text == want || strings.Replace(text, ", "+name+"]", "]", 1) == want {
		return true
	}
	list := `(?:was|reserved|reserved_kinds): \[` + name + `\]`
	for _, c := range []struct {
		pattern string
		keep    []string
	}{
		{`(\r?\n) *- ` + name + `(\r?\n|$)`, []string{"$1", "$2"}},
		{`(\r?\n) *` + list + `(\r?\n|$)`, []string{"$1", "$2"}},
		{`(\r?\n) *` + list + `\r?\n(\r?\n|$)`, []string{"$1", "$2"}},
		{`(\r?\n)\r?\n *` + list + `(\r?\n|$)`, []string{"$1", "$2"}},
		{`(,\r?\n *|, |)` + list + `(, |,\r?\n *|)`, []string{"", "$1", "$2"}},
		{`\{(?:type|doc): ([^{}]*), ` + list + `\}`, []string{"$1"}},
		{`(?m):(.*)(\r?\n) *` + list + `(\r?\n|$)`, []string{":$1$3"}},
		{`(?:: | )\{` + list + `\}`, []string{""}},
	} {
		expr := regexp.MustCompile(c.pattern)
		for _, keep := range c.keep {
			if expr.ReplaceAllString(text, keep) == want {
				return true
			}
		}
	}
	return false
}

var additions = map[string][]edit.KeyValue{
	edit.KindNode: {{Key: "doc", Value: "Writes: the report."},
		{Key: "request.goal", Value: "string"}, {Key: "branches.end", Value: ""},
		{Key: "branch.first", Value: "NodeARequest"}},
	edit.KindType: {{Key: "doc", Value: "New."}, {Key: "goal", Value: "[]string"}},
	edit.KindEnum: {{Key: "NO", Value: "Not at all."}, {Key: "YES", Value: "Surely."}},
	edit.KindField: {{Key: "type", Value: "map[string]TypeA"},
		{Key: "doc", Value: "By name, in order."}},
	edit.KindBranch: {{Key: "type", Value: "TypeA"}},
	edit.KindKind:   {{Key: "doc", Value: "New."}, {Key: "deadline", Value: "none"}},
	edit.KindValue:  {{Key: "doc", Value: "New: a value."}},
}

// TestAddThenRemoveRestores adds something at a random place, takes it out again, and has the file
// as it was, but for the name in reserved.
func TestAddThenRemoveRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t, false)
		require.Empty(t, errorsOf(s.text), "%s\n%s", list(errorsOf(s.text)), s.text)
		kind := rapid.SampledFrom([]string{edit.KindNode, edit.KindType, edit.KindEnum,
			edit.KindField, edit.KindBranch, edit.KindValue, edit.KindKind}).Draw(t, "kind")
		name, siblings := "zebra", s.nodes
		set := additions[kind]
		switch kind {
		case edit.KindNode:
			set = append(append([]edit.KeyValue{}, set[:2]...), set[3])
		case edit.KindType:
			name, siblings = "Zebra", s.types
		case edit.KindEnum:
			name, siblings = "Zebra", s.enums
		case edit.KindField:
			siblings = s.fields
			owner, _, _ := strings.Cut(rapid.SampledFrom(s.fields).Draw(t, "owner"), ".")
			if strings.HasPrefix(owner, "Type") {
				set = []edit.KeyValue{{Key: "type", Value: "map[string]string"}, set[1]}
			}
			if len(s.kind) > 0 && rapid.Bool().Draw(t, "common") {
				owner = "interrupts"
			}
			name = owner + ".zebra"
		case edit.KindBranch:
			name, siblings, set = "nodeA.zebra", s.branches,
				[]edit.KeyValue{{Key: "type", Value: "NodeARequest"}}
		case edit.KindValue:
			name, siblings = s.enums[len(s.enums)-1]+".Zebra", s.values
			if len(s.enums) == 1 {
				return // the table of a collector would lack it
			}
		case edit.KindKind:
			siblings = s.kind
		}
		what := edit.Addition{Kind: kind, Name: name, Set: set}
		if owner, _, dotted := strings.Cut(name, "."); len(siblings) > 0 && rapid.Bool().
			Draw(t, "beside") {
			beside := rapid.SampledFrom(siblings).Draw(t, "neighbour")
			if !dotted || strings.HasPrefix(beside, owner+".") {
				what.Before = beside
			}
		}
		added, findings := edit.Add("routes.yaml", []byte(s.text), what)
		require.NotNil(t, added, "%s\n%s", list(findings), s.text)
		if kind == edit.KindKind && len(s.kind) == 0 {
			return // it came with the shipped kinds
		}
		removed, findings := edit.Remove("routes.yaml", added, kind, name)
		require.NotNil(t, removed, "%s\n%s", list(findings), added)
		require.True(t, restored(string(removed), name[strings.LastIndex(name, ".")+1:],
			s.text), "%s\n---\n%s", s.text, removed)
	})
}

// TestRenameBackRestores renames something, renames it back, and has the file as it was, but for
// the name in was.
func TestRenameBackRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t, false)
		kind := rapid.SampledFrom([]string{edit.KindNode, edit.KindType, edit.KindEnum,
			edit.KindField, edit.KindBranch, edit.KindValue, edit.KindKind}).Draw(t, "kind")
		all, to := map[string][]string{
			edit.KindNode: s.nodes, edit.KindType: append(s.types, s.endings...),
			edit.KindEnum: s.enums, edit.KindField: s.fields, edit.KindBranch: s.branches,
			edit.KindValue: s.values, edit.KindKind: s.kind,
		}[kind], "zebra"
		if kind == edit.KindType || kind == edit.KindEnum {
			to = "Zebra"
		}
		if len(all) == 0 {
			return
		}
		from := rapid.SampledFrom(all).Draw(t, "from")
		there, findings := edit.Rename("routes.yaml", []byte(s.text), kind, from, to)
		require.NotNil(t, there, "%s\n%s", list(findings), s.text)
		require.Empty(t, errorsOf(string(there)))
		require.Equal(t, strings.Count(s.text, "#"), strings.Count(string(there), "#"),
			"a comment is lost or new")
		owner, old, dotted := strings.Cut(from, ".")
		back := to
		if dotted {
			back = owner + "." + to
		} else {
			old = from
		}
		again, findings := edit.Rename("routes.yaml", there, kind, back, old)
		require.NotNil(t, again, "%s\n%s", list(findings), there)
		require.True(t, restored(string(again), to, s.text), "%s\n---\n%s", s.text, again)
	})
}

// TestRemoveTakesOneThing: what is refused is said to be in use or would leave an error; else
// exactly its own text goes.
func TestRemoveTakesOneThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t, false)
		kind := rapid.SampledFrom([]string{edit.KindNode, edit.KindType, edit.KindEnum,
			edit.KindField, edit.KindBranch, edit.KindValue, edit.KindKind}).Draw(t, "kind")
		all := map[string][]string{edit.KindNode: s.nodes, edit.KindType: s.types,
			edit.KindEnum: s.enums, edit.KindField: s.fields, edit.KindBranch: s.branches,
			edit.KindValue: s.values, edit.KindKind: s.kind}[kind]
		if kind == edit.KindField && len(s.kind) > 0 {
			all = append(all, "interrupts.reason")
		}
		if len(all) == 0 {
			return
		}
		target := rapid.SampledFrom(all).Draw(t, "target")
		r, findings := edit.Remove("routes.yaml", []byte(s.text), kind, target)
		if r == nil {
			require.NotEmpty(t, findings)
			for _, f := range findings {
				require.NotEqual(t, spec.RuleEditLayout, f.Rule, "%s\n%s", list(findings), s.text)
				require.NotEqual(t, spec.RuleEditArgument, f.Rule, list(findings))
			}
			return
		}
		require.Empty(t, errorsOf(string(r)))
		require.Regexp(t, `(?s)reserved(_kinds)?:(.*\W)?`+target[strings.LastIndex(target, ".")+1:]+
			`\W`, string(r)+"\n", "the name is kept")
		_, gone := edit.Remove("routes.yaml", r, kind, target)
		require.Equal(t, spec.RuleEditArgument, gone[0].Rule, list(gone))
	})
}

// TestFormatKeepsTheMeaning: the plan is the same, every line of the file is still there, and a
// second run changes nothing.
func TestFormatKeepsTheMeaning(t *testing.T) {
	check := func(t require.TestingT, text string) {
		r, findings := edit.Format("routes.yaml", []byte(text))
		require.NotNil(t, r, "%s\n%s", list(findings), text)
		require.Equal(t, planOf(t, text), planOf(t, string(r)))
		require.Len(t, r, len(text), "moving loses no byte")
		require.Equal(t, counts(text), counts(string(r)))
		again, findings := edit.Format("routes.yaml", r)
		require.NotNil(t, again, list(findings))
		require.Equal(t, string(r), string(again), "%s\n%s", text, r)
	}
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	check(t, string(src))
	check(t, base)
	rapid.Check(t, func(t *rapid.T) {
		text := drawSpec(t, true).text
		check(t, text)
		r, _ := edit.Format("routes.yaml", []byte(text))
		requireComments(t, text)
		requireComments(t, string(r))
	})
}

// requireComments wants each comment of a random spec above the key it speaks of.
func requireComments(t require.TestingT, text string) {
	about := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if key, ok := strings.CutPrefix(line, "# about "); ok {
			about = key
		} else if about != "" && !strings.HasPrefix(line, "#") {
			require.True(t, strings.HasPrefix(line, about+":"), "%q is about %q\n%s", line, about,
				text)
			about = ""
		}
	}
}

// counts is how often each byte occurs.
func counts(text string) (out [256]int) {
	for i := range len(text) {
		out[text[i]]++
	}
	return out
}
