package plan

import (
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// addRecords lays out every struct: requests with what stands in for them, interrupts, results,
// then the rest.
func (b *builder) addRecords() {
	placed := map[string]bool{}
	add := func(r Record) {
		if !placed[r.Name] {
			placed[r.Name] = true
			b.plan.Records = append(b.plan.Records, r)
		}
	}
	types := map[string]*spec.Type{}
	for _, list := range [][]*spec.Type{b.spec.Types, b.spec.Results} {
		for _, t := range list {
			types[t.Key.Value] = t
		}
	}
	for _, n := range b.spec.Nodes {
		if n.Request != nil {
			add(b.request(n))
		}
		for _, name := range standIns(n) {
			if t := types[name]; t != nil && t.Scalar == nil {
				r := b.record(t, RoleRequest)
				r.Node = n.Key.Value
				add(r)
			}
		}
	}
	for _, n := range b.spec.Nodes {
		if n.Interrupt != nil {
			add(b.interrupt(n))
		}
	}
	for _, t := range b.spec.Results {
		add(b.record(t, RoleResult))
	}
	for _, t := range b.spec.Types {
		if t.Scalar == nil {
			add(b.record(t, RoleNested))
		}
	}
}

// standIns are the types that reach a node without being its request: what it adapts, and the
// results that resume it.
func standIns(n *spec.Node) []string {
	var out []string
	if n.Adapt.Value != "" {
		out = append(out, n.Adapt.Value)
	}
	if n.Dispatch != nil && n.Dispatch.Results.Value != "" {
		out = append(out, n.Dispatch.Results.Value)
	}
	return out
}

func (b *builder) request(n *spec.Node) Record {
	name := n.RequestName()
	return Record{
		Name: name, Role: RoleRequest, Node: n.Key.Value,
		Doc:         or(n.Request.Doc, n.Doc.Value),
		DisplayName: or(n.Request.DisplayName, or(n.DisplayName, spec.DisplayName(n.Key.Value))),
		GoType:      n.Request.GoType.Value,
		Reserved:    values(n.Request.Reserved),
		Fields:      b.fields(n.Request.Fields, false),
		Pos:         n.Request.At.Start,
	}
}

func (b *builder) interrupt(n *spec.Node) Record {
	name := n.InterruptName()
	r := Record{Name: name, Role: RoleInterrupt, Node: n.Key.Value,
		DisplayName: spec.DisplayName(n.Key.Value) + " Interrupt"}
	if b.spec.Interrupts != nil {
		r.Fields = b.fields(b.spec.Interrupts.Fields, true)
	}
	r.Doc = n.Interrupt.Doc.Value
	r.DisplayName = or(n.Interrupt.DisplayName, r.DisplayName)
	r.Reserved = values(n.Interrupt.Reserved)
	r.Pos = n.Interrupt.At.Start
	r.Fields = append(r.Fields, b.fields(n.Interrupt.Fields, false)...)
	if r.Doc == "" {
		r.Doc = "Asks for a decision on behalf of " + or(n.DisplayName,
			spec.DisplayName(n.Key.Value)) + "."
	}
	return r
}

func (b *builder) record(t *spec.Type, role Role) Record {
	return Record{
		Name: or(t.GoName, t.Key.Value), Role: role, Doc: t.Doc.Value,
		DisplayName: or(t.DisplayName, spec.DisplayName(t.Key.Value)),
		GoType:      t.GoType.Value, Was: values(t.Was), Reserved: values(t.Reserved),
		Fields: b.fields(t.Fields, false), Pos: t.Key.At.Start,
	}
}

func (b *builder) fields(fs []*spec.Field, common bool) []Field {
	out := make([]Field, 0, len(fs))
	for _, f := range fs {
		if f.Type == nil {
			continue
		}
		out = append(out, Field{
			Key: f.Key.Value, JSON: or(f.JSON, f.Key.Value),
			Go: or(f.GoName, spec.GoName(f.Key.Value)), Doc: f.Doc.Value,
			Type: b.fieldType(f.Type), Hidden: f.Hidden, Required: !f.Optional, Pointer: f.Explicit,
			Common:  common,
			Default: literal(f.Default), DefaultOld: literalText(f.DefaultOld),
			AcceptsOld: values(f.AcceptsOld), Examples: literals(f.Examples),
			Constraints: constraints(f.Constraints),
			Was:         values(f.Was), Deprecated: f.Deprecated.Value, Pos: f.Key.At.Start,
		})
	}
	return out
}

// fieldType resolves a type expression. A name that stands for nothing stays a record of that name:
// the spec has already been found wrong.
func (b *builder) fieldType(t *spec.TypeExpr) Type {
	switch t.Kind {
	case spec.Named:
		if s, ok := b.symbols[t.Name]; ok {
			return Type{Kind: s.kind, Name: s.name}
		}
		return Type{Kind: RecordOf, Name: t.Name}
	case spec.List, spec.Map:
		elem := b.fieldType(t.Elem)
		return Type{Kind: TypeKind(t.Kind), Elem: &elem}
	case spec.String, spec.Bool, spec.Int, spec.Float, spec.Time, spec.Duration, spec.JSON:
	}
	return Type{Kind: TypeKind(t.Kind)}
}

// resolveTypes decides what only the whole table can say: an optional record is a pointer.
func (b *builder) resolveTypes() {
	for i := range b.plan.Records {
		for j := range b.plan.Records[i].Fields {
			f := &b.plan.Records[i].Fields[j]
			if f.Type.Kind == RecordOf && !f.Required {
				f.Pointer = true
			}
		}
	}
}

func constraints(c spec.Constraints) Constraints {
	return Constraints{
		Min: number(c.Min), Max: number(c.Max), MinLength: count(c.MinLength),
		MaxLength: count(c.MaxLength),
		MinItems:  count(c.MinItems), MaxItems: count(c.MaxItems), Pattern: c.Pattern.Value,
		Format: c.Format.Value,
	}
}

func number(n *spec.Number) *float64 {
	if n == nil {
		return nil
	}
	return &n.Value
}

func count(n *spec.Number) *int {
	if n == nil {
		return nil
	}
	v := int(n.Value)
	return &v
}

// literal is the JSON text of a scalar of the spec, or nil.
func literal(s *spec.Scalar) *string {
	if s == nil {
		return nil
	}
	text := s.JSON()
	return &text
}

// literalText is [literal] with "" for none.
func literalText(s *spec.Scalar) string {
	if text := literal(s); text != nil {
		return *text
	}
	return ""
}

func literals(list []spec.Scalar) []string {
	var out []string
	for i := range list {
		out = append(out, list[i].JSON())
	}
	return out
}

// markReached records which records a visible field names, and which of them some schema needs.
func (b *builder) markReached() {
	p := b.plan
	used := map[string]bool{}
	for i := range p.Records {
		r := &p.Records[i]
		r.Refs = []string{}
		for _, f := range r.Fields {
			markEnum(f.Type, used)
			if name := f.Type.record(); name != "" && !f.Hidden && !slices.Contains(r.Refs, name) {
				r.Refs = append(r.Refs, name)
			}
		}
		slices.SortFunc(r.Refs, strings.Compare)
	}
	b.markEnumsOfFlows(used)
	for i := range p.Enums {
		p.Enums[i].Used = used[p.Enums[i].Name]
	}
	var visit func(name string)
	visit = func(name string) {
		r := p.Record(name)
		if r == nil || r.Schema {
			return
		}
		r.Schema = true
		for _, ref := range r.Refs {
			visit(ref)
		}
	}
	for i := range p.Records {
		if p.Records[i].Role != RoleNested {
			visit(p.Records[i].Name)
		}
	}
	visit(p.Interrupt.Answer)
}

// record is the record at the heart of a type, or "".
func (t Type) record() string {
	if leaf := t.Leaf(); leaf.Kind == RecordOf {
		return leaf.Name
	}
	return ""
}

func markEnum(t Type, used map[string]bool) {
	if leaf := t.Leaf(); leaf.Kind == EnumOf {
		used[leaf.Name] = true
	}
}
