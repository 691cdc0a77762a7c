package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// floorOf writes a package with the types of routegen's output and what they promise to code that
// compiles against them: structs with their docs, one row a field, decoding methods, the two sealed
// sets, their exhaustive visitors, the selection of a branch, and the handlers. The functions that
// decode and select are stubs: the package is compiled and never run.
func floorOf(defs map[string]object, nodes int) []byte {
	var b bytes.Buffer
	b.WriteString(floorHead)
	for _, name := range sortedKeys(defs) {
		def := defs[name]
		comment(&b, "", def.Description)
		fmt.Fprintf(&b, "type %s struct {\n", name)
		union := strings.HasSuffix(name, "Routing")
		for _, key := range sortedKeys(def.Properties) {
			p := def.Properties[key]
			typ := floorType(p)
			if union {
				typ = "*" + typ
			}
			comment(&b, "\t", p.Description)
			fmt.Fprintf(&b, "\t%s %s `json:%q`\n", exported(key), typ, key+",omitempty")
		}
		fmt.Fprintf(&b, "}\n\nvar shape%s = Shape{%q, (*%[1]s)(nil), []Field{\n", name, name)
		for _, key := range sortedKeys(def.Properties) {
			fmt.Fprintf(&b, "\t{Name: %q, Required: %v},\n", key,
				slices.Contains(def.Required, key))
		}
		fmt.Fprintf(&b, "}}\n\nfunc (*%s) Shape() *Shape { return &shape%[1]s }\n"+
			"func (v *%[1]s) UnmarshalJSON(b []byte) error { return unmarshal(b, v) }\n", name)
		switch {
		case union:
			fmt.Fprintf(&b, "func (v *%s) Selected() (string, error) {\n\tvar s selection\n", name)
			for _, key := range sortedKeys(def.Properties) {
				fmt.Fprintf(&b, "\ts.or(%q, v.%s != nil)\n", key, exported(key))
			}
			b.WriteString("\treturn s.name, s.err\n}\n")
		case strings.HasSuffix(name, "InterruptRequest"):
			fmt.Fprintf(&b, "func (*%s) isInterrupt() {}\n", name)
		case strings.HasSuffix(name, "Request"):
			fmt.Fprintf(&b, "func (*%s) isRequest() {}\n", name)
		}
	}
	for _, set := range []string{"Request", "InterruptRequest"} {
		var methods, cases bytes.Buffer
		for i := range nodes {
			name := fmt.Sprintf("Worker%d%s", i, set)
			fmt.Fprintf(&methods, "\tVisit%s(*%[1]s) error\n", name)
			fmt.Fprintf(&cases, "\tcase *%s:\n\t\treturn visitor.Visit%[1]s(m)\n", name)
		}
		fmt.Fprintf(&b, "\ntype %sVisitor interface {\n%s}\n\n"+
			"func Visit%[1]s(message %[1]s, visitor %[1]sVisitor) error {\n"+
			"\tswitch m := message.(type) {\n%[3]s\t}\n\treturn errors.New(\"unhandled\")\n}\n",
			set, methods.String(), cases.String())
	}
	b.WriteString("\ntype Handlers interface {\n")
	for i := range nodes {
		fmt.Fprintf(&b, "\tWorker%d(context.Context, *Worker%[1]dRequest) "+
			"(*Worker%[1]dRouting, error)\n", i)
	}
	b.WriteString("}\n")
	return b.Bytes()
}

const floorHead = `package out

import (
	"context"
	"errors"
)

type Field struct {
	Name             string
	Required, Hidden bool
}

type Shape struct {
	Name   string
	Of     any
	Fields []Field
}

type Record interface{ Shape() *Shape }

type Request interface {
	Record
	isRequest()
}

type InterruptRequest interface {
	Record
	isInterrupt()
}

type selection struct {
	name string
	err  error
}

func (s *selection) or(name string, set bool) {
	if set {
		s.set(name)
	}
}

//go:noinline
func (s *selection) set(name string) { s.name = name }

//go:noinline
func unmarshal([]byte, Record) error { return nil }

`

func exported(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// floorType is the Go type of a property. Enums are strings here.
func floorType(p prop) string {
	switch {
	case p.Ref != "":
		return strings.TrimPrefix(p.Ref, "#/$defs/")
	case p.Type == "array":
		return "[]" + floorType(*p.Items)
	case p.Type == "object":
		return "map[string]" + floorType(*p.Values)
	}
	return map[string]string{"string": "string", "integer": "int64", "number": "float64",
		"boolean": "bool"}[p.Type]
}
