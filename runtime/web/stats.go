package web

import (
	"time"
)

// stat is a [thread.Stat] on the wire.
type stat struct {
	Kind       string `json:"kind"`
	Node       string `json:"node,omitempty"`
	Assignee   string `json:"assignee,omitempty"` // who answered, or else the first who was asked
	Count      int    `json:"count"`
	Answered   int    `json:"answered"`
	Expired    int    `json:"expired"`
	Superseded int    `json:"superseded"`
	Clashed    int    `json:"clashed"`
	Reasked    int    `json:"reasked"`
	Median     int64  `json:"median"`
	P95        int64  `json:"p95"`
}

func (c *Call) stats() (any, error) {
	since, err := c.numberParam("since", 1<<53)
	if err != nil {
		return nil, err
	}
	found, err := c.s.engine.Stats(c.Context(), time.UnixMilli(since).UTC())
	if err != nil {
		return nil, err
	}
	out := list[stat]{Items: []stat{}}
	for _, s := range found {
		out.Items = append(out.Items, stat{
			Kind: s.Kind, Node: s.Node, Assignee: s.Assignee, Count: s.Count, Answered: s.Answered,
			Expired: s.Expired, Superseded: s.Superseded,
			Clashed: s.Clashed, Reasked: s.Reasked, Median: s.Median.Milliseconds(),
			P95: s.P95.Milliseconds(),
		})
	}
	return out, nil
}
