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

// Each test is about a defect that was found in another framework of this kind by running it.

const iban = "NL91ABNA0417164300"

// sayAll says lines one after the other and returns the last reply as one text.
func (c *counter) sayAll(lines ...string) string {
	c.Helper()
	var reply []string
	for _, line := range lines {
		reply = c.says(line)
		require.NotEmpty(c, reply, "everything gets a reply: %s", line)
	}
	return strings.Join(reply, "\n")
}

// The first of two effects before a question does not run again with the next message, and its text
// is said once.
func TestEffectsBeforeAQuestionRunOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.sayAll("transactions", "checking", "all"), "Page 1 of 4")
	reply := c.sayAll("yes")
	assert.NotContains(t, reply, "Page 1")
	assert.Equal(t, 1, c.bank.times("start_browsing"))
	assert.Equal(t, 1, c.bank.times("get_transactions 1"))
}

// After a no the next step does not run: no transfer is made, no card is blocked.
func TestNoRunsNoAction(t *testing.T) {
	t.Parallel()
	for action, lines := range map[string][]string{
		"execute_transfer": {"send 50 to Ann Lee", iban, "rent", "checking", "no"},
		"block_card":       {"block my debit card", "4412", "no"},
		"request_new_card": {"new debit card", "Main Street 5, Springfield", "no"},
		"pay_bill":         {"pay my water bill", "WATER001", "no"},
	} {
		c := serve(t, inMemory)
		reply := c.sayAll(lines...)
		assert.Zero(t, c.bank.times(action), "%s: %s", action, reply)
		assert.NotContains(t, reply, "Done")
		assert.Equal(t, thread.StatusIdle, c.status())
	}
}

// After a yes the success is said, and not "Transfer cancelled." as well.
func TestYesEndsInSuccessOnly(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	reply := c.sayAll("quick transfer of 20 to Ann Lee", iban, "yes")
	assert.Contains(t, reply, "Sent. The id is TRF-")
	assert.NotContains(t, reply, "cancelled")
}

// A wrong code, an impossible IBAN and more than the account holds do not end in "Done".
func TestFailureIsNotReportedAsDone(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"wrong code":      {"send 20000 to Ann Lee", iban, "000000"},
		"impossible iban": {"send 20 to Ann Lee", "NL00ABNA0417164300"},
		"too much":        {"send 20000 to Ann Lee", iban, "123456", "a house", "savings", "yes"},
	} {
		c := serve(t, inMemory)
		reply := c.sayAll(lines...)
		assert.NotContains(t, reply, "Done", name)
		assert.NotContains(t, reply, "TRF-", name)
		assert.Zero(t, c.bank.moved, name)
	}
}

// A value that a validator or a bound refuses is asked for again.
func TestValidatorsRun(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.sayAll("send 20 to Ann Lee", "NL92ABNA0417164300"),
		"its check digits are wrong")
	assert.Contains(t, c.sayAll("cancel", "transfer", "Ann Lee", iban, "-5"),
		"How much shall I transfer?")
	assert.Contains(t, c.sayAll("0"), "How much shall I transfer?", "the least is a cent")
	assert.Equal(t, "What is it for?", c.sayAll("0.01"))
}

// A loop with an action in its body ends, and runs the action once a round.
func TestLoopWithAnActionEnds(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.sayAll("alerts", "yes", "no", "yes"), "You have looked at all 3 alerts.")
	for _, id := range []string{"a1", "a2", "a3"} {
		assert.Equal(t, 1, c.bank.times("mark_alert_reviewed "+id))
	}
}

// Pagination goes on after the first page.
func TestEveryPageIsShown(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.sayAll("transactions", "checking", "all")
	for page := 2; page <= 4; page++ {
		assert.Contains(t, c.sayAll("yes"), fmt.Sprintf("Page %d of 4", page))
		assert.Equal(t, 1, c.bank.times(fmt.Sprint("get_transactions ", page)))
	}
	assert.Equal(t, thread.StatusIdle, c.status())
}

// One yes answers the question of the flow on top, and not that of the flow below.
func TestYesAnswersOneConfirm(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.sayAll("send 50 to Ann Lee", iban, "rent", "checking", "quick transfer of 20 to Bob Ray")
	reply := c.sayAll(iban, "yes")
	assert.Contains(t, reply, "Sent.")
	assert.Contains(t, reply, "Transfer 50.00 EUR to Ann Lee", "it asks again")
	assert.Equal(t, 1, c.bank.times("execute_transfer"))
	assert.Contains(t, c.sayAll("yes"), "Done.")
	assert.Equal(t, 2, c.bank.times("execute_transfer"))
}

// One value does not fill the slot of that name in every flow of the stack.
func TestValueFillsTheSlotOfOneFlow(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.sayAll("transfer", "quick transfer", "20", "Bob Ray", iban)
	assert.Contains(t, c.sayAll("yes"), "Who shall get the money?")
	assert.Contains(t, c.sayAll("Ann Lee"), "What is the IBAN of Ann Lee?")
}

// After a message that could not be understood the next one is taken, and the old one is not taken
// again.
func TestMessageAfterAFailedUnderstandingIsTaken(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.sayAll("transfer", "crash"), "Who shall get the money?")
	assert.Contains(t, c.sayAll("Ann Lee"), "What is the IBAN of Ann Lee?")
}

// A cancel with nothing to cancel leaves the thread usable, and a link to a flow that does not
// exist is refused by the generator.
func TestCancelWithoutAFlowKeepsTheThread(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Contains(t, c.sayAll("cancel"), "nothing to cancel")
	assert.Contains(t, c.sayAll("show my savings balance"), "15230.00")

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

// After an action has failed the steps after it do not run, and no text has an unfilled {tid}.
func TestNoStepRunsAfterAFailedAction(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	reply := c.sayAll("pay my phone bill", "TEL000000")
	assert.Contains(t, reply, "I cannot find that bill")
	assert.NotContains(t, reply, "{")
	assert.NotContains(t, reply, "Paid")
	assert.Zero(t, c.bank.times("pay_bill"))
}

// Clarifications, small talk, corrections outside a confirm and the wish for a person are answered.
func TestClarificationsAndCorrectionsAreAnswered(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.sayAll("transfer", "Ann Lee")
	assert.Equal(t, "The account it goes to.\nWhat is the IBAN of Ann Lee?",
		c.sayAll("what is an iban"))
	assert.Equal(t, "I am only good with money.\nWhat is the IBAN of Ann Lee?",
		c.sayAll("tell me a joke"))
	assert.Equal(t, "beneficiary is now Bob Ray.\nWhat is the IBAN of Bob Ray?",
		c.sayAll("change the beneficiary to Bob Ray"))
	assert.Contains(t, c.sayAll("a human please"), "colleague")
	assert.Equal(t, thread.StatusHandedOff, c.status())
}

// What is said to one user is not read by another one.
func TestUsersDoNotReadEachOther(t *testing.T) {
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

// The same message, delivered several times at once, runs the action once.
func TestRepeatedMessageRunsTheActionOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	c.sayAll("send 50 to Ann Lee", iban, "rent", "checking")
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

// Of two wishes in one message the first one is asked about first.
func TestFirstOfTwoWishesIsAskedFirst(t *testing.T) {
	t.Parallel()
	c := serve(t, onSQLite)
	assert.Equal(t, "What are its last four digits?",
		c.sayAll("block my debit card and send 30 to Ann Lee"))
	assert.Contains(t, c.sayAll("4412", "yes", "no"), "What is the IBAN of Ann Lee?")
}
