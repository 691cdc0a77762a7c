package agui

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/ag-ui-protocol/ag-ui/sdks/community/go/pkg/client/sse"
	"github.com/ag-ui-protocol/ag-ui/sdks/community/go/pkg/core/events"
	"github.com/ag-ui-protocol/ag-ui/sdks/community/go/pkg/core/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every stream of every test is also read by the community's SDK, and held to its rules.
var _ = func() bool {
	otherReaders = append(otherReaders, func(frames [][]byte) error {
		_, err := sdkEvents(frames)
		return err
	})
	return true
}()

// sdkEvents reads a stream as the SDK's users do.
func sdkEvents(frames [][]byte) ([]events.Event, error) {
	decoder := events.NewEventDecoder(nil)
	out := make([]events.Event, len(frames))
	for n, frame := range frames {
		var named struct {
			Type string `json:"type"`
		}
		if err := json.Unmarshal(frame, &named); err != nil {
			return nil, err
		}
		e, err := decoder.DecodeEvent(named.Type, frame)
		if err != nil {
			return nil, err
		}
		if _, raw := e.(*events.RawEvent); raw {
			return nil, fmt.Errorf("the SDK has no type for %s", frame)
		}
		out[n] = e
	}
	return out, events.ValidateSequence(out)
}

// sdkRun sends an input with the SDK's client, and returns the events as the SDK has them.
func (d *desk) sdkRun(in types.RunAgentInput) []events.Event {
	d.Helper()
	client := sse.NewClient(sse.Config{Endpoint: d.http.URL + "/v1/agui/workflow",
		APIKey: deskToken})
	defer func() { assert.NoError(d, client.Close()) }()
	frames, failed, err := client.Stream(sse.StreamOptions{Context: d.Context(), Payload: in})
	require.NoError(d, err)
	s := &stream{T: d.T}
	for frame := range frames {
		s.frames = append(s.frames, frame.Data)
	}
	require.NoError(d, <-failed)
	body, err := json.Marshal(in)
	require.NoError(d, err)
	d.judged(s, string(body))
	out, err := sdkEvents(s.frames)
	require.NoError(d, err)
	return out
}

func sdkInput(run string, messages []types.Message,
	resume ...types.ResumeEntry) types.RunAgentInput {
	return types.RunAgentInput{
		ThreadID: "room", RunID: run, State: map[string]any{}, Messages: messages,
		Tools: []types.Tool{}, Context: []types.Context{},
		ForwardedProps: map[string]any{"by": "ann"}, Resume: resume,
	}
}

// sdkAsks expects a run that ends with one interrupt.
func sdkAsks(t *testing.T, all []events.Event) types.Interrupt {
	t.Helper()
	end, is := all[len(all)-1].(*events.RunFinishedEvent)
	require.True(t, is, "%T", all[len(all)-1])
	require.NotNil(t, end.Outcome)
	require.Equal(t, events.RunFinishedOutcomeTypeInterrupt, end.Outcome.Type)
	require.Len(t, end.Outcome.Interrupts, 1)
	return end.Outcome.Interrupts[0]
}

func TestWithTheClientOfTheSDK(t *testing.T) {
	t.Parallel()
	d := newDesk(t, toTheQuestion(
		deskCalls("reporting", "g1", "generate_final_report", `{"send_email":true}`),
		deskTells("reporting", "Klaar."), deskTells("general", "Dag."))...).open()
	said := []types.Message{{ID: "1", Role: types.RoleUser, Content: "maak rapport"}}
	all := d.sdkRun(sdkInput("r1", said))
	i := sdkAsks(t, all)
	assert.Equal(t, "input_required", i.Reason)
	assert.Equal(t, "q1", i.ToolCallID)
	assert.NotEmpty(t, i.ResponseSchema)
	assert.Contains(t, i.Metadata, "routegen")
	for _, e := range all { // a front end goes on with what the snapshot says was said
		if snapshot, is := e.(*events.MessagesSnapshotEvent); is {
			said = snapshot.Messages
		}
	}
	require.Len(t, said, 5)
	assert.Equal(t, "extract_inspection_data", said[1].ToolCalls[0].Function.Name)

	all = d.sdkRun(sdkInput("r2", said,
		types.ResumeEntry{InterruptID: i.ID, Status: types.ResumeStatusResolved, Payload: "Acme"}))
	i = sdkAsks(t, all)
	assert.Equal(t, "tool_call", i.Reason)
	all = d.sdkRun(sdkInput("r3", said, types.ResumeEntry{
		InterruptID: i.ID, Status: types.ResumeStatusResolved,
		Payload: map[string]any{"approved": true,
			"editedArgs": map[string]any{"send_email": false}},
	}))
	end, is := all[len(all)-1].(*events.RunFinishedEvent)
	require.True(t, is)
	assert.Equal(t, events.RunFinishedOutcomeTypeSuccess, end.Outcome.Type)
	assert.Equal(t, 1, d.done(`generate_final_report {"send_email":false}`))

	all = d.sdkRun(sdkInput("r4", said,
		types.ResumeEntry{InterruptID: i.ID, Status: types.ResumeStatusCancelled}))
	failed, is := all[len(all)-1].(*events.RunErrorEvent)
	require.True(t, is)
	assert.Equal(t, "not_waiting", *failed.Code)
	all = d.sdkRun(sdkInput("r5",
		append(said, types.Message{ID: "9", Role: types.RoleUser, Content: "dag"})))
	assert.Equal(t, events.EventTypeRunFinished, all[len(all)-1].Type())
}
