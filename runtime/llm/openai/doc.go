// Package openai is the [llm.Model] on OpenAI's own Go client. It speaks Chat Completions, which
// most other servers speak too: Azure, vLLM, Mistral, Ollama and others are a BaseURL.
//
// A schema goes out as response_format json_schema, strict, in the dialect [runtime.OpenAI] and in
// its own bytes. The schemas of tools go out in their own bytes too; strict is said for each,
// because a tool that leaves it out may be rewritten by the provider.
//
// The system prompt has the role system, which reasoning models read as developer. MaxTokens is
// sent as max_completion_tokens, also where neither the request nor Config names it; a server that
// knows only max_tokens, or a model that may write less, needs Config.MaxTokens, or
// -1 there and Options of its own.
package openai
