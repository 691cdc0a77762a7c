package workflow

import "github.com/routegen/routegen/runtime"

// another reports whether an entry begins what another message asks for.
func (d *delivery) another(row *runtime.Entry) bool {
	return row.Request != "" && row.Request != d.m.ID && bringsMessage(row)
}

// bringsMessage reports whether the request of an entry is a message: others ask for things that go on beside a turn, like a claim.
func bringsMessage(row *runtime.Entry) bool {
	switch row.Type {
	case runtime.EntryEntered, runtime.EntryAnswered, runtime.EntryVoted, runtime.EntryReasked, runtime.EntryMetadata:
		return true
	case runtime.EntryMessage:
		return row.Name == asideName
	default:
		return false
	}
}
