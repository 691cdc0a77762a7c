// Command inspection is a chat of an inspector with four agents: general hands every message to
// regulation, history or reporting, which have their tools from MCP servers. Reporting asks for
// what it does not know, and sends its final report when the inspector has approved it.
//
//	go run ./examples/inspection
//
// It needs no key: a script replaces the model (-provider takes a real one), and servers in memory
// replace real ones. Stop it at any moment and start it again: it continues where it was (-db names
// the file).
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/routegen/routegen/examples/inspection/agents"
	"github.com/routegen/routegen/examples/internal/standin"
	"github.com/routegen/routegen/examples/internal/terminal"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/llm/anthropic"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/llm/mcp"
	"github.com/routegen/routegen/runtime/llm/openai"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/workflow"
)

//go:generate go run ../../cmd/routegen generate

func main() {
	if err := runInspection(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func runInspection(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("inspection", flag.ContinueOnError)
	db := flags.String("db", filepath.Join(os.TempDir(), "inspection.db"),
		"file that keeps the conversation")
	room := flags.String("thread", "room", "which conversation")
	provider := flags.String("provider", "",
		"openai or anthropic, with the key in the environment; none: a script")
	if err := flags.Parse(args); err != nil {
		return err
	}
	models := map[string]llm.Model{
		"":          llmtest.NewModel(llmtest.Reply{Give: standin.Script, Ever: true}),
		"openai":    openai.New("gpt-5.1", openai.Config{}),
		"anthropic": anthropic.New("claude-sonnet-4-5", anthropic.Config{}),
	}
	if models[*provider] == nil {
		return fmt.Errorf("there is no -provider %s", *provider)
	}
	store, err := sqlite.Open(ctx, *db, sqlite.Config{})
	if err != nil {
		return err
	}
	//nolint:errcheck,contextcheck // what is acknowledged is on the disk, and closing takes no time
	defer store.Close()
	say := log.New(out, "", 0).Printf // the chat and the servers, in turn
	c, err := open(ctx, store, agents.NewProgram(models[*provider]),
		connected(standin.Servers(say)))
	if err != nil {
		return err
	}
	defer c.Engine.Close(context.WithoutCancel(ctx)) //nolint:errcheck // as above
	say("Try: maak rapport | wat is de regel voor vis? | was ik er eerder? | annuleer")
	return terminal.Chat(ctx, c, chat.Message{Thread: *room, User: "inspector"}, in, say)
}

// connected returns the tools of servers in memory. For real servers only the transport differs.
func connected(servers map[string]*sdk.Server) map[string]llm.Tools {
	out := map[string]llm.Tools{}
	for name, s := range servers {
		out[name] = mcp.New(name, standin.Connect(s))
	}
	out["reporting"] = verified{out["reporting"]}
	return out
}

// open makes the conversation over a store.
func open(ctx context.Context, store thread.Store, p runtime.Program,
	servers map[string]llm.Tools) (*chat.Conversation, error) {
	machine, err := workflow.New(p, workflow.Config{Conversation: true, Servers: servers})
	if err != nil {
		return nil, err
	}
	e, err := thread.Open(ctx, store, thread.Config{Owner: "inspection"}, machine)
	return &chat.Conversation{
		Engine: e, Machine: machine, Cancel: []string{"annuleer"},
		Skip: []string{"sla over", "skip", "geen vragen"}, Cancelled: "Geannuleerd.",
		Begin: agents.BeginTurns(machine),
		Digress: func(_ context.Context, m chat.Message, _ *thread.Interrupt) (bool, error) {
			return strings.HasSuffix(m.Text, "?"), nil // a question is no answer
		},
	}, err
}

// verify is the rule of the reporting agent: it asks the inspector if less than 80 % of the data is
// there, or its confidence is below 0.7.
func verify(completeness, confidence float64) bool { return completeness < 80 || confidence < 0.7 }

// verified adds the result of the rule to what a server extracts: neither the server nor the model
// decides whether to ask.
type verified struct{ from llm.Tools }

// Tools returns those of the server.
func (v verified) Tools(ctx context.Context) ([]llm.Tool, error) {
	tools, err := v.from.Tools(ctx)
	for i, t := range tools {
		tools[i].Call = func(ctx context.Context, args json.RawMessage) (json.RawMessage, error) {
			out, err := t.Call(ctx, args)
			var found struct {
				Completeness *float64 `json:"completeness"` // per cent
				Confidence   float64  `json:"overall_confidence"`
			}
			if err != nil || json.Unmarshal(out, &found) != nil || found.Completeness == nil {
				return out, err
			}
			return json.RawMessage(
				strings.Replace(string(out), "{",
					`{"verify":`+strconv.FormatBool(verify(*found.Completeness, found.Confidence))+
						`,`, 1)), nil
		}
	}
	return tools, err
}
