package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/generator/plan"
	"github.com/routegen/routegen/runtime/schema"
)

// maxSchemaFiles is how many records and routings have a file each; with more, all share schemas/schemas.json.
const maxSchemaFiles = 2000

// readingOrder is the order of keywords in a schema: what it is, what it is for, what is in it, what bounds it.
var readingOrder = map[string]int{
	"$ref": 1, "type": 2, "description": 3, "properties": 4, "required": 5, "additionalProperties": 6, "items": 7, "enum": 8,
	"format": 9, "pattern": 10, "minLength": 11, "maxLength": 12, "minimum": 13, "maximum": 14, "minItems": 15, "maxItems": 16,
	"minProperties": 17, "maxProperties": 18, "default": 19, "examples": 20,
}

// inReadingOrder returns a schema with its keywords sorted; properties keep their order, and data is left alone. The
// schema of any JSON, which the library writes as true, becomes {}.
func inReadingOrder(v *schema.Value) *schema.Value {
	out := &schema.Value{Kind: schema.Object}
	if v.Kind != schema.Object {
		if v.Text == "true" {
			return out
		}
		return v
	}
	for _, m := range v.Members {
		switch m.Key {
		case "items", "additionalProperties":
			m.Value = inReadingOrder(m.Value)
		case "properties":
			table := &schema.Value{Kind: schema.Object}
			for _, property := range m.Value.Members {
				property.Value = inReadingOrder(property.Value)
				table.Members = append(table.Members, property)
			}
			m.Value = table
		}
		out.Members = append(out.Members, m)
	}
	slices.SortFunc(out.Members, func(a, b schema.Member) int { return readingOrder[a.Key] - readingOrder[b.Key] })
	return out
}

// fragments is the plain text of the records, by name, with what each refers to.
type fragments struct {
	p    *plan.Plan
	defs map[string]Definition
}

// get returns a record's definition. One that no model sees has none yet: it is built here, for its file.
func (f fragments) get(name string) Definition {
	def, ok := f.defs[name]
	if !ok {
		def, _ = define(f.p, f.p.Record(name))
		f.defs[name] = def
	}
	return def
}

// schemaFiles returns the plain schemas for reviewers, by path relative to the output package: one file for each request,
// interrupt, result and routing, or one for all where there are more than 2,000 records and routings. The error means
// a fault of this program.
func schemaFiles(p *plan.Plan, defs []Definition) (map[string][]byte, error) {
	f := fragments{p, make(map[string]Definition, len(defs))}
	for _, def := range defs {
		f.defs[def.Name] = def
	}
	for _, r := range p.Records {
		if f.get(r.Name).Plain == "" {
			return nil, fmt.Errorf("the schema of %s nests too deeply: split its types into records", r.Name)
		}
	}
	files := map[string][]byte{}
	if len(p.Records)+len(p.Routings) > maxSchemaFiles {
		text, err := document(p, "", f.everything())
		files["schemas/schemas.json"] = text
		return files, err
	}
	add := func(name, root string, refs []string) error {
		text, err := document(p, root, f.reachable(refs))
		files["schemas/"+name+".json"] = text
		return err
	}
	for _, r := range p.Records {
		if r.Role == plan.RoleNested {
			continue
		}
		def := f.get(r.Name)
		if err := add(def.Name, def.Plain, def.Refs); err != nil {
			return nil, err
		}
	}
	for i := range p.Routings {
		root, refs := routingSchema(&p.Routings[i])
		if err := add(p.Routings[i].Name, root, refs); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// routingSchema returns a routing as a closed object of which exactly one property is set, and the records it names.
func routingSchema(r *plan.Routing) (text string, refs []string) {
	properties := make([]string, len(r.Branches))
	for i, b := range r.Branches {
		properties[i] = quote(b.JSON) + `:{"$ref":` + quote("#/$defs/"+b.Type) + `}`
		refs = append(refs, b.Type)
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") +
		`},"additionalProperties":false,"minProperties":1,"maxProperties":1}`, refs
}

// reachable returns the definitions that the named records lead to, themselves included, as `"Name":{...}`, sorted.
func (f fragments) reachable(names []string) []string {
	seen, queue := map[string]bool{}, slices.Clone(names)
	for len(queue) > 0 {
		name := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if !seen[name] {
			seen[name] = true
			queue = append(queue, f.get(name).Refs...)
		}
	}
	rows := make([]string, 0, len(seen))
	for name := range seen {
		rows = append(rows, quote(name)+":"+f.get(name).Plain)
	}
	slices.Sort(rows)
	return rows
}

// everything returns all records that a file would show, and all routings, as `"Name":{...}`, sorted.
func (f fragments) everything() []string {
	var rows, roots []string
	for _, r := range f.p.Records {
		if r.Role != plan.RoleNested || r.Schema {
			roots = append(roots, r.Name)
		}
	}
	rows = f.reachable(roots)
	for i := range f.p.Routings {
		text, _ := routingSchema(&f.p.Routings[i])
		rows = append(rows, quote(f.p.Routings[i].Name)+":"+text)
	}
	slices.Sort(rows)
	return rows
}

// document writes a file: the header keys, the members of root, and $defs where there are any.
func document(p *plan.Plan, root string, defs []string) ([]byte, error) {
	var compact, out bytes.Buffer
	compact.WriteString(`{"$schema":"https://json-schema.org/draft/2020-12/schema","$comment":` +
		quote("Code generated by routegen from "+p.Source+"; DO NOT EDIT."))
	if inner := strings.TrimSuffix(strings.TrimPrefix(root, "{"), "}"); inner != "" {
		compact.WriteString("," + inner)
	}
	if len(defs) > 0 {
		compact.WriteString(`,"$defs":{`)
		for i, def := range defs {
			if i > 0 {
				compact.WriteByte(',')
			}
			compact.WriteString(def)
		}
		compact.WriteByte('}')
	}
	compact.WriteByte('}')
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// quote writes s as a JSON string without HTML escapes.
func quote(s string) string { return (&schema.Value{Kind: schema.String, Text: s}).String() }
