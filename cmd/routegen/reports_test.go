package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/compat"
)

// changeOfSpec is a change of a real spec of this repository, with five questions that a reader of
// its report has to answer from the report alone.
type changeOfSpec struct {
	Change   string     // in words
	Spec     string     // from the top of the repository
	Before   [][]string // edits of the spec on both sides: old text, new text
	Edits    [][]string
	Template [][]string // edits of a template: its name, old text, new text
	Answers  struct{ Where, Models, Go, Stored, Deploy answer }
}

// answer is what a reader should find, and what shows that it is so.
type answer struct {
	Says   string   // the answer
	Report []string // what the report says of it
	Test   string   // the test that shows it, where nothing below does
	// lines of Go that stop compiling, as the compiler names them; of the answer about Go
	Compiler []string
	// texts that the plain schemas of the new spec have, and the old ones not; and the other way
	Schemas struct{ New, Gone []string }
	// what an old thread may hold, of the answer about them: a type, or a flow and its slot; a
	// value; and what a program of the new spec refuses in it, "" where it goes on
	Decoded [][]string
}

// readChange reads a change and makes both sides of it.
func readChange(tb testing.TB, file string) (c changeOfSpec, src *source, old,
	now *generator.Result) {
	tb.Helper()
	text, err := os.ReadFile(file)
	require.NoError(tb, err)
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	dec.KnownFields(true)
	require.NoError(tb, dec.Decode(&c)) //nolint:musttag // names match but for letter case
	src, err = openSource("../..", filepath.FromSlash(c.Spec))
	require.NoError(tb, err)
	before := apply(tb, string(src.text), c.Before)
	src.text = []byte(apply(tb, before, c.Edits))
	old, now = generator.Generate(src.shown, []byte(before)), generator.Generate(src.shown,
		src.text)
	require.NotNil(tb, old.Plan, old.Findings)
	require.NotNil(tb, now.Plan, now.Findings)
	old.CheckPrompts(src.prompts(old.Plan))
	require.NotNil(tb, old.Plan, old.Findings)
	own := fstest.MapFS{}
	require.NoError(tb, fs.WalkDir(os.DirFS("../../templates/prompts"), ".",
		func(name string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				data, err := os.ReadFile(filepath.Join("../../templates/prompts", name))
				own[name] = &fstest.MapFile{Data: data}
				return err
			}
			return err
		}))
	for _, e := range c.Template {
		at := own[e[0]+".tmpl"]
		if at == nil {
			own[e[0]+".tmpl"] = &fstest.MapFile{Data: []byte(e[2])}
			continue
		}
		at.Data = []byte(apply(tb, string(at.Data), [][]string{e[1:]}))
	}
	now.CheckPrompts(own)
	require.NotNil(tb, now.Plan, now.Findings)
	return c, src, old, now
}

// apply replaces texts, each of which must be there once.
func apply(tb testing.TB, text string, edits [][]string) string {
	tb.Helper()
	for _, e := range edits {
		require.Equal(tb, 1, strings.Count(text, e[0]), "%q", e[0])
		text = strings.Replace(text, e[0], e[1], 1)
	}
	return text
}

// TestReportsAnswerAReader: the reports of twenty changes are as they stand in testdata/reports,
// and each answers the five questions: who can now go where, what models see, whose Go stops
// compiling, what becomes of stored threads and sent data, and whether to deploy it. What an answer
// claims of schemas is held against their text, and what it claims of Go is what type-checking
// found; that the compiler finds the same, TestCompilerSaysWhatReportsSay shows.
func TestReportsAnswerAReader(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("reads a module twice for each of twenty changes")
	}
	t.Parallel()
	files, err := filepath.Glob("testdata/reports/*.yaml")
	require.NoError(t, err)
	require.Len(t, files, 20)
	tests := testsOfModule(t)
	modules := modulesRead{}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".yaml")
		t.Run(filepath.Base(name), func(t *testing.T) {
			c, src, old, now := readChange(t, file)
			r := review.Compare(old.Plan, now.Plan)
			r.Base, r.Source = "origin/main", c.Spec
			before, after := composerOf(old), composerOf(now)
			r.Measure(before, after)
			uses := modules.read(t, c, src, old, now)
			r.Uses = uses
			t.Logf("%d bytes of Markdown, %d of text", len(r.Markdown()), len(r.Text()))
			compareGolden(t, name+".md", r.Markdown())
			compareGolden(t, name+".txt", r.Text())
			assertPlacesTold(t, uses, r.Text())

			plain := plainWords(r.Text())
			inMarkdown := plainWords(r.Markdown())
			for question, a := range map[string]answer{"where": c.Answers.Where,
				"models": c.Answers.Models, "go": c.Answers.Go, "stored": c.Answers.Stored,
				"deploy": c.Answers.Deploy} {
				assert.NotEmpty(t, a.Says, question)
				assert.NotEmpty(t, a.Report, question)
				for _, phrase := range a.Report {
					assert.Contains(t, plain, plainWords(phrase), "%s, in the text", question)
					if !strings.Contains(phrase, "→") { // a table in Markdown
						assert.Contains(t, inMarkdown, plainWords(phrase), "%s, in Markdown",
							question)
					}
				}
				if a.Test != "" {
					assert.Contains(t, tests, a.Test, question)
				} else {
					assert.Contains(t, []string{"models", "go"}, question, "name a test")
				}
			}
			was, is := schemaTexts(old), schemaTexts(now)
			says := c.Answers.Models.Schemas
			if was != is {
				assert.NotEmpty(t, r.SchemaEdits, "schemas changed")
			}
			for _, text := range says.New {
				assert.Contains(t, is, text)
				assert.NotContains(t, was, text)
			}
			for _, text := range says.Gone {
				assert.Contains(t, was, text)
				assert.NotContains(t, is, text)
			}
			assertStored(t, c.Answers.Stored, old.Plan, now.Plan, r)
			assertWays(t, old.Plan, now.Plan, r)
			assert.Equal(t, c.Answers.Go.Compiler, filesThatStop(uses.Stops),
				"lines and tests move: TestCompilerSaysWhatReportsSay compares them")
		})
	}
}

// TestCompilerSaysWhatReportsSay: the lines that a report says stop compiling are those that the
// compiler complains of, and no other.
func TestCompilerSaysWhatReportsSay(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("compiles packages of a module")
	}
	t.Parallel()
	for _, name := range []string{"03-field-renamed", "19-validator-added", "20-flow-removed"} {
		t.Run(name, func(t *testing.T) {
			c, src, old, now := readChange(t, "testdata/reports/"+name+".yaml")
			said := modulesRead{}.read(t, c, src, old, now).Stops
			texts, err := textsOf(src, now)
			require.NoError(t, err)
			overlay, err := writeOverlay(t.TempDir(), texts)
			require.NoError(t, err)
			packages := []string{}
			for _, p := range said {
				packages = append(packages, "./"+path.Dir(p.File))
			}
			slices.Sort(packages)
			args := slices.Concat([]string{"test", "-vet=off", "-gcflags=-e", "-run=^$", "-overlay",
				overlay}, slices.Compact(packages))
			cmd := exec.CommandContext(t.Context(), "go", args...)
			cmd.Dir = src.root
			out, err := cmd.CombinedOutput()
			require.Error(t, err)
			var lines []string
			for _, m := range regexp.MustCompile(`(?m)^(\S+\.go:\d+):\d+: `).
				FindAllSubmatch(out, -1) {
				lines = append(lines, string(m[1]))
			}
			slices.Sort(lines)
			var want []string
			for _, p := range said {
				want = append(want, p.File+":"+strconv.Itoa(p.Line))
			}
			slices.Sort(want)
			assert.Equal(t, slices.Compact(want), slices.Compact(lines), "%s", out)
		})
	}
}

// assertStored: what a report says of stored threads, and of old processes beside new ones, is what
// an engine finds; values that an old thread may hold are read as an engine reads them.
func assertStored(t *testing.T, a answer, old, now *plan.Plan, r *review.Report) {
	t.Helper()
	was, is := plan.Shapes(old), plan.Shapes(now)
	breaks := slices.DeleteFunc(compat.Compare(was, is),
		func(b compat.Break) bool { return compat.IsFollowed(b, is) })
	assert.Equal(t, len(breaks) == 0, strings.Contains(r.Text(),
		"sent data: every unfinished thread goes on"), "%v", breaks)
	assert.Equal(t, len(breaks)+len(compat.Compare(is, was)) == 0,
		strings.HasSuffix(r.Verdict().Order, "side by side"), r.Verdict().Order)
	require.NotEmpty(t, a.Decoded)
	refused := strings.Contains(r.Text(), "patterns are not compared") // maybe none
	for _, d := range a.Decoded {
		require.Len(t, d, 3)
		require.NoError(t, readStored(compat.NewReader(was, was, nil), d[0], d[1]), d[1])
		err := readStored(compat.NewReader(was, is, nil), d[0], d[1])
		if d[2] == "" {
			require.NoError(t, err, d[1])
			continue
		}
		require.ErrorContains(t, err, d[2])
		refused = true
	}
	assert.Equal(t, len(breaks) > 0, refused, "what is told to be refused is, and nothing else")
}

// readStored reads a value of a type, or of a slot of a flow, as an engine does.
func readStored(r *compat.Reader, typ, data string) error {
	read := r.Begin()
	name, slot, _ := strings.Cut(typ, ".")
	flow := r.Now(runtime.ShapeFlow, name)
	switch {
	case flow == nil && (slot != "" || data == ""):
		return errors.New("the flow is gone")
	case slot != "":
		read.Slot(flow, slot, []byte(data))
	case data != "":
		read.Value(typ, []byte(data))
	}
	return read.Err()
}

// assertWays: the rows about nodes say of a pair that it came, went or changed where the plans do.
func assertWays(t *testing.T, old, now *plan.Plan, r *review.Report) {
	t.Helper()
	pairs := func(p *plan.Plan) map[[2]string]bool {
		out := map[[2]string]bool{}
		for _, m := range p.Moves() {
			if m.How != plan.ByInterrupt {
				out[[2]string{m.From, m.To}] = true
			}
		}
		return out
	}
	was, is := pairs(old), pairs(now)
	for _, cell := range r.Access {
		if at := [2]string{cell.Who, cell.Where}; cell.Table == "branch" {
			assert.Equal(t, cell.Before != "", was[at], "%v", cell)
			assert.Equal(t, cell.After != "", is[at], "%v", cell)
			delete(was, at)
			delete(is, at)
		}
	}
	assert.Equal(t, was, is, "a way without a row")
}

// modulesRead remembers the module as it was, which many changes have in common.
type modulesRead map[string]*universe

func (m modulesRead) read(t *testing.T, c changeOfSpec, src *source, old,
	now *generator.Result) *review.GoUses {
	t.Helper()
	before, err := textsOf(src, old)
	require.NoError(t, err)
	after, err := textsOf(src, now)
	require.NoError(t, err)
	key := c.Spec + string(old.Source)
	if m[key] == nil {
		module, err := loadModule(t.Context(), src, now.Plan.Out, before, after)
		require.NoError(t, err)
		m[key] = module.check(before)
	}
	was := m[key]
	return was.m.differ(was, was.m.check(after))
}

// schemaTexts are the plain schemas of a spec, those of the interrupt routing and of each node.
func schemaTexts(res *generator.Result) string {
	var b strings.Builder
	for name, text := range res.Files {
		if strings.HasSuffix(name, "/plain.json") {
			b.Write(text)
		}
	}
	return b.String()
}

// filesThatStop are the files of places, each once, in their order, those of tests left out.
func filesThatStop(list []review.GoPlace) []string {
	var out []string
	for _, p := range list {
		if !slices.Contains(out, p.File) && !strings.HasSuffix(p.File, "_test.go") {
			out = append(out, p.File)
		}
	}
	return out
}

// assertPlacesTold: a report counts the lines that stop compiling, and names each with its number.
func assertPlacesTold(t *testing.T, uses *review.GoUses, text string) {
	t.Helper()
	if n := len(uses.Stops); n > 0 {
		assert.Contains(t, text, "whose go stops compiling: "+counted(n, "line")+" in this module")
	}
	for _, p := range slices.Concat(uses.Lost, uses.Stops, uses.Dead, uses.Switches) {
		assert.Regexp(t, regexp.QuoteMeta(p.File)+`:(\d+, )*`+strconv.Itoa(p.Line)+`\b`, text)
	}
}

// What of a report changes with every edit of this module's Go: numbers of lines and counts of
// them, and places in tests.
var (
	places  = regexp.MustCompile(`(\S+\.go):\d+(?:, \d+)*`)
	inTests = regexp.MustCompile(`(?:, )?\S+_test\.go:N(?:, )?`)
	moving  = regexp.MustCompile(`\d+( lines?\b| packages? read\b)`)
)

// withoutMoving is a report without that. A line that names places in tests alone is left out; that
// they are right, assertPlacesTold and TestCompilerSaysWhatReportsSay show.
func withoutMoving(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		// an underscore of a file is escaped in Markdown
		line = places.ReplaceAllString(strings.ReplaceAll(line, "\\_test.go", "_test.go"), "$1:N")
		told := strings.Count(line, ".go:N")
		line = inTests.ReplaceAllStringFunc(line, func(place string) string {
			if strings.HasPrefix(place, ", ") && strings.HasSuffix(place, ", ") {
				return ", "
			}
			return ""
		})
		if told == 0 || strings.Contains(line, ".go:N") {
			out.WriteString(moving.ReplaceAllString(line, "N$1"))
		}
	}
	return out.String()
}

// compareGolden holds a text against a file, what moves with this module's Go left out; where
// ROUTEGEN_UPDATE is set, the file is written.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	got = withoutMoving(got)
	if os.Getenv("ROUTEGEN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got, "run with ROUTEGEN_UPDATE=1 when the change is meant")
}

var markup = regexp.MustCompile("[\\\\`*|]|\u200b")

// plainWords is a text without markup and line breaks.
func plainWords(text string) string {
	text = strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(markup.ReplaceAllString(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

// testsOfModule are the names of all tests.
func testsOfModule(tb testing.TB) map[string]bool {
	tb.Helper()
	found := map[string]bool{}
	name := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	require.NoError(tb, filepath.WalkDir("../..", func(file string, e fs.DirEntry,
		err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, m := range name.FindAllStringSubmatch(string(text), -1) {
			found[m[1]] = true
		}
		return err
	}))
	return found
}
