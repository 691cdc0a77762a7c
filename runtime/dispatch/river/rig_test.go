//go:build unix

package river

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/store/postgrestest"
	"github.com/routegen/routegen/runtime/thread"
)

// workerEnv makes this test binary a process with workers, which may be killed. Its value is a
// processConfig.
const workerEnv = "ROUTEGEN_RIVER_WORKER"

func TestMain(m *testing.M) {
	if text := os.Getenv(workerEnv); text != "" {
		os.Exit(runWorker(text))
	}
	os.Exit(postgrestest.Run(m))
}

// processConfig is what a process of a test has.
type processConfig struct {
	URL       string `json:"url"`
	Schema    string `json:"schema"`
	Name      string `json:"name"`
	Workers   int    `json:"workers"`
	NoMachine bool   `json:"noMachine"` // an older program
}

// input is what the machine of the tests does: an effect, questions, and an effect that must not
// happen twice.
type input struct {
	Questions int
	Limit     time.Duration // of questions, which have an answer then
	// where it waits until the ledger has a row "open", or one for its process: atBegin and so on
	Holds string
	Nap   time.Duration // before its last effect, as for a model
}

const (
	atBegin = "before its first effect"
	inDo    = "in Do"
	inOnce  = "in Once"
	atEnd   = "before its last effect"
	dies    = "it ends its process"
)

// process is a store, an engine and a dispatcher, as each process of a program has them.
type process struct {
	store  *postgres.Store
	engine *thread.Engine
	disp   *Dispatcher
	ledger *ledger
}

// ledger is the world outside: what effects did, by whose hand.
type ledger struct {
	pool *pgxpool.Pool
	by   string
}

func (l *ledger) write(ctx context.Context, effect, key string) error {
	_, err := l.pool.Exec(ctx, `INSERT INTO ledger(effect, key, process) VALUES ($1, $2, $3)`,
		effect, key, l.by)
	return err
}

// hold writes that the step has come to a place, and waits there if it is told to. Whatever its
// context says, it goes on with what it was about to do.
func (l *ledger) hold(ctx context.Context, in *input, place string) error {
	ctx = context.WithoutCancel(ctx) // a stopped engine ends no step that is held
	if in.Holds != place {
		return nil
	}
	if err := l.write(ctx, "arrived", ""); err != nil {
		return err
	}
	for open := false; !open; pause(20 * time.Millisecond) {
		if err := l.pool.QueryRow(ctx, `SELECT EXISTS (SELECT FROM ledger
			WHERE effect IN ('open', 'open ' || $1))`, l.by).Scan(&open); err != nil {
			return err
		}
	}
	return nil
}

// effect returns an effect that writes its key, and may be held after that.
func (l *ledger) effect(name string, in *input, place string) func(context.Context, string) (
	string, error) {
	return func(ctx context.Context, key string) (string, error) {
		if err := l.write(ctx, name, key); err != nil {
			return "", err
		}
		return key, l.hold(ctx, in, place)
	}
}

func (l *ledger) machine() thread.Machine {
	return thread.Func("work", func(ctx context.Context, in input) (string, error) {
		if in.Holds == dies {
			_ = l.write(ctx, "died", "")
			os.Exit(9)
		}
		if err := l.hold(ctx, &in, atBegin); err != nil {
			return "", err
		}
		if _, err := thread.Do(ctx, "first", l.effect("first", &in, inDo)); err != nil {
			return "", err
		}
		for n := range in.Questions {
			q := thread.Question{}
			if in.Limit > 0 {
				q.Deadline = &runtime.Deadline{After: in.Limit, Then: "default", Answer: "1"}
			}
			if _, err := thread.Ask[int](ctx, fmt.Sprintf("q%d", n), q); err != nil {
				return "", err
			}
		}
		if err := l.hold(ctx, &in, atEnd); err != nil {
			return "", err
		}
		select {
		case <-time.After(in.Nap):
		case <-ctx.Done():
			return "", ctx.Err()
		}
		_, err := thread.Once(ctx, "last", l.effect("last", &in, inOnce))
		return "done", err
	})
}

// openProcess opens what a process has. wrap may put something between engine and store.
func openProcess(ctx context.Context, cfg processConfig,
	wrap func(*postgres.Store) thread.Store) (*process, error) {
	store, err := postgres.Open(ctx, cfg.URL, postgres.Config{Schema: cfg.Schema})
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, cfg.URL)
	if err != nil {
		return nil, err
	}
	p := &process{store: store, ledger: &ledger{pool: pool, by: cfg.Name}}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	var machines []thread.Machine
	if !cfg.NoMachine {
		machines = append(machines, p.ledger.machine())
	}
	p.engine, err = thread.Open(ctx, wrap(store), thread.Config{Clock: store, Owner: cfg.Name,
		AnswerOnly: true, Lease: 2 * time.Second, Poll: 200 * time.Millisecond, HoldEarly: true,
		Log: log}, machines...)
	if err == nil {
		p.disp, err = Open(ctx, store, p.engine, Config{Workers: cfg.Workers, Schema: cfg.Schema,
			Log: log})
	}
	return p, err
}

func (p *process) close(ctx context.Context) error {
	err := p.disp.Stop(ctx)
	p.ledger.pool.Close()
	return errors.Join(err, p.store.Close())
}

// pause waits for processes, servers and connections: nothing signals that they do no more.
func pause(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // synctest sees no process

// runWorker is the main function of a process with workers.
func runWorker(text string) int {
	var cfg processConfig
	if err := json.Unmarshal([]byte(text), &cfg); err != nil {
		panic(err)
	}
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	p, err := openProcess(context.Background(), cfg, asIs)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_, _ = os.Stdout.WriteString("ready\n")
	go func() { // it does not outlive the test
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(3)
	}()
	<-stop.Done()
	ctx, end := context.WithTimeout(context.Background(), 2*time.Second)
	defer end()
	if err = p.close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func asIs(s *postgres.Store) thread.Store { return s }

// rig is a database and the processes on it.
type rig struct {
	testing.TB
	ctx   context.Context //nolint:containedctx // of the test
	db    *postgrestest.Database
	names atomic.Int64
	api   *process
}

// newRig makes a database, and a process that answers and runs no step.
func newRig(tb testing.TB) *rig {
	tb.Helper()
	r := &rig{TB: tb, ctx: tb.Context(), db: postgrestest.New(tb)}
	require.NoError(tb, postgres.Migrate(r.ctx, r.db.URL, r.db.Schema))
	require.NoError(tb, Migrate(r.ctx, r.db.URL, r.db.Schema))
	r.db.Exec(tb, fmt.Sprintf(`ALTER ROLE %s SET search_path = %[1]s; SET ROLE %[1]s;
		CREATE TABLE %[1]s.ledger(n bigserial, effect text, key text, process text,
			at timestamptz DEFAULT clock_timestamp())`, r.db.Schema))
	r.api = r.process("api", 0)
	return r
}

func (r *rig) config(name string, workers int) processConfig {
	return processConfig{URL: r.db.URL, Schema: r.db.Schema, Workers: workers,
		Name: fmt.Sprintf("%s%d", name, r.names.Add(1))}
}

// process opens a process in this one.
func (r *rig) process(name string, workers int) *process {
	r.Helper()
	return r.open(r.config(name, workers), asIs)
}

func (r *rig) open(cfg processConfig, wrap func(*postgres.Store) thread.Store) *process {
	r.Helper()
	p, err := openProcess(r.ctx, cfg, wrap)
	require.NoError(r, err)
	r.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		assert.NoError(r, p.close(ctx))
	})
	return p
}

// child is a process of its own.
type child struct {
	cmd   *exec.Cmd
	name  string
	in    io.Closer
	ended chan error
}

// spawn starts a process with workers.
func (r *rig) spawn(workers int) *child {
	r.Helper()
	cfg := r.config("worker", workers)
	text, err := json.Marshal(cfg)
	require.NoError(r, err)
	self, err := os.Executable()
	require.NoError(r, err)
	c := &child{cmd: exec.CommandContext(context.Background(), self), name: cfg.Name,
		ended: make(chan error, 1)}
	c.cmd.Env = append(os.Environ(), workerEnv+"="+string(text))
	c.cmd.Stderr = os.Stderr
	c.in, err = c.cmd.StdinPipe()
	require.NoError(r, err)
	out, err := c.cmd.StdoutPipe()
	require.NoError(r, err)
	require.NoError(r, c.cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(r, err)
	require.Equal(r, "ready\n", line)
	go func() { c.ended <- c.cmd.Wait() }()
	r.Cleanup(func() { c.signal(syscall.SIGKILL) })
	return c
}

func (c *child) signal(s syscall.Signal) { _ = c.cmd.Process.Signal(s) }

// kill kills the process and returns when it is gone.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.ended
}

func (r *rig) start(in input) string {
	r.Helper()
	t, err := r.api.engine.Start(r.ctx, thread.Begin{Machine: "work", Input: in, User: "ann"})
	require.NoError(r, err)
	return t.ID
}

func (r *rig) load(id string) *thread.Thread {
	r.Helper()
	t, err := r.api.store.Load(r.ctx, id)
	require.NoError(r, err)
	return t
}

// until waits for something that has to come.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	require.Eventually(r, is, 60*time.Second, 20*time.Millisecond, what)
}

func (r *rig) done(ids ...string) {
	r.Helper()
	for _, id := range ids {
		r.until("thread "+id+" ends", func() bool { return r.load(id).Over != "" })
		require.Equal(r, thread.StatusDone, r.load(id).Over)
	}
}

// count returns what a query counts.
func (r *rig) count(query string, args ...any) (n int) {
	r.Helper()
	require.NoError(r, r.api.ledger.pool.QueryRow(r.ctx, query, args...).Scan(&n))
	return n
}

// effects returns how often an effect happened.
func (r *rig) effects(name string) int {
	r.Helper()
	return r.count(`SELECT count(*) FROM ledger WHERE effect = $1`, name)
}

// arrived waits until so many steps have come to where they are held.
func (r *rig) arrived(n int) {
	r.Helper()
	r.until("a step is held", func() bool { return r.effects("arrived") >= n })
}

// letGo lets the steps that are held go on; of one process, or of all.
func (r *rig) letGo(process string) {
	r.Helper()
	require.NoError(r, r.api.ledger.write(r.ctx, strings.TrimSpace("open "+process), ""))
}

func (r *rig) exec(query string, args ...any) {
	r.Helper()
	_, err := r.api.ledger.pool.Exec(r.ctx, query, args...)
	require.NoError(r, err)
}

// answer answers a question by its name, and waits until it is asked.
func (r *rig) answer(id, question, value string) {
	r.Helper()
	r.until(question+" is asked", func() bool {
		_, err := r.api.engine.Answer(r.ctx, id, thread.Answer{Question: question,
			Value: json.RawMessage(value), By: "bob"})
		if code := runtime.CodeOf(err); code != runtime.CodeNotFound {
			require.NoError(r, err)
		}
		return err == nil
	})
}
