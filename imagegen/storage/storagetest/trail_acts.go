package storagetest

import (
	"context"
	"reflect"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
)

// act is a call of a method that an operator or a user brings about, and the row that it leaves.
type act struct {
	method string
	row    account.TrailRow
	do     func(ctx context.Context) error
}

// acts go one after the other. Each time, what a method changes is something.
func (r *trail) acts() []act {
	hash := [32]byte{1}
	invitation := account.Invitation{Hash: hash, User: "usr_1", Role: account.RoleOperator,
		ExpiresAt: epoch.Add(time.Hour)}
	row := func(a account.Act, target string, before, after string) account.TrailRow {
		return account.TrailRow{Act: a, Target: target, User: "usr_1", Before: before, After: after}
	}
	return []act{
		{"CreateUser", row(account.ActUserCreate, "usr_1", "", `name="Alice A" account_type=FREE`),
			func(ctx context.Context) error {
				return r.CreateUser(ctx, imagegen.User{ID: "usr_1", Name: "Alice A", AccountType: "FREE"})
			}},
		{"SetAccountType", row(account.ActUserSet, "usr_1", "account_type=FREE", "account_type=PRO"),
			func(ctx context.Context) error {
				return r.SetAccountType(ctx, "usr_1", "PRO")
			}},
		{"CreateKey", row(account.ActKeyCreate, "key_1", "",
			"name=laptop prefix=img_live_abc expires_at=2026-01-03T00:00:00Z"), func(ctx context.Context) error {
			return r.CreateKey(ctx, imagegen.Key{ID: "key_1", User: "usr_1", Name: "laptop", Prefix: "img_live_abc",
				Hash: hash, ExpiresAt: time.Date(2026, 1, 3, 0, 0, 0, 0, time.UTC)})
		}},
		{"SetKeyLimits", row(account.ActKeyLimit, "key_1", "credits=0 daily_credits=0 monthly_credits=0 at_once=0",
			"name=laptop prefix=img_live_abc credits=5 daily_credits=0 monthly_credits=0 at_once=2"),
			func(ctx context.Context) error {
				_, err := r.SetKeyLimits(ctx, "key_1", imagegen.KeyLimits{Credits: 5, Concurrent: 2})
				return err
			}},
		{"RevokeKey", row(account.ActKeyRevoke, "key_1", "", "name=laptop prefix=img_live_abc revoked_at="+
			epoch.Format(time.RFC3339)), func(ctx context.Context) error {
			_, err := r.RevokeKey(ctx, "key_1", epoch)
			return err
		}},
		{"CreateOperatorKey", ofNobody(row(account.ActOperatorKeyCreate, "opk_1", "",
			"name=payments prefix=img_ops_abc scopes=credits,read expires_at="+
				epoch.Add(time.Hour).Format(time.RFC3339))), func(ctx context.Context) error {
			return r.CreateOperatorKey(ctx, operatorKey("opk_1", 1))
		}},
		{"RevokeOperatorKey", ofNobody(row(account.ActOperatorKeyRevoke, "opk_1", "",
			"name=payments prefix=img_ops_abc revoked_at="+epoch.Format(time.RFC3339))),
			func(ctx context.Context) error {
				_, err := r.RevokeOperatorKey(ctx, "opk_1", epoch)
				return err
			}},
		{"Grant", row(account.ActCreditGrant, "usr_1", "balance=0",
			"balance=10 credits=10 ref=g promo=false priority=50"), func(ctx context.Context) error {
			_, err := r.Grant(ctx, imagegen.Grant{User: "usr_1", Credits: 10, Ref: "g"})
			return err
		}},
		{"Revoke", row(account.ActCreditRevoke, "usr_1", "balance=10", "balance=0 credits=-10 ref=r"),
			func(ctx context.Context) error {
				_, err := r.Revoke(ctx, imagegen.Revocation{User: "usr_1", Credits: 10, Ref: "r"})
				return err
			}},
		{"CreateInvitation", row(account.ActUserInvite, "usr_1", "", "role=operator expires_at="+
			invitation.ExpiresAt.Format(time.RFC3339)), func(ctx context.Context) error {
			return r.CreateInvitation(ctx, invitation)
		}},
		{"TakeInvitation", row(account.ActUserAccept, "usr_1", "role=operator expires_at="+
			invitation.ExpiresAt.Format(time.RFC3339), ""), func(ctx context.Context) error {
			_, err := r.TakeInvitation(ctx, hash, epoch)
			if err == imagegen.ErrNotFound { // a repetition finds it gone
				return nil
			}
			return err
		}},
		{"SetLogin", row(account.ActUserPassword, "usr_1", "password=none", "role=operator password=new"),
			func(ctx context.Context) error {
				return r.SetLogin(ctx, account.Login{User: "usr_1", Role: account.RoleOperator,
					Password: "$argon2id$hash"})
			}},
		{"SetLogin", row(account.ActUserPassword, "usr_1", "role=operator password=set", "role=user password=set"),
			func(ctx context.Context) error {
				return r.SetLogin(ctx, account.Login{User: "usr_1", Role: account.RoleUser, Password: "$argon2id$hash"})
			}},
		{"CreateSignIn", row(account.ActSignIn, "usr_1", "", `agent="a browser"`), func(ctx context.Context) error {
			return r.CreateSignIn(ctx, signIn(1, "usr_1", epoch))
		}},
		{"EndSignIns", row(account.ActSignOut, "usr_1", "browsers=1", ""), func(ctx context.Context) error {
			return r.EndSignIns(ctx, "usr_1")
		}},
		{"SuspendUser", row(account.ActUserSuspend, "usr_1", "account_type=PRO", "account_type=PRO suspended_at="+
			epoch.Format(time.RFC3339)), func(ctx context.Context) error {
			return r.SuspendUser(ctx, "usr_1", epoch)
		}},
		{"ResumeUser", row(account.ActUserResume, "usr_1", "account_type=PRO suspended_at="+epoch.Format(time.RFC3339),
			"account_type=PRO"), func(ctx context.Context) error {
			return r.ResumeUser(ctx, "usr_1")
		}},
		{"CreateUser", account.TrailRow{Act: account.ActUserCreate, Target: "usr_2", User: "usr_2",
			After: "name=school account_type=FREE"}, func(ctx context.Context) error {
			return r.CreateUser(ctx, imagegen.User{ID: "usr_2", Name: "school", AccountType: "FREE"})
		}},
		{"CreateMember", account.TrailRow{Act: account.ActUserCreate, Target: "usr_3", User: "usr_3",
			After: "name=school/zoe sponsor=usr_2"}, func(ctx context.Context) error {
			return r.CreateMember(ctx, imagegen.User{ID: "usr_3", Name: "school/zoe", Sponsor: "usr_2"}, 1)
		}},
		{"SetAccountType", account.TrailRow{Act: account.ActUserSet, Target: "usr_3", User: "usr_3",
			Before: "sponsor=usr_2", After: "account_type=PRO sponsor=usr_2"}, func(ctx context.Context) error {
			return r.SetAccountType(ctx, "usr_3", "PRO")
		}},
		{"SetSponsor", row(account.ActUserSponsor, "usr_1", "account_type=PRO",
			"account_type=PRO sponsor=usr_2 credits=0 daily_credits=3 monthly_credits=0 at_once=0"),
			func(ctx context.Context) error {
				return r.SetSponsor(ctx, "usr_1", "usr_2", imagegen.KeyLimits{Daily: 3})
			}},
		{"SetSponsor", row(account.ActUserSponsor, "usr_1",
			"account_type=PRO sponsor=usr_2 credits=0 daily_credits=3 monthly_credits=0 at_once=0", "account_type=PRO"),
			func(ctx context.Context) error { return r.SetSponsor(ctx, "usr_1", "", imagegen.KeyLimits{}) }},
		{"CreatePasskey", row(account.ActPasskeyCreate, "usr_1", "", "name=laptop"), func(ctx context.Context) error {
			return r.CreatePasskey(ctx, passkey("a", "usr_1", epoch))
		}},
		{"RemovePasskeys", row(account.ActPasskeyRemove, "usr_1", "name=laptop", ""), func(ctx context.Context) error {
			_, err := r.RemovePasskeys(ctx, "usr_1")
			return err
		}},
		{"CreateIdentity", row(account.ActIdentityCreate, "usr_1", "", "issuer=https://id.example subject=a"),
			func(ctx context.Context) error {
				return r.CreateIdentity(ctx, account.Identity{Issuer: "https://id.example", Subject: "a",
					User: "usr_1"})
			}},
		{"RemoveIdentity", row(account.ActIdentityRemove, "usr_1", "issuer=https://id.example subject=a", ""),
			func(ctx context.Context) error {
				return r.RemoveIdentity(ctx, "usr_1", "https://id.example")
			}},
		{"DisableUser", row(account.ActUserDisable, "usr_1", "account_type=PRO", "account_type=PRO disabled_at="+
			epoch.Format(time.RFC3339)), func(ctx context.Context) error {
			return r.DisableUser(ctx, "usr_1", epoch)
		}},
	}
}

// ofNobody is a row about something that belongs to no user.
func ofNobody(row account.TrailRow) account.TrailRow {
	row.User = ""
	return row
}

// Each act leaves one row, that says who did what; a repetition changes nothing, and leaves none.
func testEveryAct(r *trail) {
	for _, a := range r.acts() {
		r.pass(time.Second)
		news := r.news(func() {
			for range 2 {
				r.is.NoErr(a.do(r.by(olivia)))
			}
		})
		want := a.row
		want.Seq, want.Time, want.Actor, want.Outcome, want.Count = uint64(len(r.rows(account.TrailQuery{}))), r.now(),
			olivia, account.TrailDone, 1
		if d := diff([]account.TrailRow{want}, news); d != "" {
			r.t.Errorf("%s: %s", a.method, d)
		}
	}
}

// noActs are methods that only read, or that nobody brings about: what work does, and what time does.
var noActs = []string{
	"User", "UserByName", "Users",
	"KeyByHash", "Keys", "TouchKeys",
	"OperatorKeyByHash", "OperatorKeys",
	"Login", "Operators", "SignIn", "SignIns", "TouchSignIn", "ConfirmSignIn", "EndSignInsAged", "Invitation",
	"Secret", "Mark",
	"Passkeys", "UsePasskey", "Identity", "UserIdentity",
	"Charge", "Settle", "Balance", "Lots", "Holdings", "History", "Usage", "EachUsage", "KeyUse", "MemberUse", "Today",
}

// A method that is new to an interface of administration is an act that is recorded, or is known to be none.
func testNothingForgotten(r *trail) {
	known := map[string]bool{}
	for _, name := range noActs {
		known[name] = true
	}
	for _, a := range r.acts() {
		known[a.method] = true
	}
	for _, i := range []reflect.Type{reflect.TypeFor[imagegen.AccountStore](), reflect.TypeFor[account.LoginStore](),
		reflect.TypeFor[account.OperatorKeyStore](), reflect.TypeFor[imagegen.CreditAdmin]()} {
		for m := range i.NumMethod() {
			if name := i.Method(m).Name; !known[name] {
				r.t.Errorf("%s.%s is neither tested as an act nor known to be none", i.Name(), name)
			}
		}
	}
}
