// Package seal makes a browser carry what it is about to come back for. What is sealed nobody can read or change, no
// stranger can push it out of anywhere, and any node that shares the store can open it. Each kind of value has keys of
// its own, so that none passes for another.
package seal

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
)

// WaitTime is how long a browser may take to come back.
const WaitTime = 10 * time.Minute

// longestSeal is for how long a value can be open to this node, whose clock may be behind that of the one that sealed
// it. One that would last longer was sealed by a clock that has been corrected since.
const longestSeal = 2 * WaitTime

// saltSize is so large that no two values get the same key.
const saltSize = 24

// Sealer seals and opens values with keys that derive from a store's secret. It is safe for concurrent use.
type Sealer struct {
	store  account.LoginStore
	secret atomic.Pointer[[32]byte] // nil: the store was not asked yet
}

// New returns a Sealer with the secret of a store.
func New(store account.LoginStore) *Sealer { return &Sealer{store: store} }

// storeSecret asks for the store's secret once.
func (s *Sealer) storeSecret(ctx context.Context) ([32]byte, error) {
	if secret := s.secret.Load(); secret != nil {
		return *secret, nil
	}
	secret, err := s.store.Secret(ctx)
	if err == nil {
		s.secret.Store(&secret)
	}
	return secret, err
}

// Hash returns a hash of parts that nobody can compute without the secret.
func (s *Sealer) Hash(ctx context.Context, parts ...string) (sum [32]byte, err error) {
	secret, err := s.storeSecret(ctx)
	mac := hmac.New(sha256.New, secret[:])
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	mac.Sum(sum[:0])
	return sum, err
}

// aead returns the AEAD for the values of a kind that have this salt.
func (s *Sealer) aead(ctx context.Context, kind string, salt []byte) (cipher.AEAD, error) {
	secret, err := s.storeSecret(ctx)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, secret[:], salt, "console "+kind, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// Seal seals a value, as JSON, until a time. Only what names the same owner opens it, such as a sign-in.
func (s *Sealer) Seal(ctx context.Context, kind, owner string, until time.Time, v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	aead, err := s.aead(ctx, kind, salt)
	if err != nil {
		return "", err
	}
	text = append(binary.BigEndian.AppendUint64(nil, uint64(until.UnixNano())), text...)
	// No other value has this key, so the nonce may be zero.
	sealed := aead.Seal(salt, make([]byte, aead.NonceSize()), text, []byte(owner))
	return base64.RawURLEncoding.EncodeToString(sealed), nil
}

// Unseal opens a value. ok is false if it was sealed for another kind or owner, its time has passed, or it was never
// sealed here.
func (s *Sealer) Unseal(ctx context.Context, now time.Time, kind, owner, value string, v any) (ok bool, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil || len(sealed) < saltSize {
		return false, nil
	}
	aead, err := s.aead(ctx, kind, sealed[:saltSize])
	if err != nil {
		return false, err
	}
	text, err := aead.Open(nil, make([]byte, aead.NonceSize()), sealed[saltSize:], []byte(owner))
	if err != nil {
		return false, nil
	}
	if left := time.Unix(0, int64(binary.BigEndian.Uint64(text))).Sub(now); left <= 0 || left > longestSeal {
		return false, nil
	}
	return true, json.Unmarshal(text[8:], v)
}

// UsedFirst reports whether a sealed value is used for the first time, at whichever node. It is a write, so it comes
// after the proof that the value was for.
func (s *Sealer) UsedFirst(ctx context.Context, now time.Time, value string) (first bool, err error) {
	sealed, _ := base64.RawURLEncoding.DecodeString(value) // it was opened: several texts stand for the same bytes
	key, err := s.Hash(ctx, "once", string(sealed))
	if err != nil {
		return false, err
	}
	err = s.store.Mark(ctx, now, [][32]byte{key}, func(until []time.Time) bool {
		first = until[0].IsZero()
		until[0] = now.Add(longestSeal)
		return first
	})
	return first, err
}
