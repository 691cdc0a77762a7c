package workflow

import (
	"context"

	"github.com/routegen/routegen/runtime/agent"
	"github.com/routegen/routegen/runtime/llm"
)

// RunTalk lets a model lead the talk of the node whose handler calls it, as [agent.Talk.Run] says.
// The node's tools are those that its spec names, from Config.Tools and Config.Servers; the model
// is Config.Model if t has none. When the node's own interrupt has come back to it the talk is led
// again, and ROUND in the names of tool effects has the number of that time before it: 2~1.
//
// Each call of the model has the reroute event that is pending then, and a change that a person
// gave after a pause, as a last turn of the user. RunTalk returns CodeInvalid for a context that is
// not that of a node.
func RunTalk(ctx context.Context, t agent.Talk) (*agent.Said, error) {
	p, err := placeOf(ctx, "talk")
	if err != nil {
		return nil, err
	}
	s := p.step
	return t.Run(ctx, &agent.Setup{
		Node: s.node(p.node), Model: s.cfg.Model, Tools: s.cfg.Tools, Servers: s.cfg.Servers,
		Round: s.roundPrefix(), Say: Reply,
		DisplayName: func(key string) string { return s.node(s.nodeByKey(key)).DisplayName },
		CallModel: func(ctx context.Context, m llm.Model, name string,
			request func(string) (llm.Request, error)) (llm.Response, error) {
			return s.callModel(ctx, &modelCall{model: m, name: name, live: true,
				buildRequest: request})
		},
	})
}
