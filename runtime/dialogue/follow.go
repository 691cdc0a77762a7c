package dialogue

import "github.com/routegen/routegen/runtime"

// another reports whether an entry begins the turn of another message than that of a request.
func another(request string) func(*runtime.Entry) bool {
	return func(row *runtime.Entry) bool {
		begins := row.Type == runtime.EntryEntered && row.Parent == "" || row.Type == runtime.EntryAnswered && row.By != "policy"
		return begins && row.Request != request
	}
}
