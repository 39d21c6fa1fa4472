package imagegen

import (
	"crypto/rand"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"
)

// Identifiers are opaque strings of distinct types, so that none can be passed for another.
// Those that [IDs] makes rise strictly within a process, whatever the clock does.
type (
	// UserID names the owner of keys, credits and generations. An embedder may use identifiers
	// of its own; see [UserID.Valid].
	UserID string
	// KeyID names an API key. It is not a secret and cannot be used to authenticate.
	KeyID string
	// OperatorKeyID names an operator key. It is not a secret and cannot be used to authenticate.
	OperatorKeyID string
	// GenerationID names a generation, which only its owner can read.
	GenerationID string
	// ImageID names one stored image. It contains 130 random bits, since anybody who knows it can
	// read the image.
	ImageID string
	// ReferenceID names bytes in a [Spool].
	ReferenceID string
	// ChargeID names a charge in a [Ledger]. The engine uses the generation's identifier.
	ChargeID string
)

const (
	userPrefix       = "usr_"
	keyPrefix        = "key_"
	operatorPrefix   = "opk_"
	generationPrefix = "gen_"
	imagePrefix      = "image_"
	referencePrefix  = "ref_"

	sortableLength = ulid.EncodedSize // what follows the prefix: milliseconds and 80 random bits
	secretLength   = 26               // what follows that in an ImageID: the length of rand.Text
)

// Valid reports whether u can own anything: 1 to 255 bytes of UTF-8, without NUL.
func (u UserID) Valid() bool {
	return u != "" && len(u) <= 255 && !strings.Contains(string(u), "\x00") && utf8.ValidString(string(u))
}

// Check returns nil if u is valid, else an ErrInvalidRequest that says what a user's identifier is.
func (u UserID) Check() error {
	if u.Valid() {
		return nil
	}
	return Invalid("a user's identifier is 1 to 255 bytes of UTF-8 without NUL; got %.40q", u)
}

// Valid reports whether id has the form of a generation's identifier. The generation need not exist.
func (id GenerationID) Valid() bool {
	s, ok := strings.CutPrefix(string(id), generationPrefix)
	return ok && isUpperAlphanumeric(s, sortableLength)
}

// FirstGenerationID returns a bound between identifiers: those of generations made before the
// millisecond of t are lower, all others are higher. If t is before 1970 or after the year
// 10889, all are higher.
func FirstGenerationID(t time.Time) GenerationID {
	var id ulid.ULID
	id.SetTime(ulid.Timestamp(t)) // leaves id at zero for a time out of range
	return GenerationID(generationPrefix + id.String())
}

// Generation returns the generation that an image belongs to; ok is false if id does not have
// the form of an image's identifier. A thumbnail's has another form.
func (id ImageID) Generation() (g GenerationID, ok bool) {
	s, ok := strings.CutPrefix(string(id), imagePrefix)
	if !ok || len(s) != sortableLength+secretLength || !isUpperAlphanumeric(s, len(s)) {
		return "", false
	}
	return GenerationID(generationPrefix + s[:sortableLength]), true
}

// thumbnailSuffix turns the identifier of an image into that of its thumbnail.
// [ImageID.Generation] does not accept the result, so a thumbnail can never pass for an image
// of a record.
const thumbnailSuffix = "-t"

// Thumbnail returns the identifier under which an [ImageStore] keeps the small copy of an image.
func (id ImageID) Thumbnail() ImageID { return id + thumbnailSuffix }

// Original returns the image of which id names the thumbnail, or id if it names no thumbnail.
func (id ImageID) Original() ImageID {
	return ImageID(strings.TrimSuffix(string(id), thumbnailSuffix))
}

// NewImageID returns a new random identifier for an image of a generation. It contains the
// generation's identifier, so that the image can be found without an index.
func NewImageID(g GenerationID) ImageID {
	return ImageID(imagePrefix + strings.TrimPrefix(string(g), generationPrefix) + rand.Text())
}

// IsIdentifier reports whether s has the form of an identifier that [IDs] or [NewImageID] makes.
func IsIdentifier(s string) bool {
	for _, prefix := range []string{userPrefix, keyPrefix, operatorPrefix, generationPrefix, referencePrefix} {
		if rest, ok := strings.CutPrefix(s, prefix); ok {
			return isUpperAlphanumeric(rest, sortableLength)
		}
	}
	_, image := ImageID(s).Original().Generation()
	return image
}

func isUpperAlphanumeric(s string, length int) bool {
	if len(s) != length {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

// IDs makes sortable identifiers: each is greater than the one that the same IDs made before,
// even when the clock steps back. Paging by identifier relies on that. It is safe for
// concurrent use.
type IDs struct {
	mu      sync.Mutex
	last    uint64
	entropy *ulid.MonotonicEntropy
}

// NewIDs returns a source of identifiers. Use one for the whole process.
func NewIDs() *IDs { return &IDs{entropy: ulid.Monotonic(rand.Reader, 0)} }

// User makes the identifier of a user.
func (s *IDs) User(now time.Time) UserID { return UserID(s.newID(userPrefix, now)) }

// Key makes the identifier of an API key.
func (s *IDs) Key(now time.Time) KeyID { return KeyID(s.newID(keyPrefix, now)) }

// OperatorKey makes the identifier of an operator key.
func (s *IDs) OperatorKey(now time.Time) OperatorKeyID {
	return OperatorKeyID(s.newID(operatorPrefix, now))
}

// Generation makes the identifier of a generation.
func (s *IDs) Generation(now time.Time) GenerationID {
	return GenerationID(s.newID(generationPrefix, now))
}

// Reference makes the identifier of bytes in a [Spool].
func (s *IDs) Reference(now time.Time) ReferenceID { return ReferenceID(s.newID(referencePrefix, now)) }

func (s *IDs) newID(prefix string, now time.Time) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = max(s.last, ulid.Timestamp(now))
	for {
		id, err := ulid.New(s.last, s.entropy)
		if err == nil {
			return prefix + id.String()
		}
		s.last++ // the 80 bits of this millisecond are used up
	}
}
