package review_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/generator/emit"
	"github.com/routegen/routegen/generator/generatortest"
	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/generator/report"
	"github.com/routegen/routegen/generator/review"
	"github.com/routegen/routegen/generator/spec"
	"github.com/routegen/routegen/runtime/compat"
)

func TestNothingChanged(t *testing.T) {
	old, now := planOf(t, base), planOf(t, base)
	r := review.Compare(old, now)
	r.Measure(emit.NewComposer(old), emit.NewComposer(now))
	assert.True(t, r.Empty())
	assert.Equal(t, "routes.yaml: no change\n", r.Text())
	assert.Equal(t, "### routes.yaml: no change\n", r.Markdown())
	assert.Empty(t, review.Breaking(old, now))
	text, err := r.JSON()
	require.NoError(t, err)
	var back map[string]any
	require.NoError(t, json.Unmarshal(text, &back))
	assert.InEpsilon(t, 1, back["v"], 0)
	assert.Equal(t, []any{}, back["changes"])
}

// TestOneCauseOneFinding: an edit that has many consequences is one finding, which lists them.
func TestOneCauseOneFinding(t *testing.T) {
	for name, c := range map[string]struct {
		edit    []string
		rule    string
		related []string
	}{
		"a node goes": {
			[]string{helperBlock, "", "      help: HelpRoutingRequest\n", ""}, "NODE_NO_DELETE",
			[]string{"ROUTE_NO_DELETE", "GO_API_NO_DELETE", "BRANCH_NO_DELETE"},
		},
		"a node is renamed": {
			[]string{"  helper:\n", "  aid:\n    was: [helper]\n"}, "WIRE_VALUE_SAME",
			[]string{"GO_NAME_SAME", "AGENT_TYPE_SAME", "DEF_SAME_NAME", "ROUTE_SAME_TAG"},
		},
		"a field is renamed": {
			[]string{"      size: {type: int,", "      length: {type: int, was: [size],"},
			"FIELD_SAME_JSON_NAME", []string{"FIELD_SAME_GO_NAME", "DEF_SAME_NAME"},
		},
		"a type is renamed": {
			[]string{"  Summary:\n", "  Outcome:\n    was: [Summary]\n", "      done: Summary\n",
				"      done: Outcome\n"}, "WIRE_VALUE_SAME",
			[]string{"GO_NAME_SAME", "DEF_SAME_NAME"},
		},
		"a value goes": {
			[]string{"      SECRET: {doc: Kept back., hidden: true}\n", "", ", SECRET: end", ""},
			"ENUM_VALUE_NO_DELETE", []string{"GO_API_NO_DELETE", "COLLECT_CHANGED"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			findings := review.Breaking(planOf(t, base), planOf(t, edited(t, base, c.edit...)))
			require.Len(t, findings, 1, "%v", findings)
			assert.Equal(t, c.rule, findings[0].Rule)
			assert.Subset(t, rulesOf(findings), c.related)
		})
	}
}

// TestFindingsPointAtTheNewSpec: of what is gone, at what is left around it.
func TestFindingsPointAtTheNewSpec(t *testing.T) {
	for name, c := range map[string]struct {
		edit []string
		at   string // begins the line the finding points at
	}{
		"node": {[]string{helperBlock, "", "      help: HelpRoutingRequest\n", ""},
			"  check:"},
		"field": {[]string{"      size: {type: int, min: 0, max: 10, doc: How long it is.}\n",
			""}, "  Note:"},
		"value": {[]string{"      SECRET: {doc: Kept back., hidden: true}\n", "",
			", SECRET: end", ""}, "  Phase:"},
		"branch": {[]string{"      help: HelpRoutingRequest\n", ""}, "  lead:"},
		"type": {[]string{"  Decision:\n    doc: Another form of an answer.\n    " +
			"fields:\n      verdict: {type: string, doc: What was decided.}\n", ""}, "  Answer:"},
		"renamed": {[]string{"      size: {type: int,",
			"      length: {type: int, was: [size],"}, "      length:"},
		"constrained": {[]string{"max: 10", "max: 9"}, "      size:"},
		"prompt":      {[]string{"Spread first. Then check.", "Check first."}, "    prompt:"},
	} {
		t.Run(name, func(t *testing.T) {
			src := edited(t, base, c.edit...)
			findings := review.Breaking(planOf(t, base), planOf(t, src))
			require.NotEmpty(t, findings)
			line := strings.Split(src, "\n")[findings[0].At.Start.Line-1]
			assert.True(t, strings.HasPrefix(line, c.at), "%s: %q", findings[0].Message, line)
		})
	}
}

// TestNothingGoesUnsaid: edits that break no rule are told, too.
func TestNothingGoesUnsaid(t *testing.T) {
	for name, edit := range map[string][]string{
		"group": {"    doc: Leads the work.\n",
			"    doc: Leads the work.\n    group: top\n"},
		"node deprecated": {"    doc: Finds what is lacking.\n",
			"    doc: Finds what is lacking.\n    deprecated: ask a person\n"},
		"field deprecated": {"hint: {type: string,",
			"hint: {type: string, deprecated: say it in goal,"},
		"value deprecated":    {"WORK: Working.", "WORK: {doc: Working., deprecated: say PLAN}"},
		"examples":            {"goal: {type: string,", "goal: {type: string, examples: [win],"},
		"doc of a kind":       {"A step failed.", "Some step failed."},
		"doc of a hidden one": {"Not for models.", "Not for any model."},
		"doc of a value":      {"Kept back.", "Held back."},
		"doc of a scalar":     {"A key.", "One key."},
		"doc of an answer":    {"What a person says.", "What somebody says."},
		"doc of a route":      {"  helper:\n", "  helper:\n    route: {doc: Back to it.}\n"},
		"doc of a branch": {"      done: Summary\n",
			"      done: {type: Summary, doc: All is done.}\n"},
		"order of fields": {"      text: {type: string, doc: What it says.}\n      size: " +
			"{type: int, min: 0, max: 10, doc: How long it is.}\n",
			"      size: {type: int, min: 0, max: 10, doc: How long it is.}\n      text: {type: " +
				"string, doc: What it says.}\n"},
		"order of branches": {"      spread: SpreadRequest\n      check: CheckRequest\n",
			"      check: CheckRequest\n      spread: SpreadRequest\n"},
		"order of values": {"      PLAN: Planning.\n      WORK: Working.\n",
			"      WORK: Working.\n      PLAN: Planning.\n"},
		"order of kinds": {"    question: {doc: An agent asks., clash: queue, deadline: " +
			"{after: 24h, then: expire}}\n    failure: {doc: A step failed., clash: queue}\n",
			"    failure: {doc: A step failed., clash: queue}\n    question: {doc: An agent " +
				"asks., clash: queue, deadline: {after: 24h, then: expire}}\n"},
		"order of nodes": {helperBlock, "", "  check:\n    doc:",
			helperBlock + "  check:\n    doc:"},
		"conversation": {"reserved: [former]\n",
			"reserved: [former]\nconversation: {turn_start: last}\n"},
		"handler": {"  answer: Answer\n",
			"  answer: Answer\n  handler: {guidance: Set one.}\n"},
		"name of the handler": {"  answer: Answer\n",
			"  answer: Answer\n  handler: {name: ask}\n"},
		"display name of type": {"  Note:\n", "  Note:\n    display_name: Memo\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := review.Compare(planOf(t, base), planOf(t, edited(t, base, edit...)))
			assert.Len(t, r.Changes, 1, r.Text())
		})
	}
}

// TestStaleGuidance: what a model can no longer set is still in its guidance.
func TestStaleGuidance(t *testing.T) {
	told := edited(t, base, "Spread first. Then check.", "Spread first. Set help when stuck.")
	for name, c := range map[string]struct {
		edit  []string
		stale bool
	}{
		"gone": {[]string{"      help: HelpRoutingRequest\n", ""}, true},
		"renamed": {[]string{"      help: HelpRoutingRequest\n",
			"      assist: {type: HelpRoutingRequest, was: [help]}\n"}, true},
		"gone, and not said": {[]string{"      help: HelpRoutingRequest\n", "",
			"Set help when stuck.", "Be helpful."}, false},
	} {
		t.Run(name, func(t *testing.T) {
			out := review.Compare(planOf(t, told), planOf(t, edited(t, told, c.edit...))).Text()
			assert.Equal(t, c.stale, strings.Contains(out, "the guidance of lead still says help"),
				out)
		})
	}
}

// TestGainedMethodStopsImplementers: and a lost one does not.
func TestGainedMethodStopsImplementers(t *testing.T) {
	old, with := planOf(t, base), planOf(t,
		edited(t, base, "  helper:\n", mergerBlock, "      help: HelpRoutingRequest\n",
			"      help: HelpRoutingRequest\n      join: MergerRequest\n"))
	added := review.Compare(old, with)
	assert.Equal(t, []string{"Merger"}, added.Interfaces[0].Added)
	assert.Contains(t, added.Markdown(),
		"* Handlers gains Merger, RequestVisitor gains VisitMergerRequest: implementers stop "+
			"compiling")
	assert.Contains(t, added.Text(), "VisitMergerRequest: implementers stop compiling")
	removed := review.Compare(with, old)
	assert.Contains(t, removed.Markdown(),
		"* Handlers loses Merger, RequestVisitor loses VisitMergerRequest: implementers go on "+
			"compiling")
}

func TestCategoriesSeeTheirPartOfACause(t *testing.T) {
	old := planOf(t, base)
	now := planOf(t, edited(t, base, "      size: {type: int,",
		"      length: {type: int, was: [size],"))
	for category, rule := range map[report.Category]string{
		review.CategoryWireJSON: "FIELD_SAME_JSON_NAME",
		review.CategorySource:   "FIELD_SAME_GO_NAME", review.CategorySchema: "DEF_SAME_NAME",
	} {
		findings := review.BreakingIn(old, now, category)
		require.Len(t, findings, 1)
		assert.Equal(t, rule, findings[0].Rule)
		assert.Empty(t, findings[0].Related)
	}
	assert.Empty(t, review.BreakingIn(old, now, review.CategoryPrompt))
}

// TestModelsAreToldWhateverChangesASchema: no report says that models see nothing new beside a
// schema whose bytes changed, whatever rule the change is about.
func TestModelsAreToldWhateverChangesASchema(t *testing.T) {
	changed := 0
	for _, c := range ruleCases {
		for _, edit := range [][]string{c.bad, c.good} {
			old, now := planOf(t, base), planOf(t, edited(t, base, edit...))
			r := review.Compare(old, now)
			r.Measure(emit.NewComposer(old), emit.NewComposer(now))
			whole := len(r.SchemaEdits) > 0
			for _, s := range r.Schemas {
				whole = whole || s.Before == 0 || s.After == 0
			}
			if len(r.Schemas) == 0 {
				assert.Empty(t, r.SchemaEdits, c.rule)
				continue
			}
			changed++
			assert.True(t, whole, "%s %v: %v", c.rule, edit, r.Schemas)
			assert.Contains(t, r.Text(), "what models see: "+schemasChanged(len(r.Schemas)), c.rule)
			for _, e := range r.SchemaEdits {
				assert.NotEqual(t, e.Before, e.After, c.rule)
				if !e.Text && !strings.Contains(e.Before, "pattern") {
					assert.Contains(t, r.Text(), e.After, c.rule)
				}
			}
		}
	}
	assert.Greater(t, changed, 20, "the control: such changes were tried")
}

func schemasChanged(n int) string {
	if n == 1 {
		return "1 schema changed"
	}
	return strconv.Itoa(n) + " schemas changed"
}

// TestAccessIsTheWays: a row says that a way came or went exactly where the plans differ in it.
func TestAccessIsTheWays(t *testing.T) {
	for _, c := range ruleCases {
		old, now := planOf(t, base), planOf(t, edited(t, base, c.bad...))
		r := review.Compare(old, now)
		for _, cell := range r.Access {
			if cell.Table != "branch" {
				continue
			}
			there := func(p *plan.Plan) bool {
				for _, m := range p.Moves() {
					if m.From == cell.Who && m.To == cell.Where && m.How != plan.ByInterrupt {
						return true
					}
				}
				return false
			}
			assert.Equal(t, cell.After != "", there(now), "%s: %v", c.rule, cell)
		}
		if len(r.Access) == 0 {
			assert.Contains(t, r.Text(), "who can now go where: no change")
		}
	}
}

// TestVerdict: what breaks stored threads or senders is not deployed just so, and a module that
// does not compile not at all.
func TestVerdict(t *testing.T) {
	for _, c := range slices.Concat(ruleCases, flowRuleCases) {
		from := base
		if !strings.Contains(base, c.bad[0]) {
			from = flowBase
		}
		old, now := planOf(t, from), planOf(t, edited(t, from, c.bad...))
		r := review.Compare(old, now)
		text, err := r.JSON()
		require.NoError(t, err)
		assert.NotContains(t, string(text), "<invalid", "%s: each row finds its values", c.rule)
		v := r.Verdict()
		if len(compat.Compare(plan.Shapes(old), plan.Shapes(now))) > 0 {
			assert.Equal(t, "after", v.Answer, c.rule)
		}
		if strings.Contains(r.Text(), "[error ") {
			assert.NotEqual(t, "yes", v.Answer, "%s: an error is no plain yes", c.rule)
		}
		back := compat.Compare(plan.Shapes(now), plan.Shapes(old))
		refused := strings.Contains(v.Summary(), "let the old program finish")
		if len(r.Changes) > 0 {
			assert.Equal(t, len(back) == 0 && !refused, strings.Contains(v.Order, "side by side"),
				"%s: neither cannot read what the other stores", c.rule)
		}
		r.Uses = &review.GoUses{Packages: 1,
			Stops: []review.GoPlace{{File: "a.go", Line: 3, Text: "undefined: x"}}}
		assert.Equal(t, "no", r.Verdict().Answer, c.rule)
		assert.Contains(t, r.Text(), "a.go:3 undefined: x", c.rule)
	}
	same := planOf(t, base)
	assert.Equal(t, "yes", review.Compare(same, same).Verdict().Answer, "the control")
}

// TestErrorsAreNoPlainYes: an error that no sender, no stored thread and no build shows is named.
func TestErrorsAreNoPlainYes(t *testing.T) {
	const text = "      text: {type: string, doc: What it says.}\n"
	titled := edited(t, base, text, text+"      title: {type: string, doc: Its title.}\n")
	for says, c := range map[string]struct {
		from string
		edit []string
	}{
		"GO_PACKAGE_SAME of go": {base, []string{"out: generated/routes", "out: generated/ways"}},
		"ROUTE_SAME_TAG of helper": {base,
			[]string{"  helper:\n", "  helper:\n    route: {tag: AidRoute}\n"}},
		"FIELD_SAME_GO_NAME of Note.text": {titled,
			[]string{"text: {type: string, doc: What it says.", "text: {type: string, " +
				"go_name: Title, doc: What it says.", "title: {type: string,",
				"title: {type: string, go_name: Text,"}},
	} {
		t.Run(says, func(t *testing.T) {
			r := review.Compare(planOf(t, c.from), planOf(t, edited(t, c.from, c.edit...)))
			r.Uses = &review.GoUses{Packages: 1} // all of it compiles
			v := r.Verdict()
			assert.Equal(t, "after", v.Answer)
			assert.Contains(t, v.Summary(), "after this: see to ")
			assert.Contains(t, v.Summary(), says)
		})
	}
}

// TestPullRequestAndStoreAgree: a finding about stored data stands exactly where the rules of the
// runtime find a break.
func TestPullRequestAndStoreAgree(t *testing.T) {
	for _, c := range ruleCases {
		for _, edit := range [][]string{c.bad, c.good} {
			old, now := planOf(t, base), planOf(t, edited(t, base, edit...))
			shapes := plan.Shapes(now)
			breaks := slices.DeleteFunc(compat.Compare(plan.Shapes(old), shapes),
				func(b compat.Break) bool { return compat.IsFollowed(b, shapes) })
			stored := 0
			for _, change := range review.Compare(old, now).Changes {
				for _, text := range change.Stored {
					if strings.HasPrefix(text, "a thread is refused") {
						stored++
					}
				}
			}
			assert.Equal(t, len(breaks) > 0, stored > 0, "%s %v: %v", c.rule, edit, breaks)
			if len(breaks) > 0 {
				assert.NotEqual(t, compat.Fingerprint(plan.Shapes(old)),
					compat.Fingerprint(plan.Shapes(now)), c.rule)
			}
		}
	}
}

// TestMarkdownCannotBeBroken: texts of a spec are never markup, and mention no one.
func TestMarkdownCannotBeBroken(t *testing.T) {
	evil := "Spread | first. ``` @someone <img src=x> **bold** [link](https://example.com)"
	old := planOf(t, base)
	now := planOf(t, edited(t, base, "guidance: Spread first. Then check.",
		"guidance: \""+evil+"\"", "max_length: 40", `pattern: "^(a|b)<@x>$"`))
	out := review.Compare(old, now).Markdown()
	for line := range strings.Lines(out) {
		for _, live := range []string{"@someone", "<@", "<img", " [link", "://", "**bold"} {
			assert.NotContains(t, line, live)
		}
		if strings.HasPrefix(line, "| ") {
			assert.Equal(t, 5, strings.Count(line, "|")-strings.Count(line, `\|`), line)
		}
	}
	assert.Contains(t, out, "@\u200bsomeone", "the control: the text is there, and mentions no one")
	assert.Contains(t, out, ":\u200b//example.com", "nor is it a link")
}

// TestMarkdownFitsAComment: whatever changes, GitHub takes the comment.
func TestMarkdownFitsAComment(t *testing.T) {
	src := string(generatortest.Synthetic(300))
	old := planOf(t, src)
	now := planOf(t, strings.ReplaceAll(strings.ReplaceAll(src, "max: 1000", "max: 900"),
		"guidance: \"Go on", "guidance: \""+strings.Repeat("Go on and on. ", 200)))
	r := review.Compare(old, now)
	r.Measure(emit.NewComposer(old), emit.NewComposer(now))
	r.Base = "v1"
	out := r.Markdown()
	assert.Less(t, len([]rune(out)), 65_536)
	assert.Contains(t, out, "more: `routegen diff --against v1 --format json` lists all")
}

// TestRandomPlans: a plan compared with itself is no change, and no pair of edited plans makes the
// comparePlans fall over; what is added one way is removed the other way.
func TestRandomPlans(t *testing.T) {
	src := base
	rapid.Check(t, func(rt *rapid.T) {
		texts := []string{src, src}
		for side := range texts {
			for range rapid.IntRange(0, 4).Draw(rt, "edits") {
				c := rapid.SampledFrom(ruleCases).Draw(rt, "case")
				edit := c.bad
				if rapid.Bool().Draw(rt, "good") {
					edit = c.good
				}
				text := texts[side]
				for i := 0; i < len(edit); i += 2 {
					text = strings.Replace(text, edit[i], edit[i+1], 1)
				}
				if build(text) != nil {
					texts[side] = text
				}
			}
		}
		old, now := build(texts[0]), build(texts[1])
		for _, p := range []*plan.Plan{old, now} {
			assert.True(rt, review.Compare(p, build(texts[boolInt(p == now)])).Empty())
		}
		there, back := review.Compare(old, now), review.Compare(now, old)
		assert.Equal(rt, there.API.Added, back.API.Removed)
		assert.Len(rt, back.Access, len(there.Access))
		for _, f := range review.Breaking(old, now) {
			assert.Positive(rt, f.At.Start.Line, f.Message)
			assert.LessOrEqual(rt, f.At.Start.Line, strings.Count(texts[1], "\n")+1)
		}
		_ = there.Markdown() + there.Text()
	})
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// build returns the plan of a spec, or nil where it has errors.
func build(src string) *plan.Plan {
	sp, findings := spec.Parse("routes.yaml", []byte(src))
	if sp == nil {
		return nil
	}
	p, more := plan.Build(sp)
	for _, f := range append(findings, more...) {
		if f.Severity == report.Error {
			return nil
		}
	}
	return p
}

// TestManyRoutes: the work grows with the spec, not with its square. What it costs is the best of
// several runs, however busy this machine is.
func TestManyRoutes(t *testing.T) {
	compared := func(routes int) (cost func() time.Duration) {
		src := string(generatortest.Synthetic(routes))
		old := planOf(t, src)
		now := planOf(t, strings.ReplaceAll(strings.ReplaceAll(src, "max: 1000", "max: 900"),
			"Where worker", "Just where worker"))
		return func() time.Duration {
			start := time.Now()
			r, findings := review.Compare(old, now), review.Breaking(old, now)
			took := time.Since(start)
			assert.Len(t, findings, 2*routes)
			assert.Len(t, r.Changes, 2*routes)
			return took
		}
	}
	const few, times = 175, 8
	one, many := compared(few), compared(few*times)
	least := [2]time.Duration{time.Hour, time.Hour}
	for range 5 {
		least = [2]time.Duration{min(least[0], one()), min(least[1], many())}
	}
	ratio := float64(least[1]) / float64(least[0])
	t.Logf("%d times the routes cost %.1f times as much: %v and %v", times, ratio, least[0],
		least[1])
	assert.Less(t, ratio, 4.0*times, "their square would be %d times", times*times)
}

func BenchmarkCompare(b *testing.B) {
	src := string(generatortest.Synthetic(1400))
	old := planOf(b, src)
	now := planOf(b, strings.ReplaceAll(src, "max: 1000", "max: 900"))
	for b.Loop() {
		review.Compare(old, now)
	}
}
