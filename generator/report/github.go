package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteGitHub writes findings as workflow commands, which GitHub shows beside the changed lines. It
// returns the first write error.
func WriteGitHub(w io.Writer, findings []Finding) error {
	out := bufio.NewWriter(w)
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for i := range findings {
		f := &findings[i]
		at := f.spanOrStart()
		fmt.Fprintf(out, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", gitHubLevel(f.Severity),
			property.Replace(f.File), at.Start.Line, at.Start.Column, property.Replace(f.Rule),
			message.Replace(f.text()))
	}
	return out.Flush()
}

// gitHubLevel returns GitHub's name of a severity: error, warning or notice.
func gitHubLevel(s Severity) string {
	switch s {
	case Error, Warning:
		return string(s)
	default:
		return "notice"
	}
}
