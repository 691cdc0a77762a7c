// Package anthropic is the [llm.Model] on Anthropic's own Go client.
//
// A schema goes out as output_config.format, in the dialect [runtime.Anthropic] and in its own
// bytes, and so do the schemas of tools. The limits of the dialect (optional properties, unions,
// strict tools) hold for all strict schemas of one request together. The provider caches schemas
// apart from prompts, so names, enums and patterns must hold no personal data.
//
// Enforced output may still differ from an enum or const value in case; the caller's decoder
// decides what that is worth.
//
// What a model thought before it called a tool has to go back with the results. A response keeps
// such a turn whole in its Opaque.
package anthropic
