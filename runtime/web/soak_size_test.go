//go:build !slow

package web_test

// The size of the soak: with the tag slow it is the whole.
const soakSockets, soakThreads = 60, 12

// fuzzRequests is how many the fuzzer of the document sends.
const fuzzRequests = 600
