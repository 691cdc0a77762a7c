package spec_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/spec"
)

// soundEdit checks what every result promises: its edits make its text, and their inverse makes the old one.
func soundEdit(t require.TestingT, src string, r *spec.EditResult) {
	made, err := spec.ApplyEdits([]byte(src), r.Edits)
	require.NoError(t, err)
	require.Equal(t, string(r.Text), string(made))
	back := spec.Invert([]byte(src), r)
	again, err := spec.ApplyEdits(r.Text, back.Edits)
	require.NoError(t, err)
	require.Equal(t, src, string(again))
	require.Equal(t, src, string(back.Text))
}

func errorsOf(src string) []spec.Finding {
	_, findings := spec.Parse("routes.yaml", []byte(src))
	var out []spec.Finding
	for _, f := range findings {
		if f.Severity == spec.Error {
			out = append(out, f)
		}
	}
	return out
}

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

var additions = map[string][]spec.KeyValue{
	spec.EditNode:   {{Key: "doc", Value: "Writes: the report."}, {Key: "request.goal", Value: "string"}, {Key: "branches.end", Value: ""}, {Key: "branch.first", Value: "NodeARequest"}},
	spec.EditType:   {{Key: "doc", Value: "New."}, {Key: "goal", Value: "[]string"}},
	spec.EditEnum:   {{Key: "NO", Value: "Not at all."}, {Key: "YES", Value: "Surely."}},
	spec.EditField:  {{Key: "type", Value: "map[string]TypeA"}, {Key: "doc", Value: "By name, in order."}},
	spec.EditBranch: {{Key: "type", Value: "TypeA"}},
	spec.EditKind:   {{Key: "doc", Value: "New."}, {Key: "deadline", Value: "none"}},
	spec.EditValue:  {{Key: "doc", Value: "New: a value."}},
}

// TestAddThenRemoveRestores adds something at a random place, takes it out again, and has the file as it was, but for the name
// in reserved.
func TestAddThenRemoveRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		require.Empty(t, errorsOf(s.text), "%s\n%s", list(errorsOf(s.text)), s.text)
		kind := rapid.SampledFrom([]string{spec.EditNode, spec.EditType, spec.EditEnum, spec.EditField, spec.EditBranch, spec.EditValue, spec.EditKind}).Draw(t, "kind")
		name, siblings := "zebra", s.nodes
		set := additions[kind]
		switch kind {
		case spec.EditNode:
			set = append(append([]spec.KeyValue{}, set[:2]...), set[3])
		case spec.EditType:
			name, siblings = "Zebra", s.types
		case spec.EditEnum:
			name, siblings = "Zebra", s.enums
		case spec.EditField:
			siblings = s.fields
			owner, _, _ := strings.Cut(rapid.SampledFrom(s.fields).Draw(t, "owner"), ".")
			if strings.HasPrefix(owner, "Type") {
				set = []spec.KeyValue{{Key: "type", Value: "map[string]string"}, set[1]}
			}
			if len(s.kind) > 0 && rapid.Bool().Draw(t, "common") {
				owner = "interrupts"
			}
			name = owner + ".zebra"
		case spec.EditBranch:
			name, siblings, set = "nodeA.zebra", s.branches, []spec.KeyValue{{Key: "type", Value: "NodeARequest"}}
		case spec.EditValue:
			name, siblings = s.enums[len(s.enums)-1]+".Zebra", s.values
			if len(s.enums) == 1 {
				return // the table of a collector would lack it
			}
		case spec.EditKind:
			siblings = s.kind
		}
		what := spec.AddWhat{Kind: kind, Name: name, Set: set}
		if owner, _, dotted := strings.Cut(name, "."); len(siblings) > 0 && rapid.Bool().Draw(t, "beside") {
			beside := rapid.SampledFrom(siblings).Draw(t, "neighbour")
			if !dotted || strings.HasPrefix(beside, owner+".") {
				what.Before = beside
			}
		}
		added, findings := spec.Add("routes.yaml", []byte(s.text), what)
		require.NotNil(t, added, "%s\n%s", list(findings), s.text)
		soundEdit(t, s.text, added)
		for _, e := range added.Edits {
			require.Equal(t, e.At.Start, e.At.End, "only put in: %q\n%s", e.Text, s.text)
		}
		if kind == spec.EditKind && len(s.kind) == 0 {
			return // it came with the shipped kinds
		}
		removed, findings := spec.Remove("routes.yaml", added.Text, kind, name)
		require.NotNil(t, removed, "%s\n%s", list(findings), added.Text)
		soundEdit(t, string(added.Text), removed)
		require.True(t, restored(string(removed.Text), name[strings.LastIndex(name, ".")+1:], s.text), "%s\n---\n%s", s.text, removed.Text)
	})
}

// TestRenameBackRestores renames something, renames it back, and has the file as it was, but for the name in was.
func TestRenameBackRestores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		kind := rapid.SampledFrom([]string{spec.EditNode, spec.EditType, spec.EditEnum, spec.EditField, spec.EditBranch, spec.EditValue, spec.EditKind}).Draw(t, "kind")
		all, to := map[string][]string{
			spec.EditNode: s.nodes, spec.EditType: append(s.types, s.endings...), spec.EditEnum: s.enums, spec.EditField: s.fields, spec.EditBranch: s.branches, spec.EditValue: s.values, spec.EditKind: s.kind,
		}[kind], "zebra"
		if kind == spec.EditType || kind == spec.EditEnum {
			to = "Zebra"
		}
		if len(all) == 0 {
			return
		}
		from := rapid.SampledFrom(all).Draw(t, "from")
		there, findings := spec.Rename("routes.yaml", []byte(s.text), kind, from, to)
		require.NotNil(t, there, "%s\n%s", list(findings), s.text)
		soundEdit(t, s.text, there)
		require.Empty(t, errorsOf(string(there.Text)))
		require.Equal(t, strings.Count(s.text, "#"), strings.Count(string(there.Text), "#"), "a comment is lost or new")
		owner, old, dotted := strings.Cut(from, ".")
		back := to
		if dotted {
			back = owner + "." + to
		} else {
			old = from
		}
		again, findings := spec.Rename("routes.yaml", there.Text, kind, back, old)
		require.NotNil(t, again, "%s\n%s", list(findings), there.Text)
		soundEdit(t, string(there.Text), again)
		require.True(t, restored(string(again.Text), to, s.text), "%s\n---\n%s", s.text, again.Text)
	})
}

// TestRemoveTakesOneThing: what is refused is said to be in use or would leave an error; else exactly its own text goes.
func TestRemoveTakesOneThing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawSpec(t)
		kind := rapid.SampledFrom([]string{spec.EditNode, spec.EditType, spec.EditEnum, spec.EditField, spec.EditBranch, spec.EditValue, spec.EditKind}).Draw(t, "kind")
		all := map[string][]string{spec.EditNode: s.nodes, spec.EditType: s.types, spec.EditEnum: s.enums, spec.EditField: s.fields, spec.EditBranch: s.branches, spec.EditValue: s.values, spec.EditKind: s.kind}[kind]
		if kind == spec.EditField && len(s.kind) > 0 {
			all = append(all, "interrupts.reason")
		}
		if len(all) == 0 {
			return
		}
		target := rapid.SampledFrom(all).Draw(t, "target")
		remove := spec.Remove
		if rapid.Bool().Draw(t, "with references") {
			remove = spec.RemoveWithReferences
		}
		r, findings := remove("routes.yaml", []byte(s.text), kind, target)
		if r == nil {
			require.NotEmpty(t, findings)
			for _, f := range findings {
				require.NotEqual(t, spec.RuleEditLayout, f.Rule, "%s\n%s", list(findings), s.text)
				require.NotEqual(t, spec.RuleEditArgument, f.Rule, list(findings))
			}
			return
		}
		soundEdit(t, s.text, r)
		require.Empty(t, errorsOf(string(r.Text)))
		require.Regexp(t, `(?s)reserved(_kinds)?:(.*\W)?`+target[strings.LastIndex(target, ".")+1:]+`\W`, string(r.Text)+"\n", "the name is kept")
		_, gone := spec.Remove("routes.yaml", r.Text, kind, target)
		require.Equal(t, spec.RuleEditArgument, gone[0].Rule, list(gone))
	})
}

// TestFormatKeepsTheMeaning: the plan is the same, every line of the file is still there, and a second run changes nothing.
func TestFormatKeepsTheMeaning(t *testing.T) {
	check := func(t require.TestingT, text string) {
		r, findings := spec.Format("routes.yaml", []byte(text))
		require.NotNil(t, r, "%s\n%s", list(findings), text)
		soundEdit(t, text, r)
		require.Equal(t, planOf(t, text), planOf(t, string(r.Text)))
		require.Len(t, r.Text, len(text), "moving loses no byte")
		require.Equal(t, counts(text), counts(string(r.Text)))
		again, findings := spec.Format("routes.yaml", r.Text)
		require.NotNil(t, again, list(findings))
		require.Empty(t, again.Edits, "%s\n%s", text, r.Text)
	}
	src, err := os.ReadFile("../../routes.yaml")
	require.NoError(t, err)
	check(t, string(src))
	check(t, base)
	rapid.Check(t, func(t *rapid.T) {
		text := drawSpec(t).text
		check(t, text)
		r, _ := spec.Format("routes.yaml", []byte(text))
		requireComments(t, text)
		requireComments(t, string(r.Text))
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
			require.True(t, strings.HasPrefix(line, about+":"), "%q is about %q\n%s", line, about, text)
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
