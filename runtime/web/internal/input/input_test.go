package input_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/web/internal/input"
)

type part struct {
	Name string `json:"name"`
	Size int    `json:"size,omitempty"`
}

type body struct {
	Text  string            `json:"text"`
	Value json.RawMessage   `json:"value,omitempty"`
	Part  part              `json:"part,omitzero"`
	Parts []part            `json:"parts,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	At    time.Time         `json:"at,omitzero"`
	Sure  bool              `json:"sure,omitempty"`
}

// problem returns the one problem of a refusal.
func problem(t *testing.T, err error, of string) runtime.Problem {
	t.Helper()
	require.Equal(t, runtime.CodeInvalid, runtime.CodeOf(err), "%v: %s", err, of)
	var wrong *runtime.InvalidError
	require.ErrorAs(t, err, &wrong)
	require.Len(t, wrong.Problems, 1)
	return wrong.Problems[0]
}

func TestDecode(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string {
		return strings.Repeat("[", levels) + strings.Repeat("]", levels)
	}
	var got body
	require.NoError(t, input.Decode([]byte(` {"text":"a","value":null,"part":{"name":"p","size":1},
		"parts":[{"name":"q"},{"name":"r"}],"tags":{"k":"v"},"at":"2026-01-02T03:04:05Z",
		"sure":null} `), &got))
	assert.Equal(t, body{Text: "a", Value: json.RawMessage("null"), Part: part{"p", 1},
		Parts: []part{{Name: "q"}, {Name: "r"}}, Tags: map[string]string{"k": "v"},
		At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}, got,
		"null is an answer, and else no value")
	require.NoError(t, input.Decode([]byte(`{"text":"a","value":`+deep(63)+`}`), &got))

	missing := func(pointer string) runtime.Problem {
		return runtime.Problem{Pointer: pointer, Reason: "is required and missing"}
	}
	for text, want := range map[string]runtime.Problem{
		`{"value":1}`:                    missing("/text"),
		`{"text":1}`:                     {Pointer: "/text", Reason: "expected a string"},
		`{"text":"a","sure":"yes"}`:      {Pointer: "/sure", Reason: "expected a boolean"},
		`{"text":"a","part":{"size":1}}`: missing("/part/name"),
		`{"text":"a","parts":{}}`: {Pointer: "/parts",
			Reason: "expected an array of objects"},
		`{"text":"a","parts":[{"name":"q"},1]}`: {Pointer: "/parts/1",
			Reason: "expected an object, found a number"},
		`{"text":"a","parts":[{"name":"q","size":1.5}]}`: {Pointer: "/parts/0/size",
			Reason: "expected a whole number"},
		`{"text":"a","tags":{"k":1}}`: {Pointer: "/tags", Reason: "expected an object of strings"},
		`{"text":"a","at":"today"}`:   {Pointer: "/at", Reason: "expected a time (RFC 3339)"},
		`{"text":"a","text":"b"}`:     {Pointer: "/text", Reason: ""},
		`{"text":"a","Sure":true}`:    {Pointer: "/Sure", Reason: ""},
		`{"text":"a","more":1}`:       {Pointer: "/more", Reason: ""},
		`{"text":"a"} {}`:             {}, `{"text":"a"`: {}, `[]`: {}, ``: {},
		"\ufeff{\"text\":\"a\"}": {}, "{\"text\":\"\xff\"}": {},
		`{"text":"a","value":` + deep(64) + `}`: {Reason: "is nested deeper than 64",
			Pointer: "/value" + strings.Repeat("/0", 63)},
		`{"text":"a","value":` + strings.Repeat(`{"a":`, 10_001): {
			Reason:  "is nested deeper than 64",
			Pointer: "/value" + strings.Repeat("/a", 63)},
	} {
		got := problem(t, input.Decode([]byte(text), new(body)), text)
		if assert.Equal(t, want.Pointer, got.Pointer, text); want.Reason != "" {
			assert.Equal(t, want.Reason, got.Reason, text)
		}
	}
}

// A message may be a JSON string, which is the message of an object.
func TestDecodeMessage(t *testing.T) {
	t.Parallel()
	type message struct {
		Message string `json:"message"`
	}
	for text, want := range map[string]string{`"hi"`: "hi", `"h\"i"`: `h"i`, `""`: "",
		`{"message":"hi"}`: "hi"} {
		var got message
		require.NoError(t, input.DecodeMessage([]byte(text), &got), text)
		assert.Equal(t, want, got.Message, text)
	}
	got := message{}
	require.NoError(t, input.DecodeMessage([]byte(" \n\"hi\" "), &got))
	assert.Equal(t, "hi", got.Message, "blanks around it do not count")
	for _, text := range []string{`"a" "b"`, `"a","by":"eve"`, `["a"]`, `1`, `null`, `"a`, ``} {
		require.Error(t, input.DecodeMessage([]byte(text), new(message)), text)
	}
}

func TestCheckObject(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"any":{"name":[1,null]}}`} {
		require.NoError(t, input.CheckObject([]byte(text)), text)
	}
	for _, text := range []string{`null`, `[]`, `"a"`, `{`, `{"a":1,"a":2}`,
		`{"a":"` + "\xff" + `"}`} {
		require.Error(t, input.CheckObject([]byte(text)), text)
	}
}

func TestUnder(t *testing.T) {
	t.Parallel()
	got := problem(t, input.Under(input.Invalid("/a", "is wrong"), "/input"), "a pointer")
	assert.Equal(t, runtime.Problem{Pointer: "/input/a", Reason: "is wrong"}, got)
	other := errors.New("of another kind")
	assert.Equal(t, other, input.Under(other, "/input"))
}

func TestValidID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "A-1_b.c~d", "0", strings.Repeat("x", 200)} {
		assert.True(t, input.ValidID(id), id)
	}
	for _, id := range []string{"", ".", ".a", "..", "a/b", "a b", "a%2f", "é", "a\n", "a?b",
		"a:b", strings.Repeat("x", 201)} {
		assert.False(t, input.ValidID(id), id)
	}
}
