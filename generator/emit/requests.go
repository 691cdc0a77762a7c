package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/routegen/routegen/generator/plan"
)

// emitRequests writes the sealed set of requests, then every struct that is not an interrupt or a routing.
func emitRequests(g *goFile) {
	requests := withRole(g.p, plan.RoleRequest)
	g.sealed("Request", "RequestName",
		"Request is the sealed set of messages that activate or resume a node. Only the types of this package can be one; "+
			"switch over them with VisitRequest, which does not compile while a case is missing.")
	n := named{typ: "RequestName", what: "request", names: "requestNames", doc: "RequestName names a type of the set Request."}
	for _, r := range requests {
		n.rows = append(n.rows, namedRow{constant: r.Const, text: r.Name, doc: r.Const + " names " + r.Name + "."})
	}
	g.names(n)
	node := func(r plan.Record) *plan.Node { return g.p.Node(r.Node) }
	g.lookup("RequestName", "Node", "returns the node that the request reaches.", "NodeName", "requestNodes",
		column(requests, func(r plan.Record) string { return node(r).Const }))
	g.lookup("RequestName", "Interrupt", "returns the interrupt that the reached node raises, or 0 where it raises none.", "InterruptName", "requestInterrupts",
		column(requests, func(r plan.Record) string { return nameOf(node(r).Interrupt) }))
	g.lookup("RequestName", "Routing", "returns the routing that the reached node answers with.", "RoutingName", "requestRoutings",
		column(requests, func(r plan.Record) string { return nameOf(node(r).Routing) }))
	g.method("RequestName", "DisplayName", "returns the words a person reads.", "string",
		rt("At").Call(jen.Id("requestDisplayNames"), jen.Id("v")))

	for _, r := range requests {
		about := r.Name + " activates the node " + r.Node + "."
		if own := node(r); own.Request != r.Name {
			about = r.Name + " reaches the node " + r.Node + "."
		}
		g.record(r, about)
		g.member(r, "Request", "RequestName")
	}
	for _, r := range withRole(g.p, plan.RoleResult) {
		g.record(r, r.Name+" ends a frame.")
	}
	for _, r := range withRole(g.p, plan.RoleNested) {
		g.record(r, r.Name+" is part of other messages.")
	}
}

// nameOf is the constant that names a request, an interrupt or a routing.
func nameOf(record string) string {
	if record == "" {
		return ""
	}
	return "Name" + record
}
