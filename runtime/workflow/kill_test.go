package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generated/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/internal/threadtest"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

// What a process that plays a scenario is told.
const (
	envScenario = "U15_SCENARIO"
	envFolder   = "U15_FOLDER"
	envKill     = "U15_KILL" // after so many commits; 0: never
)

// scenarios are played by processes that may die at any moment: what a node does follows from what
// is stored alone.
func scenarios() map[string]func(a *actor) runtime.Record {
	return map[string]func(a *actor) runtime.Record{"reroute": playReroute, "review": playReview,
		"fan-out": playFanOut}
}

// TestProcessKilledBetweenAnyTwoCommits kills the process itself, with SIGKILL, after its first
// commit, after its second, and so on.
func TestProcessKilledBetweenAnyTwoCommits(t *testing.T) {
	t.Parallel()
	for name := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := ending(t, name, t.TempDir(), 0)
			for n := 1; ; n++ {
				require.Less(t, n, 60, "it does not end")
				folder := t.TempDir()
				if !child(t, name, folder, n) {
					require.Greater(t, n, 3, "it was never killed")
					t.Logf("killed after each of %d commits", n-1)
					return
				}
				require.Equal(t, want, ending(t, name, folder, 0), "killed after commit %d", n)
			}
		})
	}
}

// ending plays a scenario to its end, in a process of its own, and returns how it ended.
func ending(t *testing.T, name, folder string, kill int) string {
	t.Helper()
	require.False(t, child(t, name, folder, kill))
	data, err := os.ReadFile(filepath.Join(folder, "end"))
	require.NoError(t, err)
	return string(data)
}

// child runs the scenario in a process and reports whether that was killed.
func child(t *testing.T, name, folder string, kill int) bool {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestKilledProcess$",
		"-test.timeout=10m")
	cmd.Env = append(os.Environ(), envScenario+"="+name, envFolder+"="+folder,
		envKill+"="+strconv.Itoa(kill))
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		status, ok := exit.Sys().(syscall.WaitStatus)
		require.True(t, ok)
		require.Equal(t, syscall.SIGKILL, status.Signal(), "%s", out)
		return true
	}
	require.NoError(t, err, "%s", out)
	return false
}

// TestKilledProcess is the process that dies.
func TestKilledProcess(t *testing.T) {
	name, folder := os.Getenv(envScenario), os.Getenv(envFolder)
	if name == "" {
		t.Skip("it is started by TestProcessKilledBetweenAnyTwoCommits")
	}
	kill, err := strconv.ParseInt(os.Getenv(envKill), 10, 64)
	require.NoError(t, err)
	disk, err := sqlite.Open(t.Context(), filepath.Join(folder, "threads.db"), sqlite.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, disk.Close()) })
	store := &mortal{CutStore: threadtest.CutStore{Store: disk}, after: kill, die: func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}}
	a := newActor(t, store, filepath.Join(folder, "outside"))
	end := a.play(scenarios()[name])
	require.NoError(t, os.WriteFile(filepath.Join(folder, "end"), []byte(end), 0o600))
}

// TestEngineAbandonedBetweenAnyTwoCommits is the same in one process: after every commit the engine
// loses its store, and another one goes on.
func TestEngineAbandonedBetweenAnyTwoCommits(t *testing.T) {
	t.Parallel()
	for name, scenario := range scenarios() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := filepath.Join(t.TempDir(), "outside")
			want := newActor(t, mem.Open(), outside).play(scenario)
			for n := int64(1); ; n++ {
				store, file := mem.Open(), outside+strconv.FormatInt(n, 10)
				cut := &mortal{CutStore: threadtest.CutStore{Store: store}, after: n}
				first := newActor(t, cut, file)
				end := first.play(scenario)
				// its store is gone; what its steps still do is over before another one goes on
				_ = first.e.Close(t.Context())
				if !cut.Cut.Load() {
					require.Greater(t, n, int64(3))
					require.Equal(t, want, end)
					return
				}
				require.Equal(t, want, newActor(t, store, file).play(scenario),
					"abandoned after commit %d", n)
			}
		})
	}
}

// mortal is a store whose process dies after some commits: die does it, or else nothing gets
// through after them.
type mortal struct {
	threadtest.CutStore

	after   int64
	die     func()
	commits atomic.Int64
}

// Commit commits, and dies when it was the last.
func (m *mortal) Commit(ctx context.Context, changes ...*thread.Change) error {
	err := m.CutStore.Commit(ctx, changes...)
	if m.die == nil && strings.HasPrefix(changes[0].Thread.ID, "shapes/") {
		return err // of an engine that opens: one that is abandoned there has begun nothing
	}
	if err == nil && m.commits.Add(1) == m.after {
		m.Cut.Store(true)
		if m.die != nil {
			m.die()
		}
		return threadtest.ErrCut
	}
	return err
}

// actor plays scenarios. The outside world is a file that effects append to.
type actor struct {
	*world
	outside string
	mu      sync.Mutex
	running chan string // frames whose node waits for an event from outside
	goOn    chan struct{}
}

func newActor(t *testing.T, store thread.Store, outside string) *actor {
	t.Helper()
	a := &actor{world: bareWorld(t), outside: outside, running: make(chan string),
		goOn: make(chan struct{})}
	a.store = store
	return a
}

// does adds an effect that must happen once to what a node does.
func (a *actor) does(node string,
	play func(ctx context.Context, call runtime.Call, request runtime.Record) string) {
	a.always[node] = func(ctx context.Context, call runtime.Call, request runtime.Record) (string,
		error) {
		_, err := thread.Once(ctx, "effect", func(_ context.Context, key string) (bool, error) {
			return true, a.append(key)
		})
		if err != nil {
			return "", err
		}
		return play(ctx, call, request), nil
	}
}

// modelCall marks what may be done again under the same key: a receiver that compares keys sees one
// effect.
const modelCall = "model:"

func (a *actor) append(key string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	f, err := os.OpenFile(a.outside, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(key + "\n")
	return errors.Join(err, f.Close())
}

func (a *actor) keys() []string {
	a.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	data, err := os.ReadFile(a.outside)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		require.NoError(a, err)
	}
	keys := slices.Sorted(strings.FieldsSeq(string(data)))
	return slices.CompactFunc(keys, func(a, b string) bool {
		return a == b && strings.HasPrefix(a, modelCall)
	})
}

// play brings a scenario to its end and returns how it ended, or where the store was lost.
func (a *actor) play(scenario func(a *actor) runtime.Record) string {
	a.Helper()
	request := scenario(a)
	a.open()
	stop := make(chan struct{})
	var outside sync.WaitGroup
	outside.Go(func() {
		for {
			select {
			case frame := <-a.running:
				_, _ = a.m.Reroute(a.Context(), a.e, "t",
					event("e1", frame, "ORCHESTRATOR", "DISCOVERY_ORCHESTRATOR"))
				a.goOn <- struct{}{}
			case <-stop:
				return
			}
		}
	})
	defer outside.Wait()
	defer close(stop)
	begin, err := workflow.Begin(request)
	require.NoError(a, err)
	begin.ID, begin.Request = "t", "start"
	if _, err = a.e.Start(a.Context(), begin); runtime.CodeOf(err) == runtime.CodeUnavailable {
		return err.Error()
	}
	require.NoError(a, err)
	for {
		th, err := a.e.Wait(a.Context(), "t")
		if runtime.CodeOf(err) == runtime.CodeUnavailable {
			return err.Error()
		}
		require.NoError(a, err)
		if th.Status() != thread.StatusWaiting {
			return a.end(th)
		}
		for _, i := range th.Open {
			answer := json.RawMessage(`"go on"`)
			if i.Kind == thread.KindSystemError { // a person looks whether it happened
				var doubt struct {
					Key string `json:"key"`
				}
				require.NoError(a, json.Unmarshal(i.Payload, &doubt))
				require.NotEmpty(a, doubt.Key, "%s", i.Text)
				answer = json.RawMessage(`"run"`)
				if slices.Contains(a.keys(), doubt.Key) {
					answer = json.RawMessage(`{"choice":"done","value":true}`)
				}
			}
			_, err := a.e.Answer(a.Context(), "t", thread.Answer{Interrupt: i.ID, Value: answer,
				Request: "to " + i.ID})
			// queued behind another
			if code := runtime.CodeOf(err); code != runtime.CodeUnavailable &&
				code != runtime.CodeConflict {
				require.NoError(a, err)
			}
		}
	}
}

// end is what must be the same whatever happened on the way.
func (a *actor) end(th *thread.Thread) string {
	a.Helper()
	var steps []string
	for _, row := range a.log("t") {
		if row.Type == thread.EntryStepped || row.Type == thread.EntryCalling ||
			row.Type == thread.EntryReroute {
			steps = append(steps, row.Frame+" "+row.PC+row.State)
		}
	}
	slices.SortStableFunc(steps, func(a, b string) int { // frames are independent of each other
		return strings.Compare(strings.Fields(a)[0], strings.Fields(b)[0])
	})
	return fmt.Sprintf("%s %s\n%s\n%s", th.Status(), th.Result, strings.Join(steps, "\n"),
		strings.Join(a.keys(), "\n"))
}

func playReroute(a *actor) runtime.Record {
	a.does("orchestrator", func(ctx context.Context, call runtime.Call, _ runtime.Record) string {
		switch {
		case call.Visit == 1:
			select {
			case a.running <- call.Frame:
				<-a.goOn
			case <-ctx.Done():
			}
			return a.routing("orchestrator", "interruptRequest", "type", "HUMAN_REVIEW")
		case call.Answer == nil:
			return a.routing("orchestrator", "interruptRequest", "type", "PAUSE")
		default:
			return a.routing("orchestrator", "collectorRequest")
		}
	})
	a.does("discoveryOrchestrator", func(context.Context, runtime.Call, runtime.Record) string {
		return a.routing("discoveryOrchestrator", "collectorRequest")
	})
	a.does("discoveryCollector", func(context.Context, runtime.Call, runtime.Record) string {
		return a.routing("discoveryCollector", "orchestratorRequest")
	})
	a.finishes()
	return &routes.OrchestratorRequest{Goal: "g", Phase: "p"}
}

// finishes makes the last collector end the workflow.
func (a *actor) finishes() {
	a.does("orchestratorCollector", func(context.Context, runtime.Call, runtime.Record) string {
		return a.routing("orchestratorCollector", "collectorResult", "collectorDecision",
			map[string]string{"decisionType": "STOP", "rationale": "", "requestedPhase": ""})
	})
}

func playReview(a *actor) runtime.Record {
	a.model.while = func(q question) error { return a.append(modelCall + q.Key) }
	a.always["orchestrator"] = func(ctx context.Context, call runtime.Call,
		request runtime.Record) (string, error) {
		if call.Answer == nil {
			return chooses[routes.OrchestratorRouting](ctx, call, request)
		}
		_, err := thread.Once(ctx, "effect", func(_ context.Context, key string) (bool, error) {
			return true, a.append(key)
		})
		return a.routing("orchestrator", "collectorRequest", "goal", string(call.Answer)), err
	}
	a.finishes()
	return &routes.OrchestratorRequest{Goal: "g", Phase: "p"}
}

func playFanOut(a *actor) runtime.Record {
	a.does("discoveryAgent",
		func(_ context.Context, call runtime.Call, request runtime.Record) string {
			agent, ok := request.(*routes.DiscoveryAgentRequest)
			if ok && agent.SubdomainFocus == "two" && call.Answer == nil {
				return a.routing("discoveryAgent", "interruptRequest", "type", "HUMAN_REVIEW")
			}
			return a.routing("discoveryAgent", "agentResult", "output", agent.SubdomainFocus)
		})
	a.does("discoveryDispatch",
		func(_ context.Context, call runtime.Call, _ runtime.Record) string {
			return a.routing("discoveryDispatch", "collectorRequest", "discoveryResults",
				string(call.Results))
		})
	a.does("discoveryCollector",
		func(_ context.Context, _ runtime.Call, request runtime.Record) string {
			collected, _ := request.(*routes.DiscoveryCollectorRequest)
			return a.routing("discoveryCollector", "reviewRequest", "content",
				collected.DiscoveryResults)
		})
	a.does("review", func(_ context.Context, _ runtime.Call, request runtime.Record) string {
		reviewed, _ := request.(*routes.ReviewRequest)
		return a.routing("review", "reviewResult", "output", reviewed.Content)
	})
	request := &routes.DiscoveryAgentRequests{Goal: "g"}
	for _, focus := range []string{"one", "two", "three"} {
		request.Requests = append(request.Requests,
			routes.DiscoveryAgentRequest{Goal: "g", SubdomainFocus: focus})
	}
	return request
}
