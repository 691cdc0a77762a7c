package runtime_test

import (
	"encoding/json"
	"time"

	"github.com/routegen/routegen/runtime"
)

// The records here are written as the generator writes them.

type level string

var levelShape = runtime.Shape{Kind: runtime.ShapeEnum, Name: "Level",
	Fields: []runtime.Field{{Name: "LOW"}, {Name: "HIGH"}, {Name: "PRUNE", Hidden: true}}}

func (level) Shape() *runtime.Shape { return &levelShape }

type slug string

var slugShape = runtime.Shape{Kind: runtime.ShapeScalar, Name: "Slug",
	Fields: []runtime.Field{{Type: "string", Required: true,
		Rule: &runtime.Rule{MinLength: runtime.Bound(2), Pattern: "^[a-z]+$"}}}}

func (slug) Shape() *runtime.Shape { return &slugShape }

type leaf struct {
	Path string `json:"path"`
	Line int64  `json:"line"`
}

var leafShape = runtime.Shape{Name: "Leaf", Fields: []runtime.Field{{Name: "path", Required: true},
	{Name: "line"}}}

func (*leaf) Shape() *runtime.Shape { return &leafShape }

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
	{Name: "goal", Required: true, Rule: &runtime.Rule{MinLength: runtime.Bound(2),
		MaxLength: runtime.Bound(60)}},
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
	{Name: "meta", Required: true,
		Rule: &runtime.Rule{MinItems: runtime.Bound(0), MaxItems: runtime.Bound(2)}},
	{Name: "leaf"},
	{Name: "maybe"},
	{Name: "leaves"},
	{Name: "byName"},
	{Name: "explicit"},
	{Name: "link", Rule: &runtime.Rule{Format: "uri"}},
	{Name: "inner"},
}}

func (*work) Shape() *runtime.Shape { return &workShape }

// UnmarshalJSON is how generated records take part in encoding/json.
func (v *work) UnmarshalJSON(b []byte) error { return runtime.Unmarshal(b, v) }

// choice is a union.
type choice struct {
	Work  *work `json:"work,omitempty"`
	Leaf  *leaf `json:"leaf,omitempty"`
	Other *leaf `json:"other,omitempty"`
}

var choiceShape = runtime.Shape{Kind: runtime.ShapeUnion, Name: "Choice",
	Fields: []runtime.Field{{Name: "work"}, {Name: "leaf"}, {Name: "other"}}}

func (*choice) Shape() *runtime.Shape { return &choiceShape }

// Selected implements runtime.Routing.
func (v *choice) Selected() (runtime.Branch, error) {
	var s runtime.Selection
	s.Or("work", v.Work != nil, v.Work)
	s.Or("leaf", v.Leaf != nil, v.Leaf)
	s.Or("other", v.Other != nil, v.Other)
	return s.Branch(v)
}
