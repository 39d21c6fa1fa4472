package trail

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

const rowVersion = 1

// longest is how many bytes of a text are kept: names and references are far shorter.
const longest = 1024

func clipped(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), longest)], "")
}

func encode(r imagegen.TrailRow) []byte {
	w := make(kv.Writer, 0, 256)
	w.Uint(rowVersion)
	w.Uint(r.Seq)
	w.Time(r.Time)
	for _, s := range []string{r.Actor.Via, r.Actor.Name, string(r.Actor.User), r.Actor.Address, string(r.Act), r.Target, string(r.User),
		r.Before, r.After, string(r.Outcome)} {
		w.String(clipped(s))
	}
	w.Int(int64(max(r.Count, 1)))
	return w
}

// decode reads a stored row: its encoding with the hash behind it.
func decode(stored []byte) (r imagegen.TrailRow, hash [sha256.Size]byte, err error) {
	if len(stored) < len(hash) {
		return r, hash, errors.New("trail: a row is cut short")
	}
	body := stored[:len(stored)-len(hash)]
	copy(hash[:], stored[len(body):])
	in := kv.NewReader(body)
	if v := in.Uint(); v != rowVersion {
		return r, hash, fmt.Errorf("trail: a row has the unknown version %d", v)
	}
	r.Seq, r.Time = in.Uint(), in.Time()
	r.Actor = imagegen.Actor{Via: in.String(), Name: in.String(), User: imagegen.UserID(in.String()), Address: in.String()}
	r.Act, r.Target, r.User = imagegen.Act(in.String()), in.String(), imagegen.UserID(in.String())
	r.Before, r.After, r.Outcome = in.String(), in.String(), imagegen.TrailOutcome(in.String())
	r.Count = int(in.Int())
	if err := in.Err(); err != nil {
		return r, hash, fmt.Errorf("trail: a row cannot be read: %w", err)
	}
	return r, hash, nil
}

// Fields describes something by names and values in turn, as name=value; empty values are left out.
func Fields(pairs ...any) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		v := text(pairs[i+1])
		if v == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "%s=%s", pairs[i], v)
	}
	return b.String()
}

// text quotes a value that would be taken for more than one.
func text(v any) string {
	s := fmt.Sprint(v)
	if t, ok := v.(time.Time); ok {
		if s = ""; !t.IsZero() {
			s = t.UTC().Format(time.RFC3339)
		}
	}
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '=' }
	if strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}
