// Package schema holds JSON Schemas as ordered trees, turns a plain definition into the form a model provider takes,
// and counts what that provider limits.
//
// There are four dialects. Plain is draft 2020-12 as it was written. OpenAI, Anthropic and Gemini are the subsets that
// these providers enforce on a model's output. Convert loses nothing in silence: a bound that a provider does not
// take is said in the description instead, for the model to read, and the reply decoder checks it all the same.
//
// Narrow takes properties out of any JSON Schema, of whatever draft and whoever wrote it, and prunes the definitions that are not
// reached any more. It says no where it cannot do so without changing what the schema means.
//
// Every schema that Convert and Lint read refers to others only as "#/$defs/Name", with no key beside the reference. Key order
// is kept everywhere, because models write their output in it.
//
// The rules come from these places, read in September 2026; no provider was called to check them:
//
//   - OpenAI: the guide "Structured model outputs" (strict mode), and the error texts of its API.
//   - Anthropic: the page "Structured outputs" of platform.claude.com, and anthropic-sdk-go v1.84.0.
//   - Gemini: the comments on ResponseJsonSchema in google.golang.org/genai v1.77.0.
//
// Everything is a pure function on values that nobody writes to afterwards, so all of it may be used by several
// goroutines at the same time.
package schema
