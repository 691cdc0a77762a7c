package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

// TestMain lets a test run the program as a process of its own, which it can kill.
func TestMain(m *testing.M) {
	if folder := os.Getenv("MULTIAGENT_FOLDER"); folder != "" {
		last, _ := strconv.Atoi(os.Getenv("MULTIAGENT_LAST"))
		if err := play(context.Background(), os.Stdin, os.Stdout, folder, last); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// play runs the program on the work in a folder, and counts there what its model is asked. The
// process is killed when the model is asked for the last time; 0 is never.
func play(ctx context.Context, in io.Reader, out io.Writer, folder string, last int) error {
	model, err := scripted.Model("", script)
	if err != nil {
		return err
	}
	calls, err := os.OpenFile(filepath.Join(folder, "calls"), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o600)
	if err != nil {
		return err
	}
	defer calls.Close()
	return run(ctx, in, out, filepath.Join(folder, "work.db"),
		"Add rate limiting to the public API", &counted{next: model, calls: calls, last: last})
}

// counted is a model that writes down under which key it is asked.
type counted struct {
	next  llm.Model
	mu    sync.Mutex
	calls *os.File
	count int
	last  int
}

func (c *counted) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := fmt.Fprintln(c.calls, r.Key); err != nil {
		return llm.Response{}, err
	}
	if c.count++; c.count == c.last {
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return llm.Response{}, err
		}
		_ = self.Kill()
		select {} // there is no way on from here
	}
	return c.next.Generate(ctx, r)
}

// keys counts the calls of a folder, by their key.
func keys(t *testing.T, folder string) map[string]int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "calls"))
	require.NoError(t, err)
	out := map[string]int{}
	for line := range strings.Lines(string(data)) {
		out[strings.TrimSpace(line)]++
	}
	return out
}

// effects counts the effects that the log of the work has as done.
func effects(t *testing.T, folder string) int {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(folder, "work.db"), sqlite.Config{})
	require.NoError(t, err)
	defer store.Close()
	log, err := store.Log(t.Context(), thread.LogQuery{Thread: "work", Limit: 100_000})
	require.NoError(t, err)
	n := 0
	for i := range log {
		if log[i].Type == thread.EntryEffect && log[i].State == thread.EffectDone {
			n++
		}
	}
	return n
}

// process is the program as a process of its own, with the person who answers it.
type process struct {
	*exec.Cmd
	in    io.WriteCloser
	out   bytes.Buffer
	asked map[string]int
	until string // the question at which the person kills it
}

// start runs the program and answers it until it ends, and returns what it has printed. Its error
// is that of the process.
func (p *process) start(t *testing.T, folder string, last int) (string, error) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	p.Cmd = exec.CommandContext(t.Context(), self)
	p.Env = append(os.Environ(), "MULTIAGENT_FOLDER="+folder, "MULTIAGENT_LAST="+strconv.Itoa(last))
	p.Stderr, p.asked = os.Stderr, map[string]int{}
	p.in, err = p.StdinPipe()
	require.NoError(t, err)
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&p.out, lines.Text())
		p.hear(t, lines.Text())
	}
	return p.out.String(), p.Wait()
}

func (p *process) hear(t *testing.T, line string) {
	t.Helper()
	question, ok := strings.CutPrefix(line, "? ")
	if !ok {
		return
	}
	if question == p.until {
		assert.NoError(t, p.Process.Kill())
		return
	}
	says := answers[question]
	p.asked[question]++
	// a process that is dead does not hear it
	fmt.Fprintln(p.in, says[min(p.asked[question], len(says))-1])
}

const (
	planning = "Gateway and accounts are explored. May planning begin?"
	dropping = "RATE-2 has to drop the table hits_old. May it?"
	shipping = "Everything is built and merged. Ship it?"
)

// answers are those of answers.txt, by their question.
var answers = map[string][]string{
	planning: {"/reroute DISCOVERY_ORCHESTRATOR the counter store was left out",
		"look at internal/counters before anybody plans"},
	dropping: {"yes, nobody reads that table"},
	shipping: {"ship it"},
}

// journeyOf is the table at the end of what the program prints.
func journeyOf(t *testing.T, printed string) string {
	t.Helper()
	at := strings.Index(printed, "  #  node")
	require.GreaterOrEqual(t, at, 0, printed)
	return printed[at:]
}

func TestScriptedAnswers(t *testing.T) {
	t.Parallel()
	lines, err := os.Open("answers.txt")
	require.NoError(t, err)
	defer lines.Close()
	var out strings.Builder
	require.NoError(t, play(t.Context(), lines, &out, t.TempDir(), 0))
	want, err := os.ReadFile("testdata/journey.txt")
	require.NoError(t, err)
	assert.Equal(t, string(want), journeyOf(t, out.String()))
}

// TestContextManagerKnowsWhoWaits asks for the request in each of the returnTo fields, by the name
// it has in the spec.
func TestContextManagerKnowsWhoWaits(t *testing.T) {
	t.Parallel()
	program := agents.NewProgram()
	known := map[string]bool{}
	for _, f := range new(routes.ContextManagerRequest).Shape().Fields {
		known[f.Name] = true
	}
	for _, r := range program.Tables.Requests {
		if name := "returnTo" + strings.TrimSuffix(r.Name,
			"Request"); r.Name != "ContextManagerRequest" &&
			r.Name != "ContextManagerRoutingRequest" {
			assert.Contains(t, known, name)
		}
	}
	model, err := scripted.Model("", script)
	require.NoError(t, err)
	lines, err := os.Open("answers.txt")
	require.NoError(t, err)
	defer lines.Close()
	told := &told{next: model}
	require.NoError(t, run(t.Context(), lines, io.Discard, "", "goal", told))
	assert.Contains(t, told.contextManager, "`returnToPlanningOrchestrator`")
	assert.Contains(t, told.contextManager, "Limit in gateway.Serve, by client, with counters.Add")
}

// told is a model that keeps what the context manager was told.
type told struct {
	next           llm.Model
	contextManager string
}

func (m *told) Generate(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.SchemaName == "ContextManagerResultRouting" {
		m.contextManager = r.Prompt
	}
	return m.next.Generate(ctx, r)
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	want, err := os.ReadFile("testdata/journey.txt")
	require.NoError(t, err)
	var out strings.Builder
	for _, line := range []string{"", "/reroute NOWHERE why\n", answers[planning][0] + "\n",
		answers[planning][1] + "\n"} {
		out.Reset()
		require.NoError(t, play(t.Context(), strings.NewReader(line), &out, folder, 0))
		assert.NotContains(t, journeyOf(t, out.String()), "done")
	}
	out.Reset()
	require.NoError(t, play(t.Context(),
		strings.NewReader(answers[dropping][0]+"\n"+answers[shipping][0]), &out, folder, 0))
	assert.Equal(t, string(want), journeyOf(t, out.String()),
		"asked four times, the journey is the same")
	for key, n := range keys(t, folder) {
		assert.Equal(t, 1, n, key)
	}
}

// TestKilledAndResumed kills the process while the model answers for the n-th time, for every n,
// and while a person is asked. The next process makes the journey that one process makes, with the
// same effects under the same keys, each of them once in the log.
func TestKilledAndResumed(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile("testdata/journey.txt")
	require.NoError(t, err)
	whole := t.TempDir()
	printed, err := new(process).start(t, whole, 0)
	require.NoError(t, err)
	require.Equal(t, string(want), journeyOf(t, printed))
	once := keys(t, whole)
	require.Greater(t, len(once), 20)
	require.Equal(t, len(once), effects(t, whole),
		"a call of the model is an effect, and there is no other")

	resumed := func(t *testing.T, folder string) map[string]int {
		t.Helper()
		printed, err := new(process).start(t, folder, 0)
		require.NoError(t, err)
		assert.Equal(t, string(want), journeyOf(t, printed))
		assert.Equal(t, len(once), effects(t, folder))
		again := keys(t, folder)
		assert.Equal(t, slices.Sorted(maps.Keys(once)), slices.Sorted(maps.Keys(again)))
		return again
	}
	for n := range len(once) {
		if testing.Short() && n%5 != 0 {
			continue
		}
		t.Run(fmt.Sprintf("call %d", n+1), func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			_, err := new(process).start(t, folder, n+1)
			require.Error(t, err, "it was killed")
			again := resumed(t, folder)
			cut := 0
			for _, n := range again {
				cut += n - 1
			}
			assert.Positive(t, cut, "what was not committed yet is done again, under the same key")
		})
	}
	for _, question := range []string{planning, dropping, shipping} {
		t.Run(question, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			_, err := (&process{until: question}).start(t, folder, 0)
			require.Error(t, err, "it was killed")
			assert.Equal(t, once, resumed(t, folder), "nothing is done twice")
		})
	}
}
