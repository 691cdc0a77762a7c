// Package llmtest stands in for language models, in three ways:
//
//   - [Model] is a scripted [llm.Model] for tests and for programs that show something without a key: replies in order or by what is asked.
//     It says loudly what was asked when no reply is left.
//   - [Server] speaks the wire of both providers on this machine, so that a test runs the real clients. It holds every request to the rules
//     of the provider: what a schema may say, its limits, the order of its keys, turns, calls and their results. What breaks a rule gets
//     the error that the provider would send.
//   - [Recorder] replays exchanges from files. It records them too, and refuses to write down a credential.
//
// The rules about schemas are those of package schema, which names their sources. Nobody asked a provider.
package llmtest
