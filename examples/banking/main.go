// Command banking is a chat with a bank: balances and transactions, transfers with a second factor,
// bills, cards, security alerts. Its flows are in routes.yaml; the program adds the actions that
// move money and the validators of values. It needs no key: messages are understood by patterns.
//
//	go run ./examples/banking
//
// Stop it at any moment, in the middle of a transfer, and start it again: it continues where it
// was. The conversations are in routegen-banking/banking.db of the user's configuration directory,
// which only the user may read; -db names another file. The ledger is in memory, so its accounts
// start again from the same balances.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/routegen/routegen/examples/banking/bank"
	"github.com/routegen/routegen/runtime"
	"github.com/routegen/routegen/runtime/chat"
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

//go:generate go run ../../cmd/routegen generate

func main() {
	if err := serveBank(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func serveBank(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("banking", flag.ContinueOnError)
	db := flags.String("db", "",
		"file that keeps the conversations (default routegen-banking/banking.db of the user's "+
			"configuration directory)")
	user := flags.String("user", "customer", "whose conversation it is")
	language := flags.String("language", "", "en or es")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) { // it has been printed, and was asked for
			return nil
		}
		return err
	}
	if *db == "" {
		file, err := ownFile()
		if err != nil {
			return err
		}
		*db = file
	}
	store, err := sqlite.Open(ctx, *db, sqlite.Config{})
	if err != nil {
		return err
	}
	//nolint:errcheck,contextcheck // what is acknowledged is on the disk, and closing takes no time
	defer store.Close()
	understand, err := dialogue.NewPatterns(patterns(), nil)
	if err != nil {
		return err
	}
	talk, err := open(ctx, store, newLedger(time.Now), understand)
	if err != nil {
		return err
	}
	defer talk.Engine.Close(context.WithoutCancel(ctx)) //nolint:errcheck // as above
	return converse(ctx, talk, chat.Message{Thread: *user, User: *user,
		Metadata: map[string]string{"language": *language}}, in, out)
}

// ownFile returns the file for the conversations of the current user. It makes the directory.
func ownFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, "routegen-banking")
	return filepath.Join(dir, "banking.db"), os.MkdirAll(dir, 0o700)
}

// open makes the conversations over a store, with the bank's actions and the patterns by which
// customers are understood.
func open(ctx context.Context, store thread.Store, actions bank.Actions,
	understand dialogue.Understander) (*chat.Conversation, error) {
	machine, err := dialogue.New(bank.NewDialogue(actions, rules{}),
		dialogue.Config{Understand: understand})
	if err != nil {
		return nil, err
	}
	engine, err := thread.Open(ctx, store, thread.Config{Owner: "banking"}, machine)
	if err != nil {
		return nil, err
	}
	return &chat.Conversation{Engine: engine, Machine: machine}, nil
}

// converse reads the customer's lines until there are no more. When a colleague has taken a
// conversation over, the next line begins another one.
func converse(ctx context.Context, c *chat.Conversation, m chat.Message, in io.Reader,
	to io.Writer) error {
	out := bufio.NewWriter(to)
	t, taken, err := latest(ctx, c.Engine, &m)
	switch {
	case err != nil:
		return err
	case t != nil: // it was left in the middle: the question is still open
		for _, i := range t.Open {
			fmt.Fprintln(out, i.Text)
		}
	case taken:
		fmt.Fprintln(out, another)
	}
	if t == nil || len(t.Open) == 0 {
		fmt.Fprintln(out, hint)
	}
	for lines := bufio.NewScanner(in); ; {
		if _, err := fmt.Fprint(out, "> "); err != nil {
			return err
		}
		if err := out.Flush(); err != nil || !lines.Scan() {
			fmt.Fprintln(out)
			return errors.Join(err, out.Flush(), lines.Err())
		}
		if m.Text = strings.TrimSpace(lines.Text()); m.Text == "" {
			continue
		}
		turn, err := deliver(ctx, c, &m, out)
		if err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		for _, text := range turn.Lines {
			fmt.Fprintln(out, text)
		}
	}
}

// deliver gives a line to the customer's conversation, or to a new one if a colleague has taken it
// over.
func deliver(ctx context.Context, c *chat.Conversation, m *chat.Message,
	out *bufio.Writer) (*chat.Turn, error) {
	turn, err := c.Deliver(ctx, *m)
	if runtime.CodeOf(err) != runtime.CodeNotWaiting {
		return turn, err
	}
	_, taken, failed := latest(ctx, c.Engine, m)
	if !taken || failed != nil { // it is over for another reason
		return nil, errors.Join(err, failed)
	}
	fmt.Fprintln(out, another)
	return c.Deliver(ctx, *m)
}

const hint = `(Try: balance, transactions, transfer, quick transfer, pay a bill, block my card, new card, alerts, help.)`

const another = "(A colleague continues our conversation. This is a new one.)"

// latest has a message go to the last conversation of its user: the first that no colleague has
// taken over. It is named after the user, and those after it are numbered. t is its thread at rest,
// nil when nothing was said in it yet; taken: there is one before it.
func latest(ctx context.Context, e *thread.Engine, m *chat.Message) (t *thread.Thread,
	taken bool, err error) {
	for n := 1; ; n++ {
		if m.Thread = m.User; n > 1 {
			m.Thread = fmt.Sprintf("%s-%d", m.User, n)
		}
		t, err = e.Wait(ctx, m.Thread)
		switch {
		case runtime.CodeOf(err) == runtime.CodeNotFound:
			return nil, taken, nil
		case err != nil:
			return nil, taken, err
		case t.User != m.User: // of another user with this name
		case t.Status() == thread.StatusHandedOff:
			taken = true
		default:
			return t, taken, nil
		}
	}
}
