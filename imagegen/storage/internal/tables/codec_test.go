package tables

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// full is a row with something in every field.
func full() row {
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	return row{
		Record: imagegen.Record{
			Intent: imagegen.Intent{
				ID: "gen_1", User: "alice", Payer: "bob", KeyID: "key_1", Model: "m", Prompt: "狐\x00\xff", N: 4,
				Size: imagegen.Size{Width: 16, Height: 8192}, Quality: "high", Effort: "low", Ratio: "1:2", Tier: "4K",
				Price: imagegen.MaxCredits, Async: true, Options: imagegen.Options{Format: "webp", Compression: new(80),
					Background: "opaque", Seed: new(int64(1) << 40)},
				References: []imagegen.ReferenceFile{
					{ID: "ref_1", Mask: true, Image: "img_1", MediaType: "image/png", Size: 1 << 40, Width: 3,
						Height: 4, SHA256: [32]byte{31: 1}, Orientation: 6, CopyOf: "ref_0"},
					{ID: "ref_2", MediaType: "image/webp", Size: 1, Width: 1, Height: 1, SHA256: [32]byte{1}},
				},
				IdempotencyKey: "k", Fingerprint: [32]byte{7}, JoinKey: [32]byte{8}, CreatedAt: at,
				Hosted: true,
			},
			Progress: imagegen.Progress{
				State: imagegen.StateSettling, Attempt: 3, Failures: 2, Resumptions: 1, Delay: time.Second,
				Job: []byte{0, 1}, JobUpstreams: []string{"u"},
				Images: []imagegen.StoredImage{{ID: "image_1", Attempt: 2, MediaType: "image/jpeg", Width: 5, Height: 6,
					Size: 7, SHA256: [32]byte{8}, CreatedAt: at, Provenance: imagegen.ProvenanceKept}},
				Published: 1, Failure: &imagegen.Failure{Class: imagegen.ClassRefused, Detail: "policy"},
				CompletedAt: at, Balance: &imagegen.Balance{Credits: 9, AccountType: "PRO",
					NextExpiration: &imagegen.Expiration{Credits: 4, At: at}},
				Undelivered: true, Favourite: true, Dispute: "settled before", Refunded: true, PartlyCancelled: true,
				Costs: []imagegen.AttemptCost{{Attempt: 1, Provider: "openai", Images: 2, Usage: imagegen.UpstreamUsage{
					TextInput: 1, ImageInput: 2, TextOutput: 3, ImageOutput: 4, Units: 5, Time: 6, Surplus: 8}, Cost: 7,
					Reason: imagegen.CostReported}},
			},
		},
		Joint: true, Due: at, Nth: 2,
	}
}

// A field that is added to a record must be added here, and to rules.Clone if it holds a pointer.
func TestRowsKeepEveryField(t *testing.T) {
	is := is.New(t)
	want := full()
	for _, zero := range zeroFields(reflect.ValueOf(want), "row") {
		t.Errorf("%s is not set in this test", zero)
	}
	var got row
	is.NoErr(kv.Decode(kv.Encode(&want, codeRow), &got, codeRow))
	is.Equal(cmp.Diff(want, got), "")
	is.Equal(cmp.Diff(want.Record, rules.Clone(want.Record)), "")
	is.Equal(shared(reflect.ValueOf(want.Record), reflect.ValueOf(rules.Clone(want.Record)), "Record"), nil)
}

// shared names the fields in which two values hold the same memory.
func shared(a, b reflect.Value, path string) (names []string) {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice:
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
		if a.Kind() == reflect.Pointer {
			return shared(a.Elem(), b.Elem(), path)
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[time.Time]() {
			return nil
		}
		for i := range a.NumField() {
			names = append(names, shared(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)...)
		}
	}
	return names
}

// This version reads what a former one wrote. Where this test fails, because a field has another name or
// form, a migration is needed; -update writes the file anew while there is no data to migrate.
func TestFormerRows(t *testing.T) {
	at := full().CreatedAt
	t.Run("generation", func(t *testing.T) { former(t, full(), codeRow) })
	t.Run("user", func(t *testing.T) {
		former(t, imagegen.User{ID: "alice", Name: "Alice", AccountType: "PRO", CreatedAt: at, DisabledAt: at,
			SuspendedAt: at, Sponsor: "bob", Limits: imagegen.KeyLimits{Credits: 1, Daily: 2, Monthly: 3,
				Concurrent: 4, Models: []string{"m"}}, Display: "Al", NotifyBelow: 5}, codeUser)
	})
	t.Run("key", func(t *testing.T) {
		former(t, imagegen.Key{ID: "key_1", User: "alice", Name: "n", Prefix: "img_live_x", Hash: [32]byte{1},
			CreatedAt: at, ExpiresAt: at, RevokedAt: at, LastUsedAt: at, Limits: imagegen.KeyLimits{Credits: 1,
				Daily: 2, Monthly: 3, Concurrent: 4, Models: []string{"m"}}, Members: 5}, codeKey)
	})
	t.Run("operatorkey", func(t *testing.T) {
		former(t, account.OperatorKey{ID: "opk_1", Name: "payments", Prefix: "img_ops_x", Hash: [32]byte{1},
			Scopes: "credits,read", CreatedAt: at, ExpiresAt: at, RevokedAt: at}, codeOperatorKey)
	})
	t.Run("login", func(t *testing.T) {
		former(t, account.Login{User: "alice", Role: account.RoleOperator, Password: "$argon2id$", ChangedAt: at},
			codeLogin)
	})
	t.Run("signin", func(t *testing.T) {
		former(t, account.SignIn{Hash: [32]byte{2}, User: "alice", CreatedAt: at, SeenAt: at, Agent: "Firefox",
			ConfirmedAt: at}, codeSignIn)
	})
	t.Run("passkey", func(t *testing.T) {
		former(t, account.Passkey{ID: "AQI", User: "alice", Name: "laptop", Credential: []byte{1}, Uses: 1 << 31,
			CreatedAt: at, LastUsedAt: at}, codePasskey)
	})
	t.Run("identity", func(t *testing.T) {
		former(t, account.Identity{Issuer: "https://id.example", Subject: "a", User: "alice", CreatedAt: at},
			codeIdentity)
	})
	t.Run("mark", func(t *testing.T) { former(t, mark{Key: [32]byte{4}, Until: at}, codeMark) })
	t.Run("invitation", func(t *testing.T) {
		former(t, account.Invitation{Hash: [32]byte{3}, User: "alice", Role: account.RoleUser, ExpiresAt: at},
			codeInvitation)
	})
}

var update = flag.Bool("update", false, "write what this version stores to testdata")

func former[V any](t *testing.T, want V, form func(*kv.Coder, *V)) {
	t.Helper()
	is := is.New(t)
	is.Equal(zeroFields(reflect.ValueOf(want), ""), nil)
	if *update {
		is.NoErr(os.WriteFile(storedFile(t), kv.Encode(&want, form), 0o600))
	}
	stored, err := os.ReadFile(storedFile(t))
	is.NoErr(err)
	var got V
	is.NoErr(kv.Decode(stored, &got, form))
	is.Equal(cmp.Diff(want, got), "")
}

func storedFile(t *testing.T) string { return filepath.Join("testdata", filepath.Base(t.Name())) }

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

// A damaged row is an error, never a panic.
func FuzzDecode(f *testing.F) {
	stored := kv.Encode(new(full()), codeRow)
	f.Add(stored)
	f.Add(stored[:len(stored)-1])
	f.Add(append(stored, 0))
	f.Add([]byte{2})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, stored []byte) {
		var r, again row
		if kv.Decode(stored, &r, codeRow) != nil {
			return
		}
		is := is.New(t)
		is.NoErr(kv.Decode(kv.Encode(&r, codeRow), &again, codeRow))
		is.Equal(cmp.Diff(r, again), "")
	})
}

func TestDecodeRefusesOtherForms(t *testing.T) {
	is := is.New(t)
	stored := kv.Encode(new(full()), codeRow)
	for n := range stored {
		if kv.Decode(stored[:n], new(row), codeRow) == nil {
			t.Errorf("a row cut to %d bytes is taken", n)
		}
	}
	is.True(kv.Decode(append(stored, 0), new(row), codeRow) != nil)
	stored[0]++ // of a later version
	is.True(kv.Decode(stored, new(row), codeRow) != nil)
}
