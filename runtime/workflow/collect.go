package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
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
		lane := journal{Home: n.Key, Index: i + 1, Last: map[string]stored{n.Key: {s.j.Type, data}}}
		lane.enter(leaf, typeName, one, false)
		children[i] = thread.Spawned{Machine: Name, Name: leaf.Key, Input: opening{Journal: &lane}}
	}
	return thread.Call(pcCollect, s.j, children...), nil
}

// collect puts the results of a fan-out together, in the order of the requests, and hands them to the dispatch node. A child that was pruned,
// stopped or failed, or that ended as something else, has no result: the dispatch goes on without it, and [Lost] names it.
func (s *step) collect() (thread.Transition, error) {
	n := s.node(s.byKey(s.j.Node))
	leaf := s.node(n.Dispatch.To)
	list := []json.RawMessage{}
	for _, c := range s.a.Frame.Children {
		var result map[string]json.RawMessage
		switch {
		case c.Skipped && c.Value != nil && string(c.Value) != "null": // a person chose it
			list = append(list, c.Value)
		case c.Failure == nil && json.Unmarshal(c.Value, &result) == nil && result[leaf.Result] != nil:
			list = append(list, result[leaf.Result])
		default:
			s.j.Lost = append(s.j.Lost, c)
		}
	}
	results := s.program.Request(n.Dispatch.Results)
	if results == nil {
		return thread.Transition{}, refuse(runtime.CodeInternal, "collect "+n.Key, "the program has no "+n.Dispatch.Results)
	}
	fields, err := zero(results)
	if err != nil {
		return thread.Transition{}, err
	}
	if fields[listOf(results.Shape())], err = runtime.Encode(list); err != nil {
		return thread.Transition{}, err
	}
	if s.j.Results, err = rebuild(results, fields); err != nil {
		return thread.Transition{}, err
	}
	return thread.Advance(n.Key, s.j), nil
}

// zero returns the fields of a fresh record as JSON: what is required is there, empty.
func zero(v runtime.Record) (map[string]json.RawMessage, error) {
	data, err := runtime.Encode(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(data, &fields)
}

// listOf names the field that takes the results: the first required one. The generator has seen to it that it is a list of them.
func listOf(shape *runtime.Shape) string {
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
	s.j.enter(n, last.Type, last.Request, false)
	s.j.Results = value
	return s.leave(thread.Advance(n.Key, s.j)), nil
}

// decided gives a collector's result the default decision where it has none.
func decided(n *runtime.Node, value json.RawMessage) (json.RawMessage, error) {
	if decision, _ := textAt(value, n.Collect.Field); decision != "" {
		return value, nil
	}
	return setText(value, n.Collect.Field, n.Collect.Default)
}

// decide takes a collector's decision from its result and follows the table.
func (s *step) decide(n *runtime.Node, row runtime.BranchRow, value json.RawMessage) (thread.Transition, error) {
	op := "collect " + n.Key
	decision, _ := textAt(value, n.Collect.Field)
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
	s.j.enter(s.node(branch.Node), branch.Type, request, false)
	return s.leave(thread.Advance(s.j.Node, s.j)), nil
}

// carried makes the request of an arm: the last one the node had; or else the fields of that name in the requests that ran last, the
// collector's own first, and nothing where none has it. Over that goes what the table carries over from the result.
func (s *step) carried(n *runtime.Node, to runtime.BranchRow, value json.RawMessage) (json.RawMessage, error) {
	target := s.program.Request(to.Type)
	if target == nil {
		return nil, refuse(runtime.CodeInternal, "collect "+n.Key, "the program has no "+to.Type)
	}
	fields, err := zero(target)
	if err != nil {
		return nil, err
	}
	shape := target.Shape()
	maps.Copy(fields, s.inherited(shape))
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
	request, err := rebuild(target, fields)
	if err != nil {
		return nil, runtime.Permanent(fmt.Errorf("the result of %s does not make a %s: %w", n.Key, to.Type, err))
	}
	return request, nil
}

// inherited are the required fields of a request that the requests which ran last had under the same names.
func (s *step) inherited(shape *runtime.Shape) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range s.j.Trail { // the newest last: it counts
		var earlier map[string]json.RawMessage
		if json.Unmarshal(s.j.Last[s.j.Trail[i].Node].Request, &earlier) != nil {
			continue
		}
		for i := range shape.Fields {
			if v, ok := earlier[shape.Fields[i].Name]; ok && shape.Fields[i].Required {
				out[shape.Fields[i].Name] = v
			}
		}
	}
	return out
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

// setText returns a document with a text set by such a path.
func setText(doc json.RawMessage, path, text string) (json.RawMessage, error) {
	name, rest, deeper := strings.Cut(path, ".")
	fields := map[string]json.RawMessage{}
	if doc != nil {
		if err := json.Unmarshal(doc, &fields); err != nil {
			return nil, err
		}
	}
	var err error
	if deeper {
		fields[name], err = setText(fields[name], rest, text)
	} else {
		fields[name], err = runtime.Encode(text)
	}
	if err != nil {
		return nil, err
	}
	return runtime.Encode(fields)
}
