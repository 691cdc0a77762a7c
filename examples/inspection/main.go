// Command inspection is a chat of an inspector with four agents: general hands every message to regulation, history or reporting, which have
// their tools from MCP servers. Reporting asks what it does not know, and its final report goes out when the inspector has approved it.
//
//	go run ./examples/inspection -db inspection.db
//
// It needs no key: a script stands in for the model (-provider takes a real one), and servers in memory for real ones. Stopped at any moment,
// it goes on where it was when it is started with the same file again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

//go:generate go run ../../cmd/routegen generate

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "inspection:", err)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("inspection", flag.ContinueOnError)
	db := flags.String("db", "", "file that keeps the conversation; none: memory")
	provider := flags.String("provider", "script", "openai or anthropic, with the key in the environment; script: no key is needed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	models := map[string]llm.Model{
		"script": llmtest.NewModel(llmtest.Reply{Give: script, Ever: true}),
		"openai": openai.New("gpt-5.1", openai.Config{}), "anthropic": anthropic.New("claude-sonnet-4-5", anthropic.Config{}),
	}
	if models[*provider] == nil {
		return fmt.Errorf("there is no -provider %s", *provider)
	}
	store := runtime.Store(mem.Open())
	if *db != "" {
		disk, err := sqlite.Open(ctx, *db, sqlite.Config{})
		if err != nil {
			return err
		}
		defer disk.Close() //nolint:errcheck // what is acknowledged is on the disk
		store = disk
	}
	servers := connected(standIns(func(id string, report map[string]string) { fmt.Fprintln(out, "[mail]", id, report) }))
	c, err := open(ctx, store, routes.New(agents{models[*provider]}), servers)
	if err != nil {
		return err
	}
	defer c.Engine.Close(context.WithoutCancel(ctx)) //nolint:errcheck // as above
	return chat(ctx, c, in, out)
}

// open makes the conversation over a store.
func open(ctx context.Context, store runtime.Store, p runtime.Program, servers map[string]llm.Tools) (*workflow.Conversation, error) {
	m, err := workflow.New(p, workflow.Config{Conversation: true, Servers: servers})
	if err != nil {
		return nil, err
	}
	e, err := thread.Open(ctx, store, thread.Config{Owner: "inspection"}, m)
	return &workflow.Conversation{
		Engine: e, Machine: m, Cancel: []string{"annuleer"}, Skip: []string{"sla over", "skip", "geen vragen"}, Cancelled: "Geannuleerd.",
		Begin: func(m workflow.Message, last json.RawMessage) (runtime.Record, error) {
			var turn struct{ Reply routes.Reply }
			if len(last) > 0 && json.Unmarshal(last, &turn) != nil {
				return nil, errors.New("the last turn cannot be read")
			}
			return &routes.GeneralRequest{Text: m.Text, Said: turn.Reply.Said}, nil
		},
		Digress: func(_ context.Context, m workflow.Message, _ *runtime.Interrupt) (bool, error) {
			return strings.HasSuffix(m.Text, "?"), nil // nobody answers with a question
		},
	}, err
}

// chat takes the inspector's lines until there are no more.
func chat(ctx context.Context, c *workflow.Conversation, in io.Reader, out io.Writer) error {
	m := workflow.Message{Thread: "room", User: "inspector"}
	shown := "" // since the last line
	for lines := bufio.NewScanner(in); ; {
		var question *runtime.Interrupt
		if t, err := c.Engine.Thread(ctx, m.Thread); err == nil && len(t.Open) > 0 {
			if question = t.Open[0]; !strings.Contains(shown, question.Text) { // a clarification goes out as a message too
				fmt.Fprintln(out, asked(question))
			}
		}
		fmt.Fprint(out, "> ")
		if !lines.Scan() {
			return lines.Err()
		}
		m.Text, shown = strings.TrimSpace(lines.Text()), ""
		m.Answers = decided(question, m.Text)
		for row, err := range c.DeliverStream(ctx, m) {
			var said struct{ Node, Text string }
			switch {
			case err != nil:
				said.Node, said.Text = "refused", err.Error()
			case row.Type == runtime.EntryStepped && row.PC != "":
				fmt.Fprintln(out, "  at", row.PC)
			case row.Type == runtime.EntryMessage && json.Unmarshal(row.Value, &said) == nil:
				shown += said.Text
			}
			if said.Text != "" {
				fmt.Fprintf(out, "%s: %s\n", said.Node, said.Text)
			}
		}
	}
}

// asked shows a question, with what it is about and what may be answered.
func asked(q *runtime.Interrupt) string {
	var about struct{ Args json.RawMessage }
	if q.Type != "approval" || json.Unmarshal(q.Payload, &about) != nil {
		return q.Text
	}
	return fmt.Sprintf("%s\n  %s\n  approve, deny WHY, or edit {ARGUMENTS}", q.Text, about.Args)
}

// decided reads a line as a decision about a question that takes no plain text.
func decided(q *runtime.Interrupt, line string) []runtime.Answer {
	if q == nil || q.Plain != "" {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	var value json.RawMessage
	for _, choice := range q.Choices { // a failed step has others
		if choice.Label == word {
			value = choice.Value
		}
	}
	switch {
	case word == "deny" && rest != "":
		value, _ = runtime.Encode(map[string]string{"decision": "deny", "reason": rest}) // cannot fail: texts
	case word == "edit" && json.Valid([]byte(rest)):
		value = json.RawMessage(`{"decision":"edit","args":` + rest + `}`)
	case value == nil:
		return nil
	}
	return []runtime.Answer{{Interrupt: q.ID, Value: value}}
}
