package admin

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// Time is a time in JSON as the API writes it: UTC with three decimals, or null for none.
type Time struct{ time.Time }

const timeFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON writes null for the zero time.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + t.UTC().Format(timeFormat) + `"`), nil
}

// User is a user with its balance, and its role in the console.
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

// Key is an API key without its secret.
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

// KeyLimits are what a key can be used for; each is 0 where there is none.
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

// RawKey is a key that was just made, with the secret that is stored nowhere.
type RawKey struct {
	Key
	Raw string `json:"key"`
}

// Lot is credits that were granted together.
type Lot struct {
	ID        string           `json:"id"`
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
	Credits    imagegen.Credits   `json:"credits"` // what it did to the balance
	Used       imagegen.Credits   `json:"used"`
	Balance    imagegen.Credits   `json:"balance"` // afterwards
	Generation imagegen.ChargeID  `json:"generation"`
	Ref        string             `json:"ref"`
	Actor      string             `json:"actor"` // who granted or revoked
}

func viewEntry(e imagegen.Entry) Entry {
	return Entry{Seq: e.Seq, Time: Time{e.Time}, Kind: e.Kind, Credits: e.Credits, Used: e.Used, Balance: e.Balance,
		Generation: e.Charge, Ref: e.Ref, Actor: e.Actor}
}

// Generation is all that an operator may want to know of one.
type Generation struct {
	ID               imagegen.GenerationID `json:"id"`
	User             string                `json:"user"` // its name, or its identifier if there is no such user
	Status           imagegen.Status       `json:"status"`
	State            imagegen.State        `json:"state"`
	Model            string                `json:"model"`
	Prompt           string                `json:"prompt"`
	N                int                   `json:"n"`
	Size             string                `json:"size"`
	RequestedQuality imagegen.Quality      `json:"requested_quality"`
	AspectRatio      imagegen.Ratio        `json:"aspect_ratio"`
	Quality          imagegen.Tier         `json:"quality"`
	Async            bool                  `json:"async"`
	ReferenceCount   int                   `json:"reference_count"`
	Credits          imagegen.Credits      `json:"credits"`
	CreditsRequested imagegen.Credits      `json:"credits_requested"`
	Attempt          int                   `json:"attempt"`
	Failures         int                   `json:"failures"`
	Failure          string                `json:"failure"`  // what the provider said; empty unless it failed
	Dispute          string                `json:"dispute"`  // why the ledger refuses to close the charge; empty unless it does
	Refunded         bool                  `json:"refunded"` // an operator gave back what the images cost
	CreatedAt        Time                  `json:"created_at"`
	CompletedAt      Time                  `json:"completed_at"`
	Images           []Image               `json:"images"`
}

// Image is one stored image.
type Image struct {
	ID          imagegen.ImageID `json:"id"`
	Width       int              `json:"width"`
	Height      int              `json:"height"`
	ContentType string           `json:"content_type"`
	Bytes       int64            `json:"bytes"`
}

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

// Readiness tells whether work is taken; warnings change nothing about that.
type Readiness struct {
	Ready    bool     `json:"ready"`
	Reasons  []string `json:"reasons"` // why not, such as "disk" and "draining"
	Warnings []string `json:"warnings"`
}

func viewReadiness(r engine.Readiness) Readiness {
	code := func(n imagegen.Notice) string { return n.Code }
	return Readiness{Ready: r.Ready(), Reasons: each(r.Reasons, code), Warnings: each(r.Warnings, code)}
}

// Clock tells whether the time is trusted.
type Clock struct {
	InDoubt bool   `json:"in_doubt"`
	Leap    string `json:"leap"` // in doubt: what the clock did, in words
}
