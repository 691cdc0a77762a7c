// Command inspection is a chat of an inspector with four agents: general hands every message to regulation, history or reporting, which have their
// tools from MCP servers. Reporting asks what it does not know, and its final report goes out when the inspector has approved it.
//
//	go run ./examples/inspection -db inspection.db
//
// It runs without a key: a script stands in for the model (-provider takes a real one), and servers in memory for real ones. Stopped at any
// moment, it goes on with the same file where it was.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/openai"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

//go:generate go run ../../cmd/routegen generate

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "inspection:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) (err error) {
	flags := flag.NewFlagSet("inspection", flag.ContinueOnError)
	flags.SetOutput(out)
	db := flags.String("db", "", "file that keeps the conversation; none: it is forgotten")
	room := flags.String("thread", "room", "which conversation")
	provider := flags.String("provider", "", "openai or anthropic, with the key in the environment; none: a script")
	name := flags.String("model", "", "of the provider")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var model llm.Model
	switch *provider {
	case "openai":
		model = openai.New(cmp.Or(*name, "gpt-5.1"), openai.Config{})
	case "anthropic":
		model = anthropic.New(cmp.Or(*name, "claude-sonnet-4-5"), anthropic.Config{})
	case "":
		model = llmtest.NewModel(llmtest.Reply{Give: script}.Always())
	default:
		return fmt.Errorf("-provider is openai or anthropic, not %q", *provider)
	}
	if *db == "" {
		dir, err := os.MkdirTemp("", "inspection")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
		*db = filepath.Join(dir, "threads.db")
	}
	store, err := sqlite.Open(ctx, *db, sqlite.Config{})
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // what is acknowledged is on the disk
	c, err := open(ctx, store, routes.New(agents{model}), connected(standIns(func(report string) {
		fmt.Fprintf(out, "[mail] report %s\n", report)
	})))
	if err != nil {
		return err
	}
	defer c.Engine.Close(context.WithoutCancel(ctx)) //nolint:errcheck // what is acknowledged is on the disk
	return chat(ctx, c, workflow.Message{Thread: *room, User: "inspector"}, in, out)
}

// open makes the conversation.
func open(ctx context.Context, store runtime.Store, p runtime.Program, servers map[string]llm.Tools) (*workflow.Conversation, error) {
	m, err := workflow.New(p, workflow.Config{Conversation: true, Servers: servers})
	if err != nil {
		return nil, err
	}
	e, err := thread.Open(ctx, store, thread.Config{Owner: "inspection"}, m)
	return &workflow.Conversation{
		Engine: e, Machine: m, Cancel: []string{"annuleer"}, Skip: []string{"sla over", "skip", "geen vragen"}, Cancelled: "Geannuleerd.",
		Begin: func(m workflow.Message, last json.RawMessage) (runtime.Record, error) {
			var ended struct{ Reply routes.Reply }
			if len(last) > 0 {
				if err := json.Unmarshal(last, &ended); err != nil {
					return nil, err
				}
			}
			return &routes.GeneralRequest{Text: m.Text, Said: ended.Reply.Said}, nil
		},
		Digress: func(_ context.Context, m workflow.Message, _ *runtime.Interrupt) (bool, error) {
			return strings.HasSuffix(strings.TrimSpace(m.Text), "?"), nil // inspectors do not answer with questions
		},
	}, err
}

// chat takes a line at a time from the inspector until there is none left.
func chat(ctx context.Context, c *workflow.Conversation, m workflow.Message, in io.Reader, out io.Writer) error {
	var shown []string // by the last message
	for lines := bufio.NewScanner(in); ctx.Err() == nil; {
		var question *runtime.Interrupt
		t, err := c.Engine.Thread(ctx, m.Thread)
		if err == nil && len(t.Open) > 0 {
			if question = t.Open[0]; !slices.Contains(shown, question.Text) {
				fmt.Fprintln(out, asked(question))
			}
		}
		fmt.Fprint(out, "> ")
		if !lines.Scan() {
			fmt.Fprintln(out)
			return lines.Err()
		}
		if m.Text = strings.TrimSpace(lines.Text()); m.Text == "" {
			continue
		}
		if file, ok := in.(*os.File); !ok || !terminal(file) {
			fmt.Fprintln(out, m.Text)
		}
		m.Answers, shown = decided(question, m.Text), nil
		for row, err := range c.DeliverStream(ctx, m) {
			text := said(&row)
			if err != nil {
				text = "! " + err.Error()
			}
			if text != "" {
				fmt.Fprintln(out, text)
			}
		}
	}
	return nil
}
