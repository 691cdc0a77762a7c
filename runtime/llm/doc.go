// Package llm is the port to language models: [Model] with one method, its requests and responses,
// and its errors. The adapters in the packages below use the clients of their vendors; llmtest has
// a scripted model, and a server that checks real clients against the rules of the providers.
//
// # One call
//
// Generate asks once and returns what the model said: free text, JSON in the form of a schema, or
// calls of tools. It runs no tool and does not repeat the question. Storing, approving and trying
// again are up to the caller; every call is one effect under one key.
//
// # Schemas
//
// The schema of a request is a function, which the adapter calls with its own dialect. The bytes
// are sent as they are, because models write their output in the order of the keys. A reply is only
// known to be JSON. The caller must decode it strictly: providers do not enforce every rule, and
// other servers that speak their protocol enforce fewer.
//
// # Errors
//
// Every error of an adapter is a [runtime.Error]. Its code decides what happens next, and its text
// has no prompt, no reply, no key:
//
//   - [RefusalError], forbidden: the model or its provider will not answer this. The same question
//     gets the same refusal, so it is not repeated automatically; a person decides.
//   - [StopError], unavailable: the reply was cut, for example at the limit of tokens. Another try
//     may succeed. It is invalid if the question is larger than the model's window.
//   - [CallError], by its status: forbidden for 401 and 403; unavailable for 408, 409, 425, 429,
//     500 and above, and for no answer at all, timeouts included; invalid for the rest, for example
//     a schema that the provider does not accept.
//   - Of no type of its own: invalid for a request that [Request.Check] refuses, and for a schema
//     that has no form in the dialect.
//
// Invalid and forbidden are permanent, see [thread.Recoverable].
package llm
