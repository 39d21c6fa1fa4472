package browsertest_test

import (
	"testing"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// furnished is a site after some weeks of use.
type furnished struct {
	*site
	alice, bob, olivia             imagegen.User
	whole, partial, failed, making imagegen.Generation
	key                            imagegen.Key
}

const day = 24 * time.Hour

// prompts are those of alice, one or two days apart.
var prompts = []string{
	"Seagulls over the harbour, watercolour",
	"Map of an island that does not exist",
	"The same island at night, seen from the sea",
	"An abandoned tram overgrown with ivy; the last rain still drips from the roof, and a cat looks out of the driver's window",
	"A lighthouse above a rough sea, oil on canvas",
	"Terraced fields in the afternoon",
	"Sand dunes at dawn, long exposure",
	"Steam above a night market",
	"The Alps in winter, seen from a balloon",
	"A paper boat, macro photograph",
	"Skyline of a town in the clouds at dusk",
	"Northern lights over a fjord",
	"Pine forest after rain, ink on paper",
	"A red fox in fresh snow, early morning light",
}

// furnish creates alice, who has worked, bob, who is new, and olivia, the operator.
func furnish(t *testing.T) *furnished {
	f := &furnished{site: openAt(t, -23*day)}
	f.olivia = f.user("olivia", account.RoleOperator)
	f.alice = f.user("alice", account.RoleUser)
	f.grant(f.alice, imagegen.Grant{Credits: 40, Promo: true, Ref: "Welcome", Expires: f.clock.Now().Add(60 * day)})
	f.grant(f.alice, imagegen.Grant{Credits: 5000, Ref: "Invoice 2041", Expires: f.clock.Now().AddDate(1, 0, 0)})
	for i, prompt := range prompts {
		f.generate(f.alice, prompt, 1+i*7%4)
		f.pass(time.Duration(1+i%2) * day)
	}
	f.bob = f.user("bob", account.RoleUser)
	f.keys()
	f.partial = f.generate(f.alice, herons, 3)
	f.failed = f.generate(f.alice, mirror, 2)
	f.whole = f.generate(f.alice, "Four seasons of one apple tree, in the manner of a woodcut", 4)
	f.making = f.begin(f.alice, slow, 2)
	return f
}

// pass advances the time, and confirms the clock as an operator would after so long a pause.
func (f *furnished) pass(d time.Duration) {
	f.clock.Advance(d)
	f.is.NoErr(f.db.ConfirmClock(f.Context()))
}

// keys gives alice a key in use, and one of each other kind.
func (f *furnished) keys() {
	mint := func(name string, expires time.Time) (string, imagegen.Key) {
		raw, k, err := f.Accounts().MintKey(f.Context(), f.alice.ID, name, expires)
		f.is.NoErr(err)
		return raw.Reveal(), k
	}
	_, lost := mint("laptop that was lost", time.Time{})
	_, err := f.Accounts().RevokeKey(f.Context(), lost.ID)
	f.is.NoErr(err)
	mint("trade fair", f.clock.Now().Add(time.Hour))
	f.pass(2 * day)
	var raw string
	raw, f.key = mint("web shop", f.clock.Now().AddDate(0, 6, 0))
	f.is.Equal(f.call(raw), 200)
}
