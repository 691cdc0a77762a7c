// Package postgres keeps threads in a PostgreSQL database: a [thread.Store] for programs on several
// machines.
package postgres
