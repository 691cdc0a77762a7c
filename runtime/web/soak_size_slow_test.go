//go:build slow

package web_test

// The size of the soak.
const soakSockets, soakThreads = 1000, 200

// fuzzRequests is how many the fuzzer of the document sends.
const fuzzRequests = 20_000
