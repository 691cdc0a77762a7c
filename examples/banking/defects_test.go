package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/thread"
)

// What a framework of the same kind did wrong, found by running it. Here none of it happens.

const iban = "NL91ABNA0417164300"

// all gives lines one after the other and returns the last reply as one text.
func (c *counter) all(lines ...string) string {
	c.Helper()
	var reply []string
	for _, line := range lines {
		reply = c.says(line)
		require.NotEmpty(c, reply, "everything gets a reply: %s", line)
	}
	return strings.Join(reply, "\n")
}

// Two effects stood before a question: the first ran again with the next message, and its text was
// said twice.
func TestDefect1_EffectsBeforeAQuestion(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.all("transactions", "checking", "all"), "Page 1 of 4")
	reply := c.all("yes")
	assert.NotContains(t, reply, "Page 1")
	assert.Equal(t, 1, c.bank.times("start_browsing"))
	assert.Equal(t, 1, c.bank.times("get_transactions 1"))
}

// A no ran the next step: the transfer was made, the card blocked.
func TestDefect2_NoMeansNo(t *testing.T) {
	t.Parallel()
	for action, lines := range map[string][]string{
		"execute_transfer": {"send 50 to Ann Lee", iban, "rent", "checking", "no"},
		"block_card":       {"block my debit card", "4412", "no"},
		"request_new_card": {"new debit card", "Main Street 5, Springfield", "no"},
		"pay_bill":         {"pay my water bill", "WATER001", "no"},
	} {
		c := serve(t, inMemory)
		reply := c.all(lines...)
		assert.Zero(t, c.bank.times(action), "%s: %s", action, reply)
		assert.NotContains(t, reply, "Done")
		assert.Equal(t, thread.StatusIdle, c.status())
	}
}

// After a yes both the success and "Transfer cancelled." were said.
func TestDefect3_OneEndOnly(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	reply := c.all("quick transfer of 20 to Ann Lee", iban, "yes")
	assert.Contains(t, reply, "Sent. The id is TRF-")
	assert.NotContains(t, reply, "cancelled")
}

// A wrong code, an impossible IBAN, more than the account holds: each ended in "Done".
func TestDefect4_AFailureIsNoSuccess(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"wrong code":      {"send 20000 to Ann Lee", iban, "000000"},
		"impossible iban": {"send 20 to Ann Lee", "NL00ABNA0417164300"},
		"too much":        {"send 20000 to Ann Lee", iban, "123456", "a house", "savings", "yes"},
	} {
		c := serve(t, inMemory)
		reply := c.all(lines...)
		assert.NotContains(t, reply, "Done", name)
		assert.NotContains(t, reply, "TRF-", name)
		assert.Zero(t, c.bank.moved, name)
	}
}

// Validators never ran.
func TestDefect5_ValidatorsRun(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.all("send 20 to Ann Lee", "NL92ABNA0417164300"),
		"its check digits are wrong")
	assert.Contains(t, c.all("cancel", "transfer", "Ann Lee", iban, "-5"),
		"How much shall I transfer?")
	assert.Contains(t, c.all("0"), "How much shall I transfer?", "the least is a cent")
	assert.Equal(t, "What is it for?", c.all("0.01"))
}

// A loop with an action in its body never ended.
func TestDefect6_LoopsEnd(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.all("alerts", "yes", "no", "yes"), "You have looked at all 3 alerts.")
	for _, id := range []string{"a1", "a2", "a3"} {
		assert.Equal(t, 1, c.bank.times("mark_alert_reviewed "+id))
	}
}

// Pagination showed the first page and stopped.
func TestDefect7_EveryPage(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.all("transactions", "checking", "all")
	for page := 2; page <= 4; page++ {
		assert.Contains(t, c.all("yes"), fmt.Sprintf("Page %d of 4", page))
		assert.Equal(t, 1, c.bank.times(fmt.Sprint("get_transactions ", page)))
	}
	assert.Equal(t, thread.StatusIdle, c.status())
}

// One yes answered the question of the flow on top and that of the flow below.
func TestDefect8_OneYesOneConfirm(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.all("send 50 to Ann Lee", iban, "rent", "checking", "quick transfer of 20 to Bob Ray")
	reply := c.all(iban, "yes")
	assert.Contains(t, reply, "Sent.")
	assert.Contains(t, reply, "Transfer 50.00 EUR to Ann Lee", "it asks again")
	assert.Equal(t, 1, c.bank.times("execute_transfer"))
	assert.Contains(t, c.all("yes"), "Done.")
	assert.Equal(t, 2, c.bank.times("execute_transfer"))
}

// One value filled the slot of that name in every flow of the stack.
func TestDefect9_OneValueOneSlot(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.all("transfer", "quick transfer", "20", "Bob Ray", iban)
	assert.Contains(t, c.all("yes"), "Who shall get the money?")
	assert.Contains(t, c.all("Ann Lee"), "What is the IBAN of Ann Lee?")
}

// After a message that could not be understood the thread swallowed the next one, and took the old
// one again.
func TestDefect10_UnderstandingFails(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.all("transfer", "crash"), "Who shall get the money?")
	assert.Contains(t, c.all("Ann Lee"), "What is the IBAN of Ann Lee?")
}

// Cancelling nothing, and a link to a flow that is not there, killed the thread for ever.
func TestDefect11_NothingToCancel(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.all("cancel"), "nothing to cancel")
	assert.Contains(t, c.all("show my savings balance"), "15230.00")

	src, err := os.ReadFile("routes.yaml")
	require.NoError(t, err)
	const link = "type: link, flow: request_card,"
	require.Equal(t, 1, strings.Count(string(src), link))
	r := generator.Generate("routes.yaml",
		[]byte(strings.Replace(string(src), link, "type: link, flow: request_crad,", 1)))
	require.Nil(t, r.Files)
	require.Len(t, r.Findings, 1)
	assert.Equal(t, "FLOW_REF_FLOW", r.Findings[0].Rule)
	assert.Contains(t, r.Findings[0].Hint, "request_card")
}

// After an action had failed the steps behind it still ran, with {tid} in the text.
func TestDefect12_NothingAfterAFailure(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	reply := c.all("pay my phone bill", "TEL000000")
	assert.Contains(t, reply, "I cannot find that bill")
	assert.NotContains(t, reply, "{")
	assert.NotContains(t, reply, "Paid")
	assert.Zero(t, c.bank.times("pay_bill"))
}

// Clarifications, talk, corrections outside of a confirm and the wish for a person were ignored.
func TestDefect13_EverythingIsHeard(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.all("transfer", "Ann Lee")
	assert.Equal(t, "The account it goes to.\nWhat is the IBAN of Ann Lee?",
		c.all("what is an iban"))
	assert.Equal(t, "I am only good with money.\nWhat is the IBAN of Ann Lee?",
		c.all("tell me a joke"))
	assert.Equal(t, "beneficiary is now Bob Ray.\nWhat is the IBAN of Bob Ray?",
		c.all("change the beneficiary to Bob Ray"))
	assert.Contains(t, c.all("a human please"), "colleague")
	assert.Equal(t, thread.StatusHandedOff, c.status())
}

// What was said to one user was read by another one.
func TestDefect14_TwoUsers(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	var group sync.WaitGroup
	for n := range 8 {
		group.Go(func() {
			name := "User " + string(rune('A'+n)) + "b"
			for i, text := range []string{"transfer", name, iban} {
				turn, err := c.talk.Deliver(c.Context(),
					chat.Message{Thread: fmt.Sprint("t", n), ID: strconv.Itoa(i), User: name,
						Text: text})
				if !assert.NoError(t, err) {
					return
				}
				if i == 1 {
					assert.Equal(t, []string{"What is the IBAN of " + name + "?"}, turn.Lines)
				}
			}
		})
	}
	group.Wait()
}

// The same message twice at once ran the action twice.
func TestDefect15_TheSameMessageTwice(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.all("send 50 to Ann Lee", iban, "rent", "checking")
	var group sync.WaitGroup
	replies := make([][]string, 4)
	for n := range replies {
		group.Go(func() {
			turn, err := c.talk.Deliver(context.WithoutCancel(c.Context()),
				chat.Message{Thread: "desk", ID: "the-yes", User: "ann", Text: "yes"})
			if assert.NoError(t, err) {
				replies[n] = turn.Lines
			}
		})
	}
	group.Wait()
	for _, reply := range replies {
		assert.Equal(t, replies[0], reply)
	}
	assert.Equal(t, 1, c.bank.times("execute_transfer"))
}

// Of two wishes in one message the last one was asked first.
func TestDefect16_TheFirstWishFirst(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Equal(t, "What are its last four digits?",
		c.all("block my debit card and send 30 to Ann Lee"))
	assert.Contains(t, c.all("4412", "yes", "no"), "What is the IBAN of Ann Lee?")
}
