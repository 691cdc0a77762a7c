package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
)

// startFanOut starts a child for each request of a dispatch. The children run concurrently.
func (s *stepRun) startFanOut(n *runtime.Node) (thread.Transition, error) {
	each, err := dispatchList(n, s.state.Request)
	if err != nil {
		return thread.Transition{}, err
	}
	leaf := s.node(n.Dispatch.To)
	typeName := runtime.Row(s.tables.Requests, leaf.Request).Name
	children := make([]thread.Spawned, len(each))
	for i, one := range each {
		child := frameState{Dispatch: n.Key, Index: i + 1,
			Last: map[string]storedRequest{n.Key: {s.state.Type, s.state.Request}}}
		child.enterNode(leaf, typeName, one, false)
		children[i] = thread.Spawned{Machine: Name, Name: leaf.Key,
			Input: frameInput{State: &child}}
	}
	return thread.Call(pcCollect, s.state, children...), nil
}

// dispatchList returns the requests that a dispatch's request lists.
func dispatchList(dispatch *runtime.Node, request json.RawMessage) (each []json.RawMessage,
	err error) {
	var fields map[string]json.RawMessage
	if err = json.Unmarshal(request, &fields); err == nil {
		err = json.Unmarshal(fields[dispatch.Dispatch.Each], &each)
	}
	return each, err
}

// collectResults passes the results of a fan-out, in the order of the requests, to the dispatch
// node. A child that was pruned, stopped or failed, or that returned another type, has no result
// and is listed by [Lost].
func (s *stepRun) collectResults() (thread.Transition, error) {
	n := s.node(s.nodeByKey(s.state.Node))
	leaf := s.node(n.Dispatch.To)
	list := []json.RawMessage{}
	for _, c := range s.a.Frame.Children {
		var result map[string]json.RawMessage
		switch {
		case c.Skipped && c.Value != nil && string(c.Value) != "null": // a person chose it
			list = append(list, c.Value)
		case c.Failure == nil && json.Unmarshal(c.Value, &result) == nil &&
			result[leaf.Result] != nil:
			list = append(list, result[leaf.Result])
		default:
			s.state.Lost = append(s.state.Lost, c)
		}
	}
	results := s.program.Request(n.Dispatch.Results)
	if results == nil {
		return thread.Transition{}, runtime.Errorf(runtime.CodeInternal, "collect "+n.Key,
			"the program has no %s", n.Dispatch.Results)
	}
	fields, err := zeroFields(results)
	if err != nil {
		return thread.Transition{}, err
	}
	if fields[resultsField(results.Shape())], err = runtime.Encode(list); err != nil {
		return thread.Transition{}, err
	}
	if s.state.Results, err = rebuildRecord(results, fields); err != nil {
		return thread.Transition{}, err
	}
	return thread.Advance(n.Key, s.state), nil
}

// zeroFields returns the fields of a zero record as JSON; required fields are present and empty.
func zeroFields(v runtime.Record) (map[string]json.RawMessage, error) {
	data, err := runtime.Encode(v)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	return fields, json.Unmarshal(data, &fields)
}

// resultsField returns the name of the field for the results: the first required one, which the
// generator has checked to be a list of them.
func resultsField(shape *runtime.Shape) string {
	for i := range shape.Fields {
		if shape.Fields[i].Required && !shape.Fields[i].Hidden {
			return shape.Fields[i].Name
		}
	}
	return shape.Fields[0].Name
}

// resumeDispatch continues at the dispatch node with results that another node returned.
func (s *stepRun) resumeDispatch(row runtime.BranchRow, value json.RawMessage) (thread.Transition,
	error) {
	n := s.node(row.Node)
	last, err := s.lastRequest(n, "results came back to it")
	if err != nil {
		return thread.Transition{}, err
	}
	s.state.enterNode(n, last.Type, last.Request, false)
	s.state.Results = value
	return s.expireReroutes(thread.Advance(n.Key, s.state)), nil
}

// setDefaultDecision adds the default decision to a collector's result without one.
func setDefaultDecision(n *runtime.Node, value json.RawMessage) (json.RawMessage, error) {
	if decision := textAt(value, n.Collect.Field); decision != "" {
		return value, nil
	}
	return setText(value, n.Collect.Field, n.Collect.Default)
}

// followDecision reads the decision in a collector's result and continues at its arm.
func (s *stepRun) followDecision(n *runtime.Node, row runtime.BranchRow, value json.RawMessage) (
	thread.Transition, error) {
	decision := textAt(value, n.Collect.Field)
	to := ""
	for _, arm := range n.Collect.Arms {
		if arm.Decision == decision {
			to = arm.To
		}
	}
	switch to {
	case "":
		return thread.Transition{}, runtime.Errorf(runtime.CodeInvalid, "collect "+n.Key,
			"the decision %q has no arm", decision)
	case "end":
		return s.endWithResult(row.Type, value), nil
	}
	branch, err := s.findBranch(n, to)
	if err != nil {
		return thread.Transition{}, err
	}
	request, err := s.buildArmRequest(n, branch, value)
	if err != nil {
		return thread.Transition{}, err
	}
	return s.advanceTo(s.node(branch.Node), storedRequest{branch.Type, request}), nil
}

// buildArmRequest makes the request of an arm: the node's last request, or else the fields of the
// same names in the most recent requests. The fields that the table carries over from the result
// replace those.
func (s *stepRun) buildArmRequest(n *runtime.Node, to runtime.BranchRow, value json.RawMessage) (
	json.RawMessage, error) {
	target := s.program.Request(to.Type)
	if target == nil {
		return nil, runtime.Errorf(runtime.CodeInternal, "collect "+n.Key, "the program has no %s",
			to.Type)
	}
	fields, err := zeroFields(target)
	if err != nil {
		return nil, err
	}
	shape := target.Shape()
	maps.Copy(fields, s.inheritedFields(shape))
	if last, ok := s.state.Last[s.node(to.Node).Key]; ok && last.Type == to.Type {
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
	request, err := rebuildRecord(target, fields)
	if err != nil {
		return nil, thread.Permanent(fmt.Errorf("the result of %s does not make a %s: %w", n.Key,
			to.Type, err))
	}
	return request, nil
}

// inheritedFields returns the required fields of shape that earlier requests have under the same
// names; the latest wins.
func (s *stepRun) inheritedFields(shape *runtime.Shape) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range s.state.Trail { // the newest is last and wins
		var earlier map[string]json.RawMessage
		if json.Unmarshal(s.state.Last[s.state.Trail[i].Node].Request, &earlier) != nil {
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
	return slices.ContainsFunc(s.Fields, func(f runtime.Field) bool { return f.Name == name })
}

// textAt returns the string at a path of JSON names joined by dots.
func textAt(doc json.RawMessage, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		var fields map[string]json.RawMessage
		if json.Unmarshal(doc, &fields) != nil || fields[name] == nil {
			return ""
		}
		doc = fields[name]
	}
	var text string
	if json.Unmarshal(doc, &text) != nil {
		return ""
	}
	return text
}

// setText returns doc with the string at such a path set to text.
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
