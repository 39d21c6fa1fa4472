package admin

import (
	"context"
	"io"

	"github.com/imagegend/imagegend/imagegen/account"
)

// Call is one thing that an operator can do: it takes an In and answers with an Out, both as JSON. Each call is
// declared once, as a variable of this package, for programs, commands and the server alike.
type Call[In, Out any] struct {
	Name  string        // the last part of the path; programs in other languages use it too, so it never changes
	Scope account.Scope // that an operator key needs; "": no operator key can make the call
	// Ref returns where a request holds its reference, which makes it safe to repeat: it is the Idempotency-Key, and
	// over HTTP it is required. nil: the call has none.
	Ref func(*In) *string
}

// Do makes the call. The errors are those of by.
func (c Call[In, Out]) Do(ctx context.Context, by Caller, in In) (out Out, err error) {
	var ref string
	if c.Ref != nil {
		ref = *c.Ref(&in)
	}
	err = by.Call(ctx, c.Name, ref, &in, &out)
	return out, err
}

// Download is a call that takes None and answers with a stream of bytes.
type Download struct {
	Name  string
	Scope account.Scope // that an operator key needs
}

// Do makes the call and writes the answer to w. After an error what was written is worthless. It does not close w.
func (d Download) Do(ctx context.Context, by Caller, w io.Writer) error {
	return by.Call(ctx, d.Name, "", &None{}, w)
}

// None is the request of a call that takes nothing, and the answer of one that returns nothing.
type None struct{}

// Caller carries calls out. [Client] asks a server over HTTP; the commands of imagegend ask through its socket, or
// open the database themselves. It must be safe for concurrent use.
type Caller interface {
	// Call carries out the call of a name. ref is its Idempotency-Key, or "". in points to the In of the [Call]; out
	// points to its Out, or is the io.Writer of a [Download].
	Call(ctx context.Context, name, ref string, in, out any) error
}
