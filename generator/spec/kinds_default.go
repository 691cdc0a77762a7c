package spec

// DefaultKinds are the interrupt kinds of a spec that names none, in the order of their priority.
func DefaultKinds() []*InterruptKind {
	text := func(s string) Text { return Text{Value: s} }
	return []*InterruptKind{
		{
			Key: text("user_escape"), Doc: text("A person stopped the run."), Clash: text("supersede"), Deadline: &Deadline{None: true},
			Choices: []Text{text("continue"), text("modify"), text("cancel"), text("status")},
		},
		{
			Key: text("agent_question"), Doc: text("A node asks."), Clash: text("queue"),
			Deadline: &Deadline{After: text("24h"), Then: text("expire")}, RouteTo: true,
		},
		{
			Key: text("system_error"), Doc: text("A step failed."), Clash: text("queue"),
			Retry:   &Retry{Attempts: Number{Value: 3}, Backoff: text("exponential"), First: text("1s"), Max: text("1m")},
			Choices: []Text{text("retry"), text("edit"), text("skip"), text("reroute"), text("abort")},
		},
	}
}
