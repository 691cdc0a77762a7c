package names_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/routegen/routegen/runtime/web/internal/names"
)

func TestFourSpellingsAreOnePerson(t *testing.T) {
	t.Parallel()
	for _, spelling := range []string{"ann", "Ann", "ann ", " A\u200bN\u00adn\t", "ａｎｎ",
		"an\ufe0fn", "\u2060ann\U000e0041"} {
		got, err := names.Normal(spelling)
		require.NoError(t, err, "%q", spelling)
		assert.Equal(t, "ann", got, "%q", spelling)
	}
	for in, want := range map[string]string{
		"Ann  Lee": "ann lee", "Straße": "strasse", "E\u0301va": "éva", "Éva": "éva",
		"ﬁona": "fiona",
		"Анна": "анна", "山田たろう": "山田たろう", "김철수": "김철수", "anna@example.com": "anna@example.com",
		"j.-p. o'neil 2": "j.-p. o'neil 2", "": "", "\u200b": "", "\u00a0": "", "ＰＯＬＩＣＹ": "policy",
	} {
		got, err := names.Normal(in)
		require.NoError(t, err, "%q", in)
		assert.Equal(t, want, got, "%q", in)
	}
}

func TestNamesThatLookLikeOthersAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"\u0430nn" /* Cyrillic a */, "annα", "ann\u0301Б", "Ωann", "山田ann",
		"a\x00b", "a\x1b[31m", "\xff", "a\u0585b" /* Armenian o */} {
		got, err := names.Normal(bad)
		require.Error(t, err, "%q", bad)
		assert.Empty(t, got)
	}
}

// The normal form of a normal form is itself: what is stored is found again by what is typed.
func TestANormalNameStays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(),
			rapid.StringOf(rapid.RuneFrom([]rune("aAsSßẞİIıiǰΐͅ\u0345\u0301\u0307 \u00a0"+
				"\u200bﬁﬀＡⅣ℡ſΣς"))),
		).Draw(t, "name")
		once, err := names.Normal(name)
		if err != nil {
			return
		}
		twice, err := names.Normal(once)
		if err != nil || twice != once {
			t.Fatalf("%q: %q, then %q, %v", name, once, twice, err)
		}
		if !utf8.ValidString(once) || once != strings.TrimSpace(once) {
			t.Fatalf("%q: %q", name, once)
		}
	})
}
