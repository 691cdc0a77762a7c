package thread

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
)

// CheckKinds returns [runtime.CodeInvalid] for a table of kinds that no engine can follow: one that
// lacks a kind that the engine raises, or has a name that is empty or used twice, or an unknown
// word. The generator checks the same in a spec; this is for tables written by hand.
func CheckKinds(kinds []runtime.Kind) error {
	had := map[string]bool{}
	for i := range kinds {
		k := &kinds[i]
		if k.Name == "" || had[k.Name] {
			return runtime.Errorf(runtime.CodeInvalid, "check kinds",
				"row %d: the name %q is empty or used twice", i+1, k.Name)
		}
		had[k.Name] = true
		if err := checkKind(k); err != nil {
			return runtime.Errorf(runtime.CodeInvalid, "check kinds", "kind %q: %w", k.Name, err)
		}
	}
	for _, k := range DefaultKinds() {
		if !had[k.Name] {
			return runtime.Errorf(runtime.CodeInvalid, "check kinds",
				"there is no kind %q, which the engine raises whatever the table says: give it "+
					"its place in the order", k.Name)
		}
	}
	return nil
}

// checkKind returns why an engine cannot follow a row, nil if it can.
func checkKind(k *runtime.Kind) error {
	if err := checkOneOf("Clash", k.Clash, "supersede", "queue"); err != nil {
		return err
	}
	for _, d := range DefaultKinds() {
		if d.Name != k.Name || d.Choices == nil {
			continue
		}
		for _, c := range k.Choices {
			if err := checkOneOf("a choice", c, d.Choices...); err != nil {
				return err
			}
		}
		if k.Name == KindSystemError && len(k.Choices) > 0 &&
			!slices.Contains(k.Choices, orderAbort) {
			return fmt.Errorf("%s is not among its choices: a step that nothing can repair must "+
				"have an end", orderAbort)
		}
	}
	if k.Name == KindUserEscape && len(k.Assignees) > 0 {
		return errors.New("its Assignees have no effect: who may operate a thread ends its pause")
	}
	for _, who := range k.Assignees {
		if strings.TrimPrefix(who, runtime.GroupPrefix) == "" {
			return fmt.Errorf("%q among its Assignees names no person and no group", who)
		}
	}
	if k.AutoAnswer != "" && !json.Valid([]byte(k.AutoAnswer)) {
		return fmt.Errorf("AutoAnswer %q is not valid JSON", k.AutoAnswer)
	}
	if r := k.Retry; r != nil && (r.Attempts < 1 || r.First < 0 || r.Max < 0) {
		return errors.New("its retry needs one attempt at least, and no negative time")
	} else if r != nil {
		if err := checkOneOf("Retry.Backoff", r.Backoff, "constant", "exponential"); err != nil {
			return err
		}
	}
	return checkDeadline(k.Deadline)
}

// checkDeadline returns why an engine cannot follow a deadline, nil if it can.
func checkDeadline(d *runtime.Deadline) error {
	if d == nil {
		return nil
	}
	missing := ""
	switch d.Then {
	case "default":
		if !json.Valid([]byte(d.Answer)) {
			return fmt.Errorf("its Deadline.Answer %q is not valid JSON", d.Answer)
		}
	case "escalate":
		if d.Assignee == "" {
			missing = "Assignee"
		}
	case "reroute":
		if d.Target == "" {
			missing = "Target"
		}
	}
	switch {
	case missing != "":
		return fmt.Errorf("its Deadline.%s is empty, and %s needs it", missing, d.Then)
	case d.After <= 0 || d.Reminder < 0 || d.Reminder >= d.After:
		return fmt.Errorf("its Deadline.After is %s and Reminder %s: the first must be positive, "+
			"the second shorter", d.After, d.Reminder)
	}
	return checkOneOf("Deadline.Then", d.Then, "expire", "default", "escalate", "reroute", "cancel")
}

func checkOneOf(what, word string, legal ...string) error {
	if slices.Contains(legal, word) {
		return nil
	}
	return fmt.Errorf("%s is %q: use %s", what, word, strings.Join(legal, ", "))
}
