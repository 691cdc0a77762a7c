package web_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/llm/llmtest"
	"github.com/routegen/routegen/runtime/web/client"
)

// TestAConversationIsWithItsUser lets a guest speak to a conversation in the name of its user only,
// however the message is put, and says so before anybody tries. A thread that is no conversation
// takes messages from every guest who may deliver.
func TestAConversationIsWithItsUser(t *testing.T) {
	talking(t, []llmtest.Reply{tells("general", "Hallo."), tells("general", "Nog eens.")},
		func(r *room) {
			r.turn("hallo") // ann's
			guest := func(thread, by string) *client.Client {
				g := r.grant(thread, fmt.Sprintf(
					`{"actions":["follow","deliver"],"by":%q,"expires":%d}`,
					by, r.soon()))
				return &client.Client{Base: r.http.URL, Token: g.Token}
			}
			may := func(c *client.Client) []string {
				g, err := c.Rights(t.Context())
				require.NoError(t, err)
				return g.Actions
			}
			bob, ann := guest("room", "bob"), guest("room", "ann")
			assert.Equal(t, []string{"follow"}, may(bob))
			before := r.settled("room").Seq
			for _, body := range []string{`{"message":"hallo"}`, `{"message":"","cancel":true}`,
				`{"message":"hallo","machine":"ask"}`, `{"message":"x","input":{}}`} {
				r.try(bob.Token, http.MethodPost, "/v1/threads/room/messages", body).
					is(403, runtime.CodeForbidden)
			}
			assert.Equal(t, before, r.settled("room").Seq)
			assert.Equal(t, []string{"follow", "deliver"}, may(ann), "the control")
			_, err := ann.Deliver(t.Context(), "room", "hallo", "", "")
			require.NoError(t, err)

			th, err := (&client.Client{Base: r.http.URL, Token: operator}).
				Start(t.Context(), "talk", "", "hi", "ann", "")
			require.NoError(t, err)
			r.settled(th.ID)
			bob = guest(th.ID, "bob")
			for _, body := range []string{`{"message":"x","machine":"ask"}`,
				`{"message":"x","name":"ask"}`, `{"message":"x","input":{}}`} {
				r.try(bob.Token, http.MethodPost, "/v1/threads/"+th.ID+"/messages", body).
					is(403, runtime.CodeForbidden)
			}
			assert.Equal(t, []string{"follow", "deliver"}, may(bob))
			_, err = bob.Deliver(t.Context(), th.ID, "again", "", "")
			require.NoError(t, err)
		})
}
