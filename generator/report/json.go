package report

import (
	"bufio"
	"encoding/json"
	"io"
)

// Summary closes a JSON report.
type Summary struct {
	Wrote  int // files written
	Code   int // the exit code of the program
	Deploy any // a verdict, as its own JSON says it; nil: not asked for
}

type findingRecord struct {
	V        int             `json:"v"`
	Kind     string          `json:"kind"`
	Rule     string          `json:"rule"`
	Severity Severity        `json:"severity"`
	File     string          `json:"file"`
	Start    [2]int          `json:"start"`
	End      [2]int          `json:"end"`
	Path     string          `json:"path,omitempty"`
	Message  string          `json:"message"`
	Hint     string          `json:"hint,omitempty"`
	Fixes    []fixRecord     `json:"fixes,omitempty"`
	Related  []relatedRecord `json:"related,omitempty"`
}

type fixRecord struct {
	Title string       `json:"title"`
	Edits []editRecord `json:"edits"`
}

type editRecord struct {
	Start [2]int `json:"start"`
	End   [2]int `json:"end"`
	Text  string `json:"text"`
}

type relatedRecord struct {
	File    string `json:"file,omitempty"` // where it is not the finding's
	Start   [2]int `json:"start"`
	Message string `json:"message"`
}

type summaryRecord struct {
	V        int    `json:"v"`
	Kind     string `json:"kind"`
	Errors   int    `json:"errors"`
	Warnings int    `json:"warnings"`
	Expected int    `json:"expected,omitempty"`
	Notices  int    `json:"notices,omitempty"`
	Wrote    int    `json:"wrote"`
	Code     int    `json:"code"`
	Deploy   any    `json:"deploy,omitempty"`
}

// WriteJSON writes one record a line: every finding, then one summary. The field v stays 1 as long
// as the form stays readable for old readers. Positions are [line, column], columns count
// characters. It returns the first write error.
func WriteJSON(w io.Writer, findings []Finding, end Summary) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	summary := summaryRecord{V: 1, Kind: "summary", Wrote: end.Wrote, Code: end.Code,
		Deploy: end.Deploy}
	for i := range findings {
		f := &findings[i]
		summary.count(f.Severity)
		at := f.spanOrStart()
		record := findingRecord{
			V: 1, Kind: "finding", Rule: f.Rule, Severity: f.Severity, File: f.File,
			Start: pair(at.Start), End: pair(at.End),
			Path: f.Path, Message: f.Message, Hint: f.Hint,
		}
		for _, fix := range f.Fixes {
			edits := make([]editRecord, len(fix.Edits))
			for k, e := range fix.Edits {
				edits[k] = editRecord{pair(e.At.Start), pair(e.At.End), e.Text}
			}
			record.Fixes = append(record.Fixes, fixRecord{fix.Title, edits})
		}
		for _, r := range f.Related {
			record.Related = append(record.Related, relatedRecord{r.File,
				pair(r.At.Start), r.Message})
		}
		if err := enc.Encode(record); err != nil {
			return err
		}
	}
	if err := enc.Encode(summary); err != nil {
		return err
	}
	return out.Flush()
}

func (s *summaryRecord) count(severity Severity) {
	switch severity {
	case Error:
		s.Errors++
	case Warning:
		s.Warnings++
	case Expected:
		s.Expected++
	case Notice:
		s.Notices++
	}
}

func pair(p Pos) [2]int { return [2]int{p.Line, p.Column} }
