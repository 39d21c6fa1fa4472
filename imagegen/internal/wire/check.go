package wire

import "fmt"

// Body is the body of an answer that is not an error.
type Body interface {
	// Check returns an error if the body is not of the kind that it was read as. Without it any JSON
	// object would decode, even that of another service, to a value of zeros.
	Check() error
}

// Check implements Body.
func (w Models) Check() error { return is(w.Object, "list") }

// Check implements Body.
func (w BalanceBody) Check() error { return is(w.Object, "balance") }

// Check implements Body.
func (w Generation) Check() error { return is(w.Object, "image_generation") }

// Check implements Body.
func (w List) Check() error { return is(w.Object, "list") }

func is(object, want string) error {
	if object != want {
		return fmt.Errorf("wire: it is the object %q instead of %q", object, want)
	}
	return nil
}
