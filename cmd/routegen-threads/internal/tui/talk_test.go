package tui

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/inspection/routes"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/llm"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

// talkers is a program whose first node answers by itself.
type talkers struct{ routes.UnimplementedHandlers }

func (talkers) General(ctx context.Context, _ runtime.Call, _ *routes.GeneralRequest) (
	*routes.GeneralRouting, error) {
	return &routes.GeneralRouting{Reply: &routes.Reply{Text: "Ask me anything."}}, workflow.Reply(
		ctx, "reply", "Hello.")
}

type noTools struct{}

func (noTools) Tools(context.Context) ([]llm.Tool, error) { return nil, nil }

// newTalk starts a server with a conversation of ann's. The display name of the node that answers
// does not follow from its key.
func newTalk(t *testing.T) *rig {
	t.Helper()
	program := routes.New(talkers{})
	tables := *program.Tables
	tables.Nodes = slices.Clone(tables.Nodes)
	tables.Nodes[0].DisplayName = "Front Desk"
	program.Tables = &tables
	machine, err := workflow.New(program, workflow.Config{
		Conversation: true, Servers: map[string]llm.Tools{"regulation": noTools{},
			"history": noTools{}, "reporting": noTools{}},
	})
	require.NoError(t, err)
	r := &rig{T: t}
	r.engine, err = thread.Open(t.Context(), mem.Open(), thread.Config{}, machine)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, r.engine.Close(context.Background())) })
	talk := &chat.Conversation{Engine: r.engine, Machine: machine,
		Begin: func(m chat.Message, _ json.RawMessage) (thread.Begin, error) {
			return machine.BeginTurn(&routes.GeneralRequest{Text: m.Text})
		}}
	server, err := web.New(r.engine, operator,
		web.Config{Conversation: talk,
			Programs: map[string]web.Program{workflow.Name: {Title: "Inspections",
				Generated: program}}})
	require.NoError(t, err)
	front := httptest.NewServer(server)
	t.Cleanup(front.Close)
	t.Cleanup(front.CloseClientConnections)
	r.client = &client.Client{Base: front.URL, Token: operator}
	_, err = talk.Deliver(t.Context(),
		chat.Message{Thread: "talk", User: "ann", Text: "Hello?"})
	require.NoError(t, err)
	return r
}

// What the server calls a program and its nodes is what a person reads, and who may not speak to a
// conversation is offered nothing to do it with.
func TestAConversation(t *testing.T) {
	t.Parallel()
	r := newTalk(t)
	for by, rights := range map[string][]string{"bob": {"follow", "inspect"},
		"ann": {"follow", "inspect", "deliver"}} {
		g, err := r.client.Grant(t.Context(),
			web.Grant{Thread: "talk", Actions: []string{"follow", "inspect", "deliver"},
				By:      by,
				Expires: time.Now().Add(time.Hour).UnixMilli()})
		require.NoError(t, err)
		guest := client.Client{Base: r.client.Base, Token: g.Token}
		told, err := guest.Rights(t.Context())
		require.NoError(t, err)
		assert.Equal(t, rights, told.Actions, by)
		s := r.watchWith(guest, "talk", 80, 24, true)
		screen := s.sees("between turns", "Front Desk: Hello.", "the work ended: Ask me anything.",
			"q leave")
		t.Log("\n" + screen)
		lines := strings.Split(strings.TrimSpace(screen), "\n")
		assert.Equal(t, "Up/Down log · q leave", lines[len(lines)-1], "no box to write in")
		s.leave()
	}
}

// A guide that cannot learn more leaves the words as they are, and asks again only where that may
// help.
func TestAGuideWithoutAServer(t *testing.T) {
	t.Parallel()
	g := newNameResolver(&client.Client{Base: "http://127.0.0.1:1", Token: operator}, "t")
	g.loadNames(t.Context(), &web.Thread{Frames: []web.Frame{{Machine: "order"}}})
	assert.False(t, g.asked["order"], "it is asked again")
	row := web.Row{Entry: thread.Entry{Type: thread.EntryReturned, Seq: 9, Frame: "f2"}}
	g.describeFrame(t.Context(), &row)
	told := newTeller()
	assert.Equal(t, "a part of the work ended", told.tell(&row))
	assert.Equal(t, "Order", g.names.programName("order"))
}

func TestPlainWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"": "", "DISCOVERY_COLLECTOR": "Discovery collector",
		"discoveryCollector": "Discovery collector", "ask/1": "Ask 1",
		"agent_question":                  "Agent question",
		"discoveryCollector/HUMAN_REVIEW": "Discovery collector human review", "élan": "Élan",
		"Build a change": "Build a change",
	} {
		assert.Equal(t, want, humanize(word))
	}
}
