//go:build slow

package web_test

// The size of the soak.
const soakSockets, soakThreads = 1000, 200
