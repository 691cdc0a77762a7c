package workflow

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// fanOut makes one child lane for every request of a dispatch. They run at the same time.
func (s *step) fanOut(n *runtime.Node, request runtime.Record) (thread.Transition, error) {
	data, err := runtime.Encode(request)
	if err != nil {
		return thread.Transition{}, err
	}
	var fields map[string]json.RawMessage
	var each []json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return thread.Transition{}, err
	}
	if err := json.Unmarshal(fields[n.Dispatch.Each], &each); err != nil {
		return thread.Transition{}, err
	}
	leaf := s.node(n.Dispatch.To)
	typeName := row(s.tables.Requests, leaf.Request).Name
	children := make([]thread.Spawned, len(each))
	for i, one := range each {
		lane := journal{Index: i + 1, Last: map[string]stored{n.Key: {s.j.Type, data}}}
		lane.enter(leaf.Key, typeName, one)
		children[i] = thread.Spawned{Machine: Name, Name: leaf.Key, Input: opening{Journal: &lane}}
	}
	return thread.Call(pcCollect, s.j, children...), nil
}

// collect puts the results of a fan-out together, in the order of the requests, and hands them to the dispatch node. A child that was pruned,
// stopped or failed has no result; the dispatch goes on without it.
func (s *step) collect() (thread.Transition, error) {
	n := s.node(s.byKey(s.j.Node))
	var list []json.RawMessage
	for _, c := range s.a.Frame.Children {
		if c.Failure == nil && c.Value != nil && string(c.Value) != "null" {
			list = append(list, c.Value)
		}
	}
	results := s.program.Request(n.Dispatch.Results)
	if results == nil {
		return thread.Transition{}, refuse(runtime.CodeInternal, "collect "+n.Key, "the program has no "+n.Dispatch.Results)
	}
	field := listOf(results)
	if list == nil {
		list = []json.RawMessage{}
	}
	data, err := runtime.Encode(map[string]any{field: list})
	if err != nil {
		return thread.Transition{}, err
	}
	if err := runtime.Unmarshal(data, results); err != nil {
		return thread.Transition{}, runtime.Permanent(err)
	}
	s.j.Results = data
	return thread.Advance(n.Key, s.j), nil
}

// listOf names the field that takes the results: the one required list. The generator has seen to it that there is one.
func listOf(results runtime.Record) string {
	shape := results.Shape()
	for i := range shape.Fields {
		if shape.Fields[i].Required && !shape.Fields[i].Hidden {
			return shape.Fields[i].Name
		}
	}
	return shape.Fields[0].Name
}

// resume goes on at the dispatch node that takes results which another node brings.
func (s *step) resume(row runtime.BranchRow, value json.RawMessage) (thread.Transition, error) {
	n := s.node(row.Node)
	last, ok := s.j.Last[n.Key]
	if !ok {
		return thread.Transition{}, s.missing(n, "results came back to it")
	}
	s.j.enter(n.Key, last.Type, last.Request)
	s.j.Results = value
	return s.leave(thread.Advance(n.Key, s.j)), nil
}

// decide takes a collector's decision from its result and follows the table.
func (s *step) decide(n *runtime.Node, row runtime.BranchRow, value json.RawMessage) (thread.Transition, error) {
	op := "collect " + n.Key
	decision := n.Collect.Default
	if found, ok := textAt(value, n.Collect.Field); ok && found != "" {
		decision = found
	}
	to := ""
	for _, arm := range n.Collect.Arms {
		if arm.Decision == decision {
			to = arm.To
		}
	}
	switch to {
	case "":
		return thread.Transition{}, invalid(op, "the decision %q has no arm", decision)
	case "end":
		return s.finish(row.Type, value), nil
	}
	branch, ok := s.branch(n, to)
	if !ok {
		return thread.Transition{}, refuse(runtime.CodeInternal, op, "the tables have no branch "+to)
	}
	request, err := s.carried(n, branch, value)
	if err != nil {
		return thread.Transition{}, err
	}
	s.j.enter(s.node(branch.Node).Key, branch.Type, request)
	return s.leave(thread.Advance(s.j.Node, s.j)), nil
}

// carried makes the request of an arm: the last one the node had, or else the required fields that the collector's own request has too, with
// what the table carries over from the result.
func (s *step) carried(n *runtime.Node, to runtime.BranchRow, value json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	target := s.program.Request(to.Type)
	if target == nil {
		return nil, refuse(runtime.CodeInternal, "collect "+n.Key, "the program has no "+to.Type)
	}
	var own map[string]json.RawMessage
	if err := json.Unmarshal(s.j.Request, &own); err != nil {
		return nil, err
	}
	shape := target.Shape()
	for i := range shape.Fields {
		if v, ok := own[shape.Fields[i].Name]; ok && shape.Fields[i].Required {
			fields[shape.Fields[i].Name] = v
		}
	}
	if last, ok := s.j.Last[s.node(to.Node).Key]; ok && last.Type == to.Type {
		if err := json.Unmarshal(last.Request, &fields); err != nil {
			return nil, err
		}
	}
	var result map[string]json.RawMessage
	if err := json.Unmarshal(value, &result); err != nil {
		return nil, err
	}
	for _, c := range n.Collect.Carry {
		if v, ok := result[c.From]; ok && hasField(shape, c.Field) {
			fields[c.Field] = v
		}
	}
	data, err := runtime.Encode(fields)
	if err != nil {
		return nil, err
	}
	if err := runtime.Unmarshal(data, target); err != nil {
		return nil, runtime.Permanent(fmt.Errorf("the result of %s does not make a %s: %w", n.Key, to.Type, err))
	}
	return runtime.Encode(target) // in the order of the type
}

func hasField(s *runtime.Shape, name string) bool {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return true
		}
	}
	return false
}

// textAt reads a text by a path of JSON names joined by points.
func textAt(doc json.RawMessage, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(doc, &fields) != nil || fields[name] == nil {
			return "", false
		}
		doc = fields[name]
	}
	var text string
	if json.Unmarshal(doc, &text) != nil {
		return "", false
	}
	return text, true
}
