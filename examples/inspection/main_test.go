package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/standin"
	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/thread"
)

const greeting = "Try: maak rapport | wat is de regel voor vis? | was ik er eerder? | annuleer\n"

const whole = "maak rapport: Bakkerij Jansen; 20 november; koeling op 9 graden; hoog; gesloten"

// The whole chat, as the inspector sees it. The program ends in the middle, twice, and is started
// on the same file again.
func TestChat(t *testing.T) {
	t.Parallel()
	db, seen := filepath.Join(t.TempDir(), "inspection.db"), &screen{}
	for _, lines := range [][]string{
		{"hallo", "maak rapport: Bakkerij Jansen", "wat is de regel voor vis?"},
		{"20 november; koeling op 9 graden", "hoog; gesloten", "is het al klaar"},
		{`edit {"report":{"bedrijf":"Jansen"},"send_email":true}`, "bedankt", "was ik er eerder?"},
	} {
		require.NoError(t, runInspection(t.Context(), []string{"-db", db},
			&typist{lines, seen}, seen))
		seen.WriteString("--\n")
	}
	want, err := os.ReadFile("testdata/chat.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), seen.String())
}

func TestUnknownProvider(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, runInspection(t.Context(), []string{"-provider", "nobody"},
		strings.NewReader(""), &bytes.Buffer{}), "nobody")
}

// The real clients against a server that holds them to the providers' rules: the tools of every
// kind are taken.
func TestProviders(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic"} {
		t.Run(provider, func(t *testing.T) {
			server := llmtest.NewServer(t,
				llmtest.Answer{Calls: []llm.ToolCall{{Name: "transfer_to_reporting",
					Args: json.RawMessage(`{"reason":"a report"}`)}}},
				llmtest.Answer{Calls: []llm.ToolCall{{Name: "extract_inspection_data",
					Args: json.RawMessage(`{"text":"maak rapport"}`)}}},
				llmtest.Answer{Calls: []llm.ToolCall{{Name: "request_clarification",
					Args: json.RawMessage(`{"questions":[{"question":"Welk bedrijf?"}]}`)}}},
				llmtest.Answer{Text: "Ik wacht op meer."}, llmtest.Answer{Text: "Graag gedaan."})
			t.Setenv("OPENAI_API_KEY", "sk-none")
			t.Setenv("OPENAI_BASE_URL", server.OpenAI())
			t.Setenv("ANTHROPIC_API_KEY", "sk-none")
			t.Setenv("ANTHROPIC_BASE_URL", server.Anthropic())
			seen := &screen{}
			args := []string{"-db", filepath.Join(t.TempDir(), "inspection.db"), "-provider",
				provider}
			require.NoError(t, runInspection(t.Context(), args,
				&typist{[]string{"maak rapport", "Jansen", "bedankt"}, seen}, seen))
			for _, r := range server.Received() {
				require.Empty(t, r.Fault)
			}
			assert.Equal(t, greeting+"> maak rapport\n  at general\n  at reporting\nreporting: "+
				"1. Welk bedrijf?\n> Jansen\nreporting: Ik wacht op meer.\n"+
				"> bedankt\n  at general\ngeneral: Graag gedaan.\n", seen.String())
		})
	}
}

// A model that cannot be asked is a failed step, and a person's to decide about. The thread is free
// after the cancel word.
func TestProviderFails(t *testing.T) {
	server := llmtest.NewServer(t, llmtest.Answer{Status: 401, Type: "authentication_error"},
		llmtest.Answer{Text: "Hallo."})
	t.Setenv("ANTHROPIC_API_KEY", "sk-none")
	t.Setenv("ANTHROPIC_BASE_URL", server.Anthropic())
	seen := &screen{}
	args := []string{"-db", filepath.Join(t.TempDir(), "inspection.db"), "-provider", "anthropic",
		"-thread", "other"}
	require.NoError(t, runInspection(t.Context(), args,
		&typist{[]string{"hallo", "annuleer", "hallo"}, seen},
		seen))
	assert.Equal(t, greeting+"> hallo\n  at general\nA step failed: ask anthropic: forbidden: "+
		"anthropic answered 401 Unauthorized, request req_1 "+
		"(authentication_error)\n  retry\n  edit\n  skip\n  reroute\n  abort\n> "+
		"annuleer\nGeannuleerd.\n> hallo\n  at general\ngeneral: Hallo.\n", seen.String())
}

func TestVerify(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		completeness, confidence float64
		asks                     bool
	}{
		{80, 0.7, false}, {79, 0.7, true}, {80, 0.69, true}, {79, 0.69, true}, {79.99, 1, true},
		{100, 0.6999, true}, {100, 1, false},
	} {
		assert.Equal(t, c.asks, verify(c.completeness, c.confidence), "%v %v", c.completeness,
			c.confidence)
		d := sit(t, nil)
		standin.Serve(d.servers["reporting"], "extract_inspection_data", "A draft.",
			func(standin.Words, string) standin.Draft {
				return standin.Draft{Report: map[string]string{}, Completeness: c.completeness,
					Confidence: c.confidence, Questions: []string{"Welk bedrijf?"}}
			})
		turn := d.says("maak rapport")
		if c.asks {
			assert.Equal(t, "1. Welk bedrijf?", d.open(turn, "request_clarification").Text)
			continue
		}
		d.open(turn, "approval")
	}
}

func TestSeveralRounds(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	first := d.open(d.says("maak rapport"), "request_clarification")
	assert.Equal(t, "1. Kunt u 'bedrijf' aanvullen?\n2. Kunt u 'datum' aanvullen?\n3. Kunt u "+
		"'bevinding' aanvullen?", first.Text)
	assert.Contains(t, string(first.Payload),
		`"questions":[{"question":"Kunt u 'bedrijf' aanvullen?"}`)
	second := d.open(d.says("Jansen"), "request_clarification")
	assert.NotEqual(t, first.ID, second.ID)
	// four of five, sure by 0.4
	third := d.open(d.says("misschien gisteren; ; misschien hoog; misschien dicht"),
		"request_clarification")
	assert.Equal(t, "1. Kunt u 'datum' aanvullen?\n2. Kunt u 'bevinding' aanvullen?\n3. Kunt u "+
		"'ernst' aanvullen?", third.Text)
	last := d.open(d.says("gisteren; ; hoog"), "approval") // four of five, sure by 0.8
	assert.Contains(t, string(last.Payload),
		`"args":{"report":{"bedrijf":"Jansen","datum":"gisteren","ernst":"hoog","maatregel":"misschien dicht"}`)
	assert.Equal(t, 1, d.calls("extract_inspection_data"))
	assert.Equal(t, 3, d.calls("submit_verification_answers"))
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decision, mail, reply string
		written               int
	}{
		"approve": {`{"decision":"approve"}`,
			`{"bedrijf":"Bakkerij Jansen","bevinding":"koeling op 9 graden","datum":"20 november","ernst":"hoog",` +
				`"maatregel":"gesloten"}`, " is klaar.", 1},
		"edit": {`{"decision":"edit","args":{"report":{"bedrijf":"Jansen"},"send_email":true}}`,
			`{"bedrijf":"Jansen"}`, " is klaar.", 1},
		"edit without mail": {`{"decision":"edit","args":{"report":{},"send_email":false}}`, "",
			" is klaar.", 1},
		"deny": {`{"decision":"deny","reason":"nog niet"}`, "",
			"Dat is niet gebeurd: denied: a person did not allow it: nog niet", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sit(t, nil)
			turn := d.says(whole)
			open := d.open(turn, "approval")
			assert.Zero(t, d.calls("generate_final_report"), "nothing before the decision")
			_, err := d.c.Deliver(t.Context(), chat.Message{Thread: "room", User: "inspector",
				Text: "en vis?"})
			var pending *thread.PendingError
			require.ErrorAs(t, err, &pending, "a new message does not end it")
			assert.Equal(t, []string{open.ID}, pending.Open)
			_, err = d.c.Deliver(t.Context(), chat.Message{
				Thread: "room", User: "mallory",
				Answers: []thread.Answer{{Interrupt: open.ID, Value: json.RawMessage(c.decision)}},
			})
			require.Equal(t, runtime.CodeForbidden, runtime.CodeOf(err), "it is the inspector's")

			d.replies(d.decides(turn, c.decision), c.reply)
			assert.Equal(t, c.written, d.calls("generate_final_report"))
			if c.mail == "" {
				assert.Empty(t, d.mailed())
			} else {
				require.Len(t, d.mailed(), 1)
				assert.True(t, strings.HasSuffix(d.mailed()[0], " "+c.mail), d.mailed()[0])
			}
			d.replies(d.says("bedankt"), "Vraag mij") // general has it again
		})
	}
}

// Arguments that the tool does not take are no decision: the question stays open.
func TestEditIsHeldToTheSchemaOfTheTool(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	turn := d.says(whole)
	a := thread.Answer{Interrupt: d.open(turn, "approval").ID,
		Value: json.RawMessage(`{"decision":"edit","args":{"report":"alles"}}`)}
	_, err := d.c.Deliver(t.Context(), chat.Message{Thread: "room", User: "inspector",
		Answers: []thread.Answer{a}})
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err))
	d.replies(d.decides(turn, `{"decision":"approve"}`), " is klaar.")
	assert.Len(t, d.mailed(), 1)
}

func TestTwoReports(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	for range 2 {
		d.replies(d.decides(d.says(whole), `{"decision":"approve"}`), " is klaar.")
	}
	mails := d.mailed()
	require.Len(t, mails, 2)
	assert.NotEqual(t, mails[0], mails[1], "each has an id of its own, made of the key of its call")
}

func TestDigression(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	open := d.open(d.says("maak rapport"), "request_clarification")
	turn := d.says("wat is de regel voor vis?")
	assert.Equal(t, []string{"Gekoelde vis wordt bewaard bij ten hoogste 4 graden (artikel 4)."},
		turn.Reply)
	assert.Equal(t, open.ID, d.open(turn, "request_clarification").ID)
	d.open(d.says("Jansen; gisteren; koeling stuk; hoog"), "approval")
}

func TestCancel(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"maak rapport", whole} { // at the question, and at the approval
		d := sit(t, nil)
		d.says(first)
		d.replies(d.says("annuleer"), "Geannuleerd.")
		d.replies(d.says("hallo"), "Vraag mij")
		assert.Zero(t, d.calls("generate_final_report"))
	}
}

func TestSkip(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"sla over", "skip", "geen vragen"} {
		d := sit(t, nil)
		d.says("maak rapport: Jansen")
		d.replies(d.decides(d.says(word), `{"decision":"approve"}`), " is klaar.")
		assert.Zero(t, d.calls("submit_verification_answers"))
		assert.Equal(t, 1, d.calls("generate_final_report"))
	}
}

// Removing the tool is one line of the spec, and one row of what is generated. Questions are
// replies then.
func TestWithoutClarification(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("routes.yaml")
	require.NoError(t, err)
	const line = "      - request_clarification\n"
	require.Equal(t, 1, strings.Count(string(src), line))
	edited := generator.Generate("routes.yaml", []byte(strings.Replace(string(src), line, "", 1)))
	require.Empty(t, edited.Findings)
	for name, text := range edited.Files {
		now, err := os.ReadFile(name)
		require.NoError(t, err)
		if name == "routes/routes_gen.go" {
			now = []byte(strings.Replace(string(now), "\t\t{Name: \"request_clarification\"},\n",
				"", 1))
		}
		assert.Equal(t, string(now), string(text), name)
	}

	d := sit(t, func(nodes []runtime.Node) {
		at := slices.IndexFunc(nodes, func(n runtime.Node) bool { return n.Key == "reporting" })
		nodes[at].Tools = nodes[at].Tools[1:]
	})
	d.replies(d.says("maak rapport: Jansen"),
		"Kunt u 'datum' aanvullen? Kunt u 'bevinding' aanvullen?")
	rows, err := d.c.Engine.History(t.Context(), "room", 0, 0)
	require.NoError(t, err)
	assert.False(t, slices.ContainsFunc(rows, func(e thread.Entry) bool {
		return e.Type == thread.EntryAsked
	}))
	d.replies(d.says("gisteren"), "Vraag mij") // and what follows is a turn like any other
}

// Each agent is offered the tools of its own node, and is told what was said before.
func TestToolsOfEachAgent(t *testing.T) {
	t.Parallel()
	d := sit(t, nil)
	d.replies(d.says("welke regel geldt voor vis?"), "artikel 4")
	d.replies(d.says("was er eerder iets?"), "Twee bezoeken")
	d.says("maak rapport")
	got := map[string][]string{}
	for _, r := range d.model.Asked() {
		var names []string
		for _, tool := range r.Tools {
			names = append(names, tool.Name)
		}
		got[strings.Fields(r.System)[3]] = names
	}
	assert.Equal(t, map[string][]string{
		"general":    {"transfer_to_regulation", "transfer_to_history", "transfer_to_reporting"},
		"regulation": {"search_regulations"},
		"history":    {"get_inspection_history"},
		"reporting": {"request_clarification", "extract_inspection_data", "generate_final_report",
			"submit_verification_answers"},
	}, got)
	asked := d.model.Asked()
	turns := asked[len(asked)-1].Turns()
	assert.Equal(t, "welke regel geldt voor vis?", turns[0].Text)
	assert.Equal(t, "Twee bezoeken: 12 maart akkoord, 3 juni een waarschuwing.", turns[3].Text)
}
