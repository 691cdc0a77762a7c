//go:build unix

package killloop

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/client"
	"github.com/routegen/routegen/runtime/workflow"
)

// ack is what a worker has acknowledged. By is made for this one request, so that the log
// shows it.
type ack struct {
	op        string
	thread    string
	by        string
	interrupt string
	value     string // JSON
	told      string // what an escape or an event was told
}

// attempt is one call that changes a thread: from when to when it may have reached a worker.
type attempt struct {
	proc     string
	from, to int64
}

// crowd is everybody outside: they start threads, answer, and do whatever else one can over HTTP.
type crowd struct {
	*cluster

	mu       sync.Mutex
	count    int
	threads  []string
	over     map[string]bool
	acks     []ack
	attempts map[string][]attempt // by thread
	unnamed  []string             // questions that are none of the machines'
	refused  map[string]string    // why the last call was refused, by thread
}

// person is one of them, with dice of its own.
type person struct {
	*crowd

	random *rand.Rand
	calm   bool // only brings things to their end
}

func newCrowd(h *cluster) *crowd {
	return &crowd{
		cluster: h, over: map[string]bool{}, attempts: map[string][]attempt{},
		refused: map[string]string{},
	}
}

// next is a number that was not used before.
func (c *crowd) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count++
	return c.count
}

func (c *crowd) know(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Contains(c.threads, id) {
		c.threads = append(c.threads, id)
	}
}

// unfinished are the threads that are not known to be at their end.
func (c *crowd) unfinished() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range c.threads {
		if !c.over[id] {
			ids = append(ids, id)
		}
	}
	return ids
}

func (c *crowd) acked(a ack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acks = append(c.acks, a)
}

// try makes one call to a worker.
func (c *crowd) try(s *slot, thread string,
	call func(context.Context, *client.Client) error) error {
	const patience = 1500 * time.Millisecond
	p := s.process()
	if p == nil {
		return &runtime.Error{Code: runtime.CodeUnavailable, Op: "call"}
	}
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	a := attempt{proc: p.name, from: micros(time.Now())}
	err := call(ctx, &client.Client{Base: p.base, Token: token})
	a.to = micros(time.Now())
	if unknown(err) { // a stopped worker may still do it
		a.to += micros(time.UnixMicro(0).Add(4 * lease))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[thread] = append(c.attempts[thread], a)
	if err != nil {
		c.refused[thread] = err.Error()
	}
	return err
}

// call tries until a worker has said yes or no, each time another one, the same call. It gives
// up now and then, and nothing is known then.
func (p *person) call(thread string, do func(ctx context.Context, c *client.Client) error) error {
	for n := 0; ; n++ {
		err := p.try(p.slots[p.random.IntN(len(p.slots))], thread, do)
		if !unknown(err) || p.ctx.Err() != nil || !p.calm && p.random.IntN(8) == 0 || n > 200 {
			return err
		}
		<-time.After(10 * time.Millisecond)
	}
}

// fresh is another person, who acts at the same time.
func (p *person) fresh() *person {
	return &person{crowd: p.crowd, random: rand.New(rand.NewPCG(p.random.Uint64(), 1)),
		calm: p.calm}
}

// live does one thing after the other until the storm is over.
func (p *person) live(ended <-chan struct{}) {
	const most = 24
	for {
		select {
		case <-ended:
			return
		case <-p.ctx.Done():
			return
		case <-time.After(time.Duration(p.random.IntN(4)) * time.Millisecond):
		}
		ids := p.unfinished()
		if len(ids) == 0 || len(ids) < most && p.random.IntN(6) == 0 {
			p.start()
			continue
		}
		p.visit(ids[p.random.IntN(len(ids))])
	}
}

// kindsOf are the machines that are started, by the number of a thread.
func machineOf(n int) (machine, name string, input func(text string) json.RawMessage) {
	plain := quoted
	switch n % 5 {
	case 0:
		return workflow.Name, "OrchestratorRequest", func(text string) json.RawMessage {
			const form = `{"request":{"OrchestratorRequest":{"goal":%q,"phase":"DISCOVERY"}}}`
			return fmt.Appendf(nil, form, text)
		}
	case 1:
		return dialogue.Name, "", func(string) json.RawMessage { return quoted(payWord) }
	case 2:
		return pairName, "", plain
	case 3:
		return familyName, "", plain
	default:
		return orderName, "", plain
	}
}

func quoted(text string) json.RawMessage { return fmt.Appendf(nil, "%q", text) }

// start starts a thread, now and then with two inputs at once under one id.
func (p *person) start() {
	n := p.next()
	id := "t" + strconv.Itoa(n)
	p.know(id)
	machine, name, input := machineOf(n)
	begin := func(by *person, text string) {
		who := "starter-" + strconv.Itoa(p.next())
		body := fmt.Appendf(nil, `{"id":%q,"machine":%q,"name":%q,"input":%s,"by":%q}`,
			id, machine, name, input(text), who)
		err := by.call(id, func(ctx context.Context, c *client.Client) error {
			return post(ctx, c, "/v1/threads", "start "+who, body)
		})
		if err == nil {
			by.acked(ack{op: "start", thread: id, by: who, value: string(input(text))})
		}
	}
	if p.random.IntN(3) > 0 {
		begin(p, "input-"+id)
		return
	}
	both := []*person{p.fresh(), p.fresh()}
	var all sync.WaitGroup
	for k, by := range both {
		all.Go(func() { begin(by, fmt.Sprintf("input-%s-%d", id, k)) })
	}
	all.Wait()
}

// visit looks at a thread and does something about it.
func (p *person) visit(id string) {
	var t *web.Thread
	err := p.call(id+" looked at", func(ctx context.Context, c *client.Client) (err error) {
		t, err = c.Thread(ctx, id)
		return err
	})
	switch {
	case runtime.CodeOf(err) == runtime.CodeNotFound:
		p.absent(id)
		return
	case err != nil:
		return
	}
	switch dice := p.random.IntN(100); {
	case finished(t):
		p.finished(id)
		if p.calm || dice >= 5 {
			return
		}
		p.fork(id, t.Seq)
	case p.calm || dice < 80:
		p.move(t)
	case dice < 87:
		p.escape(id)
	case dice < 89:
		p.fork(id, t.Seq)
	case dice < 90:
		p.cancel(id)
	case dice < 95:
		p.reroute(t)
	default:
		p.touch(t)
	}
}

// absent notes that a thread was not made. While the storm lasts another call may still make it.
func (p *person) absent(id string) {
	if p.calm {
		p.finished(id)
	}
}

func (c *crowd) finished(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over[id] = true
}

func (c *crowd) unfinish(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.over, id)
}

func finished(t *web.Thread) bool {
	switch t.Status {
	case thread.StatusDone, thread.StatusCancelled, thread.StatusFailed, thread.StatusHandedOff:
		return true
	case thread.StatusIdle:
		return t.Turn >= 2
	default:
		return false
	}
}

// move answers what a thread asks, and says something to one that is idle.
func (p *person) move(t *web.Thread) {
	open := slices.DeleteFunc(slices.Clone(t.Open), func(i web.Interrupt) bool {
		return i.State != thread.InterruptOpen
	})
	switch {
	case t.Status == thread.StatusIdle:
		p.say(t)
		return
	case len(open) == 0:
		return
	case !p.calm && p.random.IntN(5) == 0:
		p.batch(t.ID, open)
		return
	}
	i := open[p.random.IntN(len(open))]
	if !p.calm && p.random.IntN(3) == 0 { // two who decide differently, at once
		var all sync.WaitGroup
		for _, by := range []*person{p.fresh(), p.fresh()} {
			all.Go(func() { by.answer(&i) })
		}
		all.Wait()
		return
	}
	p.answer(&i)
}

// say begins the next turn of a flow, as its user. Somebody may have found the thread finished
// meanwhile, after a turn that another one began: now it may go on.
func (p *person) say(t *web.Thread) {
	key := "say " + strconv.Itoa(p.next())
	err := p.call(t.ID, func(ctx context.Context, c *client.Client) error {
		_, err := c.Deliver(ctx, t.ID, payWord, t.User, key)
		return err
	})
	p.unfinish(t.ID)
	if err == nil {
		p.acked(ack{op: "message", thread: t.ID, by: t.User})
	}
}

// answer answers a question, with a decision of its own.
func (p *person) answer(i *web.Interrupt) {
	a := thread.Answer{Interrupt: i.ID, By: "person-" + strconv.Itoa(p.next())}
	a.Request = "answer " + a.By
	if !p.decide(i, &a) {
		return
	}
	if len(i.Assignees) > 0 { // a flow asks its user
		a.By = i.Assignees[0]
	}
	if by := i.ClaimedBy; by != "" {
		_ = p.call(i.Thread, func(ctx context.Context, c *client.Client) error {
			_, err := c.Claim(ctx, i.ID, by, true)
			return err
		})
	}
	give := func(q *person) error {
		return q.call(i.Thread, func(ctx context.Context, c *client.Client) error {
			_, err := c.Answer(ctx, a)
			return err
		})
	}
	var again sync.WaitGroup
	if !p.calm && p.random.IntN(6) == 0 { // a balancer that is not patient
		q := p.fresh()
		again.Go(func() { _ = give(q) })
	}
	if give(p) == nil {
		p.acked(ack{op: "answer", thread: i.Thread, by: a.By, interrupt: i.ID, value: given(&a)})
	}
	again.Wait()
}

// decide says what is answered. It reports false for a question that it does not know.
func (p *person) decide(i *web.Interrupt, a *thread.Answer) bool {
	word := []string{"yes", "no"}[p.random.IntN(2)]
	switch {
	case i.Kind == thread.KindUserEscape:
		a.Value = json.RawMessage(`"continue"`)
	case strings.HasPrefix(i.Name, "in_doubt/"):
		a.Value = p.look(i)
	case i.Kind == thread.KindSystemError:
		a.Value = json.RawMessage(`"retry"`)
	case i.Text == amountText:
		a.Text = strconv.Itoa(p.next())
	case i.Text == sureText:
		a.Text = word
	case named(i):
		a.Value = quoted(word + "-" + strconv.Itoa(p.next()))
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.unnamed = append(p.unnamed, fmt.Sprintf("%s asks %s %q", i.Thread, i.Name, i.Text))
		return false
	}
	return true
}

// given is what is stored of an answer.
func given(a *thread.Answer) string {
	if a.Text != "" {
		return string(quoted(a.Text))
	}
	return string(a.Value)
}

// named reports whether the question is one of those that the machines ask.
func named(i *web.Interrupt) bool {
	asks := []string{
		"ok", "note", "left", "right",
		"discoveryOrchestrator/HUMAN_REVIEW", "discoveryAgent/HUMAN_REVIEW",
	}
	return slices.Contains(asks, i.Name) || strings.HasPrefix(i.Name, "child-")
}

// look has an honest person look into the world outside, and say whether an effect in doubt
// has happened.
func (p *person) look(i *web.Interrupt) json.RawMessage {
	var about struct {
		Key string `json:"key"`
	}
	_ = json.Unmarshal(i.Payload, &about) // without a key nothing is found
	for _, row := range readLedger(p.t, p.dir) {
		if row.What == lineBegin && row.Key == about.Key {
			return fmt.Appendf(nil, `{"choice":"done","value":{"mark":%q,"told":%q}}`, row.Mark,
				row.Told)
		}
	}
	return json.RawMessage(`"run"`)
}

// batch answers all questions of a thread in one call, while another person answers one of them.
func (p *person) batch(id string, open []web.Interrupt) {
	by := "batcher-" + strconv.Itoa(p.next())
	var answers []thread.Answer
	for n := range open {
		a := thread.Answer{Interrupt: open[n].ID, By: by}
		if !p.decide(&open[n], &a) {
			return
		}
		if len(open[n].Assignees) > 0 {
			a.By = open[n].Assignees[0]
		}
		answers = append(answers, a)
	}
	other := p.fresh()
	var both sync.WaitGroup
	both.Go(func() { other.answer(&open[0]) })
	err := p.call(id, func(ctx context.Context, c *client.Client) error {
		_, err := c.AnswerAll(ctx, "batch "+by, answers...)
		return err
	})
	for n := range answers {
		if err == nil {
			a := &answers[n]
			p.acked(ack{op: "answer", thread: id, by: a.By, interrupt: a.Interrupt,
				value: given(a)})
		}
	}
	both.Wait()
}
