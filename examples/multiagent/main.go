// Command multiagent runs the system of routes.yaml on SQLite: 17 nodes, 14 routes, a person who reviews on the terminal, orders from outside,
// and a process that may be killed at any time. By default its model follows script.json, without a key and without a network:
//
//	go run ./examples/multiagent < examples/multiagent/answers.txt
//	go run ./examples/multiagent -db work.db -provider anthropic # kill it, start it again: it goes on
package main

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/routegen/routegen/examples/multiagent/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
	"github.com/routegen/routegen/runtime/prompt"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
	"github.com/routegen/routegen/templates"
)

//go:generate go run ../../cmd/routegen generate

//go:embed script.json
var script []byte

func main() {
	db := flag.String("db", fmt.Sprintf("%s/multiagent-%d.db", os.TempDir(), os.Getpid()), "the file that keeps the work")
	goal := flag.String("goal", "Add rate limiting to the public API", "what the agents work on")
	provider := flag.String("provider", "", "openai or anthropic, with its key in the environment; default: script.json")
	flag.Parse()
	if err := run(context.Background(), os.Stdin, os.Stdout, *db, *goal, modelOf(*provider)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func modelOf(provider string) llm.Model {
	switch provider {
	case "openai":
		return openai.New("gpt-5.1", openai.Config{})
	case "anthropic":
		return anthropic.New("claude-sonnet-4-5", anthropic.Config{})
	}
	var lines []struct {
		For, Said, Shows string
		Reply            json.RawMessage
	}
	model := llmtest.NewModel(llmtest.Fails(json.Unmarshal(script, &lines)).For(func(llm.Request) bool { return lines == nil }))
	for _, l := range lines { // the first that fits, any number of times: a process that was killed has forgotten what it said
		model.Add(llmtest.JSON(string(l.Reply)).For(llmtest.Wants(l.For), llmtest.Said(l.Said), llmtest.Shows(l.Shows)).Always())
	}
	return model
}

// run begins the work, or takes it up where the last process left it, until it is done or nobody answers. It ends with the journey.
func run(ctx context.Context, in io.Reader, out io.Writer, db, goal string, model llm.Model) (err error) {
	program := routes.New(agents{})
	prompts, err1 := prompt.New(&program, templates.Prompts(nil))
	machine, err2 := workflow.New(program, workflow.Config{Model: model, Prompts: prompts})
	begin, err3 := workflow.Begin(&routes.OrchestratorRequest{Goal: goal, Phase: "DISCOVERY"})
	store, err4 := sqlite.Open(ctx, db, sqlite.Config{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	engine, err := thread.Open(ctx, store, thread.Config{Kinds: program.Tables.Kinds, Owner: "multiagent"}, machine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	begin.ID, begin.Request = "work", "work" // the same request again is the same thread
	if _, err := engine.Start(ctx, begin); err != nil {
		return err
	}
	d := &desk{Machine: machine, Engine: engine, lines: bufio.NewScanner(in), out: bufio.NewWriter(out), at: map[string]string{}}
	for row, err := range engine.Subscribe(ctx, thread.Filter{Thread: begin.ID}, 0) {
		if err != nil {
			return err
		}
		if more, err := d.see(ctx, &row); err != nil || !more {
			fmt.Fprintf(d.out, "\n\n  #  node                   what happened\n%s\nkept in %s\n", d.journey.String(), db)
			return errors.Join(err, d.out.Flush())
		}
	}
	return ctx.Err()
}

// desk is where a person sits. It reads the log of the thread from its first row: that is the journey, and what is open is asked.
type desk struct {
	*workflow.Machine
	*thread.Engine
	lines   *bufio.Scanner
	out     *bufio.Writer
	at      map[string]string // the node of each frame
	visits  int
	journey strings.Builder
}

// see takes a row. It returns false at the end of the thread, and where nobody answers.
func (d *desk) see(ctx context.Context, e *runtime.Entry) (more bool, err error) {
	switch node := e.PC + e.Name; e.Type {
	case runtime.EntryEntered, runtime.EntryStepped: // a lane of a fan-out begins, or a frame goes to its next node
		if e.Type == runtime.EntryEntered && e.Parent == "" || node[0] == '!' || d.at[e.Frame] == node {
			break
		}
		d.at[e.Frame] = node
		d.visits++
		fmt.Fprintf(&d.journey, "%3d  %-22s ", d.visits, node)
	case runtime.EntryAnswered:
		d.note("%s answered: %s", e.By, e.Value)
	case runtime.EntryReroute:
		d.note("order of %s (%s): go on at %s", e.By, e.State, e.RouteTo)
	case runtime.EntryOver:
		d.note("%s", e.State)
		return false, nil
	case runtime.EntryAsked, runtime.EntryOpened:
		i, err := d.Interrupt(ctx, e.Interrupt)
		if err != nil {
			return false, err
		}
		d.note("asked: %s", i.Text)
		for ; err == nil && i.State == runtime.InterruptOpen; i, err = d.Interrupt(ctx, i.ID) {
			fmt.Fprintf(d.out, "\n%s asks: %s\n> ", d.at[i.Frame], i.Text)
			if err := d.out.Flush(); err != nil || !d.lines.Scan() {
				return false, errors.Join(err, d.lines.Err())
			}
			if err := d.do(ctx, i, d.lines.Text()); err != nil {
				fmt.Fprintln(d.out, err)
			}
		}
		return err == nil, err
	}
	return true, nil
}
