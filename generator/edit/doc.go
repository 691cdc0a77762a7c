// Package edit changes the text of a routes.yaml: it adds, renames and removes what the spec
// declares, orders keys, and repairs findings that need no decision.
//
// Every function takes a text and returns a new one. An edit lays the values of the document over
// their bytes (layout.go), replaces single stretches of text (splice.go), and reads the result
// again: if the spec would have a new error, or says something else than intended, the edit is
// refused with findings and no text. All other bytes stay as they are, comments and line ends
// included.
//
// Refused with EDIT_LAYOUT, to be edited by hand, are layouts that are rare in a spec: explicit
// keys (`? key`), mappings in brackets that run over several lines, and names that are written with
// escapes or line breaks. Steps of flows can be renamed, but not added or removed: their place
// among the others is what they mean.
//
// Nothing here touches a disk. Every function is safe for concurrent use.
package edit
