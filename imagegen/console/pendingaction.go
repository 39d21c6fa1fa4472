package console

import (
	"errors"
	"maps"
	"net/url"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// pendingAction is what is to be done once somebody has been to the provider.
type pendingAction struct {
	purpose purpose
	signIn  [32]byte // whose it is
	path    string   // where the form goes
	fields  []hiddenField
}

// hiddenField is a field of a form that waits.
type hiddenField struct{ Name, Value string }

// hiddenFields are the fields of a form that waits, but for those that prove who somebody is.
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

// resumeView is what resume.html is given.
type resumeView struct {
	Here   string
	Fields []hiddenField
}

// confirmedByProvider shows the form again that waited for a confirmation by the provider.
func (c *Console) confirmedByProvider(p *page, e pendingAction, who Claimant) error {
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

// connected reports whether the person can prove at the provider who they are.
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
