package admin

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// ListEvents reads the feed of what has happened, oldest first. It answers at once with what there is.
	ListEvents = Call[EventsQuery, EventPage]{Name: "events", Scope: account.ScopeRead}
	// SetNotifyBelow sets the balance below which an event says that it is low.
	SetNotifyBelow = Call[NotifyBelow, User]{Name: "set-notify-below", Scope: account.ScopeUsers}
)

// NotifyBelow is the balance below which an event says that a user's is low; 0: no event does.
type NotifyBelow struct {
	User  string           `json:"user"` // the name
	Below imagegen.Credits `json:"notify_below"`
}

// EventsQuery asks for events behind a place.
type EventsQuery struct {
	After uint64 `json:"after"` // the number of the last event that was read; 0: from the oldest on
	Limit int    `json:"limit"` // 0: 100; at most engine.MaxEvents
}

// EventPage is some events, oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	Next   uint64  `json:"next"` // After of the next page, which may still be empty
}

// Event is an event as programs read it.
type Event struct {
	ID        string            `json:"id"`
	Number    uint64            `json:"number"`
	Type      imagegen.FeedKind `json:"type"`
	Timestamp Time              `json:"timestamp"`
	Data      EventData         `json:"data"`
}

// EventData is what an event is about. What does not apply is left out.
type EventData struct {
	Generation imagegen.GenerationID `json:"generation,omitempty"`
	User       imagegen.UserID       `json:"user,omitempty"`
	Payer      imagegen.UserID       `json:"payer,omitempty"`
	Key        imagegen.KeyID        `json:"key,omitempty"`
	Model      string                `json:"model,omitempty"`
	Images     *int                  `json:"images,omitempty"`
	Credits    *imagegen.Credits     `json:"credits,omitempty"`
	Balance    *imagegen.Credits     `json:"balance,omitempty"`
	Below      imagegen.Credits      `json:"below,omitempty"`
	Ref        string                `json:"ref,omitempty"`
	Reason     string                `json:"reason,omitempty"`
	Limit      imagegen.Credits      `json:"limit,omitempty"`
	Period     string                `json:"period,omitempty"`
	Cost       *Money                `json:"cost,omitempty"`
	Above      *Money                `json:"above,omitempty"`
	Disputed   bool                  `json:"disputed,omitempty"`
	From       uint64                `json:"from,omitempty"`
	To         uint64                `json:"to,omitempty"`
}

// ViewEvent shows an event. Amounts that apply are there even if they are 0.
func ViewEvent(e imagegen.FeedEvent) Event {
	d := EventData{Generation: e.Generation, User: e.User, Payer: e.Payer, Key: e.Key, Model: e.Model, Below: e.Below,
		Ref: e.Ref, Reason: e.Reason, Limit: e.Limit, Period: e.Period, Disputed: e.Disputed, From: e.From, To: e.To}
	group, _, _ := strings.Cut(string(e.Kind), ".")
	if group == "generation" && e.Kind != imagegen.FeedErased {
		d.Images, d.Credits = &e.Images, &e.Credits
	}
	if group == "credits" {
		d.Balance = &e.Balance
		if e.Kind != imagegen.FeedLow {
			d.Credits = &e.Credits
		}
	}
	if e.Kind == imagegen.FeedCost {
		d.Cost, d.Above = &Money{e.Cost}, &Money{e.Above}
	}
	return Event{ID: e.ID, Number: e.Number, Type: e.Kind, Timestamp: Time{Time: e.Time}, Data: d}
}
