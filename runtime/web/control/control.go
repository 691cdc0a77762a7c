// Package control is the door to running work, see [web.Door]: reroute events for the nodes of a
// workflow, and changes on trial of the plan of a paused plan thread. A program mounts it with
//
//	web.Config{Doors: []web.Door{control.Plans(), control.Reroutes(machine)}}
//
// The calls need the right operate: they answer a pause, or send running work elsewhere. A plan is
// changed by the id of a preview, which the store keeps for its caller, its thread and the version
// it was made for, see [planner.ApplyPreview]; or to steps of the caller's own. The calls on plans
// take no Idempotency-Key: one that was carried out is refused the second time.
package control

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"net/http"

	"github.com/routegen/routegen/runtime/planner"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/internal/input"
	"github.com/routegen/routegen/runtime/workflow"
)

//go:embed schemas.json
var schemas []byte

// Plans returns the door for the plans of plan threads. A [web.Moment] shows the plan as a
// [PlanState].
func Plans() web.Door {
	const under = "/v1/threads/{thread}/plan/"
	route := func(verb, id, summary, body, reply string,
		do func(c *web.Call) (any, error)) web.Endpoint {
		return web.Endpoint{Method: http.MethodPost, Path: under + verb, ID: id, Summary: summary,
			Needs: web.ActionOperate, Body: body, Reply: reply, Do: do}
	}
	return web.Door{Schemas: schemas, Plan: planOf, Routes: []web.Endpoint{
		route("preview", "previewPlan", "What a modification would make of a paused plan",
			"Modification", "Proposal", web.Form(previewPlan)),
		route("apply", "applyPlan", "Go on with the plan of a proposal", "Apply", "Thread",
			web.Form(applyPlan)),
		route("undo", "undoPlan", "Go on with the plan before its last change", "By", "Thread",
			web.Form(turnBack(planner.Undo))),
		route("redo", "redoPlan", "Take an undo back, and go on", "By", "Thread",
			web.Form(turnBack(planner.Redo))),
	}}
}

// Reroutes returns the door for the reroute events of a machine.
func Reroutes(m *workflow.Machine) web.Door {
	return web.Door{Schemas: schemas, Reroutes: m.Name(), Routes: []web.Endpoint{{
		Method: http.MethodPost, Path: "/v1/interrupt-events", ID: "reroute",
		Summary: "Interrupt a node, and go on elsewhere", Query: []string{"thread"},
		QueryRequired: true, Needs: web.ActionOperate, Body: "Event", Reply: "Ack", Keyed: true,
		Do: web.Form(func(c *web.Call, e *workflow.Event) (any, error) {
			return reroute(c, m, e)
		}),
	}}}
}

type ack struct {
	Ack string `json:"ack"`
}

// reroute takes an event. The thread stands in the query, so that the body is that of the contract.
func reroute(c *web.Call, m *workflow.Machine, e *workflow.Event) (any, error) {
	_, r := c.HTTP()
	id := r.URL.Query().Get("thread")
	if !input.ValidID(id) {
		return nil, web.BadRequest("name the thread in the query: ?thread=id")
	}
	c.SetAbout(id)
	request, err := c.RequestID()
	if err != nil {
		return nil, err
	}
	if e.RequestedBy, err = c.By(e.RequestedBy); err != nil {
		return nil, input.Under(err, "")
	}
	e.EventID = cmp.Or(e.EventID, request, rand.Text()) // the same call again is the same event
	told, err := c.Once(id, func() (string, error) {
		return m.Reroute(c.Context(), c.Engine(), id, *e)
	})
	if err != nil {
		return nil, err
	}
	return ack{told}, nil
}
