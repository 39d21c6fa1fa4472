package frame

import (
	"strings"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// Person is the user who is signed in; the zero value is nobody.
type Person struct {
	imagegen.User
	Role   account.Role
	SignIn account.SignIn

	SponsorName string // the name of who pays for the person; "": the person does
}

// Known reports whether anybody is signed in.
func (p Person) Known() bool { return p.ID != "" }

// OwnName is the name without that of the sponsor, with which the names of invited members begin.
func (p Person) OwnName() string { return strings.TrimPrefix(p.Name, p.SponsorName+"/") }

// Operator reports whether the person is one.
func (p Person) Operator() bool { return p.Role == account.RoleOperator }

// Owner names this sign-in to Seal and Unseal.
func (p Person) Owner() string { return string(p.SignIn.Hash[:]) }

// Access says who may open a route. The values are ordered: each asks for no less than the one before.
type Access int

const (
	Anyone Access = iota
	// SignedIn sends everybody else to the sign-in page, which leads back.
	SignedIn
	// Typing is SignedIn for a form with much to type. Where no script keeps a draft, somebody who is no longer signed
	// in gets a page that holds what they typed: see expired.go.
	Typing
	// Operator answers everybody else that there is no such page.
	Operator
)

// allows reports whether a person may open a route with this access.
func (a Access) allows(p Person) bool {
	switch a {
	case Anyone:
		return true
	case SignedIn, Typing:
		return p.Known()
	}
	return p.Operator()
}
