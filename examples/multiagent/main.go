// Command multiagent runs the system of routes.yaml on SQLite: 17 nodes, 14 routes, a person who reviews on the terminal, an order from outside,
// a process that may be killed at any time. By default its model follows script.json and needs neither key nor network.
//
//	go run ./examples/multiagent < examples/multiagent/answers.txt
//	go run ./examples/multiagent -db work.db -provider anthropic # kill it, start it again: it goes on
package main

import (
	"bufio"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/routegen/routegen/examples/internal/journey"
	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/multiagent/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
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
	model, err := scripted.Model(*provider, script)
	if err == nil {
		err = run(context.Background(), os.Stdin, os.Stdout, *db, *goal, model)
	}
	if err != nil {
		log.Fatal(err)
	}
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
	d := &desk{machine: machine, journey: journey.Journey{Engine: engine}, lines: bufio.NewScanner(in), out: bufio.NewWriter(out)}
	for row, err := range engine.Subscribe(ctx, thread.Filter{Thread: begin.ID}, 0) {
		if err != nil {
			return err
		}
		if more, err := d.see(ctx, &row); !more || err != nil {
			fmt.Fprintf(d.out, "\n%s\nkept in %s\n", &d.journey, db)
			return errors.Join(err, d.out.Flush())
		}
	}
	return ctx.Err()
}

// desk is where a person sits, with the journey so far.
type desk struct {
	machine *workflow.Machine
	journey journey.Journey
	lines   *bufio.Scanner
	out     *bufio.Writer
}

// see takes the next row of the thread's log and asks what is open. It returns false at the end, and where nobody answers any more.
func (d *desk) see(ctx context.Context, e *runtime.Entry) (more bool, err error) {
	i, err := d.journey.Add(ctx, e)
	for err == nil && i.State == runtime.InterruptOpen {
		fmt.Fprintf(d.out, "%s asks: %s\n", d.journey.Node(i.Frame), i.Text)
		if err := d.out.Flush(); err != nil || !d.lines.Scan() {
			return false, errors.Join(err, d.lines.Err())
		}
		if err := d.do(ctx, i, d.lines.Text()); err != nil {
			fmt.Fprintln(d.out, err)
		}
		i, err = d.journey.Engine.Interrupt(ctx, i.ID)
	}
	return e.Type != runtime.EntryOver, err
}

// do takes a line of the person: an answer, or with "/reroute TARGET reason" an order from outside, which the next answer then follows.
func (d *desk) do(ctx context.Context, i *runtime.Interrupt, line string) error {
	order, ok := strings.CutPrefix(line, "/reroute ")
	if !ok {
		_, err := d.journey.Engine.Answer(ctx, i.Thread, runtime.Answer{Interrupt: i.ID, Text: line, By: "you"})
		return err
	}
	var node routes.NodeName
	if err := node.UnmarshalText([]byte(d.journey.Node(i.Frame))); err != nil {
		return err
	}
	target, reason, _ := strings.Cut(order, " ")
	status, err := d.machine.Reroute(ctx, d.journey.Engine, i.Thread, workflow.Event{
		EventID: i.ID + "/" + target, NodeID: i.Frame, SourceAgentType: node.AgentType().String(), InterruptType: i.Type,
		RerouteToAgentType: target, Reason: reason, RequestedBy: "outside",
	})
	fmt.Fprintln(d.out, status)
	return err
}
