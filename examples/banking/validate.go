package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// rules are the validators of routes.yaml. Each returns the value as it is stored, or why it is
// refused.
type rules struct{}

// lengths are those of an IBAN by country.
var lengths = map[string]int{
	"AT": 20, "BE": 16, "CH": 21, "DE": 22, "DK": 18, "ES": 24, "FI": 18, "FR": 27, "GB": 22,
	"IE": 22, "IT": 27, "LU": 20, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "SE": 24,
}

// Iban takes an IBAN in any grouping and keeps it without spaces, in capitals. The check is that of
// ISO 13616: the first four characters go to the end, letters become numbers from 10 on, and the
// whole leaves 1 when it is divided by 97.
func (rules) Iban(_ context.Context, value string) (string, error) {
	iban := strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(value), " ", ""))
	if len(iban) < 4 {
		return "", errors.New("it is too short")
	}
	want, known := lengths[iban[:2]]
	switch {
	case !known:
		return "", fmt.Errorf("no country has the letters %s", iban[:2])
	case len(iban) != want:
		return "", fmt.Errorf("one of %s has %d characters, this has %d", iban[:2], want, len(iban))
	}
	rest := 0
	for _, c := range iban[4:] + iban[:4] {
		switch {
		case c >= '0' && c <= '9':
			rest = (rest*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rest = (rest*100 + int(c-'A') + 10) % 97
		default:
			return "", errors.New("it has a character that is neither a letter nor a digit")
		}
	}
	if rest != 1 {
		return "", errors.New("its check digits are wrong")
	}
	return iban, nil
}

// PersonName takes letters of any script, and the characters that are used between them in names.
func (rules) PersonName(_ context.Context, value string) (string, error) {
	name := strings.Join(strings.Fields(value), " ")
	letters := 0
	for _, r := range name {
		switch {
		case unicode.IsLetter(r):
			letters++
		case !strings.ContainsRune(" .'-", r):
			return "", fmt.Errorf("a name has no %q", r)
		}
	}
	if letters < 2 {
		return "", errors.New("a name has at least two letters")
	}
	return name, nil
}

// CardDigits takes exactly four digits.
func (rules) CardDigits(_ context.Context, value string) (string, error) {
	return digits(value, 4)
}

// SecurityCode takes exactly six digits.
func (rules) SecurityCode(_ context.Context, value string) (string, error) {
	return digits(value, 6)
}

func digits(value string, n int) (string, error) {
	value = strings.TrimSpace(value)
	if len(value) != n || strings.Trim(value, "0123456789") != "" {
		return "", fmt.Errorf("it takes exactly %d digits", n)
	}
	return value, nil
}

// Address takes at least ten characters with a number among them.
func (rules) Address(_ context.Context, value string) (string, error) {
	address := strings.Join(strings.Fields(value), " ")
	if len([]rune(address)) < 10 || !strings.ContainsFunc(address, unicode.IsDigit) {
		return "", errors.New("it takes street, number and town")
	}
	return address, nil
}

// BillReference takes at least six letters and digits, and keeps them in capitals.
func (rules) BillReference(_ context.Context, value string) (string, error) {
	reference := strings.ToUpper(strings.TrimSpace(value))
	other := func(r rune) bool { return (r < '0' || r > '9') && (r < 'A' || r > 'Z') }
	if len(reference) < 6 || strings.ContainsFunc(reference, other) {
		return "", errors.New("a reference has at least six letters and digits")
	}
	return reference, nil
}
