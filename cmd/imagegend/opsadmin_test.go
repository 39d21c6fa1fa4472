package main_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/daemontest"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// administered is a daemon whose operators' programs call it over HTTP.
func administered(t *testing.T) *daemontest.Daemon {
	t.Helper()
	return daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0", "--ops-admin",
		"--log-format", "json"}})
}

// opsKey makes an operator key with these scopes.
func opsKey(d *daemontest.Daemon, scopes string, args ...string) (id, raw string) {
	var made struct{ ID, Key string }
	if err := json.Unmarshal([]byte(d.Admin(append([]string{"ops-key", "create", "a program", "--scope", scopes,
		"--json"}, args...)...)), &made); err != nil {
		panic(err)
	}
	return made.ID, made.Key
}

func operator(t *testing.T, d *daemontest.Daemon, raw string) *admin.Client {
	t.Helper()
	c, err := admin.New(d.OpsURL(), raw, nil)
	is.New(t).NoErr(err)
	return c
}

// refused checks with which status and code a call was refused.
func refused(t *testing.T, err error, status int, code string) {
	t.Helper()
	e, ok := errors.AsType[*admin.Error](err)
	if !ok || e.Status != status || e.Code != code || e.Message == "" {
		t.Errorf("got %#v (%v), want %d %s", e, err, status, code)
	}
}

// A program does what an operator does, each grant once, and the audit trail names its key.
func TestAdministrationOverHTTP(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	d := administered(t)
	id, raw := opsKey(d, "read,users,keys,credits")
	c := operator(t, d, raw)

	u, err := admin.CreateUser.Do(ctx, c, admin.NewUser{Name: "alice"})
	is.NoErr(err)
	_, err = admin.CreateUser.Do(ctx, c, admin.NewUser{Name: "alice"})
	refused(t, err, http.StatusUnprocessableEntity, "refused")
	for _, repeated := range []bool{false, true, true} {
		granted, err := admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 100, Ref: "evt_1"})
		is.NoErr(err)
		is.Equal(granted.Repeated, repeated)
		is.Equal(int(granted.Balance), 100)
		is.Equal(granted.Lot.Ref, "evt_1")
	}
	_, err = admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 101, Ref: "evt_1"})
	refused(t, err, http.StatusConflict, "idempotencyKeyReused")
	_, err = admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 100})
	refused(t, err, http.StatusBadRequest, "invalid_request")
	_, err = admin.GrantCredits.Do(ctx, c, admin.Grant{User: "nobody", Credits: 100, Ref: "evt_2"})
	refused(t, err, http.StatusNotFound, "notFound")
	for range 2 {
		taken, err := admin.RevokeCredits.Do(ctx, c, admin.Revocation{User: "alice", Credits: 30, Ref: "refund_1"})
		is.NoErr(err)
		is.Equal(int(taken.Balance), 70)
	}
	key, err := admin.CreateKey.Do(ctx, c, admin.NewKey{User: "alice", Name: "laptop"})
	is.NoErr(err)
	limits := admin.KeyLimits{Credits: 1, Daily: 20, Monthly: 30, Concurrent: 4}
	limited, err := admin.LimitKey.Do(ctx, c, admin.KeyLimit{ID: key.ID, Limits: limits})
	is.NoErr(err)
	is.Equal(limited.Limits, limits)
	for _, status := range []int{http.StatusOK, http.StatusPaymentRequired} { // the limit is reached
		is.Equal(d.Call(daemontest.Generate(key.Raw, map[string]any{"model": "fake-1", "prompt": "a fox"})).Status,
			status)
	}
	report, err := admin.SumUsage.Do(ctx, c, admin.UsageQuery{User: "alice",
		By: []imagegen.UsageGroup{imagegen.UsageByKey}})
	is.NoErr(err)
	is.Equal(report.Rows, []admin.UsageRow{{Key: &key.ID, Charged: 1, Spent: 1, Images: 1, Generations: 1}})
	report, err = admin.SumUsage.Do(ctx, c, admin.UsageQuery{User: "alice",
		From: admin.Day{Time: time.Now().AddDate(0, 0, -9)}, To: admin.Day{Time: time.Now().AddDate(0, 0, -8)}})
	is.NoErr(err)
	is.True(len(report.Rows) == 0 && report.To.Sub(report.From.Time) == 24*time.Hour)
	_, err = admin.SumUsage.Do(ctx, c, admin.UsageQuery{User: "alice", By: []imagegen.UsageGroup{"moon"}})
	refused(t, err, http.StatusBadRequest, "invalid_request")
	_, err = admin.LimitKey.Do(ctx, c, admin.KeyLimit{ID: "key_unknown", Limits: limits})
	refused(t, err, http.StatusNotFound, "notFound")
	_, err = admin.RevokeKey.Do(ctx, c, key.ID)
	is.NoErr(err)
	keys, err := admin.ListKeys.Do(ctx, c, "alice")
	is.NoErr(err)
	is.True(len(keys) == 1 && !keys[0].RevokedAt.IsZero() && keys[0].ExpiresAt.IsZero())
	lots, err := admin.ListLots.Do(ctx, c, "alice")
	is.NoErr(err)
	is.Equal(int(lots[0].Remaining), 69)
	pro, err := admin.SetAccountType.Do(ctx, c, admin.AccountType{User: "alice", Type: "PRO2"})
	is.NoErr(err)
	is.Equal(pro.ID, u.ID)
	held, err := admin.SuspendUser.Do(ctx, c, "alice")
	is.NoErr(err)
	is.True(!held.SuspendedAt.IsZero())
	held, err = admin.ResumeUser.Do(ctx, c, "alice")
	is.NoErr(err)
	is.True(held.SuspendedAt.IsZero())
	_, err = admin.DisableUser.Do(ctx, c, "alice")
	is.NoErr(err)
	all, err := admin.ListUsers.Do(ctx, c, admin.None{})
	is.NoErr(err)
	is.True(len(all) == 1 && !all[0].DisabledAt.IsZero())

	trail := d.Admin("trail", "--actor", "ops:"+id)
	says(t, trail, "user.create", "credit.grant", "credit.revoke", "key.create", "key.revoke", "user.suspend",
		"user.resume", "user.disable", "127.0.0.1")
	is.Equal(strings.Count(trail, "credit.grant"), 2) // one was done, one refused
	d.Clean(t)
	is.Equal(d.Terminate(drainLimit), 0)
	says(t, d.Output(), `"route":"/admin/v1/grant"`, `"key_id":"`+id+`"`)
	is.True(!strings.Contains(d.Output(), raw))
}

// A body that a call does not take is refused whole, and the error says what it takes.
func TestBodiesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := administered(t)
	d.Admin("user", "create", "alice")
	_, raw := opsKey(d, "all")
	const grant = `the body of grant is JSON such as {"user":"","credits":0,"promo":false,"priority":0,"expires_at":null,"ref":""}: `
	for _, test := range []struct{ call, body, want string }{
		{"grant", ``, grant + "the request body is empty; send a JSON object"},
		{"grant", `{"user":"alice","credit":1}`, grant + `unknown field "credit"`},
		{"grant", `{"user":"alice","credits":1}{"user":"alice","credits":2}`, grant +
			"the JSON body is malformed at byte 28: expected nothing after the object"},
		{"grant", `{"user":"alice","credits":1,"credits":5000}`, grant + `"credits" was sent twice`},
		{"grant", `{"user":"alice","credits":1,"Credits":5000}`, grant + `unknown field "Credits"`},
		{"grant", `{"user":"alice","credit\u017f":5000}`, grant + `unknown field "creditſ"`},
		{"create-key", `{"user":"alice","limits":{"credits":1,"credits":5000}}`, `"credits" was sent twice`},
		{"keys", `{"user":"alice"}`, `the body of keys is JSON such as "": cannot unmarshal object`},
		{"users", ``, "the body of users is JSON such as {}: the request body is empty; send a JSON object"},
	} {
		r, err := http.NewRequest(http.MethodPost, d.OpsURL()+"/admin/v1/"+test.call, strings.NewReader(test.body))
		is.NoErr(err)
		r.Header.Set("Authorization", "Bearer "+raw)
		r.Header.Set("Idempotency-Key", "evt_1")
		answer, err := http.DefaultClient.Do(r)
		is.NoErr(err)
		var refused struct {
			Error struct{ Message, Code string }
		}
		is.NoErr(errors.Join(json.NewDecoder(answer.Body).Decode(&refused), answer.Body.Close()))
		is.Equal(answer.StatusCode, http.StatusBadRequest)
		is.Equal(refused.Error.Code, "invalid_request")
		says(t, refused.Error.Message, test.want)
	}
	r, err := http.NewRequest(http.MethodPost, d.OpsURL()+"/admin/v1/users", strings.NewReader("\x1f\x8b"))
	is.NoErr(err)
	r.Header.Set("Authorization", "Bearer "+raw)
	r.Header.Set("Content-Encoding", "gzip")
	answer, err := http.DefaultClient.Do(r)
	is.NoErr(err)
	compressed, err := io.ReadAll(answer.Body)
	is.NoErr(errors.Join(err, answer.Body.Close()))
	is.Equal(answer.StatusCode, http.StatusUnsupportedMediaType)
	says(t, string(compressed), `"code":"unsupportedEncoding"`, "gzip")
	for name, status := range map[string]int{"Authorization": http.StatusUnauthorized,
		"Idempotency-Key": http.StatusBadRequest} {
		r, err := http.NewRequest(http.MethodPost, d.OpsURL()+"/admin/v1/grant",
			strings.NewReader(`{"user":"alice","credits":1}`))
		is.NoErr(err)
		r.Header = http.Header{"Authorization": {"Bearer " + raw}, "Idempotency-Key": {"evt_1"}}
		r.Header.Add(name, "another")
		answer, err := http.DefaultClient.Do(r)
		is.NoErr(err)
		answer.Body.Close()
		is.Equal(answer.StatusCode, status)
	}
	is.Equal(d.Admin("credit", "lots", "--user", "alice", "--json"), "[]\n")
}

// A key does what its scopes say, until it is revoked or has expired; without one there is nothing.
func TestOperatorKeysOverHTTP(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	d := administered(t)
	d.Admin("user", "create", "alice")
	id, raw := opsKey(d, "credits")
	c := operator(t, d, raw)
	_, err := admin.ListUsers.Do(ctx, c, admin.None{})
	refused(t, err, http.StatusForbidden, "forbidden")
	_, err = admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 1, Ref: "evt_1"})
	is.NoErr(err)
	d.Admin("ops-key", "revoke", id)
	_, err = admin.GrantCredits.Do(ctx, c, admin.Grant{User: "alice", Credits: 1, Ref: "evt_2"})
	refused(t, err, http.StatusUnauthorized, "invalidApiKey")
	// Making keys needs a scope of its own, since a key can read what its user has asked for.
	_, users := opsKey(d, "users,read,credits")
	_, keys := opsKey(d, "keys")
	key, err := admin.CreateKey.Do(ctx, operator(t, d, keys), admin.NewKey{User: "alice", Name: "laptop"})
	is.NoErr(err)
	_, err = admin.CreateKey.Do(ctx, operator(t, d, users), admin.NewKey{User: "alice", Name: "laptop"})
	refused(t, err, http.StatusForbidden, "forbidden")
	_, err = admin.LimitKey.Do(ctx, operator(t, d, users), admin.KeyLimit{ID: key.ID, Limits: admin.KeyLimits{}})
	refused(t, err, http.StatusForbidden, "forbidden")
	_, short := opsKey(d, "all", "--expires-in", "3s")
	until(t, "the key has expired", func() bool {
		_, err = admin.ListUsers.Do(ctx, operator(t, d, short), admin.None{})
		return err != nil
	})
	refused(t, err, http.StatusUnauthorized, "expiredApiKey")

	_, all := opsKey(d, "all")
	for path, want := range map[string]map[string]int{ // by key
		"/admin/v1/users":          {"": 401, "img_live_x": 401, all: 200},
		"/admin/v1/create-ops-key": {"": 401, all: 404}, // no key makes keys
		"/admin/v1/ops-keys":       {all: 404},
		"/admin/v1/nothing":        {all: 404},
		"/debug/pprof/goroutine":   {"": 401, raw: 401, all: 200},
	} {
		for key, status := range want {
			method, body := http.MethodPost, "{}"
			if strings.HasPrefix(path, "/debug") {
				method = http.MethodGet
			}
			r, err := http.NewRequest(method, d.OpsURL()+path, strings.NewReader(body))
			is.NoErr(err)
			if key != "" {
				r.Header.Set("Authorization", "Bearer "+key)
			}
			answer, err := http.DefaultClient.Do(r)
			is.NoErr(err)
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if answer.StatusCode != status {
				t.Errorf("%s: status %d, want %d", path, answer.StatusCode, status)
			}
		}
	}
	body, status := d.FromSocket("/debug/pprof/goroutine?debug=1")
	is.Equal(status, http.StatusOK)
	says(t, body, "goroutine profile")
	is.Equal(d.Call(daemontest.Request{Method: "POST", Path: "/admin/v1/users", Key: all, Body: struct{}{}}).Status,
		http.StatusNotFound) // not on the public address
}

// A trusted proxy speaks TLS in front of it; and without the flag there is no such interface.
func TestOperatorsInterfaceIsPrivate(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--ops-admin", "--ops-addr", "0.0.0.0:0",
		"--trusted-proxy", "10.0.0.7"}})
	is.Equal(d.Terminate(drainLimit), 0)
	d = daemontest.Start(t, daemontest.Options{Args: []string{"--ops-addr", "127.0.0.1:0"}})
	_, raw := opsKey(d, "all")
	_, err := admin.ListUsers.Do(t.Context(), operator(t, d, raw), admin.None{})
	is.True(err != nil)
}

// Where others can reach the address, it speaks TLS with the service's certificate, and nothing else.
func TestOperatorsInterfaceOverTLS(t *testing.T) {
	t.Parallel()
	is, ctx := is.New(t), t.Context()
	a := newAuthority(t)
	certFile, keyFile := a.issue(t.TempDir(), 2)
	d := daemontest.Start(t, daemontest.Options{Args: []string{"--tls-cert", certFile, "--tls-key", keyFile,
		"--ops-addr", "0.0.0.0:0", "--ops-admin"}, TLS: a.trust()})
	d.Admin("user", "create", "alice")
	_, raw := opsKey(d, "all")
	is.True(strings.HasPrefix(d.OpsURL(), "https://"))
	_, port, err := net.SplitHostPort(strings.TrimPrefix(d.OpsURL(), "https://"))
	is.NoErr(err)
	here := "https://127.0.0.1:" + port

	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: a.trust(), DisableKeepAlives: true}}
	c, err := admin.New(here, raw, trusting)
	is.NoErr(err)
	users, err := admin.ListUsers.Do(ctx, c, admin.None{})
	is.NoErr(err)
	is.Equal(len(users), 1)
	for _, path := range []string{"/metrics", "/healthz"} {
		answer, err := trusting.Get(here + path)
		is.NoErr(err)
		answer.Body.Close()
		is.Equal(answer.StatusCode, http.StatusOK)
	}

	stranger, err := admin.New(here, raw,
		&http.Client{Transport: &http.Transport{TLSClientConfig: newAuthority(t).trust(), DisableKeepAlives: true}})
	is.NoErr(err)
	_, err = admin.ListUsers.Do(ctx, stranger, admin.None{}) // who does not know the certificate sends no key
	is.True(err != nil)
	plain, err := admin.New(strings.Replace(here, "https://", "http://", 1), raw, nil)
	is.NoErr(err)
	_, err = admin.ListUsers.Do(ctx, plain, admin.None{})
	e, ok := errors.AsType[*admin.Error](err)
	is.True(ok && e.Status == http.StatusBadRequest)
	is.Equal(d.Terminate(drainLimit), 0)
}

// The example grants what a signed webhook says was paid for, once, however often it is delivered.
func TestPaymentsExample(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	d := administered(t)
	d.Admin("user", "create", "alice")
	_, raw := opsKey(d, "credits")
	program := filepath.Join(t.TempDir(), "payments")
	build := exec.Command("go", "build", "-o", program, "../../examples/payments")
	out, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := nobody(t)
	run := exec.Command(program)
	run.Env = append(os.Environ(), "ADDR="+address, "IMAGEGEND_OPS_URL="+d.OpsURL(), "IMAGEGEND_OPS_KEY="+raw,
		"WEBHOOK_SECRET=whsec_1")
	is.NoErr(run.Start())
	t.Cleanup(func() { run.Process.Kill(); run.Wait() })

	event := []byte(`{"id":"evt_1","type":"checkout.session.completed","data":{"object":{"payment_status":"paid","metadata":{"user":"alice","credits":"100"}}}}`)
	deliver := func(secret string, at time.Time) (status int) {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), event)
		until(t, "the example listens", func() bool {
			r, err := http.NewRequest(http.MethodPost, "http://"+address+"/webhook", bytes.NewReader(event))
			is.NoErr(err)
			r.Header.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil))))
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return false
			}
			answer.Body.Close()
			status = answer.StatusCode
			return true
		})
		return status
	}
	is.Equal(deliver("of somebody else", time.Now()), http.StatusUnauthorized)
	is.Equal(deliver("whsec_1", time.Now().Add(-time.Hour)), http.StatusUnauthorized)
	says(t, d.Admin("user", "list"), "alice")
	for range 3 {
		is.Equal(deliver("whsec_1", time.Now()), http.StatusOK)
	}
	history := d.Admin("credit", "history", "--user", "alice")
	is.Equal(strings.Count(history, "grant"), 1)
	says(t, history, "+100", "evt_1", "ops:opk_")
}
