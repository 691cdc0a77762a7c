// Package schema holds JSON Schemas as ordered trees, converts a plain definition to the form that
// a model provider takes, and checks documents against the limits of that provider.
//
// There are four dialects. Plain is draft 2020-12 as the generator writes it. OpenAI, Anthropic and
// Gemini are the subsets that these providers enforce on a model's output. Convert drops nothing
// silently: a bound that a provider does not take becomes a sentence of the description, for the
// model to read, and the reply decoder checks it all the same.
//
// Schemas refer to others only as "#/$defs/Name", with no key beside the reference. The order of
// keys is kept everywhere, because models write their output in it.
//
// The rules come from these places, read in September 2026; they were not tried with a provider:
//
//   - OpenAI: the guide "Structured model outputs" (strict mode), and the error texts of its API.
//   - Anthropic: the page "Structured outputs" of platform.claude.com, and anthropic-sdk-go
//     v1.84.0.
//   - Gemini: the comments on ResponseJsonSchema in google.golang.org/genai v1.77.0.
//
// All functions are pure and may be called concurrently.
package schema
