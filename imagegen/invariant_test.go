package imagegen_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// ruleOf is the rule that an error says is broken.
func ruleOf(err error) string {
	v, _ := errors.AsType[imagegen.Violation](err)
	return v.Rule
}

func TestSoundRecords(t *testing.T) {
	for _, s := range states {
		for _, async := range []bool{false, true} {
			r := recordIn(s, async)
			is.New(t).NoErr(r.Check())
			if s == imagegen.StateCharging || s == imagegen.StateQueued {
				r.Attempt = 0
				is.New(t).NoErr(r.Check())
			}
		}
	}
}

// Each part of a record that does not fit its state is found, in every state that it does not fit.
func TestUnsoundRecords(t *testing.T) {
	type in = []imagegen.State
	all := states[:len(states)-1] // nothing is asked of a record that is gone
	pending := in{imagegen.StateCharging, imagegen.StateQueued, imagegen.StateProcessing}
	outcome := in{imagegen.StateSettling, imagegen.StateSucceeded, imagegen.StateErasing}
	ended := append(in{imagegen.StateFailed, imagegen.StateErased}, outcome...)
	set := func(f func(i *imagegen.StoredImage)) func(*imagegen.Record) {
		return func(r *imagegen.Record) {
			i := r.Images[0]
			f(&i)
			r.Images = []imagegen.StoredImage{i}
		}
	}
	for name, test := range map[string]struct {
		in   in
		harm func(*imagegen.Record)
		rule string
	}{
		"no state":   {all, func(r *imagegen.Record) { r.State = "paused" }, "outcome"},
		"free":       {all, func(r *imagegen.Record) { r.Price = 0 }, "price"},
		"priceless":  {all, func(r *imagegen.Record) { r.Price = math.MaxInt64 / 2 }, "price"},
		"of nothing": {all, func(r *imagegen.Record) { r.N = 0 }, "price"},
		"attempt":    {all, func(r *imagegen.Record) { r.Attempt = -1 }, "progress"},
		"no attempt": {append(in{imagegen.StateProcessing}, append(outcome, imagegen.StateErased)...),
			func(r *imagegen.Record) { r.Attempt = 0 }, "progress"},
		"failures":         {all, func(r *imagegen.Record) { r.Failures = -1 }, "progress"},
		"more failures":    {all, func(r *imagegen.Record) { r.Failures = 5 }, "progress"},
		"resumptions":      {all, func(r *imagegen.Record) { r.Resumptions = -1 }, "progress"},
		"more resumptions": {all, func(r *imagegen.Record) { r.Resumptions = 5 }, "progress"},
		"negative delay":   {all, func(r *imagegen.Record) { r.Delay = -1 }, "progress"},
		"delay": {append(in{imagegen.StateCharging, imagegen.StateProcessing}, ended...),
			func(r *imagegen.Record) { r.Delay = 1 }, "progress"},
		"job": {append(in{imagegen.StateCharging}, ended...), func(r *imagegen.Record) {
			r.Job = []byte("job")
		}, "progress"},
		"ended early":     {pending, func(r *imagegen.Record) { r.CompletedAt = time.Unix(1, 0) }, "outcome"},
		"not ended":       {ended, func(r *imagegen.Record) { r.CompletedAt = time.Time{} }, "outcome"},
		"published early": {pending, func(r *imagegen.Record) { r.Published = 1 }, "outcome"},
		"images early": {in{imagegen.StateCharging}, func(r *imagegen.Record) {
			r.Images = oneImage.Images
		}, "outcome"},
		"too many shown": {in{imagegen.StateQueued, imagegen.StateProcessing}, func(r *imagegen.Record) {
			r.Images = []imagegen.StoredImage{imageNo(1, 4), imageNo(2, 4), imageNo(3, 4)}
		}, "outcome"},
		"failed at length": {in{imagegen.StateFailed}, func(r *imagegen.Record) {
			r.Failure = &imagegen.Failure{Detail: strings.Repeat("x", imagegen.MaxDetail+1)}
		}, "outcome"},
		"failed early": {pending, func(r *imagegen.Record) { r.Failure = &imagegen.Failure{} }, "outcome"},
		"balance early": {append(in{imagegen.StateSettling}, pending...), func(r *imagegen.Record) {
			r.Balance = &imagegen.Balance{}
		}, "outcome"},
		"a debt of images":    {all, func(r *imagegen.Record) { r.Published = -1 }, "outcome"},
		"too many":            {all, func(r *imagegen.Record) { r.Published = 3 }, "outcome"},
		"stopped for nothing": {pending, func(r *imagegen.Record) { r.PartlyCancelled = true }, "cancellation"},
		"cost of no attempt": {all, func(r *imagegen.Record) {
			r.Costs = []imagegen.AttemptCost{{Attempt: r.Attempt + 1}}
		}, "costs"},
		"cost of an unknown amount": {outcome, func(r *imagegen.Record) {
			r.Costs = []imagegen.AttemptCost{{Attempt: 1, Cost: 1}}
		}, "costs"},
		"unpaid image": {outcome, func(r *imagegen.Record) { r.Published = 2 }, "outcome"},
		"failed, paid": {outcome, func(r *imagegen.Record) { r.Failure = &imagegen.Failure{} }, "outcome"},
		"none, and no failure": {append(in{imagegen.StateFailed}, outcome...), func(r *imagegen.Record) {
			r.Images, r.Published, r.Failure = nil, 0, nil
		}, "outcome"},
		"succeeded without images": {in{imagegen.StateSucceeded}, func(r *imagegen.Record) {
			r.Images, r.Published, r.Failure = nil, 0, noImage.Failure
		}, "outcome"},
		"failed with images": {in{imagegen.StateFailed}, func(r *imagegen.Record) {
			r.Images, r.Published, r.Failure = oneImage.Images, 1, nil
		}, "outcome"},
		"disputed early": {append(in{imagegen.StateSettling}, pending...), func(r *imagegen.Record) {
			r.Dispute = "no"
		}, "dispute"},
		"refunded early": {append(in{imagegen.StateSettling}, pending...), func(r *imagegen.Record) {
			r.Refunded = true
		}, "dispute"},
		"disputed at length": {ended[:2], func(r *imagegen.Record) {
			r.Dispute = strings.Repeat("x", imagegen.MaxDetail+1)
		}, "dispute"},
		"disputed, refunded": {in{imagegen.StateSucceeded, imagegen.StateErased}, func(r *imagegen.Record) {
			r.Dispute, r.Refunded = "no", true
		}, "dispute"},
		"refunded, of nothing": {in{imagegen.StateFailed}, func(r *imagegen.Record) { r.Refunded = true }, "dispute"},
		"erased with images": {in{imagegen.StateErased}, func(r *imagegen.Record) {
			r.Images = oneImage.Images
		}, "outcome"},
		"erased, prompt": {in{imagegen.StateErasing, imagegen.StateErased}, func(r *imagegen.Record) {
			r.Prompt = "a fox"
		}, "erasure"},
		"erased, fingerprint": {in{imagegen.StateErasing, imagegen.StateErased}, func(r *imagegen.Record) {
			r.Fingerprint[0] = 1
		}, "erasure"},
		"erased, key": {in{imagegen.StateErasing, imagegen.StateErased}, func(r *imagegen.Record) {
			r.IdempotencyKey = "k"
		}, "erasure"},
		"erased, references": {in{imagegen.StateErasing, imagegen.StateErased}, func(r *imagegen.Record) {
			r.References = make([]imagegen.ReferenceFile, 1)
		}, "erasure"},
		"forgotten, key": {in{imagegen.StateFailed}, func(r *imagegen.Record) {
			r.Prompt, r.IdempotencyKey = "", "k"
		}, "erasure"},
		"forgotten, fingerprint": {in{imagegen.StateFailed}, func(r *imagegen.Record) {
			r.Prompt, r.Fingerprint[0] = "", 1
		}, "erasure"},
		"forgotten, references": {in{imagegen.StateFailed}, func(r *imagegen.Record) {
			r.Prompt, r.References = "", []imagegen.ReferenceFile{{ID: "ref_1", SHA256: [32]byte{1}}}
		}, "erasure"},
		"favourite": {append(in{imagegen.StateSettling, imagegen.StateFailed, imagegen.StateErasing,
			imagegen.StateErased}, pending...),
			func(r *imagegen.Record) { r.Favourite = true }, "favourite"},
		"undelivered, joined by none": {all, func(r *imagegen.Record) { r.Undelivered, r.JoinKey = true, [32]byte{} },
			"delivery"},
		"undelivered, without an answer": {append(in{imagegen.StateFailed, imagegen.StateErasing, imagegen.StateErased},
			pending...),
			func(r *imagegen.Record) { r.Undelivered, r.JoinKey = true, [32]byte{1} }, "delivery"},
		"another's image": {outcome, set(func(i *imagegen.StoredImage) { i.ID = i.ID[:31] + "2" + i.ID[32:] }),
			"image record"},
		"no image's name":     {outcome, set(func(i *imagegen.StoredImage) { i.ID = "image_1" }), "image record"},
		"image of no attempt": {outcome, set(func(i *imagegen.StoredImage) { i.Attempt = 0 }), "image record"},
		"image to come":       {outcome, set(func(i *imagegen.StoredImage) { i.Attempt = 5 }), "image record"},
		"image of no type":    {outcome, set(func(i *imagegen.StoredImage) { i.MediaType = "" }), "image record"},
		"image of no width":   {outcome, set(func(i *imagegen.StoredImage) { i.Width = 0 }), "image record"},
		"image of no height":  {outcome, set(func(i *imagegen.StoredImage) { i.Height = 0 }), "image record"},
		"image of no bytes":   {outcome, set(func(i *imagegen.StoredImage) { i.Size = 0 }), "image record"},
		"image of no time": {outcome, set(func(i *imagegen.StoredImage) { i.CreatedAt = time.Time{} }),
			"image record"},
		"the same image twice": {outcome, func(r *imagegen.Record) {
			r.Images, r.Published = []imagegen.StoredImage{r.Images[0], r.Images[0]}, 2
		}, "image record"},
	} {
		for _, s := range test.in {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				is := is.New(t)
				r := recordIn(s, true)
				test.harm(&r)
				err := r.Check()
				is.Equal(ruleOf(err), test.rule)
				is.True(imagegen.Definite(err) && errors.Is(err, imagegen.ErrNotApplied))
			})
		}
	}
}

// A change whose result would be unsound is refused, and the record stays as it is.
func TestApplyRefusesWhatIsUnsound(t *testing.T) {
	for name, o := range map[string]imagegen.OutcomeChange{
		"more images than asked for": {At: oneImage.At, Images: make([]imagegen.StoredImage, 3)},
		"an image of another":        {At: oneImage.At, Images: []imagegen.StoredImage{{ID: "image_1"}}},
		"no time":                    {Images: oneImage.Images},
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			r := recordIn(imagegen.StateProcessing, true)
			next, changed, err := r.Apply(r.Attempt, o)
			is.True(ruleOf(err) != "" && !changed)
			is.Equal(cmp.Diff(r, next), "")
		})
	}
}

// A generation is open exactly as long as its charge, and costs what its images do.
func TestRecordAgainstCharge(t *testing.T) {
	type books struct {
		charge imagegen.Charge
		closed bool
		used   imagegen.Credits
	}
	mine := recordIn(imagegen.StateQueued, true).Charge()
	const unfit, unpaid = "generation charge", "credits spent"
	for name, test := range map[string]struct {
		books books
		want  map[imagegen.State]string // "": it fits; a state that is not named is unfit
	}{
		"open": {books{charge: mine}, map[imagegen.State]string{imagegen.StateCharging: "", imagegen.StateQueued: "",
			imagegen.StateProcessing: "", imagegen.StateSettling: ""}},
		"voided": {books{mine, true, 0}, map[imagegen.State]string{imagegen.StateCharging: "", imagegen.StateGone: "",
			imagegen.StateFailed: "", imagegen.StateSettling: unpaid, imagegen.StateSucceeded: unpaid,
			imagegen.StateErasing: unpaid, imagegen.StateErased: unpaid}},
		"one image paid": {books{mine, true, 3}, map[imagegen.State]string{imagegen.StateSettling: "",
			imagegen.StateSucceeded: "", imagegen.StateErasing: "", imagegen.StateErased: "",
			imagegen.StateCharging: unpaid, imagegen.StateGone: unpaid, imagegen.StateFailed: unpaid}},
		"two images paid": {books{mine, true, 6}, map[imagegen.State]string{imagegen.StateSettling: unpaid,
			imagegen.StateSucceeded: unpaid, imagegen.StateErasing: unpaid, imagegen.StateErased: unpaid,
			imagegen.StateCharging: unpaid, imagegen.StateGone: unpaid, imagegen.StateFailed: unpaid}},
		"never made": {books{imagegen.Charge{ID: mine.ID}, true, 0},
			map[imagegen.State]string{imagegen.StateCharging: "", imagegen.StateGone: "", imagegen.StateFailed: ""}},
		"another user": {books{imagegen.Charge{ID: mine.ID, User: "bob", Credits: mine.Credits}, false, 0}, nil},
		"another sum":  {books{imagegen.Charge{ID: mine.ID, User: mine.User, Credits: 5}, false, 0}, nil},
	} {
		for _, s := range states {
			t.Run(name+"/"+string(s), func(t *testing.T) {
				is := is.New(t)
				want, named := test.want[s]
				if !named {
					want = unfit
				}
				is.Equal(ruleOf(recordIn(s, true).CheckCharge(test.books.charge, test.books.closed, test.books.used)),
					want)
			})
		}
	}
}

// A charge in dispute is an operator's, whatever the books say of it; once that is resolved, it fits again.
func TestRecordInDispute(t *testing.T) {
	is := is.New(t)
	r := recordIn(imagegen.StateSucceeded, true)
	mine := r.Charge()
	r.Dispute = "settled before"
	is.NoErr(r.CheckCharge(mine, false, 0))
	is.NoErr(r.CheckCharge(mine, true, 6))
	is.NoErr(r.CheckCharge(imagegen.Charge{ID: mine.ID}, true, 0))
	r.Dispute = ""
	is.Equal(ruleOf(r.CheckCharge(mine, true, 0)), "credits spent")
	r.Refunded = true
	is.NoErr(r.CheckCharge(mine, true, 0))
	is.NoErr(r.CheckCharge(imagegen.Charge{ID: mine.ID}, true, 0))
	is.Equal(ruleOf(r.CheckCharge(mine, true, 3)), "credits spent")
}

func BenchmarkCheck(b *testing.B) {
	r := recordIn(imagegen.StateSucceeded, true)
	b.ReportAllocs()
	for b.Loop() {
		if r.Check() != nil || r.CheckCharge(r.Charge(), true, r.Used()) != nil {
			b.Fatal("it is sound")
		}
	}
}
