package tables

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/matryer/is"
)

// full is a row with something in every field.
func full() row {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	return row{
		Record: imagegen.Record{
			Intent: imagegen.Intent{
				ID: "gen_1", User: "alice", KeyID: "key_1", Model: "m", Prompt: "狐\x00\xff", N: 4, Size: imagegen.Size{Width: 16, Height: 8192},
				Quality: "high", Effort: "low", Ratio: "1:2", Tier: "4K", Price: imagegen.MaxCredits, Async: true,
				References: []imagegen.ReferenceFile{
					{ID: "ref_1", MediaType: "image/png", Size: 1 << 40, Width: 3, Height: 4, SHA256: [32]byte{31: 1}},
					{ID: "ref_2", MediaType: "image/webp", Size: 1, Width: 1, Height: 1, SHA256: [32]byte{1}},
				},
				IdempotencyKey: "k", Fingerprint: [32]byte{7}, JoinKey: [32]byte{8}, CreatedAt: at,
			},
			Progress: imagegen.Progress{
				State: imagegen.StateSettling, Attempt: 3, Failures: 2, Resumptions: 1, Delay: time.Second, Job: []byte{0, 1}, JobUpstreams: []string{"u"},
				Images: []imagegen.StoredImage{{ID: "image_1", Attempt: 2, MediaType: "image/jpeg", Width: 5, Height: 6,
					Size: 7, SHA256: [32]byte{8}, CreatedAt: at}},
				Published: 1, Failure: &imagegen.Failure{Class: imagegen.ClassRefused, Detail: "policy"}, CompletedAt: at,
				Balance:     &imagegen.Balance{Credits: 9, AccountType: "PRO", NextExpiration: &imagegen.Expiration{Credits: 4, At: at}},
				Undelivered: true, Dispute: "settled before", Refunded: true,
			},
		},
		joint: true, holder: "gen_0", due: at,
	}
}

// A field that is added to a record must be added here and in the codec.
func TestCodecKeepsEveryField(t *testing.T) {
	is := is.New(t)
	want := full()
	for _, zero := range zeroFields(reflect.ValueOf(want), "row") {
		t.Errorf("%s is not set in this test", zero)
	}
	got := row{Record: imagegen.Record{Intent: imagegen.Intent{ID: want.ID}}}
	is.NoErr(got.decodeIntent(encodeIntent(want)))
	is.NoErr(got.decodeProgress(encodeProgress(want)))
	is.Equal(cmp.Diff(want, got, cmp.AllowUnexported(row{})), "")
}

// zeroFields names the fields below v that hold nothing.
func zeroFields(v reflect.Value, path string) (names []string) {
	switch {
	case v.IsZero():
		return []string{path}
	case v.Kind() == reflect.Pointer:
		return zeroFields(v.Elem(), path)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		return zeroFields(v.Index(0), path+"[0]")
	case v.Kind() != reflect.Struct || v.Type() == reflect.TypeFor[time.Time]():
		return nil
	}
	for i := range v.NumField() {
		names = append(names, zeroFields(v.Field(i), path+"."+v.Type().Field(i).Name)...)
	}
	return names
}

// What is damaged is an error, never a panic.
func FuzzDecode(f *testing.F) {
	intent, progress := encodeIntent(full()), encodeProgress(full())
	f.Add(intent, progress)
	f.Add([]byte{}, []byte{intentVersion})
	f.Add(intent[:len(intent)-1], append(progress, 0))
	f.Add([]byte{intentVersion + 1}, []byte{progressVersion, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, intent, progress []byte) {
		var r row
		if err := r.decodeIntent(intent); err == nil {
			again := row{}
			is.New(t).NoErr(again.decodeIntent(encodeIntent(r)))
			is.New(t).Equal(cmp.Diff(r, again, cmp.AllowUnexported(row{})), "")
		}
		r = row{}
		if err := r.decodeProgress(progress); err == nil {
			is.New(t).NoErr((&row{}).decodeProgress(encodeProgress(r)))
		}
	})
}

func TestDecodeRefusesOtherForms(t *testing.T) {
	intent, progress := encodeIntent(full()), encodeProgress(full())
	for n := range intent {
		if (&row{}).decodeIntent(intent[:n]) == nil {
			t.Errorf("an intent cut to %d bytes is taken", n)
		}
	}
	for n := range progress {
		if (&row{}).decodeProgress(progress[:n]) == nil {
			t.Errorf("a progress cut to %d bytes is taken", n)
		}
	}
	intent[0], progress[0] = intentVersion+1, progressVersion+1
	is := is.New(t)
	is.True((&row{}).decodeIntent(intent) != nil)
	is.True((&row{}).decodeProgress(progress) != nil)
}
