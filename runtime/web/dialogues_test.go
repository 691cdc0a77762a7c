package web_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/web/socket"
)

// newGreeter is a rig whose conversation is one flow, which asks for a name and says hello.
func newGreeter(t *testing.T) *rig {
	t.Helper()
	text := func(en, nl string) runtime.Texts {
		return runtime.Texts{{Language: "en", Variants: []runtime.Template{{{Text: en}}}},
			{Language: "nl", Variants: []runtime.Template{{{Text: nl}}}}}
	}
	m, err := dialogue.New(runtime.Dialogue{Tables: &runtime.FlowTables{Language: "en",
		Flows: []runtime.Flow{{Name: "greet", Intents: []string{"hello"},
			Slots: []runtime.FlowSlot{{Name: "name",
				Type: runtime.SlotType{Kind: runtime.SlotString}}},
			Steps: []runtime.FlowStep{
				{ID: "ask", Kind: "collect", Slot: 1, Text: text("Your name?", "Je naam?"),
					Next: 2},
				{ID: "done", Kind: "say", Text: text("Hello.", "Hallo."),
					Next: runtime.TargetEnd},
			}}}}}, dialogue.Config{})
	require.NoError(t, err)
	return newRig(t, "sqlite", web.Config{Conversation: &chat.Conversation{Machine: m},
		Doors: []web.Door{socket.Door(), agui.Door()}}, m)
}

// runEvents posts a run of AG-UI and returns its events.
func (r *rig) runEvents(body string) (events []string) {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost,
		r.http.URL+"/v1/agui/dialogue", strings.NewReader(body))
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+operator)
	req.Header.Set("Content-Type", "application/json")
	res, err := r.http.Client().Do(req)
	require.NoError(r, err)
	defer func() { assert.NoError(r, res.Body.Close()) }()
	require.Equal(r, http.StatusOK, res.StatusCode)
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if data, is := strings.CutPrefix(lines.Text(), "data: "); is {
			events = append(events, data)
		}
	}
	return events
}

// rowTypes are the types of the rows of a thread, as its history has them.
func (r *rig) rowTypes(id string) (types []thread.EntryType) {
	r.Helper()
	page := decode[struct {
		Items []web.Row `json:"items"`
	}](r.get("/v1/threads/" + id + "/history").is(200))
	for i := range page.Items {
		if page.Items[i].Name != "request" { // the key of a REST call
			types = append(types, page.Items[i].Type)
		}
	}
	return types
}

func TestFlowIsAnsweredOverEveryDoor(t *testing.T) {
	t.Parallel()
	r := newGreeter(t)

	asked := decode[web.Thread](r.post("/v1/threads/rest/messages",
		`{"message":"hello","by":"ann","metadata":{"language":"nl"}}`).is(200))
	require.Len(t, asked.Open, 1)
	assert.Equal(t, "Je naam?", asked.Open[0].Text)
	said := decode[web.Thread](r.post("/v1/threads/rest/messages",
		`{"message":"Ann","by":"ann","metadata":{"language":"nl"}}`).is(200))
	assert.Equal(t, []string{"Hallo."}, said.Reply)
	assert.Equal(t, thread.StatusIdle, said.Status)

	r.post("/v1/threads/sock/messages", `{"message":"hello","by":"ann"}`).is(200)
	c := r.socket(operator)
	c.ask(context0("sock", ""))
	ack := c.ask(`{"type":"resume","payload":{"thread_id":"sock","user_id":"ann",` +
		`"user_input":"Ann"},"id":"a"}`)
	assert.Contains(t, ack.raw, `"success":true`)
	assert.Equal(t, thread.StatusIdle, r.settled("sock").Status)

	events := strings.Join(r.runEvents(`{"threadId":"agui","runId":"r1","messages":[`+
		`{"id":"m1","role":"user","content":"hello"}],"forwardedProps":{"by":"ann"}}`), "\n")
	assert.Contains(t, events, `"message":"Your name?"`)
	assert.Contains(t, events, `"outcome":{"type":"interrupt"`)
	open := decode[web.Thread](r.get("/v1/threads/agui").is(200)).Open[0]
	resume, err := json.Marshal(map[string]any{"threadId": "agui", "runId": "r2",
		"resume": []any{map[string]any{"interruptId": open.ID, "status": "resolved",
			"payload": "Ann"}}, "forwardedProps": map[string]string{"by": "ann"}})
	require.NoError(t, err)
	events = strings.Join(r.runEvents(string(resume)), "\n")
	assert.Contains(t, events, `"delta":"Hello."`)
	assert.Contains(t, events, `"outcome":{"type":"success"`)

	assert.Equal(t, r.rowTypes("rest"), r.rowTypes("agui"), "the same rows over every door")
	assert.Contains(t, r.rowTypes("sock"), thread.EntryAnswered)
	r.get("/v1/threads/rest/outbox").is(200)
}
