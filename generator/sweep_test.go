package generator_test

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
)

// declarations are the sections whose order is that of Go declarations alone: it means nothing, and
// a review may keep silent.
var declarations = []string{"/types", "/results", "/enums", "/actions", "/validators"}

// hidden are things that change places with a hidden neighbour, which is offered to nobody.
var hidden = []string{"/flows/greet", "/flows/look_up", "/enums/Phase/values/WORK"}

// sweep changes one thing of a spec after the other, and looks for changes of the output that a
// review says nothing of.
type sweep struct {
	t      *testing.T
	doc    yaml.Node
	old    *plan.Plan
	files  map[string][]byte
	legal  int
	silent []string // what changed places and may
}

// TestEveryKeyIsReviewed: whatever is taken out, changed or moved in a spec, what it generates
// stays the same, or a review tells.
func TestEveryKeyIsReviewed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"base", "flows"} { // each has one of everything
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			src, err := os.ReadFile(filepath.Join("review", "testdata", name+".yaml"))
			require.NoError(t, err)
			s := &sweep{t: t}
			require.NoError(t, yaml.Unmarshal(src, &s.doc))
			s.old = s.plan()
			require.NotNil(t, s.old)
			s.files = s.output(s.old)
			s.walk(s.doc.Content[0], "")
			assert.Greater(t, s.legal, 60, "too few edits left a legal spec")
			assert.NotEmpty(t, s.silent,
				"the sweep sees no change of the output, not even that of an order")
		})
	}
}

// plan is that of the document as it is now; nil where it is refused.
func (s *sweep) plan() *plan.Plan {
	text, err := yaml.Marshal(&s.doc)
	require.NoError(s.t, err)
	sp, findings := spec.Parse("routes.yaml", text)
	refuses := func(f report.Finding) bool { return f.Severity == report.Error }
	if sp == nil || slices.ContainsFunc(findings, refuses) {
		return nil
	}
	p, more := plan.Build(sp)
	if slices.ContainsFunc(more, refuses) {
		return nil
	}
	return p
}

func (s *sweep) output(p *plan.Plan) map[string][]byte {
	files, err := emit.Files(p)
	require.NoError(s.t, err)
	return files
}

// look judges the document as it is now.
func (s *sweep) look(how, at string) {
	now := s.plan()
	if now == nil {
		return
	}
	s.legal++
	if !review.Compare(s.old, now).Empty() || maps.EqualFunc(s.files, s.output(now), bytes.Equal) {
		return
	}
	if how == "moved" && (slices.Contains(declarations, path.Dir(at)) ||
		slices.Contains(hidden, at)) {
		s.silent = append(s.silent, at)
		return
	}
	s.t.Errorf("%s %s: the output is another, and the review is silent", how, at)
}

func (s *sweep) walk(n *yaml.Node, at string) {
	width := map[yaml.Kind]int{yaml.MappingNode: 2, yaml.SequenceNode: 1}[n.Kind]
	if width == 0 {
		s.scalar(n, at)
		return
	}
	for i := 0; i < len(n.Content); i += width {
		child, all := at+"/"+strconv.Itoa(i), n.Content
		if width == 2 {
			child = at + "/" + all[i].Value
		}
		n.Content = slices.Delete(slices.Clone(all), i, i+width)
		s.look("without", child)
		if i+2*width <= len(all) {
			moved := slices.Clone(all)
			n.Content = slices.Concat(moved[:i], moved[i+width:i+2*width], moved[i:i+width],
				moved[i+2*width:])
			s.look("moved", child)
		}
		n.Content = all
		s.walk(all[i+width-1], child)
	}
}

// scalar gives one value others.
func (s *sweep) scalar(n *yaml.Node, at string) {
	was := *n
	others := []string{was.Value + "x", "2" + was.Value}
	if was.Tag == "!!bool" {
		others = []string{"true", "false"}
	}
	for _, other := range others {
		n.Value = other
		s.look("another", at)
		*n = was
	}
}
