package ledger_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

var buckets = []kv.Bucket{"ledger.journal", "ledger.accounts", "ledger.accounts.due", "ledger.lots",
	"ledger.lots.spendable", "ledger.lots.expiring", "ledger.charges", "ledger.refs", "ledger.usage",
	"ledger.usage.days", "ledger.keys"}

// content is everything that the ledger holds.
func (f *fixture) content() map[string]string {
	f.Helper()
	all := make(map[string]string)
	f.is.NoErr(f.db.View(context.Background(), func(tx kv.Tx) error {
		for _, b := range buckets {
			tx.Ascend(b, nil, func(key, value []byte) bool {
				all[fmt.Sprintf("%s %q", b, key)] = string(value)
				return true
			})
		}
		return nil
	}))
	return all
}

// used has a lot that will expire, open and settled charges, a revocation, and a lot that is spent.
func used(t *testing.T) *fixture {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 3, Expires: present().Add(time.Minute)})
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "grant", Expires: present().Add(time.Hour)})
	f.chargeKey("settled", "alice", 2)
	f.settle("settled", 1)
	f.chargeKey("open", "alice", 5)
	f.grant(imagegen.Grant{User: "alice", Credits: 2, Expires: present().Add(time.Minute)})
	_, err := f.Revoke(f.Context(), imagegen.Revocation{User: "alice", Credits: 1, Ref: "revocation"})
	f.is.NoErr(err)
	return f
}

// operations are one of each kind that meets what used made.
var operations = map[string]func(ctx context.Context, f *fixture) error{
	"charge": func(ctx context.Context, f *fixture) error {
		return f.Charge(ctx, imagegen.Charge{ID: "new", User: "alice", Credits: 4, Model: "m", Key: "key_1"})
	},
	"recharge": func(ctx context.Context, f *fixture) error {
		return f.Charge(ctx, imagegen.Charge{ID: "open", User: "alice", Credits: 5})
	},
	"settle":   func(ctx context.Context, f *fixture) error { return f.Settle(ctx, "open", 1) },
	"resettle": func(ctx context.Context, f *fixture) error { return f.Settle(ctx, "settled", 1) },
	"grant": func(ctx context.Context, f *fixture) error {
		_, err := f.Grant(ctx, imagegen.Grant{User: "alice", Credits: 1})
		return err
	},
	"regrant": func(ctx context.Context, f *fixture) error {
		_, err := f.Grant(ctx, imagegen.Grant{User: "alice", Credits: 10, Ref: "grant"})
		return err
	},
	"revoke": func(ctx context.Context, f *fixture) error {
		_, err := f.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 1})
		return err
	},
	"revoke lot": func(ctx context.Context, f *fixture) error {
		_, err := f.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 1, Lot: ledger.LotID("alice", 2)})
		return err
	},
	"re-revoke": func(ctx context.Context, f *fixture) error {
		_, err := f.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 1, Ref: "revocation"})
		return err
	},
	"re-revoke lot": func(ctx context.Context, f *fixture) error {
		_, err := f.Revoke(ctx, imagegen.Revocation{User: "alice", Credits: 1, Lot: ledger.LotID("alice", 2),
			Ref: "revocation"})
		return err
	},
	"expire":   func(ctx context.Context, f *fixture) error { _, err := f.Expire(ctx); return err },
	"lots":     func(ctx context.Context, f *fixture) error { _, err := f.Lots(ctx, "alice"); return err },
	"holdings": func(ctx context.Context, f *fixture) error { _, err := f.Holdings(ctx, "alice", 10); return err },
	"usage": func(ctx context.Context, f *fixture) error {
		_, err := f.Usage(ctx, "alice", imagegen.UsageQuery{From: present(), To: present()})
		return err
	},
	"key use": func(ctx context.Context, f *fixture) error { _, err := f.KeyUse(ctx, "alice", "key_1"); return err },
	"history": func(ctx context.Context, f *fixture) error { _, err := f.History(ctx, "alice", 0, 10); return err },
}

// Over damaged books an operation is refused and writes nothing, or it is carried out and an audit
// finds the damage still. Whatever is damaged, nothing panics, before the first lot expires and after.
func TestOperationsOverDamage(t *testing.T) {
	damage := map[string]func(tx kv.Tx, b kv.Bucket, key, value []byte){
		"removed":   func(tx kv.Tx, b kv.Bucket, key, _ []byte) { tx.Delete(b, key) },
		"cut short": func(tx kv.Tx, b kv.Bucket, key, value []byte) { tx.Put(b, key, value[:len(value)-1]) },
		"emptied":   func(tx kv.Tx, b kv.Bucket, key, _ []byte) { tx.Put(b, key, []byte{0}) },
		"garbled": func(tx kv.Tx, b kv.Bucket, key, value []byte) {
			for i := range value {
				value[i] ^= 0x55
			}
			tx.Put(b, key, value)
		},
	}
	refused := make(map[string]int)
	for how, harm := range damage {
		for name, do := range operations {
			for _, later := range []time.Duration{0, 2 * time.Minute} {
				for _, b := range buckets {
					for i := range used(t).size(b) {
						f := used(t)
						is.New(t).NoErr(f.db.Update(t.Context(), func(tx kv.Tx) error {
							key, value := pair(tx, b, i)
							if len(value) > 1 || how == "removed" {
								harm(tx, b, key, value)
							}
							return nil
						}))
						f.reopen(func() time.Time { return present().Add(later) })
						before := f.content()
						err := do(t.Context(), f)
						what := fmt.Sprintf("%s %d %s, %s after %v: %v", b, i, how, name, later, err)
						switch {
						case err == nil:
						case strings.Contains(err.Error(), "panic"):
							t.Fatal(what)
						default:
							refused[name]++
							if !maps.Equal(before, f.content()) {
								t.Fatal(what, ": it wrote something")
							}
						}
					}
				}
			}
		}
	}
	for name := range operations {
		if refused[name] == 0 {
			t.Errorf("no damage kept %q from anything", name)
		}
	}
}

// present is the time as it comes back from the ledger.
func present() time.Time { return time.Now().UTC().Round(0) }
