// Command planexecute reaches a goal by a plan: it does one step after the other and reviews the
// plan after each. A person answers the questions of a step, and can pause the work, preview a
// change of the plan, apply it, and undo it. By default its model follows script.json, without key
// and network.
//
//	go run ./examples/planexecute < examples/planexecute/answers.txt
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
	"log"
	"os"
	"strings"

	"github.com/routegen/routegen/examples/internal/scripted"
	"github.com/routegen/routegen/examples/internal/terminal"
	"github.com/routegen/routegen/examples/planexecute/roles"
	"github.com/routegen/routegen/examples/planexecute/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

//go:generate go run ../../cmd/routegen generate
//go:embed script.json
var script []byte

func main() {
	goal := flag.String("goal", "Prepare the offsite in May", "what is to be reached")
	provider := flag.String("provider", "",
		"openai or anthropic, with its key in the environment; default: script.json")
	flag.Parse()
	model, err := scripted.Model(*provider, script)
	if err == nil {
		err = run(context.Background(), os.Stdin, os.Stdout, *goal, model)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// run works on a goal and prints what happens, until it is reached or the input ends.
func run(ctx context.Context, in io.Reader, out io.Writer, goal string, model llm.Model) (
	err error) {
	program := routes.New(routes.UnimplementedHandlers{})
	machine, err1 := planner.New(roles.NewConfig(program, model))
	engine, err2 := thread.Open(ctx, mem.Open(),
		thread.Config{Kinds: program.Tables.Kinds, Shapes: program.Shapes}, machine)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, engine.Close(ctx)) }()
	t, err := engine.Start(ctx, thread.Begin{Machine: machine.Name(), Input: goal})
	if err != nil {
		return err
	}
	d := &desk{engine: engine, out: bufio.NewWriter(out),
		proposal: &planner.Proposal{Thread: t.ID}}
	return (&terminal.Person{In: in, Out: d.out, Show: d.show, Say: d.say}).
		Follow(ctx, engine, t.ID)
}

// desk is the terminal of the person.
type desk struct {
	engine   *thread.Engine
	out      *bufio.Writer
	proposal *planner.Proposal
}

// show prints the events of the plan, and how the thread ended.
func (d *desk) show(row *thread.Entry, _ *thread.Interrupt) {
	var e struct {
		Plan   []string `json:"plan_steps"`
		Done   int      `json:"completed_count"`
		Task   string   `json:"task_description"`
		Result string   `json:"result"`
	}
	switch {
	case row.Type == thread.EntryOver:
		fmt.Fprintf(d.out, "%s %s\n", row.State, row.Value)
	case row.Type != thread.EntryMessage || json.Unmarshal(row.Value, &e) != nil:
	case e.Task != "":
		fmt.Fprintf(d.out, "%-15s %s: %s\n", row.Name, e.Task, e.Result)
	default:
		fmt.Fprintf(d.out, "%-15s %d of %d done: %s\n", row.Name, e.Done, len(e.Plan),
			strings.Join(e.Plan, ", "))
	}
}

// say handles a line at an open question: an answer, or pause; and while the plan is paused:
// continue, modify, preview, apply, undo or cancel.
func (d *desk) say(ctx context.Context, i *thread.Interrupt, line string) (err error) {
	answer := thread.Answer{Interrupt: i.ID, Text: line, By: "you"}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "pause":
		ack, err := d.engine.Escape(ctx, i.Thread, thread.EscapeSafe, "you", rest)
		fmt.Fprintln(d.out, ack)
		return err
	case "preview":
		found, err := planner.Preview(ctx, d.engine, i.Thread, rest, "you", "")
		if err == nil {
			d.proposal = found
			fmt.Fprintf(d.out, "would add %q, remove %q\n", found.Added, found.Removed)
		}
		return err
	case "apply":
		return planner.Apply(ctx, d.engine, d.proposal, "you")
	case "undo":
		return planner.Undo(ctx, d.engine, i.Thread, "you")
	case "modify":
		answer.Text = ""
		if answer.Value, err = runtime.Encode(
			map[string]string{"choice": word, "text": rest}); err != nil {
			return err
		}
	}
	_, err = d.engine.Answer(ctx, i.Thread, answer)
	return err
}
