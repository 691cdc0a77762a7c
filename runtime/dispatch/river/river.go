package river

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	queue "github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/store/postgres"
	"github.com/routegen/routegen/runtime/thread"
)

// DefaultSchema is the schema of River's tables where a Config names none.
const DefaultSchema = "routegen_river"

// Queue is the queue of all jobs.
const Queue = "routegen"

// Config is how a process takes part. Its zero value is that of a process that runs no steps.
type Config struct {
	// Workers is how many threads this process runs at the same time; 0 means none: it only
	// answers, and makes jobs for the others
	Workers int
	// of River's tables, which no other program's jobs may be in: a leader of River discards stuck
	// jobs that it does not know. "" means [DefaultSchema]
	Schema string
	// for River's own connections, some five while it works; nil means those of the store. It must
	// lead to the same database. River listens on a connection of its own, so a pooler in
	// transaction mode needs a direct pool here, or PollOnly
	Pool *pgxpool.Pool
	// River looks for jobs every second, and is not woken by new ones
	PollOnly bool
	// the least time between two looks for jobs of this process; default 20 ms
	FetchCooldown time.Duration
	Log           *slog.Logger // default: none
}

const (
	jobLimit  = time.Hour       // then the job ends, and the engine goes on with the thread
	retention = 5 * time.Minute // of jobs that are done
)

// Dispatcher lets an engine take part in running the threads of a store. [Open] makes one. Any
// number of goroutines may use it.
type Dispatcher struct {
	store  *postgres.Store
	engine *thread.Engine
	client *queue.Client[pgx.Tx]
	cfg    Config
	rings  chan struct{} // jobs were inserted
	stop   context.CancelFunc
	loops  sync.WaitGroup
	once   sync.Once
	err    error // of Stop
}

// Open makes each commit of the store insert the jobs for its threads, and, with Config.Workers,
// begins to run threads in the engine. The engine must be over the store and have
// [thread.Config.AnswerOnly]. Threads that were left to run before are found within a second where
// a process has workers.
//
// It returns CodeInvalid for an engine without AnswerOnly and a Config that River refuses,
// CodeIncompatible if River's tables are missing or older, which [Migrate] changes, and
// CodeUnavailable if the database cannot be reached.
func Open(ctx context.Context, store *postgres.Store, engine *thread.Engine, cfg Config) (
	*Dispatcher, error) {
	const op = "open dispatch"
	if !engine.AnswerOnly() {
		return nil, runtime.Errorf(runtime.CodeInvalid, op,
			"the engine runs steps by itself: set thread.Config.AnswerOnly")
	}
	cfg.Schema = cmp.Or(cfg.Schema, DefaultSchema)
	cfg.FetchCooldown = cmp.Or(cfg.FetchCooldown, 20*time.Millisecond)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Pool == nil {
		cfg.Pool = store.Pool()
	}
	d := &Dispatcher{store: store, engine: engine, cfg: cfg, rings: make(chan struct{}, 1)}
	if err := checkTables(ctx, cfg.Pool, cfg.Schema); err != nil {
		return nil, err
	}
	var err error
	if d.client, err = d.newClient(); err != nil {
		return nil, runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	loops, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	store.Dispatch(insertJobs(cfg.Schema), freeJobs(cfg.Schema), d.signalInserted)
	if cfg.Workers > 0 {
		if err = d.client.Start(context.WithoutCancel(ctx)); err != nil {
			stop()
			return nil, runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
		}
		d.loops.Go(func() { d.sweepUntil(loops) })
	}
	d.loops.Go(func() { d.ringUntil(loops) })
	return d, nil
}

func (d *Dispatcher) newClient() (*queue.Client[pgx.Tx], error) {
	cfg := &queue.Config{
		Schema: d.cfg.Schema, Logger: d.cfg.Log, PollOnly: d.cfg.PollOnly,
		FetchCooldown:               d.cfg.FetchCooldown,
		FetchPollInterval:           max(time.Second, d.cfg.FetchCooldown),
		JobTimeout:                  jobLimit,
		RescueStuckJobsAfter:        2 * jobLimit,
		CompletedJobRetentionPeriod: retention,
	}
	if d.cfg.Workers != 0 {
		cfg.Queues = map[string]queue.QueueConfig{Queue: {MaxWorkers: d.cfg.Workers}}
		cfg.Workers = queue.NewWorkers()
		if err := queue.AddWorkerSafely(cfg.Workers, &worker{engine: d.engine,
			log: d.cfg.Log}); err != nil {
			return nil, err
		}
	}
	return queue.NewClient(riverpgxv5.New(d.cfg.Pool), cfg)
}

// River returns River's client, for its page and to look at jobs. Jobs may be cancelled, deleted
// and retried: the thread is run all the same.
func (d *Dispatcher) River() *queue.Client[pgx.Tx] { return d.client }

// Stop takes no more threads, closes the engine, and returns when nothing runs any longer. Steps
// that have not ended when ctx ends are cancelled, and their threads given back: another process
// goes on with them at once. Give it a few seconds less than the process has until it is killed.
// It returns an error if River's client does not stop.
func (d *Dispatcher) Stop(ctx context.Context) error {
	d.once.Do(func() { d.err = d.stopAll(ctx) })
	return d.err
}

func (d *Dispatcher) stopAll(ctx context.Context) error {
	after, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stopped := make(chan error, 1)
	if d.cfg.Workers == 0 {
		stopped <- nil
	} else {
		go func() { stopped <- d.client.Stop(after) }() // at first it only stops looking for jobs
	}
	err := d.engine.Close(ctx) // all jobs end with it
	limit := time.AfterFunc(5*time.Second, cancel)
	defer limit.Stop()
	err = errors.Join(err, <-stopped)
	d.stop()
	d.loops.Wait()
	d.ringPending(context.WithoutCancel(ctx))
	if err != nil {
		return runtime.Errorf(runtime.CodeUnavailable, "stop dispatch", "%w", err)
	}
	return nil
}

// Migrate makes River's tables, or brings them to the version of this program. Any number of
// processes may call it at once. schema is [DefaultSchema] if it is empty. The role of url must be
// allowed to create in the database, or in the schema where it exists.
func Migrate(ctx context.Context, url, schema string) error {
	const op = "migrate River"
	schema = cmp.Or(schema, DefaultSchema)
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	defer pool.Close()
	// River runs each version in a transaction of its own, so the lock has another connection
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`,
			"routegen migrate "+schema); err != nil {
			return err
		}
		var found bool
		if err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)`,
			schema).Scan(&found); err != nil {
			return err
		}
		if !found {
			if _, err := pool.Exec(ctx, "CREATE SCHEMA "+quote(schema)); err != nil {
				return err
			}
		}
		m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema})
		if err == nil {
			_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
		}
		return err
	})
	if err != nil {
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	}
	return nil
}

// checkTables returns CodeIncompatible unless River's tables have the version of this program.
func checkTables(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	const op = "check River's tables"
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema})
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	found, err := m.Validate(ctx, nil)
	switch {
	case err != nil:
		return runtime.Errorf(runtime.CodeUnavailable, op, "%w", err)
	case !found.OK:
		return runtime.Errorf(runtime.CodeIncompatible, op,
			"the tables in schema %s are not those of this program: call river.Migrate: %s", schema,
			fmt.Sprint(found.Messages))
	}
	return nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
