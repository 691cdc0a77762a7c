package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// Threads is what `routegen-threads check --format json` found in a store: how many unfinished
// threads a program of the new spec goes on with, and why not with the others.
type Threads struct {
	V          int             `json:"v"`
	Kind       string          `json:"kind"` // threads
	Unfinished int             `json:"unfinished"`
	GoOn       int             `json:"goOn"`
	Refused    []RefusedThread `json:"refused"`
}

// RefusedThread is a thread that the program does not go on with, and each value that it cannot
// read.
type RefusedThread struct {
	Thread   string            `json:"thread"`
	Problems []runtime.Problem `json:"problems"`
}

// ParseThreads reads the JSON of that command. It returns an error for any other document.
func ParseThreads(data []byte) (*Threads, error) {
	var t Threads
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if t.V != 1 || t.Kind != "threads" || t.Unfinished != t.GoOn+len(t.Refused) {
		return nil, errors.New("it is not what routegen-threads check --format json prints")
	}
	return &t, nil
}

// Summary returns the numbers in one line, with the reasons of the first few threads that are
// refused: "12 unfinished threads: 11 go on, 1 refused: order-7 (/frames/0/...)".
func (t *Threads) Summary() string {
	const few = 3
	out := fmt.Sprintf("%s: %d go on, %d refused", counted(t.Unfinished, "unfinished thread"),
		t.GoOn, len(t.Refused))
	for i, r := range t.Refused {
		if i == few {
			return out + fmt.Sprintf("; and %d more", len(t.Refused)-few)
		}
		why := "for no reason given"
		if len(r.Problems) > 0 {
			why = strings.TrimPrefix(r.Problems[0].Pointer+": "+r.Problems[0].Reason, ": ")
		}
		out += ifElse(i == 0, ": ", "; ") + shorten(fmt.Sprintf("%s (%s)", r.Thread, oneLine(why)))
	}
	return out
}

// Text returns the section of a report for a terminal.
func (t *Threads) Text() string { return "\nthe threads of the store\n    " + t.Summary() + "\n" }

// Markdown returns the section of a report on a pull request.
func (t *Threads) Markdown() string {
	return "\n#### The threads of the store\n\n" + md(t.Summary()) + ".\n"
}
