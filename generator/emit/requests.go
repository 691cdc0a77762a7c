package emit

import "github.com/routegen/routegen/generator/plan"

// emitRequests writes the sealed set of requests, then every struct that is not an interrupt or a
// routing.
func emitRequests(g *goFile) {
	g.sealed("Request", "RequestNode", "returns the node that the request reaches.",
		"Request is the sealed set of messages that activate or resume a node. Only the types of "+
			"this package can be one; "+
			"switch over them with VisitRequest, which does not compile while a case is missing.")
	for _, r := range withRole(g.p, plan.RoleRequest) {
		about := r.Name + " activates the node " + r.Node + "."
		if own := g.p.Node(r.Node); own.Request != r.Name {
			about = r.Name + " reaches the node " + r.Node + "."
		}
		g.record(r, about, g.member(r, "Request", "RequestNode")...)
	}
	for _, r := range withRole(g.p, plan.RoleResult) {
		g.record(r, r.Name+" ends a frame.")
	}
	for _, r := range withRole(g.p, plan.RoleNested) {
		g.record(r, r.Name+" is part of other messages.")
	}
}

// rowOf is the constant that numbers the row of a request, an interrupt or a routing.
func rowOf(record string) string {
	if record == "" {
		return ""
	}
	return "row" + record
}
