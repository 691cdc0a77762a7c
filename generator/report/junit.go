package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr,omitempty"`
	Line    int           `xml:"line,attr,omitempty"`
	Failure *junitFailure `xml:"failure"`
	Out     string        `xml:"system-out,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes findings as JUnit XML: a suite for each file, a case for each finding. An error
// is a failed case; any other finding is a passed case with its text as output. Without findings
// there is one passed case, named after the file, because readers reject a report without cases. It
// returns the first write error.
func WriteJUnit(w io.Writer, file string, findings []Finding) error {
	out := junitSuites{Name: "routegen"}
	suite := func(name string) *junitSuite {
		at := slices.IndexFunc(out.Suites, func(s junitSuite) bool { return s.Name == name })
		if at < 0 {
			at = len(out.Suites)
			out.Suites = append(out.Suites, junitSuite{Name: name})
		}
		return &out.Suites[at]
	}
	for i := range findings {
		f := &findings[i]
		at := f.spanOrStart()
		place := fmt.Sprintf("%s:%d:%d", f.File, at.Start.Line, at.Start.Column)
		text := f.text()
		c := junitCase{Name: f.Rule + " " + place, Class: f.Rule, File: f.File, Line: at.Start.Line}
		s := suite(f.File)
		if f.Severity == Error {
			c.Failure = &junitFailure{Message: text, Type: f.Rule, Text: place + ": " + text}
			s.Failures++
			out.Failures++
		} else {
			c.Out = string(f.Severity) + ": " + place + ": " + text
		}
		s.Cases, s.Tests, out.Tests = append(s.Cases, c), s.Tests+1, out.Tests+1
	}
	if len(findings) == 0 {
		s := suite(file)
		s.Cases, s.Tests, out.Tests = []junitCase{{Name: file, Class: "routegen"}}, 1, 1
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
