package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

//go:embed supplier.json
var supplierSchema []byte

// supplier asks a group for one answer with many fields, so that the page has a form of every kind
// to show, and a deadline.
func supplier() thread.Machine {
	return thread.Func("supplier", func(ctx context.Context, name string) (json.RawMessage, error) {
		return thread.Ask[json.RawMessage](ctx, "terms", thread.Question{
			Text: "What are the terms of " + name + "?", Schema: supplierSchema,
			Assignees: []string{"group:finance"},
			Deadline: &runtime.Deadline{After: 48 * time.Hour, Then: "escalate",
				Assignee: "purchasing", Reminder: 12 * time.Hour},
		})
	})
}
