//go:build unix

package killloop

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

func (p *person) escape(id string) {
	by, mode := "escaper-"+strconv.Itoa(p.next()), thread.EscapeSafe
	if p.random.IntN(2) == 0 {
		mode = thread.EscapeNow
	}
	told := ""
	err := p.call(id, func(ctx context.Context, c *client.Client) (err error) {
		told, err = c.Once("escape "+by).Escape(ctx, id, mode, by, "stop")
		return err
	})
	if err == nil && told == thread.AckRequested {
		p.acked(ack{op: "escape", thread: id, by: by})
	}
}

func (p *person) cancel(id string) {
	by := "canceller-" + strconv.Itoa(p.next())
	err := p.call(id, func(ctx context.Context, c *client.Client) error {
		_, err := c.Once("cancel "+by).Cancel(ctx, id, by, "enough")
		return err
	})
	if err == nil {
		p.acked(ack{op: "cancel", thread: id, by: by})
	}
}

// fork forks a thread, which is refused where it was not at rest.
func (p *person) fork(id string, last int64) {
	after := ""
	if last > 10 {
		after = fmt.Sprintf("%s/%d", id, p.random.Int64N(last-5))
	}
	var rows []web.Row
	err := p.call(id+" looked at", func(ctx context.Context, c *client.Client) (err error) {
		rows, _, err = c.History(ctx, id, after, 20)
		return err
	})
	if err != nil || len(rows) == 0 {
		return
	}
	n := p.next()
	by, made := "forker-"+strconv.Itoa(n), "f"+strconv.Itoa(n)
	seq := rows[p.random.IntN(len(rows))].Seq
	err = p.call(made, func(ctx context.Context, c *client.Client) error {
		_, _, err := c.Once("fork "+by).Fork(ctx, id, seq, made, by)
		return err
	})
	if err == nil {
		p.know(made)
		p.acked(ack{op: "fork", thread: made, by: by})
	}
}

// reroute sends an event to a workflow.
func (p *person) reroute(t *web.Thread) {
	if len(t.Frames) == 0 || t.Frames[0].Machine != workflow.Name {
		return
	}
	by := "router-" + strconv.Itoa(p.next())
	event := workflow.Event{
		EventID: "event-" + by, Timestamp: time.Now().UTC().Truncate(time.Millisecond),
		NodeID: t.Frames[0].ID, SourceAgentType: "DISCOVERY_ORCHESTRATOR",
		InterruptType: "HUMAN_REVIEW", Reason: "another way", RequestedBy: by,
	}
	if p.random.IntN(2) == 0 {
		event.RerouteToAgentType = "ORCHESTRATOR"
	}
	told := ""
	err := p.call(t.ID, func(ctx context.Context, c *client.Client) (err error) {
		told, err = c.Once("reroute "+by).Reroute(ctx, t.ID, &event)
		return err
	})
	if err == nil {
		p.acked(ack{op: "reroute", thread: t.ID, by: by, told: told})
	}
}

// touch changes a question, and decides nothing.
func (p *person) touch(t *web.Thread) {
	at := slices.IndexFunc(t.Open, func(i web.Interrupt) bool {
		return i.State == thread.InterruptOpen && i.Due > 0
	})
	if at < 0 {
		return
	}
	i := t.Open[at]
	by := "toucher-" + strconv.Itoa(p.next())
	claim := p.random.IntN(2) == 0
	until := time.UnixMilli(i.Due).Add(time.Duration(p.random.IntN(1000)) * time.Second)
	err := p.call(t.ID, func(ctx context.Context, c *client.Client) error {
		if claim {
			_, err := c.Once("claim "+by).Claim(ctx, i.ID, by, false)
			return err
		}
		_, err := c.Once("extend "+by).Extend(ctx, i.ID, until, by)
		return err
	})
	if err == nil {
		p.acked(ack{op: "touch", thread: t.ID, by: by, interrupt: i.ID})
	}
}
