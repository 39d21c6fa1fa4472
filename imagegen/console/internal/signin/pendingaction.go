package signin

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/console/internal/frame"
)

// pendingAction is what somebody wants to do once the identity provider has said who they are. It travels along sealed:
// from the page that asks, in a link that only the sign-in that asked can use, and in the cookie of the visit.
type pendingAction struct {
	Purpose purpose             // toMakePasskey is not one of its purposes
	Path    string              `json:",omitempty"` // toSignIn: the page to go to; toConfirm: where the form goes
	Fields  []frame.HiddenField `json:",omitempty"` // toConfirm: the form, to be sent again
}

// pendingKind is what a pendingAction is sealed as.
const pendingKind = "pending"

// maxCarried is how many bytes of JSON a pendingAction can have. Sealed together with the rest of an authRequest, they
// fit into the 4 KiB that browsers accept as a cookie.
const maxCarried = 2000

// tooLarge reports whether the action cannot travel along.
func (a pendingAction) tooLarge() bool {
	text, _ := json.Marshal(a) // cannot fail
	return len(text) > maxCarried
}

// carriedFields returns the fields of a form without those that prove somebody's identity: a password must not be in a
// page.
func carriedFields(f *form.Form) []frame.HiddenField {
	return slices.DeleteFunc(frame.HiddenFields(f.Values), func(h frame.HiddenField) bool {
		return h.Name == confirmation || h.Name == ceremonyField || h.Name == answerField
	})
}

// confirmedByProvider records the confirmation and shows a button that sends the waiting form. It does not carry the
// action out itself: the form must come from a page of this host, which the way back from the provider is not.
// ErrInvalidRequest: somebody else is signed in at the provider.
func (s *Pages) confirmedByProvider(p *frame.Page, action pendingAction, identity Identity) error {
	known, err := p.Logins.Identity(p.Context(), s.IdentityProvider.Issuer(), identity.Subject)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && known.User != p.Person.ID {
		p.CountFailedSignIn(p.Person.Name)
		return imagegen.Invalid("you are signed in here as %s, and as somebody else at %s",
			p.Person.Name, s.IdentityProvider.Name())
	}
	if err != nil {
		return err
	}
	if err := p.Logins.ConfirmSignIn(p.Context(), p.Person.SignIn.Hash, p.Now); err != nil {
		return err
	}
	return p.Render("resume", action)
}

// connected reports whether the person's user is connected with an identity at the provider.
func (s *Pages) connected(p *frame.Page) (bool, error) {
	if s.IdentityProvider == nil {
		return false, nil
	}
	_, err := p.Logins.UserIdentity(p.Context(), p.Person.ID, s.IdentityProvider.Issuer())
	if errors.Is(err, imagegen.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
