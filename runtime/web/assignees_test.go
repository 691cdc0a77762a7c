package web_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/thread"
	"github.com/routegen/routegen/runtime/web"
)

// forFinance asks a group and a person.
func forFinance() thread.Machine {
	return thread.Func("paid", func(ctx context.Context, _ string) (string, error) {
		return thread.Ask[string](ctx, "paid", thread.Question{Text: "Pay it?",
			Plain: thread.PlainText, Assignees: []string{"group:finance", "cleo"}})
	})
}

// Two people with the same rights: one is in the group that is asked. The other sees the question,
// and changes nothing by answer, batch, claim and extension; and neither does a guest who is called
// like the group.
func TestOnlyAssigneesAnswer(t *testing.T) {
	t.Parallel()
	for _, store := range []string{"mem", "sqlite"} {
		t.Run(store, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, store, web.Config{Authenticate: people(t)}, forFinance())
			th := r.start("paid", `"x"`)
			one := "/v1/interrupts/" + th.Open[0].ID
			inbox := func(query string, headers ...string) int {
				token := ""
				if headers == nil {
					token = operator
				}
				return len(decode[struct{ Items []web.Interrupt }](r.try(token, http.MethodGet,
					"/v1/interrupts"+query, "", headers...).is(200)).Items)
			}
			mia, sam := as("mia", "all,finance"), as("sam", "all,sales,Finance,group:finance")
			told := decode[web.Grant](r.try("", http.MethodGet, "/v1/token", "", mia...).is(200))
			assert.Equal(t, []string{"all", "finance"}, told.Groups)
			assert.Equal(t, 1, inbox("?mine=true", mia...))
			assert.Equal(t, 0, inbox("?mine=true", sam...))
			assert.Equal(t, 1, inbox("?mine=true", as("cleo", "follow")...), "by name")
			assert.Equal(t, 0, inbox("?mine=true", as("finance", "follow")...))
			assert.Equal(t, 1, inbox("", sam...), "he may read it")
			assert.Equal(t, 1, inbox("?assignee=group:finance", sam...))
			assert.Equal(t, 0, inbox("?assignee=finance"))
			r.try("", http.MethodGet, "/v1/interrupts?mine=true&assignee=ann", "", mia...).is(400)
			r.try("", http.MethodGet, "/v1/interrupts?mine=false", "", mia...).is(400)
			r.try(operator, http.MethodGet, "/v1/interrupts?mine=true", "").is(400)

			version := r.settled(th.ID).Version
			batch := `{"answers":[{"interrupt":"` + th.Open[0].ID + `","text":"yes"}]}`
			until := time.Now().Add(time.Hour).UnixMilli()
			for path, body := range map[string]string{
				one + "/answer": `{"text":"yes"}`, "/v1/threads/" + th.ID + "/answer": `{"text":"yes"}`,
				"/v1/answers": batch, one + "/claim": `{}`,
				one + "/extend": jsonOf(map[string]any{"until": until}),
			} {
				p := r.try("", http.MethodPost, path, body, sam...).is(403, runtime.CodeForbidden)
				assert.Contains(t, p.problem().Detail, "sam is not one of those who may answer",
					path)
			}
			r.try("", http.MethodPost, one+"/answer", `{"text":"yes"}`,
				append(mia, "X-Tenant", "other")...).is(404)
			// the operator may act for anybody, and says for whom
			r.try(operator, http.MethodPost, one+"/answer", `{"text":"yes"}`).is(403)
			guest := `{"actions":["answer"],"by":"group:finance","expires":` +
				jsonOf(r.soon()) + `}`
			r.try(operator, http.MethodPost, "/v1/threads/"+th.ID+"/tokens", guest).is(400)
			r.try(operator, http.MethodPost, one+"/answer", `{"text":"yes","by":"Group:finance"}`).
				is(400)
			r.try("", http.MethodGet, "/v1/threads", "", as("group:finance", "all")...).is(401)
			assert.Equal(t, version, r.settled(th.ID).Version, "nothing was written")

			r.try("", http.MethodPost, one+"/claim", `{}`, mia...).is(200)
			r.try("", http.MethodPost, one+"/answer", `{"text":"yes"}`, mia...).is(200)
			assert.Equal(t, thread.StatusDone, r.settled(th.ID).Status)

			second := r.start("paid", `"x"`)
			r.try(operator, http.MethodPost, "/v1/threads/"+second.ID+"/answer",
				`{"text":"no","by":"zoe"}`).is(200)
			rows := decode[struct{ Items []web.Row }](r.get("/v1/threads/" + second.ID +
				"/history")).Items
			at := slices.IndexFunc(rows, func(row web.Row) bool {
				return row.Type == thread.EntryAnswered
			})
			require.GreaterOrEqual(t, at, 0)
			assert.Equal(t, "zoe", rows[at].By)
			assert.Equal(t, "operator", rows[at].Via)
		})
	}
}
