package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/examples/banking/bank"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/store/mem"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

var update = flag.Bool("update", false,
	"write what was said into testdata/conversations; read the diff")

// morning is the ledger's time.
func morning() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) }

// counter is a customer at a desk: one conversation on one store.
type counter struct {
	*testing.T
	open  func() (thread.Store, func() error)
	store thread.Store
	close func() error
	bank  *counted
	talk  *chat.Conversation
	said  int
}

func onSQLite(t *testing.T) func() (thread.Store, func() error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "banking.db")
	return func() (thread.Store, func() error) {
		store, err := sqlite.Open(t.Context(), file, sqlite.Config{})
		require.NoError(t, err)
		return store, store.Close
	}
}

func inMemory(*testing.T) func() (thread.Store, func() error) {
	store := mem.Open()
	return func() (thread.Store, func() error) { return store, func() error { return nil } }
}

var stores = map[string]func(*testing.T) func() (thread.Store, func() error){"mem": inMemory,
	"sqlite": onSQLite}

// counted notes which actions the bank was asked for.
type counted struct {
	*ledger

	asked sync.Map // of *atomic.Int32 by name
}

func (c *counted) count(name string) {
	n, _ := c.asked.LoadOrStore(name, &atomic.Int32{})
	n.(*atomic.Int32).Add(1)
}

// times returns how often an action was asked for.
func (c *counted) times(name string) int {
	n, ok := c.asked.Load(name)
	if !ok {
		return 0
	}
	return int(n.(*atomic.Int32).Load())
}

func (c *counted) StartBrowsing(ctx context.Context, key string, in *bank.StartBrowsingInput) (
	*bank.StartBrowsingOutput, error) {
	c.count("start_browsing")
	return c.ledger.StartBrowsing(ctx, key, in)
}

func (c *counted) GetTransactions(ctx context.Context, key string, in *bank.GetTransactionsInput) (
	*bank.GetTransactionsOutput, error) {
	c.count(fmt.Sprint("get_transactions ", in.Page))
	return c.ledger.GetTransactions(ctx, key, in)
}

func (c *counted) MarkAlertReviewed(ctx context.Context, key string,
	in *bank.MarkAlertReviewedInput) (*bank.MarkAlertReviewedOutput, error) {
	c.count("mark_alert_reviewed " + in.Alert)
	return c.ledger.MarkAlertReviewed(ctx, key, in)
}

func (c *counted) LookupIban(ctx context.Context, key string, in *bank.LookupIbanInput) (
	*bank.LookupIbanOutput, error) {
	c.count("lookup_iban")
	return c.ledger.LookupIban(ctx, key, in)
}

func (c *counted) CheckLimit(ctx context.Context, key string, in *bank.CheckLimitInput) (
	*bank.CheckLimitOutput, error) {
	c.count("check_limit")
	return c.ledger.CheckLimit(ctx, key, in)
}

func (c *counted) VerifyCode(ctx context.Context, key string, in *bank.VerifyCodeInput) (
	*bank.VerifyCodeOutput, error) {
	c.count("verify_code")
	return c.ledger.VerifyCode(ctx, key, in)
}

func (c *counted) ExecuteTransfer(ctx context.Context, key string, in *bank.ExecuteTransferInput) (
	*bank.ExecuteTransferOutput, error) {
	c.count("execute_transfer")
	return c.ledger.ExecuteTransfer(ctx, key, in)
}

func (c *counted) BlockCard(ctx context.Context, key string, in *bank.BlockCardInput) (
	*bank.BlockCardOutput, error) {
	c.count("block_card")
	return c.ledger.BlockCard(ctx, key, in)
}

func (c *counted) RequestNewCard(ctx context.Context, key string, in *bank.RequestNewCardInput) (
	*bank.RequestNewCardOutput, error) {
	c.count("request_new_card")
	return c.ledger.RequestNewCard(ctx, key, in)
}

func (c *counted) PayBill(ctx context.Context, key string, in *bank.PayBillInput) (
	*bank.PayBillOutput, error) {
	c.count("pay_bill")
	return c.ledger.PayBill(ctx, key, in)
}

// sometimes fails to understand one message, and understands two that no pattern does.
type sometimes struct{ dialogue.Understander }

func (s sometimes) Understand(ctx context.Context, key string, q dialogue.Query) ([]runtime.Command,
	error) {
	if q.Text == "crash" {
		return nil, errors.New("the model is not available")
	}
	switch q.Text { // what no pattern says
	case "clear the amount":
		return bank.Commands(bank.ClearSlot{Slot: bank.SlotTransferFundsAmount}), nil
	case "amount: 15000":
		return bank.Commands(bank.SetSlot{Slot: bank.SlotTransferFundsAmount, Value: 15000}), nil
	}
	return s.Understander.Understand(ctx, key, q)
}

// serve opens a desk.
func serve(t *testing.T, on func(*testing.T) func() (thread.Store, func() error)) *counter {
	t.Helper()
	c := &counter{T: t, open: on(t), bank: &counted{ledger: newLedger(morning)}}
	c.start()
	t.Cleanup(c.stop)
	return c
}

func (c *counter) start() {
	c.store, c.close = c.open()
	understand, err := dialogue.NewPatterns(patterns(), nil)
	require.NoError(c, err)
	c.talk, err = open(c.Context(), c.store, c.bank, sometimes{understand})
	require.NoError(c, err)
}

func (c *counter) stop() {
	assert.NoError(c, c.talk.Engine.Close(context.Background()))
	assert.NoError(c, c.close())
}

// again ends the program and starts it on the same store. The ledger is another program, and goes
// on.
func (c *counter) again() {
	c.stop()
	c.start()
}

// says gives a line to the thread and returns the reply.
func (c *counter) says(text string) []string {
	c.Helper()
	turn, err := c.turn(text)
	require.NoError(c, err, text)
	return turn.Lines
}

func (c *counter) turn(text string) (*chat.Turn, error) {
	c.said++
	return c.talk.Deliver(c.Context(), chat.Message{Thread: "desk", ID: fmt.Sprint("m", c.said),
		User: "ann", Text: text})
}

func (c *counter) status() thread.Status {
	c.Helper()
	t, err := c.talk.Engine.Thread(c.Context(), "desk")
	require.NoError(c, err)
	return t.Status()
}

// transcript runs the lines of a conversation and writes down what was said. After each line
// between is called.
func transcript(c *counter, language, script string, between func()) string {
	var out strings.Builder
	for line := range strings.Lines(script) {
		text, ours := strings.CutPrefix(strings.TrimSpace(line), "> ")
		if strings.HasPrefix(line, "#") {
			out.WriteString(line)
		}
		if !ours {
			continue
		}
		out.WriteString("> " + text + "\n")
		c.said++
		turn, err := c.talk.Deliver(c.Context(),
			chat.Message{Thread: "desk", ID: fmt.Sprint("m", c.said), User: "ann", Text: text,
				Metadata: map[string]string{"language": language}})
		if err != nil {
			fmt.Fprintf(&out, "! %s\n", runtime.CodeOf(err))
		} else {
			for _, reply := range turn.Lines {
				out.WriteString("  " + strings.ReplaceAll(reply, "\n", "\n  ") + "\n")
			}
		}
		between()
	}
	c.bank.mu.Lock()
	defer c.bank.mu.Unlock()
	fmt.Fprintf(&out, "= %s, %d payments made\n", c.status(), c.bank.moved)
	return out.String()
}

// The conversations of testdata, word by word, on both stores, and again with the program ended and
// started between any two lines.
func TestConversations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/conversations/*.txt")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 27)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		language := map[bool]string{true: "es"}[strings.HasSuffix(file, "spanish.txt")]
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()
			c := serve(t, onSQLite)
			got := transcript(c, language, string(want), func() {})
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
				return
			}
			assert.Equal(t, string(want), got)
			assert.Equal(t, string(want), transcript(serve(t, inMemory), language, string(want),
				func() {}), "in memory")
			c = serve(t, onSQLite)
			assert.Equal(t, string(want), transcript(c, language, string(want), c.again),
				"started again after every line")
		})
	}
}

// The whole program on a terminal, ended in the middle of a transfer and started again.
func TestChat(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "banking.db")
	var out strings.Builder
	require.NoError(t, serveBank(t.Context(), []string{"-db", db},
		strings.NewReader("send 5 to Ann Lee\n"), &out))
	require.NoError(t, serveBank(t.Context(), []string{"-db", db},
		strings.NewReader("\nNL91ABNA0417164300\ntea\nchecking\nno\n"), &out))
	const first = hint + "\n> What is the IBAN of Ann Lee?\n> \n"
	assert.Equal(t, first+"What is the IBAN of Ann Lee?\n> > What is it for?\n> From which "+
		"account: checking, savings or investment?\n"+
		"> Transfer 5.00 EUR to Ann Lee, NL91ABNA0417164300 (ABN AMRO), from your checking "+
		"account, for tea?\n> I have not transferred anything.\n> \n", out.String())
	require.Error(t, serveBank(t.Context(), []string{"-db", filepath.Join(db, "none")},
		strings.NewReader(""), &out))
	require.Error(t, serveBank(t.Context(), []string{"-none"}, strings.NewReader(""), &out))
	require.NoError(t, serveBank(t.Context(), []string{"-h"}, strings.NewReader(""), &out),
		"help was asked for")
}

// TestConversationsAreTheUsersOwn: without -db they are in a directory that other users cannot
// read.
func TestConversationsAreTheUsersOwn(t *testing.T) {
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "AppData"} { // of all systems
		t.Setenv(name, home)
	}
	for _, want := range []string{hint + "\n> Who shall get the money?\n> \n",
		"Who shall get the money?\n> \n"} {
		var out strings.Builder
		lines := map[bool]string{true: "transfer\n"}[strings.HasPrefix(want, hint)]
		require.NoError(t, serveBank(t.Context(), nil, strings.NewReader(lines), &out))
		assert.Equal(t, want, out.String())
	}
	dir, err := os.UserConfigDir()
	require.NoError(t, err)
	info, err := os.Stat(filepath.Join(dir, "routegen-banking"))
	require.NoError(t, err)
	if goruntime.GOOS != "windows" {
		assert.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	}
	require.FileExists(t, filepath.Join(dir, "routegen-banking", "banking.db"))
}

// TestTheHintIsTrue: each thing that it names begins a flow.
func TestTheHintIsTrue(t *testing.T) {
	t.Parallel()
	list := strings.TrimSuffix(strings.TrimPrefix(hint, "(Try: "), ".)")
	for line := range strings.SplitSeq(list, ", ") {
		reply := serve(t, inMemory).sayAll(line)
		assert.NotContains(t, reply, "I did not understand", line)
		assert.NotEmpty(t, reply, line)
	}
}

// The program on a terminal after a colleague has taken the conversation over: it goes on in
// another one, at once and when it is started again, and a question left open there is found.
func TestChatAfterAColleague(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "banking.db")
	chat := func(user, lines string) string {
		var out strings.Builder
		require.NoError(t, serveBank(t.Context(), []string{"-db", db, "-user", user},
			strings.NewReader(lines), &out))
		return out.String()
	}
	const colleague = "I pass you on to a colleague.\n"
	assert.Equal(t, hint+"\n> "+colleague+"> "+another+"\nWho shall get the money?\n> "+colleague+
		"> \n", chat("ann", "a human please\ntransfer\na human please\n"))
	assert.Equal(t, another+"\n"+hint+"\n> What is the IBAN of Ann Lee?\n> \n",
		chat("ann", "send 5 to Ann Lee\n"))
	assert.Equal(t, "What is the IBAN of Ann Lee?\n> Cancelled.\n> \n", chat("ann", "cancel\n"))
	assert.Equal(t, hint+"\n> Who shall get the money?\n> \n", chat("ann-2", "transfer\n"),
		"one who is called as a conversation of another")
	assert.Equal(t, hint+"\n> Who shall get the money?\n> \n", chat("ann", "transfer\n"))
}
