package runtime_test

import (
	"encoding/json"
	"time"

	"github.com/routegen/routegen/runtime"
)

// The records here are written as the generator writes them.

type level string

var levels = []runtime.EnumValue{{Value: "LOW"}, {Value: "HIGH"}, {Value: "PRUNE", Hidden: true}}

type slug string

var slugRule = runtime.Rule{MinLength: runtime.Bound(2), Pattern: runtime.MustPattern("^[a-z]+$")}

func decodeSlug(d *runtime.Decoder, v *slug) {
	runtime.DecodeRuled(d, v, &slugRule, runtime.DecodeString[slug])
}

func decodeLevel(d *runtime.Decoder, v *level) { runtime.DecodeEnum(d, v, levels) }

type leaf struct {
	Path string `json:"path"`
	Line int64  `json:"line"`
}

var leafShape = runtime.Shape{Name: "Leaf", Fields: []runtime.Field{{Name: "path", Required: true}, {Name: "line"}}}

func (*leaf) Shape() *runtime.Shape { return &leafShape }

func (v *leaf) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "path":
		runtime.DecodeString(d, &v.Path)
	case "line":
		runtime.DecodeInt(d, &v.Line)
	}
}

type work struct {
	Goal     string            `json:"goal"`
	Secret   string            `json:"secret"`
	Level    level             `json:"level"`
	Slug     slug              `json:"slug,omitempty"`
	Count    int64             `json:"count,omitempty"`
	Share    float64           `json:"share,omitempty"`
	On       bool              `json:"on,omitempty"`
	At       time.Time         `json:"at,omitzero"`
	For      runtime.Duration  `json:"for,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Tags     []string          `json:"tags"`
	Slugs    []slug            `json:"slugs,omitempty"`
	Meta     map[string]string `json:"meta"`
	Leaf     leaf              `json:"leaf,omitzero"`
	Maybe    *leaf             `json:"maybe,omitempty"`
	Leaves   []leaf            `json:"leaves,omitempty"`
	ByName   map[string]leaf   `json:"byName,omitempty"`
	Explicit *int64            `json:"explicit,omitempty"`
	Link     string            `json:"link,omitempty"`
	Inner    *choice           `json:"inner,omitempty"`
}

var workShape = runtime.Shape{Name: "Work", Fields: []runtime.Field{
	{Name: "goal", Required: true, Rule: &runtime.Rule{MinLength: runtime.Bound(2), MaxLength: runtime.Bound(60)}},
	{Name: "secret", Required: true, Hidden: true},
	{Name: "level", Required: true},
	{Name: "slug", Rule: &runtime.Rule{MaxLength: runtime.Bound(4)}},
	{Name: "count", Rule: &runtime.Rule{Min: runtime.Bound(-5.0), Max: runtime.Bound(1e18)}},
	{Name: "share", Rule: &runtime.Rule{Max: runtime.Bound(1.0)}},
	{Name: "on"},
	{Name: "at"},
	{Name: "for"},
	{Name: "raw"},
	{Name: "tags", Required: true, Rule: &runtime.Rule{MaxItems: runtime.Bound(3)}},
	{Name: "slugs"},
	{Name: "meta", Required: true, Rule: &runtime.Rule{MinItems: runtime.Bound(0), MaxItems: runtime.Bound(2)}},
	{Name: "leaf"},
	{Name: "maybe"},
	{Name: "leaves"},
	{Name: "byName"},
	{Name: "explicit"},
	{Name: "link", Rule: &runtime.Rule{Format: "uri"}},
	{Name: "inner"},
}}

func (*work) Shape() *runtime.Shape { return &workShape }

func (v *work) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "goal":
		runtime.DecodeString(d, &v.Goal)
	case "secret":
		runtime.DecodeString(d, &v.Secret)
	case "level":
		decodeLevel(d, &v.Level)
	case "slug":
		decodeSlug(d, &v.Slug)
	case "count":
		runtime.DecodeInt(d, &v.Count)
	case "share":
		runtime.DecodeFloat(d, &v.Share)
	case "on":
		runtime.DecodeBool(d, &v.On)
	case "at":
		runtime.DecodeTime(d, &v.At)
	case "for":
		runtime.DecodeDuration(d, &v.For)
	case "raw":
		runtime.DecodeJSON(d, &v.Raw)
	case "tags":
		runtime.DecodeList(d, &v.Tags, runtime.DecodeString[string])
	case "slugs":
		runtime.DecodeList(d, &v.Slugs, decodeSlug)
	case "meta":
		runtime.DecodeMap(d, &v.Meta, runtime.DecodeString[string])
	case "leaf":
		runtime.DecodeRecord(d, &v.Leaf)
	case "maybe":
		runtime.DecodePointer(d, &v.Maybe, runtime.DecodeRecord[leaf])
	case "leaves":
		runtime.DecodeList(d, &v.Leaves, runtime.DecodeRecord[leaf])
	case "byName":
		runtime.DecodeMap(d, &v.ByName, runtime.DecodeRecord[leaf])
	case "explicit":
		runtime.DecodePointer(d, &v.Explicit, runtime.DecodeInt[int64])
	case "link":
		runtime.DecodeString(d, &v.Link)
	case "inner":
		runtime.DecodePointer(d, &v.Inner, runtime.DecodeRecord[choice])
	}
}

// UnmarshalJSON is how generated records take part in encoding/json.
func (v *work) UnmarshalJSON(b []byte) error { return runtime.Unmarshal(b, v) }

// choice is a union.
type choice struct {
	Work  *work `json:"work,omitempty"`
	Leaf  *leaf `json:"leaf,omitempty"`
	Other *leaf `json:"other,omitempty"`
}

var choiceShape = runtime.Shape{Name: "Choice", Union: true, Fields: []runtime.Field{{Name: "work"}, {Name: "leaf"}, {Name: "other"}}}

func (*choice) Shape() *runtime.Shape { return &choiceShape }

func (v *choice) DecodeField(d *runtime.Decoder, name string) {
	switch name {
	case "work":
		runtime.DecodePointer(d, &v.Work, runtime.DecodeRecord[work])
	case "leaf":
		runtime.DecodePointer(d, &v.Leaf, runtime.DecodeRecord[leaf])
	case "other":
		runtime.DecodePointer(d, &v.Other, runtime.DecodeRecord[leaf])
	}
}

// Selected implements runtime.Routing.
func (v *choice) Selected() (runtime.Branch, error) {
	name := runtime.Same(v.first(), v.last())
	switch name {
	case "work":
		return runtime.Branch{Name: name, Value: v.Work}, nil
	case "leaf":
		return runtime.Branch{Name: name, Value: v.Leaf}, nil
	case "other":
		return runtime.Branch{Name: name, Value: v.Other}, nil
	}
	return runtime.Branch{}, runtime.NotOne(&choiceShape, []bool{v.Work != nil, v.Leaf != nil, v.Other != nil})
}

func (v *choice) first() string {
	switch {
	case v.Work != nil:
		return "work"
	case v.Leaf != nil:
		return "leaf"
	case v.Other != nil:
		return "other"
	}
	return ""
}

func (v *choice) last() string {
	switch {
	case v.Other != nil:
		return "other"
	case v.Leaf != nil:
		return "leaf"
	case v.Work != nil:
		return "work"
	}
	return ""
}
