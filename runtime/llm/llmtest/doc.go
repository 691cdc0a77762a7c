// Package llmtest stands in for language models:
//
//   - [ScriptedModel] is an [llm.Model] that follows a script, for tests and for programs that run
//     without a key. Replies are given in order or by what is asked; if none is left, the error
//     says what was asked.
//   - [Server] speaks the protocols of both providers on this machine, so that a test runs the real
//     clients. A request that breaks a rule of the provider (schemas and their limits, order of
//     keys, turns, calls and their results) gets the error that the provider would send.
//
// The rules for schemas are those of package schema, which names their sources. They were not tried
// with a provider.
package llmtest
