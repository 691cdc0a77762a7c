// Package templates holds the text of everything that is written as prose: what the generator
// writes, and what models are told. A template only prints: what to print is decided in Go, and
// every value arrives escaped.
package templates

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"text/template"
)

// FS holds docs/*.tmpl and prompts/*/*.tmpl, by their path below this folder. It never changes, and
// any number of goroutines may read it.
//
//go:embed docs/*.tmpl prompts/section/*.tmpl prompts/workflow/*.tmpl
var FS embed.FS

// Doc returns the parsed template docs/NAME.tmpl. Executing it fails if a value that it uses is
// missing. Doc returns an error that has the name if there is no such template or it does not
// parse.
func Doc(name string) (*template.Template, error) {
	t, err := template.New(name+".tmpl").Option("missingkey=error").
		ParseFS(FS, "docs/"+name+".tmpl")
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	return t, nil
}

// Prompts returns the prompt templates of a program: section/*.tmpl, which every prompt is made of,
// and workflow/*.tmpl, one for each node of the system that ships. A file of own replaces the
// shipped file of the same name or is added to them; own may be nil. The result is safe for
// concurrent use if own is.
func Prompts(own fs.FS) fs.FS { return layers{own} }

type layers struct{ own fs.FS }

// Open returns the file of that name: the program's own, else the shipped one.
func (l layers) Open(name string) (fs.File, error) {
	if l.own != nil {
		f, err := l.own.Open(name)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	shipped, err := fs.Sub(FS, "prompts")
	if err != nil {
		return nil, err
	}
	return shipped.Open(name)
}
