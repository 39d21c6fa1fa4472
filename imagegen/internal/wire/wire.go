// Package wire holds the JSON bodies of the HTTP interface and their conversion to and from the
// types of package imagegen, so that server and client cannot disagree.
//
// Each body has a function New that makes it of a value, and a method Value that converts it back.
// What the interface does not carry is lost on the way: aliases, favourites, what upstreams have used, and whether a
// failure is lasting. The server's checks of requests are in package httpapi; Check is for the client, which may
// be talking to anything. A name or type that is changed here changes the interface: openapi.json and
// docs/api.md describe the same.
package wire

import (
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Where each request goes, below the base URL.
const (
	ModelsPath      = "/api/v1/models"
	CreditsPath     = "/api/v1/credits"
	GeneratePath    = "/api/v1/images/generations"
	QuotePath       = "/api/v1/images/quote"
	UsagePath       = "/api/v1/usage"
	GenerationsPath = "/api/v1/generations"
)

// GenerationPath is where a generation is read, below the base URL.
func GenerationPath(id imagegen.GenerationID) string { return GenerationsPath + "/" + string(id) }

// CancelPath is where a generation is cancelled, below the base URL.
func CancelPath(id imagegen.GenerationID) string { return GenerationPath(id) + "/cancel" }

// ImagePath is where an image is read, below the base URL.
func ImagePath(id imagegen.ImageID) string { return "/images/" + string(id) }

// GenerationAt returns the generation that an address names, such as a Location or a poll_url, whatever
// its base; "" if it names none. It does not check the identifier.
func GenerationAt(address string) imagegen.GenerationID {
	_, last, _ := strings.Cut(address, GenerationPath(""))
	return imagegen.GenerationID(last)
}

// TimeLayout is that of a time in UTC.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as the interface writes it: UTC, always three decimals. The zero time is null.
type Time time.Time

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if time.Time(t).IsZero() {
		return []byte("null"), nil
	}
	return []byte(`"` + time.Time(t).UTC().Format(TimeLayout) + `"`), nil
}

// UnmarshalJSON implements json.Unmarshaler. It accepts exactly what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = Time{}
		return nil
	}
	parsed, err := time.Parse(`"`+TimeLayout+`"`, string(b))
	*t = Time(parsed)
	return err
}

// Request is the JSON form of a request for images, as the client sends it. The server does not decode
// into it: it has to notice unknown and repeated fields.
type Request struct {
	Model   string `json:"model"`
	Prompt  string `json:"prompt"`
	Size    string `json:"size,omitempty"`
	Quality string `json:"quality,omitempty"`
	N       int    `json:"n,omitempty"`
	Async   bool   `json:"async,omitempty"`
	Options
	MaxCredits imagegen.Credits `json:"max_credits,omitempty"`
}

// NewRequest converts. References and a mask are left out: they need a form.
func NewRequest(q imagegen.GenerateRequest) Request {
	return Request{Model: q.Model, Prompt: q.Prompt, Size: q.Size.String(), Quality: string(q.Quality), N: q.N,
		Async: q.Async, Options: Options(q.Options), MaxCredits: q.MaxCredits}
}

// BalanceBody is the answer to a request for the balance.
type BalanceBody struct {
	Object  string  `json:"object"`
	Balance Balance `json:"balance"`
}

// Balance is what an account can spend.
type Balance struct {
	Credits        imagegen.Credits `json:"credits"`
	AccountType    string           `json:"account_type"`
	NextExpiration *Expiration      `json:"next_expiration"`
}

// Expiration tells which credits expire first.
type Expiration struct {
	Credits   imagegen.Credits `json:"credits"`
	ExpiresAt Time             `json:"expires_at"`
}

// NewBalance converts.
func NewBalance(b imagegen.Balance) *Balance {
	w := &Balance{Credits: b.Credits, AccountType: b.AccountType}
	if e := b.NextExpiration; e != nil {
		w.NextExpiration = &Expiration{e.Credits, Time(e.At)}
	}
	return w
}

// Value converts back.
func (w Balance) Value() imagegen.Balance {
	b := imagegen.Balance{Credits: w.Credits, AccountType: w.AccountType}
	if e := w.NextExpiration; e != nil {
		b.NextExpiration = &imagegen.Expiration{Credits: e.Credits, At: time.Time(e.ExpiresAt)}
	}
	return b
}

// Failure is the error object.
type Failure struct {
	Message string        `json:"message"`
	Code    imagegen.Code `json:"code"`
}

// ErrorBody is the body of every answer that is an error.
type ErrorBody struct {
	Error Failure `json:"error"`
}
