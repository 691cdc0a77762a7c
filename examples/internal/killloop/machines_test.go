//go:build unix

package killloop

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/thread"
)

// The machines beside the workflow. Their names stand in the threads.
const (
	orderName  = "order"  // questions, and effects that act on the answers
	pairName   = "pair"   // two questions at once
	familyName = "family" // three children at once, each asks
	childName  = "child"
)

// onceName is the name of every effect of Once.
const onceName = "once"

// machines are all but the workflow.
func (w *worker) machines() ([]thread.Machine, error) {
	talk, err := dialogue.New(w.payments(), dialogue.Config{})
	if err != nil {
		return nil, err
	}
	return []thread.Machine{
		talk,
		thread.Func(orderName, w.order),
		thread.Func(pairName, w.pair),
		thread.Turns(childName, w.child),
		family{},
	}, nil
}

// once runs an effect that must not happen twice; in one control it does not say so.
func (w *worker) once(ctx context.Context, told string) (proof, error) {
	if w.Control == controlNoIntent {
		return thread.Do(ctx, onceName, w.out.effect(told))
	}
	return thread.Once(ctx, onceName, w.out.effect(told))
}

func (w *worker) do(ctx context.Context, name, told string) (proof, error) {
	return thread.Do(ctx, name, w.out.effect(told))
}

func ask(ctx context.Context, name string) (string, error) {
	return thread.Ask[string](ctx, name,
		thread.Question{Text: name + "?", Plain: thread.PlainText})
}

func (w *worker) order(ctx context.Context, in string) ([]proof, error) {
	quote, err := w.do(ctx, "quote", in)
	if err != nil {
		return nil, err
	}
	ok, err := ask(ctx, "ok")
	if err != nil {
		return nil, err
	}
	charge, err := w.once(ctx, ok)
	if err != nil {
		return nil, err
	}
	if err := thread.Say(ctx, "receipt", charge); err != nil {
		return nil, err
	}
	mail, err := w.do(ctx, "mail", ok)
	if err != nil {
		return nil, err
	}
	note, err := ask(ctx, "note")
	if err != nil {
		return nil, err
	}
	filed, err := w.do(ctx, "file", note)
	return []proof{quote, charge, mail, filed}, err
}

func (w *worker) pair(ctx context.Context, _ string) ([]proof, error) {
	question := func(name string) thread.Question {
		return thread.Question{Name: name, Text: name + "?", Plain: thread.PlainText}
	}
	said, err := thread.AskAll(ctx, question("left"), question("right"))
	if err != nil {
		return nil, err
	}
	var left, right string
	if err := json.Unmarshal(said[0].Value, &left); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(said[1].Value, &right); err != nil {
		return nil, err
	}
	drafted, err := w.do(ctx, "draft", left+"+"+right)
	if err != nil {
		return nil, err
	}
	settled, err := w.once(ctx, left+"+"+right)
	return []proof{drafted, settled}, err
}

func (w *worker) child(ctx context.Context, side string) ([]proof, error) {
	ready, err := w.do(ctx, "prepare", "")
	if err != nil {
		return nil, err
	}
	said, err := ask(ctx, "child-"+side)
	if err != nil {
		return nil, err
	}
	paid, err := w.once(ctx, said)
	if err != nil {
		return nil, err
	}
	told, err := w.do(ctx, "tell", said)
	return []proof{ready, paid, told}, err
}

// family calls its children, and has a step of its own after each of them has answered.
type family struct{}

// Name returns family.
func (family) Name() string { return familyName }

// Step calls the children, and ends with what they returned.
func (family) Step(_ context.Context, a thread.Activation) (thread.Transition, error) {
	if a.Frame.PC == "" {
		var all []thread.Spawned
		for n := range 3 {
			all = append(all, thread.Spawned{Machine: childName, Input: strconv.Itoa(n)})
		}
		return thread.Call("joined", nil, all...), nil
	}
	var out []json.RawMessage
	for _, c := range a.Frame.Children {
		out = append(out, c.Value)
	}
	return thread.Done(out), nil
}

// The words of the flow.
const (
	payWord    = "pay"
	payAction  = "act"
	amountText = "How much?"
	sureText   = "Sure?"
)

// payments is a flow that asks for an amount, has it confirmed, and pays it once. Programs
// write it as YAML.
func (w *worker) payments() runtime.Dialogue {
	say := func(parts ...runtime.Part) runtime.Texts {
		return runtime.Texts{{Variants: []runtime.Template{parts}}}
	}
	return runtime.Dialogue{
		Tables: &runtime.FlowTables{
			Actions: []runtime.FlowAction{{Name: "pay", Once: w.Control != controlNoIntent}},
			Flows: []runtime.Flow{{
				Name: "payment", Intents: []string{payWord}, Interruptible: true,
				Slots: []runtime.FlowSlot{
					{Name: "amount", Type: runtime.SlotType{Kind: runtime.SlotInt}},
					{Name: "sure", Type: runtime.SlotType{Kind: runtime.SlotBool}},
					{Name: "mark", Type: runtime.SlotType{Kind: runtime.SlotString}},
				},
				Steps: []runtime.FlowStep{
					{ID: "ask", Kind: "collect", Slot: 1, Text: say(runtime.Part{Text: amountText}),
						Next: 2},
					{ID: "sure", Kind: "confirm", Slot: 2, Text: say(runtime.Part{Text: sureText}),
						Next: 3},
					{
						ID: "pay", Kind: "action", Action: 1, Next: 4,
						Inputs: []runtime.Bind{{Name: "amount",
							Value: &runtime.Expr{Op: runtime.OpSlot, Slot: 1}}},
						Outputs: []runtime.Bind{{Name: "mark", Slot: 3}},
					},
					{
						ID: "paid", Kind: "say", Next: runtime.TargetEnd,
						Text: say(runtime.Part{Text: "Paid: "}, runtime.Part{Slot: 3}),
					},
				},
			}},
		},
		Act: w.pay,
	}
}

func (w *worker) pay(ctx context.Context, _ int, key string, input json.RawMessage,
) (json.RawMessage, error) {
	var in struct {
		Amount json.Number `json:"amount"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, err
	}
	p, err := w.out.effect(in.Amount.String())(ctx, key)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(p)
}
