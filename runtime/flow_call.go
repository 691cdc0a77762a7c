package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// RunAction is what [Dialogue.Act] does for one action: it reads the input strictly, as [Unmarshal] does, hands it to the method, and writes
// its output as [Encode] does. Refusals: an input that does not fit with [CodeInvalid], a method that returns neither an output nor an
// error with [CodeInternal], unless the output has no fields. An error of the method goes through as it is, and the output beside it is
// dropped. It is safe for concurrent use when the method is.
func RunAction[I, O any, PI interface {
	*I
	Record
}, PO interface {
	*O
	Record
}](ctx context.Context, key string, input json.RawMessage, method func(context.Context, string, PI) (PO, error)) (json.RawMessage, error) {
	in := PI(new(I))
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	if err := Unmarshal(input, in); err != nil {
		return nil, err
	}
	out, err := method(ctx, key, in)
	if err != nil {
		return nil, err
	}
	if out == nil {
		out = PO(new(O))
		if s := out.Shape(); len(s.Fields) > 0 {
			return nil, refuse(CodeInternal, "act", errors.New("the action returned neither a "+s.Name+" nor an error"))
		}
	}
	return Encode(out)
}

// RunValidator is what [Dialogue.Validate] does for one validator: it reads the value strictly with decode, hands it to the method, and
// writes what comes back. A value that decode refuses is refused with [CodeInvalid]; an error of the method goes through as it is. It is
// safe for concurrent use when the method is.
func RunValidator[T any](ctx context.Context, value json.RawMessage, decode func(*Decoder, *T), method func(context.Context, T) (T, error)) (json.RawMessage, error) {
	var v T
	if err := decodeValue(value, func(d *Decoder) { decode(d, &v) }); err != nil {
		return nil, err
	}
	v, err := method(ctx, v)
	if err != nil {
		return nil, err
	}
	return Encode(v)
}

// decodeValue reads a document that is one bare value.
func decodeValue(data []byte, read func(*Decoder)) error {
	d := borrow(data)
	if d.start() {
		read(d)
		d.end()
	}
	err := d.verdict("decode value")
	d.giveBack()
	return err
}

// NoAction returns the refusal for an action that no case of a generated switch runs, with [CodeNotFound].
func NoAction(action int) error {
	return refuse(CodeNotFound, "act", fmt.Errorf("there is no action %d", action))
}

// NoValidator returns the refusal for a validator that no case of a generated switch runs, with [CodeNotFound].
func NoValidator(validator int) error {
	return refuse(CodeNotFound, "validate", fmt.Errorf("there is no validator %d", validator))
}

// EncodeSlot writes the value of a slot for a [Command]. A value that JSON cannot hold becomes null: no slot takes it, so whoever made the
// command sees it refused.
func EncodeSlot(value any) json.RawMessage {
	text, err := Encode(value)
	if err != nil {
		return json.RawMessage("null")
	}
	return text
}

// EncodeSlots is [EncodeSlot] for the values that come with a start; nil for none.
func EncodeSlots[N ~string](values map[N]any) map[string]json.RawMessage {
	if len(values) == 0 {
		return nil
	}
	out := make(map[string]json.RawMessage, len(values))
	for name, value := range values {
		out[string(name)] = EncodeSlot(value)
	}
	return out
}

// ListCommands returns the commands that the members of a generated sealed set stand for, in order. None of them may be nil.
func ListCommands[C interface{ Command() Command }](list []C) []Command {
	out := make([]Command, 0, len(list))
	for _, c := range list {
		out = append(out, c.Command())
	}
	return out
}
