package review_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/routegen/routegen/generator/review"
)

func TestThreadsOfAStoreAreCounted(t *testing.T) {
	t.Parallel()
	threads, err := review.ParseThreads([]byte(`{"v":1,"kind":"threads","unfinished":12,"goOn":11,
		"refused":[{"thread":"order_7","problems":[{"pointer":"/frames/0/input/key",
		"reason":"it is \"abc\": does not match"}]}]}`))
	require.NoError(t, err)
	assert.Equal(t, "12 unfinished threads: 11 go on, 1 refused: order_7 (/frames/0/input/key: "+
		`it is "abc": does not match)`, threads.Summary())
	assert.Equal(t, "\n#### The threads of the store\n\n12 unfinished threads: 11 go on, "+
		`1 refused: order\_7 (/frames/0/input/key: it is "abc": does not match).`+"\n",
		threads.Markdown())
	threads.Refused, threads.GoOn, threads.Unfinished = nil, 1, 1
	assert.Equal(t, "\nthe threads of the store\n    1 unfinished thread: 1 go on, 0 refused\n",
		threads.Text())
	for _, other := range []string{`{`, `[]`, `{"v":1,"kind":"review"}`,
		`{"v":1,"kind":"threads","unfinished":2,"goOn":1}`} {
		_, err := review.ParseThreads([]byte(other))
		require.Error(t, err, other)
	}
}
