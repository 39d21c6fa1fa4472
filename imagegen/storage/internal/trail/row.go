package trail

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// longest is how many bytes of each text of a row are kept. Names and references are far shorter; the bound is for
// what callers make up.
const longest = 1024

// Kept is a row as it is kept: each text is cut to a bounded length and to whole characters, the
// time to whole microseconds, and Count is at least 1.
func Kept(r account.TrailRow) account.TrailRow {
	clip(&r.Actor.Via)
	clip(&r.Actor.Name)
	clip(&r.Actor.User)
	clip(&r.Actor.Address)
	clip(&r.Act)
	clip(&r.Target)
	clip(&r.User)
	clip(&r.Before)
	clip(&r.After)
	clip(&r.Outcome)
	r.Time, r.Count = r.Time.Truncate(time.Microsecond), max(r.Count, 1)
	return r
}

// clip shortens a text to what a row may hold, and drops what is not valid UTF-8: a cut may split a character.
func clip[S ~string](s *S) {
	*s = S(strings.ReplaceAll(strings.ToValidUTF8(string((*s)[:min(len(*s), longest)]), ""), "\x00", ""))
}

// code is the encoding of a row. The chain hashes these bytes, so an old version must stay as it is.
func code(c *kv.Coder, r *account.TrailRow) {
	c.Version(1)
	kv.Number(c, &r.Seq)
	kv.Moment(c, &r.Time)
	kv.Text(c, &r.Actor.Via)
	kv.Text(c, &r.Actor.Name)
	kv.Text(c, &r.Actor.User)
	kv.Text(c, &r.Actor.Address)
	kv.Text(c, &r.Act)
	kv.Text(c, &r.Target)
	kv.Text(c, &r.User)
	kv.Text(c, &r.Before)
	kv.Text(c, &r.After)
	kv.Text(c, &r.Outcome)
	kv.Number(c, &r.Count)
}

// Stored is a row as it is kept, with the hash that chains it to the one before.
type Stored struct {
	account.TrailRow
	Hash [sha256.Size]byte
}

// Encode returns the row as it is stored: its encoding with its hash behind it.
func (s *Stored) Encode() []byte { return append(kv.Encode(&s.TrailRow, code), s.Hash[:]...) }

// Decode reads a stored row. It does not verify the hash; Audit does.
func Decode(stored []byte) (s Stored, err error) {
	if len(stored) < len(s.Hash) {
		return s, errors.New("trail: a row is cut short")
	}
	body := stored[:len(stored)-len(s.Hash)]
	copy(s.Hash[:], stored[len(body):])
	if err := kv.Decode(body, &s.TrailRow, code); err != nil {
		return s, fmt.Errorf("trail: a row cannot be read: %w", err)
	}
	return s, nil
}

// Fields joins names and values, which come in turn, as name=value with spaces between them. It leaves out empty
// values and zero times, but not the number 0.
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

// text writes a value, quoted if it could be read as more than one. Times are in UTC, to the second.
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
