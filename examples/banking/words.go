package main

import (
	"github.com/routegen/routegen/examples/banking/bank"
	"github.com/routegen/routegen/runtime/dialogue"
)

// patterns are how customers say what they want. A message that matches none is the answer to the
// open question, or the name of a flow.
//
//nolint:funlen // a table
func patterns() []dialogue.Pattern {
	means := func(match string, commands ...bank.Command) dialogue.Pattern {
		return dialogue.Pattern{Match: `(?i)` + match, Commands: bank.Commands(commands...)}
	}
	correct := func(match string, commands ...bank.Command) dialogue.Pattern { // in a transfer only
		p := means(`^(?:no, )?`+match, commands...)
		p.Flow = string(bank.FlowTransferFunds)
		return p
	}
	start := func(flow bank.FlowName) bank.Command { return bank.StartFlow{Flow: flow} }
	with := func(flow bank.FlowName, slots map[bank.SlotName]any) bank.Command {
		return bank.StartFlow{Flow: flow, Slots: slots}
	}
	const (
		please  = `^(?:please |can you |could you |i(?:'d| would) like to |i want to |i need to )?`
		account = `(checking|savings|investment)`
		money   = `([0-9]+(?:\.[0-9]+)?)(?: ?eur(?:os?)?)?`
	)
	return []dialogue.Pattern{
		// Two wishes in one message are two commands, in their order.
		means(`^(?:cancel|stop)[^,]*, (?:and )?(?:show )?(?:me )?my `+account+` balance`,
			bank.CancelFlow{}, with(bank.FlowCheckBalance,
				map[bank.SlotName]any{bank.SlotCheckBalanceAccount: "$1"})),
		means(
			please+
				`block my (debit|credit) card,? and (?:then )?send ([0-9.]+)(?: eur)? to ([a-z ]+)$`,
			with(bank.FlowBlockCard, map[bank.SlotName]any{bank.SlotBlockCardCard: "$1"}),
			with(bank.FlowTransferFunds, map[bank.SlotName]any{bank.SlotTransferFundsAmount: "$2",
				bank.SlotTransferFundsBeneficiary: "$3"})),

		means(`^(?:cancel|stop|never ?mind|forget it|cancelar)[.!]?$`, bank.CancelFlow{}),
		means(`\b(?:human|real person|operator|agente)\b`,
			bank.Handoff{Reason: "the customer asked for a person"}),
		means(`^what(?:'s| is) (?:an? )?(iban|security code|concept|reference)`,
			bank.Clarify{Topic: "$1"}),
		means(`^(?:why|what do you mean)`, bank.Clarify{}),
		means(`^(?:thanks|thank you|gracias)`, bank.Chitchat{Text: "You are welcome."}),
		means(`^(?:how are you|tell me a joke)`, bank.Chitchat{Text: "I am only good with money."}),

		// Corrections.
		correct(`(?:actually|make it|change the amount to|rather)\s+`+money,
			bank.CorrectSlot{Slot: bank.SlotTransferFundsAmount, Value: "$1"}),
		correct(`change the (?:account|source) to `+account,
			bank.CorrectSlot{Slot: bank.SlotTransferFundsSource, Value: "$1"}),
		correct(`change the beneficiary to ([a-z .'-]+)$`,
			bank.CorrectSlot{Slot: bank.SlotTransferFundsBeneficiary, Value: "$1"}),
		correct(`change the iban to (.+)$`, bank.CorrectSlot{Slot: bank.SlotTransferFundsIban,
			Value: "$1"}),
		correct(`change the amount$`, bank.Deny{Slot: bank.SlotTransferFundsAmount}),

		// Wishes.
		means(please+`(?:make a )?quick transfer of `+money+` to ([a-z ]+)$`,
			with(bank.FlowQuickTransfer, map[bank.SlotName]any{bank.SlotQuickTransferAmount: "$1",
				bank.SlotQuickTransferBeneficiary: "$2"})),
		means(please+`(?:make a )?quick transfer`, start(bank.FlowQuickTransfer)),
		means(please+`(?:send|transfer) `+money+` to ([a-z ]+)$`,
			with(bank.FlowTransferFunds, map[bank.SlotName]any{bank.SlotTransferFundsAmount: "$1",
				bank.SlotTransferFundsBeneficiary: "$2"})),
		means(please+`(?:send money|transfer|make a transfer)`, start(bank.FlowTransferFunds)),
		means(please+`(?:show |see |check |what is )?(?:me )?(?:my )?`+account+
			`(?: account)? balance`,
			with(bank.FlowCheckBalance, map[bank.SlotName]any{bank.SlotCheckBalanceAccount: "$1"})),
		means(please+`(?:(?:show|see|check|what is) )?(?:me )?(?:my )?(?:the )?balance`,
			start(bank.FlowCheckBalance)),
		means(`^how much (?:money )?do i have`, start(bank.FlowCheckBalance)),
		means(please+`(?:(?:show|see|check) )?(?:me )?(?:my )?`+account+
			` (?:transactions|movements)`,
			with(bank.FlowCheckTransactions,
				map[bank.SlotName]any{bank.SlotCheckTransactionsAccount: "$1"})),
		means(please+`(?:(?:show|see|check) )?(?:me )?(?:my )?(?:the )?(?:transactions|movements)`,
			start(bank.FlowCheckTransactions)),
		means(please+`(?:review |check |show )?(?:me )?(?:my )?(?:the )?(?:security )?alerts`,
			start(bank.FlowReviewSecurityAlerts)),
		means(`\b(debit|credit) card\b.*\b(?:lost|stolen|gone)\b`,
			with(bank.FlowBlockCard, map[bank.SlotName]any{bank.SlotBlockCardCard: "$1"})),
		means(`(?:block|lost|stolen|stole)\b.*\b(debit|credit)\b`,
			with(bank.FlowBlockCard, map[bank.SlotName]any{bank.SlotBlockCardCard: "$1"})),
		means(`(?:block|lost|stolen|stole)\b.*\bcard\b`, start(bank.FlowBlockCard)),
		means(please+`(?:a |order a |get a )?new (debit|credit) card`,
			with(bank.FlowRequestCard, map[bank.SlotName]any{bank.SlotRequestCardCard: "$1"})),
		means(please+`(?:a |order a |get a )?new card`, start(bank.FlowRequestCard)),
		means(please+`pay (?:my |the |an? )?(electricity|water|gas|phone) bill`,
			with(bank.FlowPayBill, map[bank.SlotName]any{bank.SlotPayBillBill: "$1"})),
		means(please+`pay (?:my |the |an? )?bill`, start(bank.FlowPayBill)),
		means(`^(?:hello|hi|good (?:morning|afternoon|evening)|hola)\b`, start(bank.FlowGreet)),
		means(`^(?:help|what can you do|ayuda)\b`, start(bank.FlowHelp)),
	}
}
