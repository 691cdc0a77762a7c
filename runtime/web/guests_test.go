package web_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
	"github.com/routegen/routegen/runtime/web/agui"
	"github.com/routegen/routegen/runtime/web/control"
	"github.com/routegen/routegen/runtime/web/socket"
)

// canary stands in all that a guest without inspect must not read.
const canary = "CANARY-dial db-internal:5432 password=x"

// leaky is a machine whose steps keep the canary wherever work keeps what is its own: an effect, a
// local, a failure, and then a question of the engine. A second turn asks the user.
func leaky(name string) thread.Machine {
	return thread.Turns(name, func(ctx context.Context, in string) (string, error) {
		if in == "ask" {
			return thread.Ask[string](ctx, "q", thread.Question{Text: "Who?",
				Plain: thread.PlainText})
		}
		if _, err := thread.Do(ctx, "tool/"+canary, func(context.Context, string) (string, error) {
			return canary, nil
		}); err != nil {
			return "", err
		}
		return "", thread.Permanent(errors.New(canary))
	})
}

func newLeaky(t *testing.T, store string) (r *rig, id string) {
	t.Helper()
	m := leaky("leaky")
	r = newRig(t, store, web.Config{Programs: map[string]web.Program{"leaky": {Doc: "graph"}},
		Conversation: &chat.Conversation{Machine: m, Cancel: []string{"stop"}},
		Doors:        []web.Door{socket.Door(), agui.Door(), control.Plans()}}, m)
	r.post("/v1/threads", `{"id":"leaky","machine":"leaky","input":"fail","by":"ann"}`).is(201)
	r.settled("leaky")
	return r, "leaky"
}

// A guest reads messages and open questions: in every view that the rights but inspect open, and
// whatever is tried, no error text, effect, grant or other thread.
func TestAGuestReadsNoInside(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r, id := newLeaky(t, store)
			require.Contains(t, string(r.get("/v1/threads/"+id).body), canary, "the control")
			guest := r.forAll(id, "follow", "deliver", "answer", "escape", "cancel")
			looks := []string{"", "/outbox?limit=1000", "/history", "/at/3", "/tokens"}
			var read strings.Builder
			look := func(token string) {
				for _, path := range looks {
					read.Write(r.try(token, http.MethodGet, "/v1/threads/"+id+path, "").body)
				}
				for _, i := range r.settled(id).Open {
					read.Write(r.try(token, http.MethodGet, "/v1/interrupts/"+i.ID, "").body)
					read.Write(r.try(token, http.MethodPost, "/v1/interrupts/"+i.ID+"/answer",
						`{"text":"abort"}`).body)
				}
				next, end := r.events(token, "/v1/threads/"+id+"/stream", "")
				for row := next(); row != nil && row.Seq < r.settled(id).Seq; row = next() {
					read.WriteString(jsonOf(row))
					if row.Type == thread.EntryAsked || row.Type == thread.EntryOver ||
						row.Type == thread.EntryReturned {
						break
					}
				}
				end()
				c := r.socket(token)
				read.WriteString(c.ask(context0(id, "")).raw)
				read.WriteString(jsonOf(c.until(thread.EntryAsked)))
				read.Write(r.try(token, http.MethodPost, "/v1/threads/"+id+"/messages",
					`"hello"`).body)
				r.contract.off = true // a stream of another form
				read.WriteString(r.run(token, id))
			}
			i := r.settled(id).Open[0]
			bound := r.grant(id, fmt.Sprintf(
				`{"interrupt":%q,"actions":["follow","answer"],"by":"ann","expires":%d}`, i.ID,
				r.soon())).Token
			read.Write(r.try(bound, http.MethodGet, "/v1/interrupts/"+i.ID, "").is(200).body)
			look(guest)
			look(r.stored(web.Grant{Thread: id, Actions: []string{"view", "deliver"}, By: "ann",
				Expires: r.soon()}))
			assert.Equal(t, thread.KindSystemError, r.settled(id).Open[0].Kind, "it still asks")
			assert.Contains(t, read.String(),
				"(internal). Who operates this finds more under "+i.ID)
			// the turn ends with its failure: that has the text too
			r.post("/v1/interrupts/"+i.ID+"/answer", `{"text":"abort","by":"op"}`).is(200)
			whole := r.start("talk", `""`)
			_, err := r.engine.Change(t.Context(), whole.ID, func(c *thread.Change) error {
				c.Add(thread.Entry{Type: thread.EntryOver, State: string(thread.StatusFailed),
					Failure: &thread.Failure{Code: runtime.CodeInternal, Text: canary}})
				return nil
			})
			require.NoError(t, err)
			failed := r.settled(whole.ID)
			require.NotNil(t, failed.Failure)
			require.Contains(t, failed.Failure.Text, canary, "the control")
			for _, path := range looks {
				read.Write(r.try(r.forAll(whole.ID, "follow"), http.MethodGet, "/v1/threads/"+
					whole.ID+path, "").body)
			}
			for _, path := range looks {
				read.Write(r.try(guest, http.MethodGet, "/v1/threads/"+id+path, "").body)
			}
			read.WriteString(r.run(guest, id))
			for _, inside := range []string{"CANARY", "db-internal", "grant", "forged"} {
				assert.NotContains(t, read.String(), inside)
			}
			assert.Contains(t, read.String(), "its text is not shown here: see "+whole.ID+"/")

			inspects := r.forAll(id, "inspect", "follow")
			assert.Contains(t, string(r.try(inspects, http.MethodGet, "/v1/threads/"+id+"/history",
				"").is(200).body), canary, "the control: this right shows it")
			blind := r.forAll(id, "deliver")
			said := decode[web.Thread](r.try(blind, http.MethodPost, "/v1/threads/"+id+"/messages",
				`"ask"`).is(200))
			assert.Empty(t, said.Open, "where it stands, and no more")
		})
	}
}

// run is an AG-UI run that says hello, as the client gets it.
func (r *rig) run(token, id string) string {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost,
		r.http.URL+"/v1/agui/leaky", strings.NewReader(`{"threadId":"`+id+`","runId":"`+
			jsonOf(time.Now().UnixNano())+`","messages":[]}`))
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r, err)
	defer func() { _ = res.Body.Close() }()
	return readAll(r.T, res.Body)
}

// A guest answers what handlers ask. What the engine asks, and ending a turn that waits for that,
// takes the right to operate.
func TestAGuestAndTheEnginesQuestions(t *testing.T) {
	t.Parallel()
	r, id := newLeaky(t, "mem")
	i := r.settled(id).Open[0]
	guest := r.grant(id, fmt.Sprintf(
		`{"actions":["follow","answer","deliver"],"by":"ann","expires":%d}`, r.soon())).Token
	before := r.settled(id).Version
	forged := `{"value":{"choice":"skip","value":"FORGED"}}`
	for path, body := range map[string]string{
		"/v1/interrupts/" + i.ID + "/answer": forged, "/v1/threads/" + id + "/answer": forged,
		"/v1/interrupts/" + i.ID + "/claim":    `{}`,
		"/v1/threads/" + id + "/messages":      `{"message":"","cancel":true}`,
		"/v1/threads/" + id + "/plan/preview":  `{"modification":"x"}`,
		"/v1/threads/" + id + "/plan/apply":    `{"preview":"x"}`,
		"/v1/threads/" + id + "/escape":        `{}`,
		"/v1/threads/" + id + "/tokens":        `{"actions":["operate"],"by":"ann","expires":1}`,
		"/v1/interrupts/" + i.ID + "/answer?":  `{"text":"abort"}`,
		"/v1/interrupts/" + i.ID + "/answer?x": `{"routeTo":"HERE"}`,
	} {
		path, _, _ = strings.Cut(path, "?")
		r.try(guest, http.MethodPost, path, body).is(403, runtime.CodeForbidden)
	}
	r.try(guest, http.MethodPost, "/v1/threads/"+id+"/messages", `"stop"`).is(403)
	c := r.socket(guest)
	assert.Contains(t, c.ask(`{"type":"resume","payload":{"thread_id":"`+id+
		`","user_input":"abort"},"id":"r"}`).raw, "forbidden")
	for _, resumed := range []string{`"resolved","payload":{"choice":"abort"}`, `"cancelled"`} {
		r.contract.off = true
		assert.Contains(t, r.resumes(guest, id, i.ID, resumed), `"code":"forbidden"`)
	}
	assert.Equal(t, before, r.settled(id).Version, "nothing happened")

	operates := r.forAll(id, "operate")
	r.try(operates, http.MethodPost, "/v1/interrupts/"+i.ID+"/answer", `{"text":"abort"}`).is(200)
	assert.Equal(t, thread.StatusIdle, r.settled(id).Status, "the control")
	r.try(guest, http.MethodPost, "/v1/threads/"+id+"/messages", `"ask"`).is(200)
	th := r.settled(id)
	require.Len(t, th.Open, 1)
	r.try(guest, http.MethodPost, "/v1/interrupts/"+th.Open[0].ID+"/answer", `{"text":"me"}`).
		is(200)
}

// resumes is an AG-UI run that does something about an interrupt.
func (r *rig) resumes(token, id, interrupt, how string) string {
	r.Helper()
	req, err := http.NewRequestWithContext(r.Context(), http.MethodPost,
		r.http.URL+"/v1/agui/leaky", strings.NewReader(`{"threadId":"`+id+`","runId":"`+
			jsonOf(time.Now().UnixNano())+`","resume":[{"interruptId":"`+interrupt+
			`","status":`+how+`}]}`))
	require.NoError(r, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(r, err)
	defer func() { _ = res.Body.Close() }()
	return readAll(r.T, res.Body)
}

// A token whose one answer is given takes nothing on, and who operates takes over what another
// person has.
func TestClaimsOfGuests(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("pair", `""`)
		one, two := "/v1/interrupts/"+th.Open[0].ID, "/v1/interrupts/"+th.Open[1].ID
		once := r.grant(th.ID, fmt.Sprintf(
			`{"actions":["follow","answer"],"by":"gwen","expires":%d,"once":true}`, r.soon())).Token
		r.try(once, http.MethodPost, two+"/claim", `{}`).is(200)
		r.try(once, http.MethodPost, one+"/answer", `{"text":"x"}`).is(200)
		r.try(once, http.MethodPost, two+"/claim", `{}`).is(403, runtime.CodeForbidden)
		r.try(once, http.MethodPost, two+"/claim", `{"release":true}`).is(200)

		ann := r.forAll(th.ID, "follow", "answer")
		claimed := decode[web.Interrupt](r.try(ann, http.MethodPost, two+"/claim", `{}`).is(200))
		assert.InDelta(t, time.Now().Add(thread.ClaimFor).UnixMilli(), claimed.ClaimedUntil, 60_000)
		refused := r.post(two+"/claim", `{"by":"bob"}`).is(409).problem()
		assert.Contains(t, refused.Detail, "claimed by ann until 20")
		r.post(two+"/claim", `{"by":"bob","takeOver":true,"release":true}`).is(400)
		r.try(ann, http.MethodPost, two+"/claim", `{"takeOver":true}`).is(403)
		taken := decode[web.Interrupt](r.post(two+"/claim", `{"by":"bob","takeOver":true}`).is(200))
		assert.Equal(t, "bob", taken.ClaimedBy)
		assert.Contains(t, string(r.get("/v1/threads/"+th.ID+"/history").body),
			`"type":"claimed","by":"bob","via":"operator","name":"bob"`)
		r.time.move(2 * thread.ClaimFor)
		r.try(ann, http.MethodPost, two+"/answer", `{"text":"y"}`).is(200) // bob's has ended
	})
}

// The names that a log has for the engine and for an unnamed operator are nobody's.
func TestNamesThatAreRefused(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("ask", `"x"`)
		for _, name := range []string{"", "policy", "operator", " Policy ", "OPERATOR"} {
			refused := r.post("/v1/threads/"+th.ID+"/tokens", fmt.Sprintf(
				`{"actions":["follow"],"by":%q,"expires":%d}`, name, r.soon())).is(400).problem()
			assert.Equal(t, "/by", refused.Problems[0].Pointer)
			if name == "" {
				continue
			}
			for _, path := range []string{"/v1/interrupts/" + th.Open[0].ID + "/claim",
				"/v1/threads/" + th.ID + "/cancel"} {
				r.post(path, fmt.Sprintf(`{"by":%q}`, name)).is(400, runtime.CodeInvalid)
			}
			r.post("/v1/threads", fmt.Sprintf(`{"machine":"ask","input":"x","by":%q}`, name)).
				is(400)
		}
		r.post("/v1/interrupts/"+th.Open[0].ID+"/claim", `{}`).is(200) // the operator's own name
	})
}

// The tokens of a thread are listed without their secrets, live no longer than the server allows,
// and the operator's changes without a restart.
func TestTokensAreManaged(t *testing.T) {
	onBoth(t, func(r *rig) {
		th := r.start("pair", `""`)
		path := "/v1/threads/" + th.ID
		first := r.grant(th.ID, fmt.Sprintf(
			`{"actions":["answer"],"by":"ann","expires":%d,"once":true}`, r.soon()))
		second := r.grant(th.ID, fmt.Sprintf(`{"actions":["operate"],"by":"bob","expires":%d}`,
			r.soon()))
		r.try(first.Token, http.MethodPost, "/v1/interrupts/"+th.Open[0].ID+"/answer",
			`{"text":"x"}`).is(200)
		listed := decode[struct{ Items []web.Grant }](
			r.try(second.Token, http.MethodGet, path+"/tokens", "").is(200)).Items
		require.Len(t, listed, 2)
		assert.Equal(t, []string{first.ID, second.ID}, []string{listed[0].ID, listed[1].ID})
		assert.Equal(t, []string{"ann", "operator"}, []string{listed[0].By, listed[0].MadeBy})
		assert.NotZero(t, listed[0].Spent)
		assert.Empty(t, listed[0].Token)
		r.try(second.Token, http.MethodDelete, path+"/tokens/"+second.ID, "").is(204)
		last := decode[struct{ Items []web.Grant }](r.get(path + "/tokens").is(200)).Items
		assert.NotZero(t, last[1].Revoked)
		fork := decode[struct{ Thread web.Thread }](r.post(path+"/fork",
			fmt.Sprintf(`{"seq":%d}`, r.settled(th.ID).Seq)).is(201)).Thread
		assert.Empty(t, decode[struct{ Items []any }](r.get("/v1/threads/"+fork.ID+"/tokens").
			is(200)).Items, "a fork has none of them")

		for days, status := range map[int]int{89: 201, 91: 400, 10_000_000: 400} {
			r.post(path+"/tokens", fmt.Sprintf(`{"actions":["follow"],"by":"ann","expires":%d}`,
				r.clock.now().UnixMilli()+int64(days)*24*3600*1000)).is(status)
		}
		r.post(path+"/tokens", `{"actions":["follow"],"by":"ann","expires":9223372036854775807}`).
			is(400)
		r.post(path+"/tokens", fmt.Sprintf(`{"actions":["view"],"by":"ann","expires":%d}`,
			r.soon())).is(400)

		next, end := r.events(operator, "/v1/stream", "")
		defer end()
		assert.NotNil(t, next())
		const other = "another-operator-0123456789abcdef0123456789"
		require.NoError(t, r.server.SetOperatorTokens(operator, other))
		r.get(path).is(200)
		r.try(other, http.MethodGet, path, "").is(200)
		for _, bad := range [][]string{{}, {"short"}, {operator, other, operator + "3"}} {
			assert.Equal(t, runtime.CodeInvalid,
				runtime.CodeOf(r.server.SetOperatorTokens(bad...)))
		}
		r.get(path).is(200) // what was refused changed nothing
		require.NoError(t, r.server.SetOperatorTokens(other))
		r.get(path).is(401)
		r.try(other, http.MethodGet, path, "").is(200)
		for next() != nil { // the stream of the old one has ended
			continue
		}
	})
}

func readAll(t *testing.T, from io.Reader) string {
	t.Helper()
	data, err := io.ReadAll(from)
	require.NoError(t, err)
	return string(data)
}
