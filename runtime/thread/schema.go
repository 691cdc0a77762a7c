package thread

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/routegen/routegen/runtime"
)

// answerSchemas holds answers to the JSON Schema of their question. It keeps the schemas it
// compiled last, up to a bound: a program asks the same questions again and again.
type answerSchemas struct {
	mu   sync.Mutex
	kept map[string]*jsonschema.Schema
}

const schemasKept = 256

func newAnswerSchemas() *answerSchemas {
	return &answerSchemas{kept: map[string]*jsonschema.Schema{}}
}

// checkValue is [Rules.Check]. It returns CodeInvalid also if the schema is not valid, since no
// answer could match it. Without a value it checks the schema alone.
func (s *answerSchemas) checkValue(schema, value json.RawMessage) error {
	const op = "check answer"
	compiled, err := s.compileSchema(schema)
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "the question's schema is wrong: %w", err)
	}
	if value == nil {
		return nil
	}
	doc, err := parseDocument(value)
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	var far []runtime.Problem
	// what follows computes with exact numbers, and such a one takes all memory
	if outOfRange(doc, "", &far); len(far) > 0 {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", &runtime.InvalidError{Problems: far})
	}
	err = compiled.Validate(doc)
	if wrong, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		var problems []runtime.Problem
		collectProblems(wrong, &problems)
		return runtime.Errorf(runtime.CodeInvalid, op, "%w",
			&runtime.InvalidError{Problems: problems})
	}
	if err != nil {
		return runtime.Errorf(runtime.CodeInvalid, op, "%w", err)
	}
	return nil
}

func (s *answerSchemas) compileSchema(schema json.RawMessage) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if had := s.kept[string(schema)]; had != nil {
		return had, nil
	}
	doc, err := parseDocument(schema)
	if err != nil {
		return nil, err
	}
	var far []runtime.Problem
	if outOfRange(doc, "", &far); len(far) > 0 {
		return nil, &runtime.InvalidError{Problems: far}
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // a schema loads nothing from outside
	const place = "mem:answer"
	if err := c.AddResource(place, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, err
	}
	if len(s.kept) >= schemasKept {
		clear(s.kept)
	}
	s.kept[string(schema)] = compiled
	return compiled, nil
}

// parseDocument reads JSON as the validator wants it: numbers stay as they are written.
func parseDocument(data json.RawMessage) (any, error) {
	var number json.Number
	switch {
	case string(data) == "true":
		return true, nil
	case string(data) == "false":
		return false, nil
	case len(data) > 0 && (data[0] == '-' || '0' <= data[0] && data[0] <= '9') &&
		json.Unmarshal(data, &number) == nil:
		return number, nil
	default:
		return jsonschema.UnmarshalJSON(bytes.NewReader(data))
	}
}

// outOfRange lists the numbers that a float64 does not hold, at most 20.
func outOfRange(doc any, pointer string, into *[]runtime.Problem) {
	switch v := doc.(type) {
	case json.Number:
		f, err := v.Float64()
		mantissa, _, _ := strings.Cut(strings.ToLower(v.String()), "e")
		if lost := f == 0 && strings.ContainsAny(mantissa, "123456789"); (err != nil || lost) &&
			len(*into) < problemsKept {
			*into = append(*into, runtime.Problem{Pointer: pointer,
				Reason: "is a number out of range"})
		}
	case []any:
		for n := range v {
			outOfRange(v[n], pointer+"/"+strconv.Itoa(n), into)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			outOfRange(v[key], pointer+"/"+pointerEscaper.Replace(key), into)
		}
	}
}

// escaped is a key as it stands in a JSON pointer.
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

const problemsKept = 20

var english = message.NewPrinter(language.English)

// collectProblems lists the innermost reasons with their pointers, at most 20.
func collectProblems(e *jsonschema.ValidationError, into *[]runtime.Problem) {
	if len(e.Causes) == 0 && len(*into) < problemsKept {
		var pointer strings.Builder
		for _, part := range e.InstanceLocation {
			pointer.WriteString("/" + pointerEscaper.Replace(part))
		}
		*into = append(*into, runtime.Problem{Pointer: pointer.String(),
			Reason: e.ErrorKind.LocalizedString(english)})
	}
	for _, cause := range e.Causes {
		collectProblems(cause, into)
	}
}
