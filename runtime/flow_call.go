package runtime

import (
	"context"
	"encoding/json"
)

// RunAction is what [Dialogue.Act] does for one action: it decodes the input as [Unmarshal] does,
// calls the method and encodes its output. It returns [CodeInvalid] for an input that does not fit,
// [CodeInternal] for a method that returns neither an output with fields nor an error, and an error
// of the method as it is. It is safe for concurrent use when the method is.
func RunAction[I, O any, PI interface {
	*I
	Record
}, PO interface {
	*O
	Record
}](ctx context.Context, key string, input json.RawMessage,
	method func(context.Context, string, PI) (PO, error)) (json.RawMessage, error) {
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
			return nil, Errorf(CodeInternal, "act",
				"%s", "the action returned neither a "+s.Name+" nor an error")
		}
	}
	return Encode(out)
}

// RunValidator is what [Dialogue.Validate] does for one validator: it decodes the value, calls the
// method and encodes what it returns. It returns [CodeInvalid] for a value that does not fit, and
// an error of the method as it is. It is safe for concurrent use when the method is.
func RunValidator[T any](ctx context.Context, value json.RawMessage,
	method func(context.Context, T) (T, error)) (json.RawMessage, error) {
	var v T
	if err := DecodeValue(value, &v, nil, nil); err != nil {
		return nil, err
	}
	out, err := method(ctx, v)
	if err != nil {
		return nil, err
	}
	return Encode(out)
}

// DecodeValue reads one JSON value into v as [Decoder.Decode] does, within the bounds of a rule,
// which may be nil. It returns [CodeInvalid] with an [InvalidError] for a value that does not fit.
func DecodeValue(data []byte, v any, of *Shape, rule *Rule) error {
	d := newDecoder(data)
	if d.scan.CheckStart() {
		d.rule = rule
		d.Decode(v, of)
		d.scan.CheckEnd()
	}
	err := d.problemsError("decode value")
	d.release()
	return err
}

// NoAction returns [CodeNotFound] for an action that no case of a generated switch runs.
func NoAction(action int) error {
	return Errorf(CodeNotFound, "act", "there is no action %d", action)
}

// NoValidator returns [CodeNotFound] for a validator that no case of a generated switch runs.
func NoValidator(validator int) error {
	return Errorf(CodeNotFound, "validate", "there is no validator %d", validator)
}

// EncodeSlot encodes the value of a slot; one that JSON cannot hold is null, which no slot takes.
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

// ListCommands returns the commands of the members of a generated sealed set. None may be nil.
func ListCommands[C interface{ Command() Command }](list []C) []Command {
	out := make([]Command, 0, len(list))
	for _, c := range list {
		out = append(out, c.Command())
	}
	return out
}
