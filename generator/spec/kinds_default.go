package spec

// DefaultKinds are the interrupt kinds of a spec that names none, in the order of their priority. A
// spec that names some names all of these, since the engine raises them. The choices are all the
// orders that the engine knows.
func DefaultKinds() []*InterruptKind {
	text := func(s string) Text { return Text{Value: s} }
	return []*InterruptKind{
		{
			Key: text(kindUserEscape), Doc: text("A person stopped the run."),
			Clash: text("supersede"), Deadline: &Deadline{None: true},
			Choices: []Text{text("continue"), text("modify"), text("cancel"), text("status")},
		},
		{
			Key: text(kindAgentQuestion), Doc: text("A node asks."), Clash: text("queue"),
			Deadline: &Deadline{None: true}, RouteTo: true,
		},
		{
			Key: text(kindSystemError), Doc: text("A step failed."), Clash: text("queue"),
			Retry: &Retry{Attempts: Number{Value: 3}, Backoff: text("exponential"),
				First: text("1s"), Max: text("1m")},
			Choices: []Text{text("retry"), text("edit"), text("skip"), text("reroute"),
				text("abort")},
		},
	}
}

// DefaultKindLines returns the default kinds as a spec writes them out, one line each.
func DefaultKindLines() []string {
	return []string{
		kindUserEscape + ": {doc: A person stopped the run., clash: supersede, deadline: none, " +
			"choices: [continue, modify, cancel, status]}",
		kindAgentQuestion + ": {doc: A node asks., clash: queue, deadline: none, route_to: true}",
		kindSystemError + ": {doc: A step failed., clash: queue, " +
			"retry: {attempts: 3, backoff: exponential, first: 1s, max: 1m}, " +
			"choices: [retry, edit, skip, reroute, abort]}",
	}
}
