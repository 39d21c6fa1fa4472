package account

import (
	"context"
	"crypto/sha256"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oklog/ulid/v2"

	"github.com/imagegend/imagegend/imagegen"
)

// Person is who stands behind a request, as the holder of a key on behalf of people claims ([imagegen.Key.Members]).
// Anybody who holds such a key can claim to be anybody.
type Person struct {
	ID   string // 1 to 128 bytes of printable text; space around it does not count; compared byte for byte
	Name string // for display; "": none
	// Ambiguous says that the request named several people, so that none of them counts.
	Ambiguous bool
}

// maxPersonID is the maximum length of Person.ID, in bytes.
const maxPersonID = 128

type personKey struct{}

// WithPerson returns a context that carries the person behind a request. engine.Engine.Authenticate looks at it for
// keys on behalf of people, and for no others.
func WithPerson(ctx context.Context, p Person) context.Context {
	return context.WithValue(ctx, personKey{}, p)
}

// PersonOf returns the person of a context; the zero Person if there is none.
func PersonOf(ctx context.Context) Person {
	p, _ := ctx.Value(personKey{}).(Person)
	return p
}

// Member returns the user who a person is for a sponsor: always the same identifier, so that people who ask for the
// first time at the same moment, on several nodes too, become one user. It says nothing about who the person is. The
// user need not exist. ErrInvalidRequest: the person cannot be one.
func (p Person) Member(sponsor imagegen.User) (imagegen.User, error) {
	id := strings.TrimSpace(p.ID)
	switch {
	case p.Ambiguous:
		return imagegen.User{}, imagegen.Invalid("the request names several people; send each header once, with one person")
	case id == "":
		return imagegen.User{}, imagegen.Invalid("this API key is used on behalf of people; name the one who asks, in a header such as X-OpenWebUI-User-Id or in the field user")
	case len(id) > maxPersonID || !utf8.ValidString(id) || strings.ContainsFunc(id, unprintable):
		return imagegen.User{}, imagegen.Invalid("a person is named by 1 to %d bytes of printable text; got %.40q",
			maxPersonID, id)
	}
	sum := sha256.Sum256([]byte(string(sponsor.ID) + "\x00" + id))
	u := imagegen.User{ID: imagegen.UserID("usr_" + ulid.ULID(sum[:16]).String()), Name: MemberName(sponsor, id),
		Sponsor: sponsor.ID, Display: displayed(p.Name)}
	return u, checkName("member", u.Name)
}

// displayed is a name for display, cut to what can be shown.
func displayed(name string) string {
	name = strings.TrimSpace(strings.ToValidUTF8(name, ""))
	if len(name) > 255 || strings.ContainsFunc(name, unprintable) {
		return ""
	}
	return name
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
