package imagegen

import (
	"encoding/json"
	"fmt"
	"log/slog"
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
		raw := newRawKey()
		is.True(form.MatchString(raw))
		is.True(wellFormed(raw))
		is.True(!seen[raw])
		seen[raw] = true
	}
}

// A typo in any one character is found without a look-up.
func TestMistypedKeyIsMalformed(t *testing.T) {
	is := is.New(t)
	raw := newRawKey()
	for i := range raw {
		typo := []byte(raw)
		typo[i] ^= 1
		is.True(!wellFormed(string(typo)))
	}
	is.True(!wellFormed(raw[:len(raw)-1]))
	is.True(!wellFormed(raw + "0"))
	is.True(!wellFormed(""))
}

func FuzzKey(f *testing.F) {
	for _, s := range []string{"", "img_live_", newRawKey(), strings.Repeat("0", keyLength), "img_live_" + strings.Repeat("\xff", 49)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if wellFormed(s) && (len(s) != keyLength || !strings.HasPrefix(s, keyLive)) {
			t.Errorf("%q passes for a key", s)
		}
	})
}

func TestSecretIsRedacted(t *testing.T) {
	is := is.New(t)
	s := Secret("img_live_abc")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "key", s, "nested", struct{ K Secret }{s})
	encoded, err := json.Marshal(map[string]any{"k": s})
	is.NoErr(err)
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %s", s, s, s, s, s), log.String(), string(encoded)} {
		is.True(!strings.Contains(shown, "img_live_abc"))
	}
	is.Equal(s.Reveal(), "img_live_abc")
}
