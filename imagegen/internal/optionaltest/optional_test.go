package optionaltest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/optionaltest"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// The types below have every optional method as somebody outside would write it. If the signature of one changes, this
// file no longer compiles.
var (
	_ imagegen.Checker            = wholeProvider{}
	_ imagegen.ConcurrencyLimiter = wholeProvider{}
	_ imagegen.HealthReporter     = wholeProvider{}
	_ provider.Prober             = wholeProvider{}
	_ imagegen.ChargeLister       = wholeLedger{}
	_ imagegen.ReadinessChecker   = wholeStore{}
	_ imagegen.Warner             = wholeStore{}
	_ imagegen.TurnTaker          = wholeStore{}
	_ imagegen.HostTxStore        = wholeStore{}
	_ imagegen.TotalsKeeper       = wholeStore{}
	_ imagegen.FeedKeeper         = wholeStore{}
	_ imagegen.ImageLinker        = wholeImages{}
	_ imagegen.SpaceTaker         = wholeSpool{}
	_ imagegen.Discarder          = wholeReference{}
	_ imagegen.Namer              = wholeReference{}
)

type (
	wholeProvider  struct{ imagegen.Provider }
	wholeLedger    struct{ imagegen.Ledger }
	wholeStore     struct{ imagegen.Store }
	wholeImages    struct{ imagegen.ImageStore }
	wholeSpool     struct{ imagegen.Spool }
	wholeReference struct{ imagegen.Reference }
)

func (wholeProvider) Check(imagegen.ProviderRequest) error { return nil }
func (wholeProvider) MaxConcurrent() int                   { return 1 }
func (wholeProvider) Health() []imagegen.MemberHealth      { return nil }
func (wholeProvider) Probe(context.Context) error          { return nil }

func (wholeLedger) OpenCharges(context.Context, imagegen.ChargeID, int) ([]imagegen.Charge, error) {
	return nil, nil
}

func (wholeStore) CreateChargedIn(context.Context, imagegen.HostTx, imagegen.Record, error) (imagegen.Record, error) {
	return imagegen.Record{}, nil
}

func (wholeStore) Ready(context.Context) error                                      { return nil }
func (wholeStore) Warnings(context.Context) []imagegen.Notice                       { return nil }
func (wholeStore) Turn(context.Context, string, time.Duration) (mine bool, _ error) { return true, nil }

func (wholeStore) EachTotals(context.Context, time.Time, time.Time, func(imagegen.TotalsRow)) error {
	return nil
}

func (wholeStore) Currency(context.Context, string, bool) (string, error) { return "", nil }

func (wholeStore) KeepFeed(context.Context, bool) error { return nil }

func (wholeStore) Feed(context.Context, uint64, int) ([]imagegen.FeedEvent, error) { return nil, nil }

func (wholeStore) Tell(context.Context, imagegen.FeedEvent) error { return nil }

func (wholeStore) FeedEnd(context.Context) (uint64, error) { return 0, nil }

func (wholeStore) FeedPlaces(context.Context) ([]imagegen.FeedPlace, error) { return nil, nil }

func (wholeStore) SetFeedPlace(context.Context, imagegen.FeedPlace, imagegen.FeedPlace) (set bool, _ error) {
	return true, nil
}

func (wholeStore) TidyFeed(context.Context, time.Duration) error { return nil }

func (wholeStore) SetNotifyBelow(context.Context, imagegen.UserID, imagegen.Credits) error {
	return nil
}

func (wholeImages) Link(context.Context, imagegen.ImageKey, string, time.Duration) (string, error) {
	return "", nil
}

func (wholeSpool) TakeSpace(int64) error { return nil }

func (wholeReference) Discard()     {}
func (wholeReference) Name() string { return "" }

// A wrapper that embeds an interface loses every optional part, and each one is named.
func TestLost(t *testing.T) {
	type bare struct { // of no part: two of them have a method Open
		imagegen.Spool
		imagegen.Reference
	}
	for name, test := range map[string]struct {
		wrapper, wrapped any
		want             []string
	}{
		"provider": {struct{ imagegen.Provider }{}, wholeProvider{}, []string{"Checker", "ConcurrencyLimiter",
			"HealthReporter", "Prober"}},
		"ledger": {struct{ imagegen.Ledger }{}, wholeLedger{}, []string{"ChargeLister"}},
		"store": {struct{ imagegen.Store }{}, wholeStore{}, []string{"FeedKeeper", "HostTxStore", "ReadinessChecker",
			"TotalsKeeper", "TurnTaker", "Warner"}},
		"joint store":       {struct{ imagegen.Store }{}, struct{ imagegen.TxStore }{}, []string{"TxStore"}},
		"images":            {struct{ imagegen.ImageStore }{}, wholeImages{}, []string{"ImageLinker"}},
		"spool":             {struct{ imagegen.Spool }{}, wholeSpool{}, []string{"SpaceTaker"}},
		"reference":         {struct{ imagegen.Reference }{}, wholeReference{}, []string{"Discarder", "Namer"}},
		"nothing to lose":   {struct{ imagegen.Spool }{}, struct{ imagegen.Spool }{}, nil},
		"all forwarded":     {struct{ wholeProvider }{}, wholeProvider{}, nil},
		"of another part":   {struct{ imagegen.Spool }{}, wholeStore{}, nil},
		"not a part at all": {bare{}, wholeSpool{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			var got []string
			for _, sentence := range optionaltest.Lost(test.wrapper, test.wrapped) {
				_, lost, _ := strings.Cut(sentence, " loses ")
				lost, _, _ = strings.Cut(lost, ",")
				_, lost, _ = strings.Cut(lost, ".") // the package
				got = append(got, lost)
			}
			slices.Sort(got)
			is.Equal(got, test.want)
		})
	}
}

type (
	checksWithContext struct{ imagegen.Provider }
	countsInt32       struct{ imagegen.Spool }
	checksItself      struct{ imagegen.ImageStore }
)

func (checksWithContext) Check(context.Context, imagegen.ProviderRequest) error { return nil }
func (countsInt32) TakeSpace(int32) error                                       { return nil }
func (checksItself) Check(context.Context) error                                { return nil }

// A method that nobody would call, since its signature is another one, is named.
func TestMisdeclared(t *testing.T) {
	is := is.New(t)
	for _, whole := range []any{wholeProvider{}, wholeLedger{}, wholeStore{}, wholeImages{}, wholeSpool{},
		wholeReference{}} {
		is.Equal(optionaltest.Misdeclared(whole), nil)
	}
	is.Equal(optionaltest.Misdeclared(checksItself{}), nil) // Check is a method of Providers
	for name, x := range map[string]any{"the method Check of": checksWithContext{},
		"the method TakeSpace of": countsInt32{}} {
		wrong := optionaltest.Misdeclared(x)
		is.Equal(len(wrong), 1)
		is.True(strings.HasPrefix(wrong[0], name))
	}
}
