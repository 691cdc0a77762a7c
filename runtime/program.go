package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Call tells a handler where it runs. It is a value to read; nothing in it reaches the engine.
type Call struct {
	Thread  string
	Frame   string
	Node    string          // key of the node
	Visit   int             // counts from 1; the node's own interrupt comes back on the same visit
	Allowed []string        // branches that may be set, JSON names; nil means all
	Answer  json.RawMessage // what a person answered, when this call continues after an interrupt: text is a JSON string; nil means there was none
	Results json.RawMessage // of a dispatch node: what its children returned, a record of the type Dispatch.Results
}

// Program is a generated package as the engine knows it: its tables, and one flat switch each for what tables cannot do. Every field is
// set by generated code and none changes later; the functions are safe for concurrent use when the handlers are.
type Program struct {
	Tables  *Tables
	Schemas *Schemas
	Shapes  []StoredShape // what its stored threads rely on

	Request   func(name string) Record  // a fresh value of a request type; nil for an unknown name
	Interrupt func(name string) Record  // a fresh value of an interrupt request type; nil for an unknown name
	Result    func(name string) Record  // a fresh value of a result type; nil for an unknown name
	Routing   func(name string) Routing // a fresh value of a routing type; nil for an unknown name

	// Invoke hands a request to the node that takes it and returns the node's routing. A request that no node takes is refused with
	// CodeNotFound, a handler that returns neither a routing nor an error with CodeNoRoute.
	Invoke func(ctx context.Context, call Call, request Record) (Routing, error)
	// Adapt turns a request of a node's second type into the node's own. A request that is of no second type is refused with
	// CodeNotFound, a handler that returns neither a request nor an error with CodeInternal.
	Adapt func(ctx context.Context, call Call, request Record) (Record, error)
}

// DecodeRequest reads a stored request of the named type as [Unmarshal] does. An unknown name is refused with [CodeNotFound].
func (p *Program) DecodeRequest(name string, data []byte) (Record, error) {
	return decodeNamed("request", name, data, p.Request)
}

// DecodeInterrupt reads a stored interrupt request of the named type as [Unmarshal] does. An unknown name is refused with [CodeNotFound].
func (p *Program) DecodeInterrupt(name string, data []byte) (Record, error) {
	return decodeNamed("interrupt request", name, data, p.Interrupt)
}

// DecodeResult reads a stored result of the named type as [Unmarshal] does. An unknown name is refused with [CodeNotFound].
func (p *Program) DecodeResult(name string, data []byte) (Record, error) {
	return decodeNamed("result", name, data, p.Result)
}

// DecodeRouting reads a stored routing of a node as [Unmarshal] does; node 0 means the interrupt routing. A node without a routing is
// refused with [CodeNotFound].
func (p *Program) DecodeRouting(node int, data []byte) (Routing, error) {
	v, err := p.fresh(node)
	if err != nil {
		return nil, err
	}
	if err := Unmarshal(data, v); err != nil {
		return nil, err
	}
	return v, nil
}

// DecodeReply reads the routing a model answered with, as the function [DecodeReply] does; node 0 means the interrupt routing. A node
// without a routing is refused with [CodeNotFound].
func (p *Program) DecodeReply(node int, data []byte, allowed func(name string) bool) (Routing, error) {
	v, err := p.fresh(node)
	if err != nil {
		return nil, err
	}
	if err := DecodeReply(data, v, allowed); err != nil {
		return nil, err
	}
	return v, nil
}

// RoutingSchema returns the schema of a node's whole routing; node 0 means the interrupt routing. It returns "" for a node without one and
// where [Schemas.Union] does.
func (p *Program) RoutingSchema(node int, d Dialect) string {
	row := p.routing(node)
	return p.Schemas.Union(row.Branches, d)
}

// RouteSchema returns the schema of the interrupt routing narrowed to a set of routes, as [Schemas.Set] does.
func (p *Program) RouteSchema(words []uint64, d Dialect) string { return p.Schemas.Set(words, d) }

func (p *Program) routing(node int) RoutingRow {
	if node == 0 {
		return row(p.Tables.Routings, 1)
	}
	return row(p.Tables.Routings, row(p.Tables.Nodes, node).Routing)
}

func (p *Program) fresh(node int) (Routing, error) {
	name := p.routing(node).Name
	if name != "" {
		if v := p.Routing(name); v != nil {
			return v, nil
		}
	}
	return nil, refuse(CodeNotFound, "decode routing", fmt.Errorf("node %d (%q) has no routing", node, row(p.Tables.Nodes, node).Key))
}

// row is At for the plain indexes of tables.
func row[T any](rows []T, i int) T {
	if i < 0 {
		i = 0
	}
	return At(rows, uint32(i))
}

func decodeNamed(what, name string, data []byte, fresh func(string) Record) (Record, error) {
	v := fresh(name)
	if v == nil {
		return nil, refuse(CodeNotFound, "decode "+what, fmt.Errorf("this program has no %s type %q", what, shortened(name)))
	}
	if err := Unmarshal(data, v); err != nil {
		return nil, err
	}
	return v, nil
}

// Handled turns what a handler returned into what [Program.Invoke] returns. An error goes through as it is, and the routing beside it is
// dropped. No routing and no error is refused with [CodeNoRoute], as a routing without a set branch would be.
func Handled[T any, P interface {
	*T
	Routing
}](routing P, err error) (Routing, error) {
	if err != nil {
		return nil, err
	}
	if routing == nil {
		s := P(new(T)).Shape()
		return nil, notOne(s, "handle: the handler returned neither a routing nor an error", nil, nil)
	}
	return routing, nil
}

// Adapted turns what an adapting handler returned into what [Program.Adapt] returns. An error goes through as it is. No request and no
// error is refused with [CodeInternal]: it is a defect of the handler.
func Adapted[T any, P interface {
	*T
	Record
}](request P, err error) (Record, error) {
	if err != nil {
		return nil, err
	}
	if request == nil {
		name := P(new(T)).Shape().Name
		return nil, refuse(CodeInternal, "adapt", errors.New("the handler returned neither a "+name+" nor an error"))
	}
	return request, nil
}

// Unhandled returns the refusal for a request that no case of a generated switch takes, with [CodeNotFound].
func Unhandled(request Record) error {
	if request == nil {
		return refuse(CodeNotFound, "handle", errors.New("there is no request"))
	}
	return refuse(CodeNotFound, "handle", fmt.Errorf("no handler here takes a %s", request.Shape().Name))
}
