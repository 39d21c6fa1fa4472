package console_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/matryer/is"
)

// An unreadable form is answered with a message for users, not with the network's error.
func TestFormThatCannotBeRead(t *testing.T) {
	s := open(t)
	cut := func(err error) io.Reader { return &failing{strings.NewReader("name=a"), err} }
	lost := &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset by peer")}
	for name, c := range map[string]struct {
		body io.Reader
		want string
	}{
		"too large": {strings.NewReader("name=" + strings.Repeat("a", 64<<10)),
			"The form is too large; shorten what you entered."},
		"too slow": {cut(fmt.Errorf("read tcp 10.0.0.1:80: %w", os.ErrDeadlineExceeded)),
			"The form came too slowly; send it again."},
		"too many fields": {strings.NewReader("name=a" + strings.Repeat("&a", 100)),
			"The form has more than 100 fields."},
		"lost":      {cut(lost), "The form is malformed or ended early; send it again."},
		"malformed": {strings.NewReader("name=%zz"), "The form is malformed or ended early; send it again."},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			a := s.visitor().do(http.MethodPost, "signin", c.body, "Content-Type", "application/x-www-form-urlencoded")
			is.Equal(a.StatusCode, http.StatusBadRequest)
			is.True(a.has(c.want))
		})
	}
}

// A field that is required for one of the choices beside it is not called optional; one that may stay empty is.
func TestOptionalFields(t *testing.T) {
	s := open(t)
	v := s.operator()
	s.is.True(v.get("keys").has(`<label for="f-day">Last day</label>`, `<label for="f-name">Name</label>`))
	s.is.True(v.get("users/" + string(v.user.ID)).
		has(`<label for="f-expires">Last day <span class="optional">optional</span></label>`))
	s.is.True(s.visitor().get("signin").has(`<label for="f-password">Password</label>`))
}
