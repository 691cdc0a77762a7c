// Package thread is the engine: it runs threads that stop for a person at the exact point, survive the end of their process, and go on
// exactly once.
package thread
