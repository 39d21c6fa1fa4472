package admin

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

var (
	// ListWebhooks tells how far each webhook has come, and what became of its last try.
	ListWebhooks = Call[None, []Webhook]{Name: "webhooks", Scope: account.ScopeRead}
	// TestWebhook sends an event of the type webhook.test to the webhook of a name, once. Only a server can.
	TestWebhook = Call[string, WebhookAnswer]{Name: "test-webhook", Scope: account.ScopeData}
	// ResendWebhook has a webhook get events again, or tries at once what it has refused.
	ResendWebhook = Call[Resend, None]{Name: "resend-webhook", Scope: account.ScopeData}
)

// Webhook is how far an endpoint has come.
type Webhook struct {
	Name   string `json:"name"`
	Number uint64 `json:"number"` // of the last event that it has accepted, or did not want
	WebhookAnswer
	Event string `json:"event"` // that was tried last; "": none was
	At    Time   `json:"at"`    // when
	Tries int    `json:"tries"` // how often the event behind Number has failed
	Since Time   `json:"since"` // when it failed first

	// What only a server knows, of the webhooks that it is configured with.
	URL        string              `json:"url,omitempty"`        // scheme and host; the path may be a secret
	Kinds      []imagegen.FeedKind `json:"kinds,omitempty"`      // that it gets; none: all
	Failing    bool                `json:"failing,omitempty"`    // it has refused the same event for days
	Next       Time                `json:"next"`                 // when that event is sent again
	Waiting    int                 `json:"waiting,omitempty"`    // how many of the next MaxWaiting events it is to get
	Deliveries []Delivery          `json:"deliveries,omitempty"` // the latest of that server, newest first
}

// MaxWaiting is how many events Webhook.Waiting looks at.
const MaxWaiting = 1000

// Delivery is one try to deliver an event.
type Delivery struct {
	At     Time              `json:"at"`
	Number uint64            `json:"number,omitempty"` // 0: of a test, or before that server has started
	Event  string            `json:"event"`
	Type   imagegen.FeedKind `json:"type,omitempty"` // "": before that server has started
	WebhookAnswer
}

// WebhookAnswer is what an endpoint answered.
type WebhookAnswer struct {
	Status int    `json:"status"` // 0: there was no answer
	Answer string `json:"answer"` // the first kibibyte, or why there was none
}

// Accepted reports whether the endpoint has accepted the event.
func (a WebhookAnswer) Accepted() bool { return a.Status/100 == 2 }

// Resend says what a webhook is to get again.
type Resend struct {
	Name  string `json:"name"`
	After uint64 `json:"after"` // everything behind this number; 0: what it has not accepted
}
