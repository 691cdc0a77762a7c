package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The page says of each row what the terminal says: both are held to one table of rows and lines.
// What has no line of its own says so.
func TestEveryRowHasItsLine(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join("..", "..", "cmd", "routegen-threads", "internal",
		"tui",
		"testdata", "lines.json"))
	require.NoError(t, err)
	var want struct {
		Kinds map[string]string `json:"kinds"`
		Rows  []struct {
			Row struct {
				Type string `json:"type"`
			} `json:"row"`
			Line string `json:"line"`
		} `json:"rows"`
	}
	require.NoError(t, json.Unmarshal(table, &want))
	require.Greater(t, len(want.Rows), 50)
	d := start(t)
	b := d.open(d.page, "light", 1280, 900)
	b.sees(".inbox", "How many people come?")
	got := eval[[]string](b, `(async () => {
		const {Teller} = await import("./tale.js"), {learn} = await import("./names.js"), {clock} = await import("./dom.js");
		const table = `+string(table)+`, teller = new Teller();
		learn(table.graph);
		const moment = (ms) => new Date(ms).toLocaleString([], {month: "short", day: "numeric", hour: "2-digit", minute: "2-digit"});
		const back = (text, r) => r.until ? text.replace(moment(r.until), "{moment}").replace(clock(r.until), "{clock}") : text;
		return table.rows.map(({row}) => back(teller.tell(row), row)).concat(teller.tell({type: "of_a_later_version"}));
	})()`)
	for kind, name := range want.Kinds {
		assert.Equal(t, name, eval[string](b, `import("./inbox.js").then((inbox) => inbox.kindOf("`+
			kind+`").one)`))
	}
	for n, r := range want.Rows {
		assert.Equal(t, r.Line, got[n], "%s, row %d", r.Row.Type, n+1)
	}
	assert.Contains(t, got[len(want.Rows)], "no words for", "the check can lose")
	for _, text := range got[:len(want.Rows)] {
		assert.NotContains(t, text, "no words for")
	}
}
