package report

import (
	"encoding/json"
	"io"
	"net/url"
	"slices"
)

// The parts of SARIF 2.1.0 that a report has.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID               string          `json:"id"`
	ShortDescription sarifText       `json:"shortDescription"`
	FullDescription  sarifText       `json:"fullDescription"`
	Properties       sarifProperties `json:"properties"`
}

type sarifProperties struct {
	Category Category `json:"category"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
	Related   []sarifLocation `json:"relatedLocations,omitempty"`
}

type sarifLocation struct {
	Message  *sarifText    `json:"message,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   sarifRegion   `json:"region"`
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

// sarifRegion ends before its end column, as a Span does.
type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
	EndLine     int `json:"endLine"`
	EndColumn   int `json:"endColumn"`
}

// WriteSARIF writes findings as one SARIF 2.1.0 log. It describes the rules that the findings name;
// a rule that is not among the given ones is described by its id. It returns the first write error.
func WriteSARIF(w io.Writer, findings []Finding, rules []Rule) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "routegen",
		InformationURI: "https://github.com/routegen/routegen", Rules: []sarifRule{}}
	index := map[string]int{}
	for i := range findings {
		f := &findings[i]
		at, known := index[f.Rule]
		if !known {
			at = len(run.Tool.Driver.Rules)
			index[f.Rule] = at
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(f.Rule, rules))
		}
		result := sarifResult{
			RuleID: f.Rule, RuleIndex: at, Level: sarifLevel(f.Severity),
			Message:   sarifText{f.text()},
			Locations: []sarifLocation{sarifPlace(f.File, f.spanOrStart(), "")},
		}
		for _, r := range f.Related {
			result.Related = append(result.Related, sarifPlace(f.fileOf(r), r.At, r.Message))
		}
		run.Results = append(run.Results, result)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{
		Schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/" +
			"sarif-schema-2.1.0.json",
		Version: "2.1.0", Runs: []sarifRun{run},
	})
}

func sarifRuleOf(id string, rules []Rule) sarifRule {
	rule := Rule{Summary: id, Why: id}
	if i := slices.IndexFunc(rules, func(r Rule) bool { return r.ID == id }); i >= 0 {
		rule = rules[i]
	}
	return sarifRule{ID: id, ShortDescription: sarifText{rule.Summary},
		FullDescription: sarifText{rule.Why}, Properties: sarifProperties{rule.Category}}
}

// sarifLevel returns SARIF's name of a severity: error, warning or note.
func sarifLevel(s Severity) string {
	if s == Error || s == Warning {
		return string(s)
	}
	return "note"
}

func sarifPlace(file string, at Span, message string) sarifLocation {
	out := sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{(&url.URL{Path: file}).String()},
		Region: sarifRegion{max(at.Start.Line, 1), max(at.Start.Column, 1), max(at.End.Line, 1),
			max(at.End.Column, 1)},
	}}
	if message != "" {
		out.Message = &sarifText{message}
	}
	return out
}
