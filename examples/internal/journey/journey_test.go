package journey_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/routegen/routegen/examples/internal/journey"
	"github.com/routegen/routegen/runtime"
)

func TestJourney(t *testing.T) {
	t.Parallel()
	var j journey.Journey
	asks := &runtime.Interrupt{Question: runtime.Question{Text: "Which way?"}}
	event := json.RawMessage(`{"requestedBy":"ann","rerouteToAgentType":"LEAD","reason":"it is late"}`)
	for _, row := range []runtime.Entry{
		{Type: runtime.EntryEntered, Frame: "1", Name: "LeadRequest"},
		{Type: runtime.EntryStepped, Frame: "1", PC: "lead"},
		{Type: runtime.EntryEffect, Frame: "1", Name: "model/1"},
		{Type: runtime.EntryStepped, Frame: "1", PC: "dispatch"},
		{Type: runtime.EntryCalling, Frame: "1", PC: "!collect"},
		{Type: runtime.EntryEntered, Frame: "2", Parent: "1", Name: "helper"},
		{Type: runtime.EntryEntered, Frame: "3", Parent: "1", Name: "helper"},
		{Type: runtime.EntryStepped, Frame: "3", PC: "helper"},
		{Type: runtime.EntryStepped, Frame: "2", PC: "helper"},
		{Type: runtime.EntryAsked, Frame: "2", Interrupt: "i"},
		{Type: runtime.EntryStepped, Frame: "3", PC: "guide"},
		{Type: runtime.EntryAnswered, Interrupt: "i", By: "bob", Value: json.RawMessage(`"left"`)},
		{Type: runtime.EntryStepped, Frame: "2", PC: "helper"},
		{Type: runtime.EntryStepped, Frame: "1", PC: "dispatch"},
		{Type: runtime.EntryReroute, Frame: "1", Name: "a", State: runtime.ReroutePending, RouteTo: "LEAD", Value: event},
		{Type: runtime.EntryReroute, Frame: "1", Name: "b", State: runtime.RerouteQueued, RouteTo: "LEAD", Value: event},
		{Type: runtime.EntryStepped, Frame: "1", PC: "!handle"},
		{Type: runtime.EntryStepped, Frame: "1", PC: "lead"},
		{Type: runtime.EntryReroute, Frame: "1", Name: "a", State: runtime.RerouteUsed},
		{Type: runtime.EntryReroute, Frame: "1", Name: "b", State: runtime.RerouteExpired},
		{Type: runtime.EntryOver, State: string(runtime.StatusCancelled)},
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
