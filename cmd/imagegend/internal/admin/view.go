package admin

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Time is a time in JSON in the form that the API uses: UTC with three decimals, or null for the zero time. time.Time
// reads it, null included.
type Time struct{ time.Time }

// timeFormat is that of the API: UTC with three decimals.
const timeFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(timeFormat) + `"`), nil
}

// User is a user with its balance and its role in the console.
type User struct {
	ID          imagegen.UserID  `json:"id"`
	Name        string           `json:"name"`
	AccountType string           `json:"account_type"`
	Role        account.Role     `json:"role"`
	Credits     imagegen.Credits `json:"credits"`
	CreatedAt   Time             `json:"created_at"`
	DisabledAt  Time             `json:"disabled_at"`
	SuspendedAt Time             `json:"suspended_at"`
}

// Key is an API key without its secret. Prefix is the beginning of the raw key, by which people recognize it.
type Key struct {
	ID         imagegen.KeyID `json:"id"`
	Name       string         `json:"name"`
	Prefix     string         `json:"prefix"`
	CreatedAt  Time           `json:"created_at"`
	ExpiresAt  Time           `json:"expires_at"`
	RevokedAt  Time           `json:"revoked_at"`
	LastUsedAt Time           `json:"last_used_at"`
	Limits     KeyLimits      `json:"limits"`
}

// KeyLimits is what a key can be used for; 0 is no limit. Its fields are those of [imagegen.KeyLimits] in the same
// order, so that the two convert into each other.
type KeyLimits struct {
	Credits imagegen.Credits `json:"credits"`
	Daily   imagegen.Credits `json:"daily_credits"`
	Monthly imagegen.Credits `json:"monthly_credits"`
	AtOnce  int              `json:"at_once"`
}

func viewKey(k imagegen.Key) Key {
	return Key{ID: k.ID, Name: k.Name, Prefix: k.Prefix, CreatedAt: Time{k.CreatedAt}, ExpiresAt: Time{k.ExpiresAt},
		RevokedAt: Time{k.RevokedAt}, LastUsedAt: Time{k.LastUsedAt}, Limits: KeyLimits(k.Limits)}
}

// RawKey is a key at its creation, the only time that its secret is known.
type RawKey struct {
	Key
	Raw string `json:"key"`
}

// Lot is a number of credits that were granted together.
type Lot struct {
	ID string `json:"id"`
	// What was granted; of that, what can be spent, and what open charges hold. The rest was spent or revoked, or has
	// expired.
	Granted   imagegen.Credits `json:"granted"`
	Remaining imagegen.Credits `json:"remaining"`
	Held      imagegen.Credits `json:"held"`
	Promo     bool             `json:"promo"`
	Priority  int              `json:"priority"`
	CreatedAt Time             `json:"created_at"`
	ExpiresAt Time             `json:"expires_at"`
	Ref       string           `json:"ref"`
}

func viewLot(l imagegen.Lot) Lot {
	return Lot{ID: l.ID, Granted: l.Granted, Remaining: l.Remaining, Held: l.Held, Promo: l.Promo, Priority: l.Priority,
		CreatedAt: Time{l.Effective}, ExpiresAt: Time{l.Expires}, Ref: l.Ref}
}

// Entry is one line of the journal.
type Entry struct {
	Seq        uint64             `json:"seq"`
	Time       Time               `json:"time"`
	Kind       imagegen.EntryKind `json:"kind"`
	Credits    imagegen.Credits   `json:"credits"` // change of the balance
	Used       imagegen.Credits   `json:"used"`
	Balance    imagegen.Credits   `json:"balance"` // after this entry
	Generation imagegen.ChargeID  `json:"generation"`
	Ref        string             `json:"ref"`
	Actor      string             `json:"actor"` // who granted or revoked, as the audit trail writes it
}

func viewEntry(e imagegen.Entry) Entry {
	return Entry{Seq: e.Seq, Time: Time{e.Time}, Kind: e.Kind, Credits: e.Credits, Used: e.Used, Balance: e.Balance,
		Generation: e.Charge, Ref: e.Ref, Actor: e.Actor}
}

// Generation is everything about a generation that an operator may want to know, its prompt included.
type Generation struct {
	ID imagegen.GenerationID `json:"id"`
	// Name of the owner, or their identifier if there is no such user.
	User string `json:"user"`
	// What the owner sees, and the state of the record behind it.
	Status imagegen.Status `json:"status"`
	State  imagegen.State  `json:"state"`
	Model  string          `json:"model"`
	Prompt string          `json:"prompt"`
	N      int             `json:"n"`
	// What was asked for: size and quality; then what the policy made of it: ratio and tier, which decides the price.
	Size             string           `json:"size"`
	RequestedQuality imagegen.Quality `json:"requested_quality"`
	AspectRatio      imagegen.Ratio   `json:"aspect_ratio"`
	Quality          imagegen.Tier    `json:"quality"`
	Async            bool             `json:"async"`
	ReferenceCount   int              `json:"reference_count"`
	// What was spent, 0 until the end, and what was charged at acceptance.
	Credits          imagegen.Credits `json:"credits"`
	CreditsRequested imagegen.Credits `json:"credits_requested"`
	// The number of the present attempt, which a restart raises too, and how many attempts have failed.
	Attempt  int    `json:"attempt"`
	Failures int    `json:"failures"`
	Failure  string `json:"failure"` // what the provider said; empty unless it failed
	// Why the ledger refuses to close the charge; empty unless it does.
	Dispute     string  `json:"dispute"`
	Refunded    bool    `json:"refunded"` // an operator gave back what the images cost
	CreatedAt   Time    `json:"created_at"`
	CompletedAt Time    `json:"completed_at"`
	Images      []Image `json:"images"`
}

// Image is one stored image.
type Image struct {
	ID          imagegen.ImageID `json:"id"`
	Width       int              `json:"width"`
	Height      int              `json:"height"`
	ContentType string           `json:"content_type"`
	Bytes       int64            `json:"bytes"`
}

// viewGeneration shows a record to an operator. Credits is 0 until the generation has ended: until then nothing is
// spent.
func viewGeneration(r imagegen.Record, user string) Generation {
	g := Generation{ID: r.ID, User: user, Status: r.Status(), State: r.State, Model: r.Model, Prompt: r.Prompt, N: r.N,
		Size: r.Size.String(), RequestedQuality: r.Intent.Quality, AspectRatio: r.Ratio, Quality: r.Tier, Async: r.Async,
		ReferenceCount: len(r.References), CreditsRequested: r.Charge().Credits, Attempt: r.Attempt, Failures: r.Failures, Dispute: r.Dispute, Refunded: r.Refunded,
		CreatedAt: Time{r.CreatedAt}, CompletedAt: Time{r.CompletedAt}, Images: []Image{}}
	if r.Terminal() {
		g.Credits = r.Used()
	}
	if r.Failure != nil {
		g.Failure = r.Failure.Class.String() + ": " + r.Failure.Detail
	}
	for _, i := range r.Images {
		g.Images = append(g.Images, Image{i.ID, i.Width, i.Height, i.MediaType, i.Size})
	}
	return g
}

// Readiness says whether work is taken. Warnings do not change that.
type Readiness struct {
	Ready    bool     `json:"ready"`
	Reasons  []string `json:"reasons"` // codes of why not, such as "disk" and "draining"
	Warnings []string `json:"warnings"`
}

func viewReadiness(r engine.Readiness) Readiness {
	code := func(n imagegen.Notice) string { return n.Code }
	return Readiness{Ready: r.Ready(), Reasons: each(r.Reasons, code), Warnings: each(r.Warnings, code)}
}

// Clock says whether the wall clock is trusted.
type Clock struct {
	InDoubt bool   `json:"in_doubt"`
	Leap    string `json:"leap"` // what the clock did, in words; "" if it is not in doubt
}
