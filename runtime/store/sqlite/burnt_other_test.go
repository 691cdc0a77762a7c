//go:build !unix

package sqlite

// burnt is not known here.
func burnt() int64 { return 0 }
