package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/routegen/routegen/examples/banking/bank"
)

// limit is the amount above which a transfer needs a second factor.
const limit = 10_000

// perPage is how many transactions a page shows.
const perPage = 3

// ledger is the bank behind the conversation: it implements every action of routes.yaml. It stores
// each result under the key of the action, so an action that runs again after a crash returns the
// same result. A real bank stores them in a database; this one keeps them in memory.
type ledger struct {
	now func() time.Time

	mu       sync.Mutex
	accounts map[bank.Account]float64
	alerts   []alert
	done     map[string]any // results by key
	moved    int            // transfers and payments that were made
}

type alert struct {
	id, text string
	reviewed bool
}

type transaction struct {
	days   int // ago
	text   string
	amount float64
}

// history is what happened on every account, the newest first.
var history = []transaction{
	{1, "Supermarket", -54.20}, {2, "Salary", 2450}, {3, "Rent", -890}, {5, "Coffee", -3.80},
	{6, "Cinema", -18.50},
	{9, "Electricity", -61.10}, {12, "Bookshop", -24.95}, {20, "Transfer from Ann", 120},
	{26, "Restaurant", -47.30}, {40, "Insurance", -210},
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{
		now: now,
		accounts: map[bank.Account]float64{bank.AccountChecking: 3847.52,
			bank.AccountSavings: 15230, bank.AccountInvestment: 42150.75},
		alerts: []alert{
			{id: "a1", text: "Someone signed in from a new phone in Lisbon."},
			{id: "a2", text: "The card ending in 4412 paid 812.00 EUR at an electronics shop."},
			{id: "a3", text: "Your password was changed."},
		},
		done: map[string]any{},
	}
}

// once runs a function once for a key: the same key again gets the same result. Refusals are not
// stored.
func once[T any](l *ledger, key string, run func() (*T, error)) (*T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.done[key].(*T); ok {
		return before, nil
	}
	out, err := run()
	if err == nil {
		l.done[key] = out
	}
	return out, err
}

// id derives an id from a key, so that the same effect has the same id.
func (l *ledger) id(prefix, key string, digits int) string {
	return prefix + strings.ToUpper(fmt.Sprintf("%x", sha256.Sum256([]byte(key))))[:digits]
}

func (l *ledger) dated(prefix, key string, digits int) string {
	return l.id(prefix+l.now().Format("20060102")+"-", key, digits)
}

// GetGreeting returns a greeting for the time of day.
func (l *ledger) GetGreeting(context.Context, string, *bank.GetGreetingInput) (
	*bank.GetGreetingOutput, error) {
	greeting := "Good evening."
	switch hour := l.now().Hour(); {
	case hour < 12:
		greeting = "Good morning."
	case hour < 18:
		greeting = "Good afternoon."
	}
	return &bank.GetGreetingOutput{Greeting: greeting}, nil
}

// GetBalance reads a balance.
func (l *ledger) GetBalance(_ context.Context, _ string, in *bank.GetBalanceInput) (
	*bank.GetBalanceOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return &bank.GetBalanceOutput{Balance: l.accounts[in.Account], Currency: "EUR"}, nil
}

func within(period bank.Period) []transaction {
	days := map[bank.Period]int{bank.PeriodLastWeek: 7, bank.PeriodLastMonth: 30,
		bank.PeriodAll: 10_000}[period]
	for i, t := range history {
		if t.days > days {
			return history[:i]
		}
	}
	return history
}

// StartBrowsing counts the transactions.
func (l *ledger) StartBrowsing(_ context.Context, _ string, in *bank.StartBrowsingInput) (
	*bank.StartBrowsingOutput, error) {
	total := len(within(in.Period))
	return &bank.StartBrowsingOutput{Total: int64(total), Page: 1,
		Pages: int64((total + perPage - 1) / perPage)}, nil
}

// GetTransactions returns a page, and an error if there is no such page.
func (l *ledger) GetTransactions(_ context.Context, _ string, in *bank.GetTransactionsInput) (
	*bank.GetTransactionsOutput, error) {
	all, from := within(in.Period), int(in.Page-1)*perPage
	if from >= len(all) {
		return nil, fmt.Errorf("there is no page %d", in.Page)
	}
	to := min(from+perPage, len(all))
	var lines []string
	for _, t := range all[from:to] {
		lines = append(lines, fmt.Sprintf("%d days ago  %-18s %9.2f EUR", t.days, t.text, t.amount))
	}
	return &bank.GetTransactionsOutput{Listing: strings.Join(lines, "\n"), More: to < len(all)}, nil
}

// NextPage turns the page.
func (l *ledger) NextPage(_ context.Context, _ string, in *bank.NextPageInput) (
	*bank.NextPageOutput, error) {
	return &bank.NextPageOutput{Page: in.Page + 1}, nil
}

// CountAlerts counts the alerts that were not reviewed.
func (l *ledger) CountAlerts(context.Context, string, *bank.CountAlertsInput) (
	*bank.CountAlertsOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n int64
	for _, a := range l.alerts {
		if !a.reviewed {
			n++
		}
	}
	return &bank.CountAlertsOutput{Total: n}, nil
}

// GetNextAlert returns the first alert that was not reviewed.
func (l *ledger) GetNextAlert(context.Context, string, *bank.GetNextAlertInput) (
	*bank.GetNextAlertOutput, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range l.alerts {
		if !a.reviewed {
			return &bank.GetNextAlertOutput{Alert: a.id, Text: a.text}, nil
		}
	}
	return nil, errors.New("no alert is left")
}

// MarkAlertReviewed marks an alert as reviewed. Marking it again changes nothing.
func (l *ledger) MarkAlertReviewed(_ context.Context, key string, in *bank.MarkAlertReviewedInput) (
	*bank.MarkAlertReviewedOutput, error) {
	return once(l, key, func() (*bank.MarkAlertReviewedOutput, error) {
		for i := range l.alerts {
			if l.alerts[i].id == in.Alert {
				l.alerts[i].reviewed = true
				return &bank.MarkAlertReviewedOutput{Seen: in.Seen + 1}, nil
			}
		}
		return nil, fmt.Errorf("there is no alert %q", in.Alert)
	})
}
