package provider_test

import (
	"context"
	"errors"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/providertest"
)

var errProbed = errors.New("it was probed")

// whole has every optional method.
type whole struct{ provider.Fake }

func (*whole) MaxConcurrent() int              { return 3 }
func (*whole) Health() []imagegen.MemberHealth { return []imagegen.MemberHealth{{Name: "a"}} }
func (*whole) Probe(context.Context) error     { return errProbed }

type wrapper struct {
	imagegen.Provider
	provider.Forward
}

// A wrapper with Forward loses no optional method, and one around a provider without them answers zero.
func TestForward(t *testing.T) {
	is := is.New(t)
	outer := wrapper{&whole{}, provider.Forward{To: &whole{}}}
	providertest.Forwards(t, outer, &whole{})
	is.True(outer.Check(providertest.Request("[fake:nonsense]", 1)) != nil)
	is.Equal(outer.MaxConcurrent(), 3)
	is.Equal(outer.Health()[0].Name, "a")
	is.Equal(outer.Probe(t.Context()), errProbed)

	outer.To = struct{ imagegen.Provider }{&whole{}}
	is.NoErr(outer.Check(providertest.Request("[fake:nonsense]", 1)))
	is.Equal(outer.MaxConcurrent(), 0)
	is.Equal(len(outer.Health()), 0)
	is.NoErr(outer.Probe(t.Context()))
}
