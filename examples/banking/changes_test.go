package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAChangedAmountNeedsItsCode changes an amount below the limit to one above it, in every way in
// which a customer can.
func TestAChangedAmountNeedsItsCode(t *testing.T) {
	t.Parallel()
	begin := []string{"transfer", "Ann Lee", iban, "500"}
	atConfirm := slices.Concat(begin[:4], []string{"rent", "savings"})
	for name, lines := range map[string][]string{
		"no, change it":            append(atConfirm[:6:6], "no, change the amount", "15000"),
		"corrected at the confirm": append(atConfirm[:6:6], "actually 15000"),
		"set at the confirm":       append(atConfirm[:6:6], "amount: 15000"),
		"cleared at the confirm":   append(atConfirm[:6:6], "clear the amount", "15000"),
		"corrected at an earlier":  append(begin[:4:4], "actually 15000"),
		"set at an earlier":        append(begin[:4:4], "amount: 15000"),
		"cleared at an earlier":    append(begin[:4:4], "clear the amount", "15000"),
		"no, change it, earlier":   append(begin[:4:4], "no, change the amount", "15000"),
		"twice":                    append(atConfirm[:6:6], "actually 600", "actually 15000"),
		"back and up again": append(atConfirm[:6:6], "clear the amount", "400",
			"actually 15000"),
		"with another one": append(atConfirm[:6:6], "change the beneficiary to Bob Ray",
			"actually 15000"),
		"after a look at a balance": append(atConfirm[:6:6], "balance", "savings",
			"actually 15000"),
	} {
		for where, on := range stores {
			t.Run(name+"/"+where, func(t *testing.T) {
				t.Parallel()
				c := serve(t, on)
				assert.Contains(t, c.sayAll(lines...), "needs your security code")
				reply := c.sayAll("123456")
				for !strings.Contains(reply, "Transfer 15000.00 EUR") {
					reply = c.sayAll(map[bool]string{true: "rent",
						false: "savings"}[strings.Contains(reply, "What is it for?")])
				}
				assert.Zero(t, c.bank.times("execute_transfer"), "it is asked again")
				assert.Contains(t, c.sayAll("yes"), "Done. Your transfer of 15000.00 EUR")
				assert.Equal(t, 1, c.bank.times("execute_transfer"))
			})
		}
	}
}

// TestWhatWasGivenStands: a change asks for nothing again but the confirmation, and looks nothing
// up again that it does not bear on.
func TestWhatWasGivenStands(t *testing.T) {
	t.Parallel()
	for where, on := range stores {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			c := serve(t, on)
			c.sayAll("transfer", "Ann Lee", iban, "12000", "123456", "rent", "savings")
			assert.Contains(t, c.sayAll("change the beneficiary to Bob Ray"),
				"Transfer 12000.00 EUR to Bob Ray")
			assert.Contains(t, c.sayAll("actually 13000"), "Transfer 13000.00 EUR to Bob Ray")
			assert.Contains(t, c.sayAll("actually 500"), "Transfer 500.00 EUR to Bob Ray")
			assert.Equal(t, 1, c.bank.times("lookup_iban"))
			assert.Equal(t, 3, c.bank.times("check_limit"))
			assert.Equal(t, 1, c.bank.times("verify_code"))
		})
	}
}
