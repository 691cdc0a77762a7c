// Package spec reads routes.yaml: bytes in, a Spec with positions and a list of findings out.
//
// The way of a file through the package:
//
//	bytes --source--> clean text --scanner--> caps held --yaml.go--> a tree of nodes
//	that tree --grammar--> *Spec --check_*.go--> errors, --lint.go--> warnings
//
// One table, the grammar, says which keys there are, what they hold and what they mean. Reading, unknown keys, suggestions
// and the editor's schema all come from it. Nothing is dropped silently: whatever the grammar does not name is a finding.
//
// Parse reports all findings of a file in one run, sorted by position, and the same bytes always give the same findings.
// Nothing here touches a disk, a clock or a network, and nothing is kept between two calls: every function is safe for
// concurrent use as long as a Spec is not shared while it is changed.
//
// Add, Rename, Remove, Format and ApplyFixes give a changed text. They lay the tree of nodes over its bytes (edit_tree.go), change
// single stretches (edit_splice.go), and read the result again: what they did not mean to change has not changed.
//
// Only yaml.go knows the YAML library.
package spec
