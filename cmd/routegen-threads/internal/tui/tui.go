// Package tui shows one thread in a terminal. A person can pause the thread, change its plan and
// answer its questions. The package is a client of runtime/web: all its data are rows of the outbox
// and the record of the thread.
//
// # State and jobs
//
// One state takes in events (keys, rows, results of calls) and returns jobs. It calls nothing, so
// it is tested without a terminal and without a server. Commands of bubbletea run the jobs, and
// turn the results into events.
//
// # Order
//
// Rows arrive in the order of the thread, each once: the client of the stream reconnects after the
// last row, with growing delays. The record is loaded after rows, and every second while something
// runs, one load at a time. The record says which questions are open, a row how a question ended.
//
// # A pause
//
//	Esc -> escape, acknowledged as requested -> the thread pauses -> the form with the plan
//	                     Esc: taken back                             Enter: a change, or none
//	                                                                 Esc: go on unchanged
//
// Leaving the program answers nothing: a paused thread stays paused.
package tui

import (
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

// port is what this package needs of a server.
type port interface {
	Thread(ctx context.Context, id string) (*web.Thread, error)
	Stream(ctx context.Context, thread, after string) iter.Seq2[web.Row, error]
	Escape(ctx context.Context, thread, mode, by, reason string) (string, error)
	Answer(ctx context.Context, a thread.Answer) (*web.Interrupt, error)
	Reroute(ctx context.Context, thread string, event *workflow.Event) (string, error)
	History(ctx context.Context, thread, after string, limit int) ([]web.Row, string, error)
	Program(ctx context.Context, machine string) (*web.Graph, error)
}

var _ port = (*client.Client)(nil)

// Config says which thread to watch. All fields but By are required.
type Config struct {
	Client  client.Client // its HTTP field is not used
	Thread  string
	By      string   // the name to pause and answer in; "" is that of the token
	In, Out *os.File // a terminal
	Environ []string // describes the terminal; NO_COLOR in it is ignored
	Color   bool
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }

// Watch shows the thread until the person leaves or ctx ends, neither of which is an error. It
// returns an error with the server's code if the server refuses to show the thread; a later refusal
// is shown, and returned when the person leaves. paused reports whether the thread is paused or
// about to be. In and Out belong to Watch while it runs.
func Watch(ctx context.Context, cfg Config) (paused bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	calls := cfg.Client
	calls.HTTP = nil
	first, err := calls.Thread(ctx, cfg.Thread)
	if err != nil {
		return false, err
	}
	m := &model{ctx: ctx, port: &calls, by: cfg.By, state: newState(cfg.Thread, rand.Text)}
	// without an answer the server refuses calls that are not allowed
	if rights, err := calls.Rights(ctx); err == nil {
		m.state.rights = rights.Actions
		m.state.once = rights.Once
		m.state.operator = rights.Thread == ""
		m.state.by, m.state.groups = rights.By, rights.Groups
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(cfg.In),
		tea.WithOutput(cfg.Out), tea.WithEnvironment(cfg.environ()))
	rows := cfg.Client
	rows.HTTP = newStreamClient(func(e connectionChanged) { program.Send(e) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		forwardRows(ctx, &rows, newNameResolver(&calls, cfg.Thread), first, program.Send)
	}()
	_, err = program.Run()
	stop()
	<-ended
	if errors.Is(err, tea.ErrProgramPanic) || err != nil && !errors.Is(err, tea.ErrInterrupted) &&
		!errors.Is(err, context.Canceled) {
		return false, err
	}
	return m.state.pauseQuestion() != nil || m.state.pause != pauseNone, m.state.end
}

// environ returns the environment for bubbletea. Color has already been decided.
func (c *Config) environ() []string {
	out := slices.DeleteFunc(append([]string{}, c.Environ...), func(v string) bool {
		return strings.HasPrefix(v, "NO_COLOR=")
	})
	if !c.Color {
		out = append(out, "NO_COLOR=1")
	}
	return out
}

// forwardRows sends the rows of the stream as events until ctx ends or the server refuses. Rows
// that arrive while the screen is drawn become one event. Names that the resolver loads for a row
// are sent before the row.
func forwardRows(ctx context.Context, from port, by *nameResolver, first *web.Thread,
	send func(tea.Msg)) {
	const most = 256
	by.loadNames(ctx, first)
	known := by.news
	send(named(by.names))
	rows := make(chan web.Row, most)
	var end error // read after rows is closed
	go func() {
		defer close(rows)
		for row, err := range from.Stream(ctx, by.thread, "") {
			if end = err; err != nil {
				return
			}
			if by.describeFrame(ctx, &row); by.news > known {
				known = by.news
				send(named(by.names))
			}
			select {
			case rows <- row:
			case <-ctx.Done():
				return
			}
		}
	}()
	for row := range rows {
		batch := rowsReceived{row}
		for len(rows) > 0 && len(batch) < most {
			batch = append(batch, <-rows)
		}
		send(batch)
	}
	if end != nil {
		send(streamEnded{end})
	}
}

// model runs the jobs that the state returns.
type model struct {
	//nolint:containedctx // it is that of the program, and commands have no other
	ctx   context.Context
	port  port
	by    string
	state *state
}

// Init loads the thread.
func (m *model) Init() tea.Cmd { return m.do(m.state.handle(tick{})) }

// Update passes an event to the state and starts its jobs.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.do(m.state.handle(msg)) }

// View draws the state.
func (m *model) View() tea.View { return m.state.view() }

// callTimeout bounds a call. A call that timed out can be repeated: it counts once.
const callTimeout = 15 * time.Second

// do returns the commands of bubbletea for jobs.
func (m *model) do(jobs []job) tea.Cmd {
	var all []tea.Cmd
	for _, j := range jobs {
		switch j := j.(type) {
		case quit:
			return tea.Quit
		case waitTick:
			all = append(all, tea.Tick(time.Second, func(time.Time) tea.Msg { return tick{} }))
		case load:
			all = append(all, m.call(func(ctx context.Context) tea.Msg {
				t, err := m.port.Thread(ctx, m.state.thread)
				return loaded{t, err}
			}))
		case escape:
			all = append(all, m.call(func(ctx context.Context) tea.Msg {
				told, err := m.port.Escape(ctx, m.state.thread, j.mode, m.by, "")
				return acked{told, err}
			}))
		case answer:
			j.By = m.by
			all = append(all, m.call(func(ctx context.Context) tea.Msg {
				i, err := m.port.Answer(ctx, j.Answer)
				return answered{interrupt: i, err: err}
			}))
		case reroute:
			j.RequestedBy = m.by
			all = append(all, m.call(func(ctx context.Context) tea.Msg {
				told, err := m.port.Reroute(ctx, m.state.thread, &j.Event)
				return answered{ack: told, err: err}
			}))
		}
	}
	return tea.Batch(all...)
}

func (m *model) call(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, callTimeout)
		defer cancel()
		return do(ctx)
	}
}
