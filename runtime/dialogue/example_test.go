package dialogue_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/thread"
)

// greeting is what generated code holds of a flow that asks for a name and looks something up.
// Programs write it as YAML, not like this.
func greeting() runtime.Dialogue {
	text := func(parts ...runtime.Part) runtime.Texts {
		return runtime.Texts{{Variants: []runtime.Template{parts}}}
	}
	return runtime.Dialogue{
		Tables: &runtime.FlowTables{
			Actions: []runtime.FlowAction{{Name: "count_letters"}},
			Flows: []runtime.Flow{{
				Name: "greet", Intents: []string{"hello"}, Interruptible: true,
				Slots: []runtime.FlowSlot{
					{Name: "name", Doc: "How I shall call you.",
						Type: runtime.SlotType{Kind: runtime.SlotString}},
					{Name: "letters", Type: runtime.SlotType{Kind: runtime.SlotInt}},
				},
				Steps: []runtime.FlowStep{
					{ID: "ask", Kind: "collect", Slot: 1,
						Text: text(runtime.Part{Text: "What is your name?"}), Next: 2},
					{
						ID: "count", Kind: "action", Action: 1,
						Inputs: []runtime.Bind{{Name: "name",
							Value: &runtime.Expr{Op: runtime.OpSlot, Slot: 1}}},
						Outputs: []runtime.Bind{{Name: "letters", Slot: 2}}, Next: 3,
					},
					{ID: "tell", Kind: "say", Text: text(runtime.Part{Text: "Hello "},
						runtime.Part{Slot: 1}, runtime.Part{Text: ", you have "},
						runtime.Part{Slot: 2}, runtime.Part{Text: " letters."}),
						Next: runtime.TargetEnd},
				},
			}},
		},
		Act: func(_ context.Context, _ int, _ string, input json.RawMessage) (json.RawMessage,
			error) {
			var in struct {
				Name string `json:"name"`
			}
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, err
			}
			return runtime.Encode(map[string]int{"letters": len(in.Name)})
		},
	}
}

// A conversation over flows: without any understanding but the words of the spec.
func Example() {
	ctx := context.Background()
	machine, err := dialogue.New(greeting(), dialogue.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = engine.Close(ctx) }()
	talk := &chat.Conversation{Engine: engine, Machine: machine}
	for _, text := range []string{"hello", "Ann", "goodbye"} {
		turn, err := talk.Deliver(ctx, chat.Message{Thread: "ann", User: "ann", Text: text})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text, "->", turn.Lines)
	}
	// Output:
	// hello -> [What is your name?]
	// Ann -> [Hello Ann, you have 3 letters.]
	// goodbye -> [I did not understand that.]
}

// Rules understand whole sentences, and what the user says beside the point.
func ExampleNewPatterns() {
	ctx := context.Background()
	rules, err := dialogue.NewPatterns([]dialogue.Pattern{
		{Match: `(?i)my name is (\w+)`, Commands: []runtime.Command{
			{Type: runtime.CommandStart, Flow: "greet",
				Slots: map[string]json.RawMessage{"name": json.RawMessage(`"$1"`)}},
		}},
		{Match: `(?i)why|what for`, Commands: []runtime.Command{{Type: runtime.CommandClarify}}},
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	machine, err := dialogue.New(greeting(), dialogue.Config{Understand: rules})
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := thread.Open(ctx, mem.Open(), thread.Config{}, machine)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = engine.Close(ctx) }()
	talk := &chat.Conversation{Engine: engine, Machine: machine}
	for _, text := range []string{"My name is Bob.", "hello", "What for?", "cancel"} {
		turn, err := talk.Deliver(ctx, chat.Message{Thread: "bob", User: "bob", Text: text})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(text, "->", turn.Lines)
	}
	// Output:
	// My name is Bob. -> [Hello Bob, you have 3 letters.]
	// hello -> [What is your name?]
	// What for? -> [How I shall call you. What is your name?]
	// cancel -> [Cancelled.]
}
