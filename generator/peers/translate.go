package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// object is a record, a routing or an enum as JSON Schema.
type object struct {
	Type        string          `json:"type,omitempty"`
	Description string          `json:"description,omitempty"`
	Properties  map[string]prop `json:"properties,omitempty"`
	Required    []string        `json:"required,omitempty"`
	Additional  *bool           `json:"additionalProperties,omitempty"`
	Enum        []string        `json:"enum,omitempty"`
	OneOf       []prop          `json:"oneOf,omitempty"`
}

type prop struct {
	Ref         string   `json:"$ref,omitempty"`
	Type        string   `json:"type,omitempty"`
	Description string   `json:"description,omitempty"`
	Items       *prop    `json:"items,omitempty"`
	Values      *prop    `json:"additionalProperties,omitempty"`
	Enum        []string `json:"enum,omitempty"`
	MaxLength   *int     `json:"maxLength,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`
}

// translate writes the records of plain.json and the routings of the synthetic spec as JSON Schema,
// OpenAPI and Protocol Buffers. The routings are those that generatortest.Synthetic writes.
func translate(dir string, plain []byte, n int) error {
	var file struct {
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(plain, &file); err != nil {
		return err
	}
	interrupt := object{Type: "object", Properties: map[string]prop{}, Additional: new(false)}
	for i := range n {
		request := func(i int) prop {
			return prop{Ref: fmt.Sprintf("#/$defs/Worker%dRequest", i%n)}
		}
		file.Defs[fmt.Sprintf("Worker%dRouting", i)] = object{Type: "object",
			Additional: new(false), Properties: map[string]prop{
				"interruptRequest": {Ref: fmt.Sprintf("#/$defs/Worker%dInterruptRequest", i)},
				"next":             request(i + 1), "skip": request(i + 2),
				"done": {Ref: "#/$defs/Report"}}}
		interrupt.Properties[fmt.Sprintf("worker%dRequest", i)] = request(i)
	}
	file.Defs["InterruptRouting"] = interrupt
	schema, err := json.MarshalIndent(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
		"$defs": file.Defs, "properties": map[string]prop{
			"interrupt": {Ref: "#/$defs/InterruptRouting"}}}, "", "  ")
	if err != nil {
		return err
	}
	api, err := openAPI(file.Defs)
	if err != nil {
		return err
	}
	sealed, err := openAPI(sealedDefs(file.Defs))
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"schema.json": schema, "openapi.json": api,
		"openapi-sealed.json": sealed, "spec.proto": protoOf(file.Defs),
		"floor/out.go": floorOf(file.Defs, n)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// openAPI writes definitions as the components of an OpenAPI document.
func openAPI(defs map[string]object) ([]byte, error) {
	api, err := json.MarshalIndent(map[string]any{"openapi": "3.0.3",
		"info":  map[string]string{"title": "peers", "version": "1"},
		"paths": map[string]any{}, "components": map[string]any{"schemas": defs}}, "", "  ")
	return bytes.ReplaceAll(api, []byte("#/$defs/"), []byte("#/components/schemas/")), err
}

// sealedDefs returns the definitions with the enum once and each routing as a oneOf of its types:
// what is nearest, in OpenAPI, to the types of routegen. The names of the branches are lost.
func sealedDefs(defs map[string]object) map[string]object {
	out := map[string]object{}
	for name, def := range defs {
		properties := map[string]prop{}
		for key, p := range def.Properties {
			if len(p.Enum) > 0 {
				out["Verdict"] = object{Type: "string", Enum: p.Enum}
				p = prop{Ref: "#/$defs/Verdict"}
			}
			properties[key] = p
		}
		def.Properties = properties
		if strings.HasSuffix(name, "Routing") {
			union := object{Description: def.Description}
			for _, key := range sortedKeys(properties) {
				union.OneOf = append(union.OneOf, properties[key])
			}
			def = union
		}
		out[name] = def
	}
	return out
}

// protoOf writes a message for each record, and a oneof for each routing.
func protoOf(defs map[string]object) []byte {
	var b bytes.Buffer
	b.WriteString("syntax = \"proto3\";\npackage peers;\noption go_package = \"peers/out\";\n")
	for _, name := range sortedKeys(defs) {
		def := defs[name]
		comment(&b, "", def.Description)
		fmt.Fprintf(&b, "message %s {\n", name)
		union := strings.HasSuffix(name, "Routing")
		if union {
			b.WriteString("  oneof branch {\n")
		}
		var enums bytes.Buffer
		for i, key := range sortedKeys(def.Properties) {
			p := def.Properties[key]
			typ := protoType(p, key, &enums)
			if !union && !slices.Contains(def.Required, key) && p.Type != "array" &&
				p.Type != "object" {
				typ = "optional " + typ
			}
			comment(&b, "  ", p.Description)
			fmt.Fprintf(&b, "  %s %s = %d;\n", typ, key, i+1)
		}
		if union {
			b.WriteString("  }\n")
		}
		b.Write(enums.Bytes())
		b.WriteString("}\n")
	}
	return b.Bytes()
}

func protoType(p prop, key string, enums *bytes.Buffer) string {
	switch {
	case p.Ref != "":
		return strings.TrimPrefix(p.Ref, "#/$defs/")
	case len(p.Enum) > 0:
		name := strings.ToUpper(key[:1]) + key[1:]
		fmt.Fprintf(enums, "  enum %s {\n    NONE = 0;\n", name)
		for i, value := range p.Enum {
			fmt.Fprintf(enums, "    %s = %d;\n", value, i+1)
		}
		enums.WriteString("  }\n")
		return name
	case p.Type == "array":
		return "repeated " + protoType(*p.Items, key, enums)
	case p.Type == "object":
		return "map<string, " + protoType(*p.Values, key, enums) + ">"
	}
	return map[string]string{"string": "string", "integer": "int64", "number": "double",
		"boolean": "bool"}[p.Type]
}

func comment(b *bytes.Buffer, indent, text string) {
	for line := range strings.Lines(text) {
		b.WriteString(indent + "// " + strings.TrimSpace(line) + "\n")
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// protoc does what the program of that name does: it compiles dir/spec.proto and hands the result
// to a plugin.
func protoc(plugin, dir string) error {
	compiler := protocompile.Compiler{SourceInfoMode: protocompile.SourceInfoStandard,
		Resolver: &protocompile.SourceResolver{ImportPaths: []string{dir}}}
	files, err := compiler.Compile(context.Background(), "spec.proto")
	if err != nil {
		return err
	}
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{"spec.proto"},
		ProtoFile: []*descriptorpb.FileDescriptorProto{
			protoutil.ProtoFromFileDescriptor(files[0])}})
	if err != nil {
		return err
	}
	run := exec.Command(plugin)
	run.Stdin, run.Stderr = bytes.NewReader(request), os.Stderr
	reply, err := run.Output()
	if err != nil {
		return err
	}
	var made pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(reply, &made); err != nil {
		return err
	}
	if made.Error != nil {
		return fmt.Errorf("%s: %s", filepath.Base(plugin), made.GetError())
	}
	for _, f := range made.File {
		name := filepath.Join(dir, "proto", filepath.Base(f.GetName()))
		if err := os.WriteFile(name, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
