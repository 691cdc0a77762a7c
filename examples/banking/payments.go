package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/routegen/routegen/examples/banking/bank"
)

// banks are the names of banks by country and bank code. Others are foreign banks.
var banks = map[string]string{"ES2100": "CaixaBank", "ES0049": "Santander", "ES0182": "BBVA",
	"NLABNA": "ABN AMRO", "DE3704": "Commerzbank"}

// LookupIban finds the bank of an account.
func (l *ledger) LookupIban(_ context.Context, _ string, in *bank.LookupIbanInput) (
	*bank.LookupIbanOutput, error) {
	if name := banks[in.Iban[:2]+in.Iban[4:8]]; name != "" {
		return &bank.LookupIbanOutput{BankName: name}, nil
	}
	return &bank.LookupIbanOutput{BankName: "a bank in " + in.Iban[:2]}, nil
}

// CheckLimit says whether an amount needs a second factor: above the limit it does, at the limit it
// does not.
func (l *ledger) CheckLimit(_ context.Context, _ string, in *bank.CheckLimitInput) (
	*bank.CheckLimitOutput, error) {
	return &bank.CheckLimitOutput{NeedsCode: in.Amount > limit}, nil
}

// VerifyCode checks a code. The code of this bank is the same every day.
func (l *ledger) VerifyCode(_ context.Context, _ string, in *bank.VerifyCodeInput) (
	*bank.VerifyCodeOutput, error) {
	return &bank.VerifyCodeOutput{Verified: in.Code == "123456"}, nil
}

// ExecuteTransfer moves money, once for a key. It returns an error, and moves nothing, if the
// account does not hold the amount.
func (l *ledger) ExecuteTransfer(_ context.Context, key string, in *bank.ExecuteTransferInput) (
	*bank.ExecuteTransferOutput, error) {
	return once(l, key, func() (*bank.ExecuteTransferOutput, error) {
		if in.Amount <= 0 {
			return nil, errors.New("the amount must be more than zero")
		}
		if have := l.accounts[in.Source]; in.Amount > have {
			return nil, fmt.Errorf("there are only %.2f EUR on your %s account", have, in.Source)
		}
		l.accounts[in.Source] -= in.Amount
		l.moved++
		return &bank.ExecuteTransferOutput{Transaction: l.dated("TRF-", key, 8),
			Left: l.accounts[in.Source]}, nil
	})
}

// BlockCard blocks a card.
func (l *ledger) BlockCard(_ context.Context, key string, _ *bank.BlockCardInput) (
	*bank.BlockCardOutput, error) {
	return once(l, key, func() (*bank.BlockCardOutput, error) {
		return &bank.BlockCardOutput{Reference: l.dated("BLK-", key, 4)}, nil
	})
}

// RequestNewCard orders a card.
func (l *ledger) RequestNewCard(_ context.Context, key string, _ *bank.RequestNewCardInput) (
	*bank.RequestNewCardOutput, error) {
	return once(l, key, func() (*bank.RequestNewCardOutput, error) {
		return &bank.RequestNewCardOutput{Reference: l.id("CARD-", key, 8)}, nil
	})
}

// dues are the bills that this bank knows.
var dues = map[string]float64{"ELEC2024": 61.10, "WATER001": 32.40, "GAS99887": 48.75,
	"TEL555123": 39.90, "PALACE00": 99_999}

// LookupBill finds the amount of a bill.
func (l *ledger) LookupBill(_ context.Context, _ string, in *bank.LookupBillInput) (
	*bank.LookupBillOutput, error) {
	due, ok := dues[in.Reference]
	if !ok {
		return nil, fmt.Errorf("no bill has the reference %s", in.Reference)
	}
	return &bank.LookupBillOutput{Due: due}, nil
}

// PayBill pays from the checking account, once for a key.
func (l *ledger) PayBill(_ context.Context, key string, in *bank.PayBillInput) (*bank.PayBillOutput,
	error) {
	return once(l, key, func() (*bank.PayBillOutput, error) {
		if in.Due > l.accounts[bank.AccountChecking] {
			return nil, fmt.Errorf("there are only %.2f EUR on your checking account",
				l.accounts[bank.AccountChecking])
		}
		l.accounts[bank.AccountChecking] -= in.Due
		l.moved++
		return &bank.PayBillOutput{Payment: l.dated("PAY-", key, 6)}, nil
	})
}
