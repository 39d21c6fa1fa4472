package imagegen

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/matryer/is"
)

func TestSecretIsRedacted(t *testing.T) {
	is := is.New(t)
	s := Secret("img_live_abc")
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("key", "key", s, "nested", struct{ K Secret }{s})
	encoded, err := json.Marshal(map[string]any{"k": s})
	is.NoErr(err)
	for _, shown := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %s", s, s, s, s, s), log.String(),
		string(encoded)} {
		is.True(!strings.Contains(shown, "img_live_abc"))
	}
	is.Equal(s.Reveal(), "img_live_abc")
}
