package runtime

import (
	"cmp"
	"context"
	"encoding/json"
	"reflect"

	"github.com/routegen/routegen/runtime/internal/brief"
)

// Call tells a handler where it runs. Changing it has no effect on the engine.
type Call struct {
	Thread  string
	Frame   string
	Node    string   // key of the node
	Visit   int      // counts from 1; the node's own interrupt comes back on the same visit
	Allowed []string // branches that may be set, JSON names; nil means all
	// what a person answered, when this call continues after an interrupt: text is a JSON string;
	// nil means there was none
	Answer json.RawMessage
	// of a dispatch node: what its children returned, a record of the type Dispatch.Results
	Results json.RawMessage
}

// Program is a generated package as the engine knows it: its tables, and one flat switch each for
// what tables cannot do. Every field is set by generated code and none changes later; the functions
// are safe for concurrent use when the handlers are.
type Program struct {
	Tables  *Tables
	Schemas *Schemas
	Shapes  []StoredShape // what its stored threads rely on
	// Migrate has a function for each type whose stored values of older shapes are not read as they
	// are, by the name of the type. Generated code leaves it nil: a program sets it on the value
	// that New returned, before it makes a machine of it.
	Migrate map[string]Migrate

	Request func(name string) Record // a fresh value of a request type; nil for an unknown name
	// a fresh value of an interrupt request type; nil for an unknown name
	Interrupt func(name string) Record
	Result    func(name string) Record  // a fresh value of a result type; nil for an unknown name
	Routing   func(name string) Routing // a fresh value of a routing type; nil for an unknown name

	// Invoke hands a request to the node that takes it and returns the node's routing. A request
	// that no node takes is refused with CodeNotFound, a handler that returns neither a routing nor
	// an error with CodeNoRoute.
	Invoke func(ctx context.Context, call Call, request Record) (Routing, error)
	// Adapt turns a request of a node's second type into the node's own. A request that is of no
	// second type is refused with CodeNotFound, a handler that returns neither a request nor an
	// error with CodeInternal.
	Adapt func(ctx context.Context, call Call, request Record) (Record, error)
}

// DecodeRequest reads a stored request of the named type as [Unmarshal] does. An unknown name is
// refused with [CodeNotFound].
func (p *Program) DecodeRequest(name string, data []byte) (Record, error) {
	return decodeNamed("request", name, data, p.Request)
}

// DecodeInterrupt reads a stored interrupt request of the named type as [Unmarshal] does. An
// unknown name is refused with [CodeNotFound].
func (p *Program) DecodeInterrupt(name string, data []byte) (Record, error) {
	return decodeNamed("interrupt request", name, data, p.Interrupt)
}

// DecodeRouting reads a stored routing of a node as [Unmarshal] does; node 0 means the interrupt
// routing. A node without a routing is refused with [CodeNotFound].
func (p *Program) DecodeRouting(node int, data []byte) (Routing, error) {
	return p.decodeRouting(node, func(v Routing) error { return Unmarshal(data, v) })
}

// DecodeReply reads the routing a model answered with, as the function [DecodeReply] does; node 0
// means the interrupt routing. A node without a routing is refused with [CodeNotFound].
func (p *Program) DecodeReply(node int, data []byte, allowed func(name string) bool) (Routing,
	error) {
	return p.decodeRouting(node, func(v Routing) error { return DecodeReply(data, v, allowed) })
}

// RoutingSchema returns the schema of a node's whole routing; node 0 means the interrupt routing.
// It returns "" for a node without one and where [Schemas.Union] does.
func (p *Program) RoutingSchema(node int, d Dialect) string {
	return p.Schemas.Union(p.routingRow(node).Branches, d)
}

// RouteSchema returns the schema of the interrupt routing narrowed to a set of routes, as
// [Schemas.Set] does.
func (p *Program) RouteSchema(words []uint64, d Dialect) string { return p.Schemas.Set(words, d) }

func (p *Program) routingRow(node int) RoutingRow {
	if node == 0 {
		return *Row(p.Tables.Routings, 1)
	}
	return *Row(p.Tables.Routings, Row(p.Tables.Nodes, node).Routing)
}

// decodeRouting returns a fresh routing of a node that decode has filled.
func (p *Program) decodeRouting(node int, decode func(Routing) error) (Routing, error) {
	if name := p.routingRow(node).Name; name != "" {
		if v := p.Routing(name); v != nil {
			if err := decode(v); err != nil {
				return nil, err
			}
			return v, nil
		}
	}
	return nil, Errorf(CodeNotFound, "decode routing",
		"node %d (%q) has no routing", node, Row(p.Tables.Nodes, node).Key)
}

func decodeNamed(what, name string, data []byte, fresh func(string) Record) (Record, error) {
	v := fresh(name)
	if v == nil {
		return nil, Errorf(CodeNotFound, "decode "+what,
			"this program has no %s type %q", what, brief.Shorten(name))
	}
	if err := Unmarshal(data, v); err != nil {
		return nil, err
	}
	return v, nil
}

// Handled turns what a handler returned into what [Program.Invoke] returns. An error goes through
// as it is, and the routing beside it is dropped. A nil routing and no error is refused with
// [CodeNoRoute], as a routing without a set branch would be.
func Handled(routing Routing, err error) (Routing, error) {
	if err != nil {
		return nil, err
	}
	if reflect.ValueOf(routing).IsNil() {
		return nil, selectionError(routing.Shape(),
			"handle: the handler returned neither a routing nor an error", nil, nil)
	}
	return routing, nil
}

// Adapted turns what an adapting handler returned into what [Program.Adapt] returns. An error goes
// through as it is. A nil request and no error is refused with [CodeInternal]: it is a defect of
// the handler.
func Adapted(request Record, err error) (Record, error) {
	if err != nil {
		return nil, err
	}
	if reflect.ValueOf(request).IsNil() {
		return nil, Errorf(CodeInternal, "adapt", "%s",
			"the handler returned neither a "+request.Shape().Name+" nor an error")
	}
	return request, nil
}

// Unimplemented returns the refusal of a method that a program has not written yet, with
// [CodeUnavailable].
func Unimplemented(method string) error { return &Error{Code: CodeUnavailable, Op: method} }

// NewRequest returns a fresh value of a request type; nil for an unknown name.
func (t *Tables) NewRequest(name string) Record { return t.request(name).Shape.New() }

// NewInterrupt returns a fresh value of an interrupt request type; nil for an unknown name.
func (t *Tables) NewInterrupt(name string) Record { return t.interrupt(name).Shape.New() }

// NewRouting returns a fresh value of a routing type; nil for an unknown name.
func (t *Tables) NewRouting(name string) Routing {
	row := findRow(t.Routings, func(r *RoutingRow) bool { return r.Name == name })
	v, _ := (&Shape{Of: row.Of}).New().(Routing)
	return v
}

// NewResult returns what makes a fresh value of a result type among types; it gives nil for an
// unknown name.
func NewResult(types []*Shape) func(name string) Record {
	return func(name string) Record {
		return (*findRow(types, func(s **Shape) bool {
			return (*s).Kind == ShapeResult && (*s).Name == name
		})).New()
	}
}

// DisplayName returns the words a person reads for a request, an interrupt request or the interrupt
// handler, by its name. A name it does not know comes back as it is.
func (t *Tables) DisplayName(name string) string {
	if t.Handler.Name == name {
		return t.Handler.DisplayName
	}
	return cmp.Or(t.request(name).DisplayName, t.interrupt(name).DisplayName, name)
}

func (t *Tables) request(name string) *RequestRow {
	return findRow(t.Requests, func(r *RequestRow) bool { return r.Name == name })
}

func (t *Tables) interrupt(name string) *InterruptRow {
	return findRow(t.Interrupts, func(r *InterruptRow) bool { return r.Name == name })
}

// findRow returns the first row that fits, or a zero row.
func findRow[T any](rows []T, fits func(*T) bool) *T {
	for i := range rows {
		if fits(&rows[i]) {
			return &rows[i]
		}
	}
	return new(T)
}

// Unhandled returns the refusal for a request that no case of a generated switch takes, with
// [CodeNotFound].
func Unhandled(request Record) error {
	if request == nil {
		return Errorf(CodeNotFound, "handle", "there is no request")
	}
	return Errorf(CodeNotFound, "handle", "no handler here takes a %s", request.Shape().
		Name)
}
