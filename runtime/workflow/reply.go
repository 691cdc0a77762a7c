package workflow

import (
	"context"
	"encoding/json"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// PlainTextStrict reports whether the spec has plain_text: strict: a conversation then takes no
// plain text as an answer.
func (m *Machine) PlainTextStrict() bool { return m.tables.PlainText == "strict" }

// BeginTurn is [Begin] for a turn of a conversation: it refuses with CodeInvalid a request that
// does not go to the entry node, unless the spec has turn_start: last.
func (m *Machine) BeginTurn(request runtime.Record) (thread.Begin, error) {
	name := request.Shape().Name
	if n := m.node(m.nodeForRequest(name)); !n.Entry && m.tables.TurnStart != "last" {
		return thread.Begin{}, runtime.Errorf(runtime.CodeInvalid, "begin turn",
			"a turn starts at the entry node, and a %s goes to %q", name, n.Key)
	}
	return Begin(request)
}

// spoken is a message for the user, as it is in the outbox.
type spoken struct {
	Node string `json:"node,omitempty"`
	Text string `json:"text"`
}

// Metadata returns what came with the message that runs, or resumed, the node whose handler calls
// it. It returns nil for a context that is not that of a node.
func Metadata(ctx context.Context) map[string]string {
	p, ok := ctx.Value(placeKey{}).(*place)
	if !ok {
		return nil
	}
	var out map[string]string
	if json.Unmarshal(p.step.a.Metadata, &out) != nil {
		return nil
	}
	return out
}

// Reply says something to the user, once per name, step and visit, and again when the node's own
// interrupt has come back to it. It returns CodeInvalid for a context that is not that of a node.
func Reply(ctx context.Context, name, text string) error {
	p, err := placeOf(ctx, "reply")
	if err != nil {
		return err
	}
	return thread.Say(ctx, name, spoken{Node: p.step.node(p.node).Key, Text: text})
}
