package journey_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/examples/internal/journey"
	"github.com/routegen/routegen/runtime/thread"
)

func TestJourney(t *testing.T) {
	t.Parallel()
	var j journey.Journey
	asks := &thread.Interrupt{Question: thread.Question{Text: "Which way?"}}
	event := json.RawMessage(
		`{"requestedBy":"ann","rerouteToAgentType":"LEAD","reason":"it is late"}`)
	for _, row := range []thread.Entry{
		{Type: thread.EntryEntered, Frame: "1", Name: "LeadRequest"},
		{Type: thread.EntryStepped, Frame: "1", PC: "lead"},
		{Type: thread.EntryEffect, Frame: "1", Name: "model/1"},
		{Type: thread.EntryStepped, Frame: "1", PC: "dispatch"},
		{Type: thread.EntryCalling, Frame: "1", PC: "!collect"},
		{Type: thread.EntryEntered, Frame: "2", Parent: "1", Name: "helper"},
		{Type: thread.EntryEntered, Frame: "3", Parent: "1", Name: "helper"},
		{Type: thread.EntryStepped, Frame: "3", PC: "helper"},
		{Type: thread.EntryStepped, Frame: "2", PC: "helper"},
		{Type: thread.EntryAsked, Frame: "2", Interrupt: "i"},
		{Type: thread.EntryStepped, Frame: "3", PC: "guide"},
		{Type: thread.EntryAnswered, Interrupt: "i", By: "bob", Value: json.RawMessage(`"left"`)},
		{Type: thread.EntryStepped, Frame: "2", PC: "helper"},
		{Type: thread.EntryStepped, Frame: "1", PC: "dispatch"},
		{Type: thread.EntryReroute, Frame: "1", Name: "a", State: thread.ReroutePending,
			RouteTo: "LEAD", Value: event},
		{Type: thread.EntryReroute, Frame: "1", Name: "b", State: thread.RerouteQueued,
			RouteTo: "LEAD", Value: event},
		{Type: thread.EntryStepped, Frame: "1", PC: "!handle"},
		{Type: thread.EntryStepped, Frame: "1", PC: "lead"},
		{Type: thread.EntryReroute, Frame: "1", Name: "a", State: thread.RerouteUsed},
		{Type: thread.EntryReroute, Frame: "1", Name: "b", State: thread.RerouteExpired},
		{Type: thread.EntryOver, State: string(thread.StatusCancelled)},
	} {
		j.Add(&row, asks)
	}
	assert.Equal(t, `  #  node                    what happened there
  1  lead
  2  dispatch                ann: go on at LEAD, it is late
                             ann: go on at LEAD, it is late
  3    helper                asks: Which way?
                             bob: "left"
  4    helper
  5    guide
  6  lead                    rerouted here
     cancelled
`, j.String())
}
