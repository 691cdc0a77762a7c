// Package tui shows one thread in a terminal, and lets a person pause it, change its plan and answer its questions. It is a client of
// runtime/web and has no other door: all it knows came as rows of the outbox, or with the record of the thread.
//
// # Deciding and doing
//
// One state takes events in (keys, rows, results of calls) and says what is to be done about them. It calls nothing, so it is tested
// without a terminal and without a server. What it wants done is done by commands of bubbletea, which turn results into events again.
//
// # Order
//
// Rows come in the order of the thread, each once: the client of the stream opens a connection that drops again after the last row, with
// growing pauses. The record is loaded after rows, and every second while something runs, one load at a time; which questions are open is
// the record's word, how one ended the row's.
//
// # A pause
//
//	Esc -> escape, acknowledged as requested -> the thread pauses -> the form with the plan -> Enter: a change, or none
//	                     Esc: taken back                                                    -> Esc: go on unchanged
//
// Leaving the program answers nothing: a thread that is paused then stays paused.
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

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/workflow"
)

// port is what is needed of a server.
type port interface {
	Thread(ctx context.Context, id string) (*web.Thread, error)
	Stream(ctx context.Context, thread, after string) iter.Seq2[web.Row, error]
	Escape(ctx context.Context, thread, mode, by, reason string) (string, error)
	Answer(ctx context.Context, a runtime.Answer) (*web.Interrupt, error)
	History(ctx context.Context, thread, after string, limit int) ([]web.Row, string, error)
	Program(ctx context.Context, machine string) (*web.Graph, error)
	Reroute(ctx context.Context, thread string, event *workflow.Event) (string, error)
}

var _ port = (*web.Client)(nil)

// Config says what to watch, and where. All fields but By are required.
type Config struct {
	Client  web.Client // its HTTP field is not used
	Thread  string
	By      string   // in whose name to pause and answer; "" is whom the token stands for
	In, Out *os.File // a terminal
	Environ []string // tells which terminal it is; NO_COLOR in it does not count
	Color   bool
}

// IsTerminal reports whether a file is a terminal that a screen can be drawn on.
func IsTerminal(f *os.File) bool { return term.IsTerminal(f.Fd()) }

// Watch shows the thread until the person leaves or ctx ends, neither of which is an error. A thread that the server refuses to show at the
// start is refused with the code it says; a later refusal is shown, and returned when the person leaves. paused reports whether the
// thread was left at a pause, or with one on its way. In and Out belong to Watch while it runs.
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
	if rights, err := calls.Rights(ctx); err == nil { // a server that does not say refuses what must not be
		m.state.rights = rights.Actions
		m.state.once = rights.Once
		m.state.operator = rights.Thread == ""
	}
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(cfg.In), tea.WithOutput(cfg.Out), tea.WithEnvironment(cfg.environ()))
	rows := cfg.Client
	rows.HTTP = linked(func(e lineCame) { program.Send(e) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		feed(ctx, &rows, newGuide(&calls, cfg.Thread), first, program.Send)
	}()
	_, err = program.Run()
	stop()
	<-ended
	switch {
	case errors.Is(err, tea.ErrProgramPanic):
		return false, err
	case err != nil && !errors.Is(err, tea.ErrInterrupted) && !errors.Is(err, context.Canceled):
		return false, err
	}
	return m.state.pausedBy() != nil || m.state.pause != pauseNone, m.state.end
}

// environ is the environment for bubbletea: whether there is colour was decided already.
func (c *Config) environ() []string {
	out := slices.DeleteFunc(append([]string{}, c.Environ...), func(v string) bool { return strings.HasPrefix(v, "NO_COLOR=") })
	if !c.Color {
		out = append(out, "NO_COLOR=1")
	}
	return out
}

// feed turns rows into events, until ctx ends or the server refuses. What came while the screen was drawn is one event. What the guide has
// learned for a row is told before that row.
func feed(ctx context.Context, from port, by *guide, first *web.Thread, send func(tea.Msg)) {
	const most = 256
	by.begin(ctx, first)
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
			if by.complete(ctx, &row); by.news > known {
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
		batch := rowsCame{row}
		for len(rows) > 0 && len(batch) < most {
			batch = append(batch, <-rows)
		}
		send(batch)
	}
	if end != nil {
		send(rowsEnd{end})
	}
}

// model is the state, and who does what it says.
type model struct {
	ctx   context.Context //nolint:containedctx // it is that of the program, and commands have no other
	port  port
	by    string
	state *state
}

// Init begins to load the thread.
func (m *model) Init() tea.Cmd { return m.do(m.state.on(beat{})) }

// Update lets the state decide, and begins what is to be done.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { return m, m.do(m.state.on(msg)) }

// View draws the state.
func (m *model) View() tea.View { return m.state.view() }

// patience is how long a call may take; a later try of it is the same call.
const patience = 15 * time.Second

// do makes commands of jobs.
func (m *model) do(jobs []job) tea.Cmd {
	var all []tea.Cmd
	for _, j := range jobs {
		switch j := j.(type) {
		case leave:
			return tea.Quit
		case rest:
			all = append(all, tea.Tick(time.Second, func(time.Time) tea.Msg { return beat{} }))
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
				return answered{i, err}
			}))
		case reroute:
			j.RequestedBy = m.by
			all = append(all, m.call(func(ctx context.Context) tea.Msg {
				ack, err := m.port.Reroute(ctx, m.state.thread, &j.Event)
				return rerouted{j.Event, ack, err}
			}))
		}
	}
	return tea.Batch(all...)
}

func (m *model) call(do func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, patience)
		defer cancel()
		return do(ctx)
	}
}
