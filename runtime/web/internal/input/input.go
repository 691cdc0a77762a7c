// Package input reads what comes over HTTP: JSON bodies and ids.
package input

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// form reads one JSON object with the strict reader of the runtime, which refuses what
// encoding/json lets through: double keys, keys in another letter case, unknown keys, text that is
// not UTF-8, a byte order mark, deep nesting, and anything after the value.
type form struct{ shape *runtime.Shape }

func (f *form) Shape() *runtime.Shape { return f.shape }

func (f *form) DecodeField(d *runtime.Decoder, _ string) {
	var checked json.RawMessage
	d.Decode(&checked, nil)
}

// Decode decodes a document into a struct, with the structs and lists of structs inside it. A field
// without omitempty or omitzero in its tag is required.
func Decode(data []byte, into any) error {
	return fill(data, reflect.ValueOf(into).Elem(), "")
}

func fill(data []byte, into reflect.Value, pointer string) error {
	if err := runtime.Unmarshal(data, &form{shapeOf(into.Type())}); err != nil {
		return Under(err, pointer)
	}
	var fields map[string]json.RawMessage // with the nulls, which are answers
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	for i := range into.NumField() {
		name, _, _ := strings.Cut(into.Type().Field(i).Tag.Get("json"), ",")
		raw, field := fields[name], into.Field(i)
		if raw == nil || string(raw) == "null" &&
			field.Type() != reflect.TypeFor[json.RawMessage]() {
			continue
		}
		if err := decodeValue(raw, field, pointer+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

// decodeValue decodes one field.
func decodeValue(raw json.RawMessage, field reflect.Value, pointer string) error {
	t := field.Type()
	if _, own := reflect.TypeAssert[json.Unmarshaler](field.Addr()); t.Kind() == reflect.Struct &&
		!own {
		return fill(raw, field, pointer)
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct {
		var parts []json.RawMessage
		if err := json.Unmarshal(raw, &parts); err != nil {
			return Invalid(pointer, "expected an array of objects")
		}
		field.Set(reflect.MakeSlice(t, len(parts), len(parts)))
		for n, part := range parts {
			if err := fill(part, field.Index(n), pointer+"/"+strconv.Itoa(n)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := json.Unmarshal(raw, field.Addr().Interface()); err != nil {
		return Invalid(pointer, "expected "+kindName(field.Type()))
	}
	return nil
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.Slice:
		return "an array of strings"
	case reflect.Map:
		return "an object of strings"
	default:
		return "a time (RFC 3339)"
	}
}

func shapeOf(t reflect.Type) *runtime.Shape {
	shape := &runtime.Shape{Name: "request"}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		shape.Fields = append(shape.Fields, runtime.Field{Name: name, Required: options == ""})
	}
	return shape
}

// Invalid refuses the value at a JSON pointer.
func Invalid(pointer, reason string) error {
	return runtime.Errorf(runtime.CodeInvalid, "read request", "%w",
		&runtime.InvalidError{Problems: []runtime.Problem{{Pointer: pointer, Reason: reason}}})
}

// Under moves the pointers of a refusal to where its document stands.
func Under(err error, pointer string) error {
	e, ok := errors.AsType[*runtime.InvalidError](err)
	if !ok || pointer == "" {
		return err
	}
	moved := make([]runtime.Problem, len(e.Problems))
	for i, p := range e.Problems {
		moved[i] = runtime.Problem{Pointer: pointer + p.Pointer, Reason: p.Reason}
	}
	return runtime.Errorf(runtime.CodeInvalid, "read request", "%w",
		&runtime.InvalidError{Problems: moved})
}

// DecodeMessage is Decode that takes a JSON string too: it is the message of an object.
func DecodeMessage(data []byte, into any) error {
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte(`"`)) {
		data = slices.Concat([]byte(`{"message":`), data, []byte("}"))
	}
	return Decode(data, into)
}

// CheckObject refuses a JSON object that Decode would refuse whatever its fields are. Unknown names
// are allowed.
func CheckObject(data []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil || fields == nil {
		return Invalid("", "expected an object")
	}
	shape := &runtime.Shape{Name: "request"}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		shape.Fields = append(shape.Fields, runtime.Field{Name: name})
	}
	return runtime.Unmarshal(data, &form{shape})
}

// ValidID reports whether a text can be the id of a thread or an interrupt on the wire. Ids stand
// in paths and in tokens, so fewer are valid than the engine takes.
func ValidID(id string) bool {
	const most = 200
	if id == "" || len(id) > most || id[0] == '.' {
		return false
	}
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_',
			c == '.', c == '~':
		default:
			return false
		}
	}
	return true
}

// IDRule says in a refusal which ids are valid.
const IDRule = "use letters, digits and - _ . ~, at most 200"
