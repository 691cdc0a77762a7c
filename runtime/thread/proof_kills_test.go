//go:build !slow

package thread_test

// proofKills is how often a process is killed.
const proofKills = 20
