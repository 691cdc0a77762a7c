// Package templates holds the text of everything the generator writes as prose. A template only prints: what to print is
// decided in Go, and every value arrives escaped.
package templates

import (
	"embed"
	"fmt"
	"text/template"
)

// FS holds docs/*.tmpl, by their path below this folder. It never changes, and any number of goroutines may read it.
//
//go:embed docs/*.tmpl
var FS embed.FS

// Doc returns the parsed template docs/NAME.tmpl. A value it asks for and does not get is an error when it is executed.
// It refuses a name that does not exist and a template that does not parse, with the name in the error.
func Doc(name string) (*template.Template, error) {
	t, err := template.New(name+".tmpl").Option("missingkey=error").ParseFS(FS, "docs/"+name+".tmpl")
	if err != nil {
		return nil, fmt.Errorf("template of %s: %w", name, err)
	}
	return t, nil
}
