// Command banking is a chat with a bank: balances and transactions, transfers with a second factor, bills, cards, security alerts. Its flows are in
// routes.yaml; the program adds what moves money and what a value must be like. It needs no key: messages are understood by patterns.
//
//	go run ./examples/banking
//
// Stop it at any moment, in the middle of a transfer, and start it again: it goes on where it was (-db names the file). The ledger is in memory,
// so its accounts begin anew.
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
	"github.com/routegen/routegen/runtime/dialogue"
	"github.com/routegen/routegen/runtime/store/sqlite"
	"github.com/routegen/routegen/runtime/thread"
)

//go:generate go run ../../cmd/routegen generate

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("banking", flag.ContinueOnError)
	db := flags.String("db", filepath.Join(os.TempDir(), "banking.db"), "file that keeps the conversations")
	user := flags.String("user", "customer", "whose conversation it is")
	language := flags.String("language", "", "en or es")
	if err := flags.Parse(args); err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, *db, sqlite.Config{})
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck,contextcheck // what is acknowledged is on the disk, and closing takes no time
	understand, err := dialogue.NewPatterns(patterns(), nil)
	if err != nil {
		return err
	}
	talk, err := open(ctx, store, newLedger(time.Now), understand)
	if err != nil {
		return err
	}
	defer talk.Engine.Close(context.WithoutCancel(ctx)) //nolint:errcheck // as above
	return chat(ctx, talk, dialogue.Message{Thread: *user, User: *user, Language: *language}, in, out)
}

// open makes the conversations over a store, of what the bank does and how customers are understood.
func open(ctx context.Context, store runtime.Store, actions bank.Actions, understand dialogue.Understander) (*dialogue.Conversation, error) {
	machine, err := dialogue.New(bank.NewDialogue(actions, rules{}), dialogue.Config{Understand: understand})
	if err != nil {
		return nil, err
	}
	engine, err := thread.Open(ctx, store, thread.Config{Owner: "banking", Shapes: bank.StoredShapes()}, machine)
	if err != nil {
		return nil, err
	}
	return &dialogue.Conversation{Engine: engine}, nil
}

// chat takes the customer's lines until there are no more.
func chat(ctx context.Context, c *dialogue.Conversation, m dialogue.Message, in io.Reader, to io.Writer) error {
	out := bufio.NewWriter(to)
	if t, err := c.Engine.Wait(ctx, m.Thread); err == nil { // it was left in the middle: the question is still open
		for _, i := range t.Open {
			fmt.Fprintln(out, i.Text)
		}
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
		turn, err := c.Deliver(ctx, m)
		if err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		for _, text := range turn.Reply {
			fmt.Fprintln(out, text)
		}
	}
}
