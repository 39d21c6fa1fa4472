package account

import (
	"regexp"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestRawKeyForm(t *testing.T) {
	is := is.New(t)
	form := regexp.MustCompile(`^img_live_[0-9A-Za-z]{49}$`)
	seen := map[string]bool{}
	for range 1000 {
		raw := newRawKey(keyLive)
		is.True(form.MatchString(raw))
		is.True(wellFormed(raw, keyLive))
		is.True(!seen[raw])
		seen[raw] = true
	}
}

// A typo in any one character is found without a look-up.
func TestMistypedKeyIsMalformed(t *testing.T) {
	is := is.New(t)
	raw := newRawKey(keyLive)
	for i := range raw {
		typo := []byte(raw)
		typo[i] ^= 1
		is.True(!wellFormed(string(typo), keyLive))
	}
	is.True(!wellFormed(raw[:len(raw)-1], keyLive))
	is.True(!wellFormed(raw+"0", keyLive))
	is.True(!wellFormed("", keyLive))
}

func FuzzKey(f *testing.F) {
	for _, s := range []string{"", "img_live_", newRawKey(keyLive), strings.Repeat("0", 58), "img_live_" +
		strings.Repeat("\xff", 49)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if wellFormed(s, keyLive) && (len(s) != 58 || !strings.HasPrefix(s, keyLive)) {
			t.Errorf("%q passes for a key", s)
		}
	})
}
