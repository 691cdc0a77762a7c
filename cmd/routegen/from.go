package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/routegen/routegen/generator/spec"
)

// goField is one field of an existing Go struct, as the program that reflects it prints it.
type goField struct {
	Name     string `json:"name"`
	Type     string `json:"type"` // with whole import paths
	Tag      string `json:"tag"`  // the json tag
	Exported bool   `json:"exported"`
	Embedded bool   `json:"embedded"`
}

// ownPlace is what the go command says of the program that reflects, and not of the type.
var ownPlace = regexp.MustCompile(`(?m)^package \S*/routegen-from-\d+\n|^# \S*/routegen-from-\d+\n|^\s*(\S*/routegen-from-\S*\.go|imports \S+ from main\.go|\./main\.go):?(\d+:\d+:)? ?|^exit status \d+\n`)

// goTypeName is module/pkg.Type, the last part an exported name.
var goTypeName = regexp.MustCompile(`^([^\s"]+)\.([A-Z][A-Za-z0-9_]*)$`)

// addFrom adds a type with the fields of an existing Go type, bound to it.
func (p *program) addFrom(ctx context.Context, flags editFlags, what spec.AddWhat, goType string) error {
	m := goTypeName.FindStringSubmatch(goType)
	switch {
	case what.Kind != spec.EditType:
		return errors.New("--from goes with add type NAME alone")
	case m == nil:
		return fmt.Errorf("--from is %q: write module/pkg.Type, as in example.com/app/tickets.Ticket", goType)
	}
	src, res, err := p.load()
	if err != nil {
		return err
	}
	if res.Plan == nil {
		return p.conclude(src, res.Findings, ending{code: judge(res.Findings, false), line: verdict(src.shown, res.Findings) + "; nothing was written"})
	}
	fields, err := reflectType(ctx, src, src.at(res.Plan.Out), m[1], m[2])
	if err != nil {
		return failf("%w; nothing was written", err)
	}
	set, err := fieldsOf(goType, fields)
	if err != nil {
		return failf("%w; nothing was written", err)
	}
	what.Set = append(append(what.Set, spec.KeyValue{Key: "go_type", Value: goType}), set...)
	return p.edit(ctx, flags, func(name string, src []byte) (*spec.EditResult, []spec.Finding) { return spec.Add(name, src, what) })
}

// reflectType runs a small program in the user's module that prints the fields of a type. It stands below the generated package
// for the go command alone, through an overlay: what that package may import, it may import too, and nothing is written there.
func reflectType(ctx context.Context, src *source, out, pkg, name string) (fields []goField, err error) {
	if !src.module {
		return nil, fmt.Errorf("%s is in no module, so %s.%s cannot be found: go mod init", src.root, pkg, name)
	}
	temp, err := os.MkdirTemp("", "routegen-from-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	text, err := render("reflect.go.tmpl", struct{ Package, Name string }{pkg, name})
	if err != nil {
		return nil, err
	}
	file, overlay := filepath.Join(temp, "main.go"), filepath.Join(temp, "overlay.json")
	folder := filepath.Join(filepath.FromSlash(out), filepath.Base(temp))
	list, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(src.root, folder, "main.go"): file}})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(overlay, list, 0o644)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "run", "-buildvcs=false", "-overlay", overlay, "./"+filepath.ToSlash(folder))
	cmd.Dir = src.root
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); errors.Is(err, exec.ErrNotFound) {
		return nil, errors.New("the go command was not found: put it on the PATH")
	} else if err != nil {
		return nil, fmt.Errorf("%s.%s cannot be read: %s", pkg, name, oneLine(ownPlace.ReplaceAllString(stderr.String(), "")))
	}
	return fields, json.Unmarshal(stdout.Bytes(), &fields)
}

// specKey is what a field of the spec may be called.
var specKey = regexp.MustCompile(`^[a-z][A-Za-z0-9]{0,63}$`)

// fieldsOf turns the fields of a Go struct into keys of a new type. A field that generated code could not hold in the same Go
// type is refused: the two could never agree.
func fieldsOf(goType string, fields []goField) ([]spec.KeyValue, error) {
	var out []spec.KeyValue
	for _, f := range fields {
		where := fmt.Sprintf("field %s of %s", f.Name, goType)
		switch {
		case f.Embedded:
			return nil, fmt.Errorf("%s is embedded, and the spec has no form for that", where)
		case !f.Exported:
			return nil, fmt.Errorf("%s is not exported, so no other package can hold the same fields", where)
		}
		name, options, _ := strings.Cut(f.Tag, ",")
		key := lowerFirst(f.Name)
		if specKey.MatchString(name) {
			key = name
		}
		typ, pointer := strings.CutPrefix(f.Type, "*")
		form, ok := specType(typ)
		if name == "-" || !specKey.MatchString(key) {
			return nil, fmt.Errorf("%s has no JSON name that the spec could use: give it a tag, or write the type by hand", where)
		}
		if !ok || pointer && strings.ContainsAny(form, "[]") {
			return nil, fmt.Errorf("%s is %s, and the spec has no form for that Go type: it has forms for %s, pointers to these, and lists and maps of these", where, f.Type, boundTypes)
		}
		at := "fields." + key
		out = append(out, spec.KeyValue{Key: at + ".type", Value: form})
		if pointer || strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero") {
			out = append(out, spec.KeyValue{Key: at + ".optional", Value: "true"})
		}
		if pointer {
			out = append(out, spec.KeyValue{Key: at + ".presence", Value: "explicit"})
		}
		if name != "" && name != key {
			out = append(out, spec.KeyValue{Key: at + ".json", Value: name})
		}
		if spec.GoName(key) != f.Name {
			out = append(out, spec.KeyValue{Key: at + ".go_name", Value: f.Name})
		}
	}
	return out, nil
}

// lowerFirst makes a key of a Go name: TicketID becomes ticketID, URL becomes url.
func lowerFirst(name string) string {
	if strings.ToUpper(name) == name {
		return strings.ToLower(name)
	}
	return strings.ToLower(name[:1]) + name[1:]
}

// boundTypes are the Go types that specType knows, as people write them.
const boundTypes = "string, bool, int64, float64, time.Time, json.RawMessage, runtime.Duration"

// specType writes a Go type as the spec does; false where generated code has no field of that very type.
func specType(goType string) (string, bool) {
	if elem, ok := strings.CutPrefix(goType, "[]"); ok {
		form, ok := specType(elem)
		return "[]" + form, ok
	}
	if elem, ok := strings.CutPrefix(goType, "map[string]"); ok {
		form, ok := specType(elem)
		return "map[string]" + form, ok
	}
	form, ok := map[string]string{
		"string": "string", "bool": "bool", "int64": "int", "float64": "float", "time.Time": "time",
		"encoding/json.RawMessage": "json", runtimeModule + "/runtime.Duration": "duration",
	}[goType]
	return form, ok
}
