// Command multiagent runs the system of routes.yaml on SQLite: 17 nodes, 14 routes, a person who
// reviews on the terminal, an order from outside, a process that may be killed at any time. By
// default its model follows script.json and needs neither key nor network.
//
//	go run ./examples/multiagent < examples/multiagent/answers.txt
//	go run ./examples/multiagent -db work.db # kill it, start it again: it goes on
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
	"path/filepath"
	"strings"

	"github.com/routegen/routegen/examples/internal/journey"
	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/internal/terminal"
	"github.com/routegen/routegen/examples/multiagent/agents"
	"github.com/routegen/routegen/generated/routes"
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
	db := flag.String("db", "",
		"the file that keeps the work; default: one that is removed at the end")
	goal := flag.String("goal", "Add rate limiting to the public API", "what the agents work on")
	provider := flag.String("provider", "",
		"openai or anthropic, with its key in the environment; default: script.json")
	flag.Parse()
	model, err := scripted.Model(*provider, script)
	if err == nil {
		err = run(context.Background(), os.Stdin, os.Stdout, *db, *goal, model)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run starts the work, or continues that of the last process, until it is done or the input ends.
// It then prints the journey.
func run(ctx context.Context, in io.Reader, out io.Writer, db, goal string, model llm.Model) (
	err error) {
	if db == "" {
		folder, failed := os.MkdirTemp("", "multiagent")
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
		db = filepath.Join(folder, "work.db")
	}
	program := agents.NewProgram()
	prompts, err1 := prompt.New(&program, templates.Prompts(nil))
	machine, err2 := workflow.New(program, workflow.Config{Model: model, Prompts: prompts})
	begin, err3 := workflow.Begin(&routes.OrchestratorRequest{Goal: goal, Phase: "DISCOVERY"})
	store, err4 := sqlite.Open(ctx, db, sqlite.Config{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return err
	}
	//nolint:contextcheck // it has to end after the context has
	defer func() { err = errors.Join(err, store.Close()) }()
	engine, err := thread.Open(ctx, store, thread.Config{Owner: "multiagent"}, machine)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	begin.ID, begin.Request = "work", "work" // the same request again is the same thread
	if _, err := engine.Start(ctx, begin); err != nil {
		return err
	}
	d := &desk{machine: machine, engine: engine, out: bufio.NewWriter(out)}
	err = (&terminal.Person{In: in, Out: d.out, Show: d.journey.Add, Say: d.say}).
		Follow(ctx, engine, begin.ID)
	fmt.Fprintf(d.out, "\n%s", &d.journey)
	return errors.Join(err, d.out.Flush())
}

// desk is the terminal of the person who answers and who reroutes the work.
type desk struct {
	machine *workflow.Machine
	engine  *thread.Engine
	out     *bufio.Writer
	journey journey.Journey
}

// say handles a line: an answer, or with "/reroute TARGET reason" a reroute event, which the next
// answer then follows.
func (d *desk) say(ctx context.Context, i *thread.Interrupt, line string) error {
	order, ok := strings.CutPrefix(line+" ", "/reroute ")
	target, reason, _ := strings.Cut(strings.TrimSpace(order), " ")
	if ok && target == "" {
		return errors.New("say where to: /reroute TARGET reason")
	}
	if !ok {
		_, err := d.engine.Answer(ctx, i.Thread,
			thread.Answer{Interrupt: i.ID, Text: line, By: "you"})
		return err
	}
	var node routes.NodeName
	if err := node.UnmarshalText([]byte(d.journey.Node(i.Frame))); err != nil {
		return err
	}
	status, err := d.machine.Reroute(ctx, d.engine, i.Thread, workflow.Event{
		EventID: i.ID + "/" + target, NodeID: i.Frame, SourceAgentType: node.AgentType().String(),
		InterruptType:      i.Type,
		RerouteToAgentType: target, Reason: reason, RequestedBy: "outside",
	})
	if err == nil {
		fmt.Fprintln(d.out, "order from outside:", status)
	}
	return err
}
