// Package llm is the port to language models: [Model] of one method, what goes through it, and what its errors say. Adapters are beside
// it, each on its vendor's own client; llmtest has a scripted model, and a server that holds real clients to the providers' rules.
//
// # One call
//
// Generate asks once and returns what the model said: free text, JSON in the form of a schema, or calls of tools. It runs no tool and asks
// nothing again. Who calls it owns what must be stored, approved or tried again, and every call is one effect under one key.
//
// # Schemas
//
// A request has a schema as a function, and the adapter asks it for its own dialect. The bytes go out as they are: models write their
// output in the order of the keys. What comes back is only known to be JSON. The caller holds it against its own types, because providers
// do not enforce every rule, and servers that speak their protocol enforce fewer.
//
// # Errors
//
// Every error of an adapter is a [runtime.Error]. Its code decides what happens next, and its text has no prompt, no reply, no key:
//
//   - [RefusalError], forbidden: the model or its provider will not answer this. The same question gets the same refusal, so nobody asks
//     again by himself, and a person decides.
//   - [StopError], unavailable: the reply was cut, at the limit of tokens for one. Another try may end sooner. Where the question is larger
//     than the model's window it is invalid: that one never fits.
//   - [CallError], by its status: forbidden for 401 and 403, unavailable for 408, 409, 425, 429, all from 500 on, and for no answer at all,
//     timeouts included; invalid for the rest, a schema that the provider does not take among them.
//   - Of no type of its own: invalid for a request that [Request.Check] refuses, and for a schema that has no form in the dialect.
//
// Invalid and forbidden are permanent, see [runtime.Recoverable].
package llm
