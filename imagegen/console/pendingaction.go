package console

import (
	"errors"
	"maps"
	"net/url"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// pendingAction is what somebody wants to do once the identity provider has confirmed who they are. It waits in memory
// while they are at the provider: a form cannot travel along.
type pendingAction struct {
	purpose purpose  // toConfirm or toConnect
	signIn  [32]byte // whose sign-in asked for it; no other may carry it out
	// The form to send again. toConnect has none.
	path   string
	fields []hiddenField
}

// hiddenField is a field of a form that waits.
type hiddenField struct{ Name, Value string }

// hiddenFields returns the fields of a form, sorted by name, so that a page can carry them along. Fields that prove
// somebody's identity are left out: a password must not be in a page.
func hiddenFields(values url.Values) (all []hiddenField) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name == confirmation || name == ceremonyField || name == answerField {
			continue
		}
		for _, value := range values[name] {
			all = append(all, hiddenField{name, value})
		}
	}
	return all
}

// resumeView is the data of resume.html.
type resumeView struct {
	Here   string
	Fields []hiddenField
}

// confirmedByProvider records the confirmation and shows a button that sends the waiting form. It does not carry the
// action out itself: the form must come from a page of this host, which the way back from the provider is not.
// ErrInvalidRequest: somebody else is signed in at the provider.
func (c *Console) confirmedByProvider(p *page, e pendingAction, who ExternalIdentity) error {
	i, err := c.cfg.Logins.Identity(p.context(), c.cfg.Provider.Issuer(), who.Subject)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && i.User != p.person.ID {
		p.signInFailed(p.person.Name)
		return imagegen.Invalid("you are signed in here as %s, and as somebody else at %s", p.person.Name, c.cfg.Provider.Name())
	}
	if err != nil {
		return err
	}
	if err := c.cfg.Logins.ConfirmSignIn(p.context(), p.person.signIn.Hash, p.now); err != nil {
		return err
	}
	return p.render("resume", resumeView{e.path, e.fields})
}

// connected reports whether the person's user is connected with an identity at the provider.
func (p *page) connected() (bool, error) {
	if p.c.cfg.Provider == nil {
		return false, nil
	}
	_, err := p.c.cfg.Logins.UserIdentity(p.context(), p.person.ID, p.c.cfg.Provider.Issuer())
	if errors.Is(err, imagegen.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
