package browsertest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/console"
)

// class is a site with a school that pays for its pupils.
type class struct {
	*site
	school, zoe, olivia imagegen.User
	lost                imagegen.User // a member who has not signed in yet
}

// teach creates the school, with members who have worked, and olivia, the operator.
func teach(t *testing.T) *class {
	c := &class{site: open(t)}
	c.olivia, c.school = c.user("olivia", account.RoleOperator), c.user("school", account.RoleUser)
	c.grant(c.school, imagegen.Grant{Credits: 2400, Ref: "Spring term"})
	limits := imagegen.KeyLimits{Daily: 20, Monthly: 200, Concurrent: 2}
	c.zoe = c.member("zoe", limits)
	c.is.NoErr(console.SetPassword(t.Context(), c.db, c.zoe.ID, account.RoleUser, secret))
	for _, name := range []string{"Ann Archer", "bartholomew.featherstonehaugh@pupils.example.com", "ben", "élodie",
		strings.Repeat("w", 64)} {
		c.member(name, limits)
	}
	for id, called := range map[string]string{"8f1c2d3e-9b1a-4c55-8d0e-1f2a3b4c5d6e": "ليلى حداد",
		strings.Repeat("9", 128): strings.Repeat("Long name ", 20) + "end", "7b1c": "ben@pupils.example.com"} {
		c.pupil(id, called, limits)
	}
	c.lost = c.member("yusuf", imagegen.KeyLimits{})
	away := c.member("noah", limits)
	c.is.NoErr(c.Accounts().SuspendUser(t.Context(), away.ID))
	gone := c.member("mia", limits)
	c.is.NoErr(c.Accounts().DisableUser(t.Context(), gone.ID))
	c.generate(c.zoe, "A lighthouse", 3)
	c.generate(c.zoe, mirror, 2)
	c.generate(c.school, "The school from above", 1)
	return c
}

func (c *class) member(name string, l imagegen.KeyLimits) imagegen.User {
	c.Helper()
	m, err := c.Accounts().CreateMember(c.Context(), c.school.ID, name, l)
	c.is.NoErr(err)
	return m
}

// pupil adds somebody who asks through a chat interface, by a key of the school's.
func (c *class) pupil(id, called string, l imagegen.KeyLimits) {
	c.Helper()
	_, key, err := c.Accounts().MintMembersKey(c.Context(), c.school.ID, "chat", time.Time{}, 40, l)
	c.is.NoErr(err)
	m, err := account.Person{ID: id, Name: called}.Member(c.school)
	c.is.NoErr(err)
	c.is.NoErr(c.Accounts().AddMember(c.Context(), m, key))
}

// TestTeamPages is TestPages for the pages of a sponsor, of a member, and of the operator who looks after both.
func TestTeamPages(t *testing.T) {
	c := teach(t)
	zoe, lost := "team/"+string(c.zoe.ID), "team/"+string(c.lost.ID)
	sponsor := c.signedIn(c.school)
	for _, p := range []view{
		{"team", "team", 200, nil},
		{"team-none", "team?q=zebra", 200, nil},
		{"member", zoe, 200, nil},
		{"member-refused", zoe, 200, func(t *tab) { t.fill("Credits a day", "-1"); t.press("Set the limits", 422) }},
		{"member-lost", lost, 200, nil},
		{"member-link", lost, 200, func(t *tab) { t.press("Make the link", 200) }},
		{"member-suspended", zoe, 200, func(t *tab) { t.press("Suspend", 200) }},
		{"member-remove", zoe + "/remove", 200, nil},
		{"member-new", "team/new", 200, nil},
		{"member-new-refused", "team/new", 200, func(t *tab) { t.fill("Name", "zoe"); t.press("Make the link", 422) }},
		{"credits-of-a-sponsor", "credits", 200, nil},
		{"keys-of-a-sponsor", "keys", 200, nil},
	} {
		sponsor.inspect(p)
	}
	member := c.signedIn(c.zoe)
	for _, p := range []view{
		{"credits-of-a-member", "credits", 200, nil},
		{"account-of-a-member", "account", 200, nil},
	} {
		member.inspect(p)
	}
	operator := c.signedIn(c.olivia)
	for _, p := range []view{
		{"empty-team", "team", 200, nil},
		{"teams", "teams", 200, nil},
		{"users-of-a-sponsor", "users?sponsor=" + string(c.school.ID), 200, nil},
		{"user-who-pays", "users/" + string(c.school.ID), 200, nil},
		{"user-of-a-sponsor", "users/" + string(c.zoe.ID), 200, nil},
	} {
		operator.inspect(p)
	}
}

// TestTeamTables is TestTables for the same.
func TestTeamTables(t *testing.T) {
	c := teach(t)
	sponsor, operator := c.signedIn(c.school), c.signedIn(c.olivia)
	sponsor.tabulate("team")
	sponsor.tabulate("team/" + string(c.zoe.ID))
	sponsor.tabulate("credits")
	sponsor.tabulate("keys")
	operator.tabulate("teams")
	operator.tabulate("users?sponsor=" + string(c.school.ID))
}
