// Package emit turns a plan into files in memory: Go by jennifer, schemas from invopop/jsonschema
// values, prose by text/template. It chooses no name, order or table: all of them are in the plan.
//
// Every Go declaration is checked after rendering: it parses, it is one declaration, and it holds
// no directive but the two that generated code has, so no text of a spec can become code.
package emit

import (
	"fmt"
	"path"
	"sync"

	"github.com/routegen/routegen/generator/plan"
)

// Files renders the whole output of a plan. Keys are slash-separated paths relative to the spec's
// folder. The plan must come from a spec without errors. The same plan gives the same bytes. An
// error is a defect of the generator: its text names the file and holds the source that could not
// be parsed.
func Files(p *plan.Plan) (map[string][]byte, error) {
	files := map[string][]byte{}
	if p.HasWorkflow() {
		schemas, err := schemaFiles(p, shownRecords(p))
		if err != nil {
			return nil, fmt.Errorf("schemas: %w", err)
		}
		for name, text := range schemas {
			files[path.Join(p.Out, name)] = text
		}
	}
	if err := goFiles(p, files); err != nil {
		return nil, err
	}
	doc, err := routesDoc(p)
	if err != nil {
		return nil, err
	}
	files[path.Join(p.Docs, "ROUTES.md")] = doc
	return files, nil
}

// goFiles renders the sections, two at a time: formatting is most of the work, and each more would
// hold one more file's pieces in memory.
func goFiles(p *plan.Plan, files map[string][]byte) error {
	sections := sectionsOf(p)
	made := make([]*goFile, len(sections))
	var group sync.WaitGroup
	slots := make(chan struct{}, 2)
	for i, section := range sections {
		slots <- struct{}{}
		group.Go(func() {
			made[i] = newGoFile(p, section.name)
			section.emit(made[i])
			made[i].finish()
			<-slots
		})
	}
	group.Wait()
	for _, g := range made {
		if err := g.into(files); err != nil {
			return err
		}
	}
	return nil
}

// section is one Go file and the function that fills it.
type section struct {
	name string
	emit func(*goFile)
}

// sectionsOf returns the Go files of a plan. A part that the spec does not have gets no file.
func sectionsOf(p *plan.Plan) []section {
	out := []section{{"shapes_gen.go", emitShapes}}
	if p.HasWorkflow() {
		out = append(out, workflowSections...)
	} else {
		out = append(out, section{"types_gen.go", emitTypes})
	}
	if p.Talk != nil {
		out = append(out, talkSections...)
	}
	return out
}

var workflowSections = []section{
	{"agent_types_gen.go", emitAgentTypes},
	{"requests_gen.go", emitRequests},
	{"interrupts_gen.go", emitInterrupts},
	{"routings_gen.go", emitRoutings},
	{"routes_gen.go", emitRoutes},
	{"schemas_gen.go", emitSchemas},
	{"switches_gen.go", emitSwitches},
	{"handlers_gen.go", emitHandlers},
}

var talkSections = []section{
	{"flows_gen.go", emitFlows},
	{"actions_gen.go", emitActions},
	{"commands_gen.go", emitCommands},
}
