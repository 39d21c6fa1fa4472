package adminserver_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// A refusal of the ledger has another status than a failure: a repeated call is refused again.
func TestARefusalOfTheLedgerIsFinal(t *testing.T) {
	for err, want := range map[error]int{
		fmt.Errorf("the ledger refuses: %w", imagegen.ErrChargeConflict):      http.StatusUnprocessableEntity,
		fmt.Errorf("the ledger refuses: %w", imagegen.ErrInsufficientCredits): http.StatusUnprocessableEntity,
		fmt.Errorf("it failed: %w", imagegen.ErrNotApplied):                   http.StatusInternalServerError,
		fmt.Errorf("it failed: %w", errors.New("no route to host")):           http.StatusInternalServerError,
	} {
		status, _ := adminserver.StatusOf(http.StatusUnprocessableEntity, err)
		is.New(t).Equal(status, want)
	}
}

// A failure has another status than a refusal by a rule: a program repeats the first, and gives the second up.
func TestAFailureIsNotFinal(t *testing.T) {
	for _, err := range []error{
		imagegen.ErrNotApplied, imagegen.ErrStopping, storage.ErrStopped, storage.ErrCorrupt, context.Canceled,
		fmt.Errorf("%w: %w", imagegen.ErrNotApplied, storage.ErrStopped), // how the storage refuses a write
		errors.Join(errors.New("no audit"), errors.New("no row")),
		errors.New("ledger: an entry is missing; run an audit"),
	} {
		status, code := adminserver.StatusOf(http.StatusUnprocessableEntity, err)
		if status != http.StatusInternalServerError || code != string(imagegen.CodeInternal) {
			t.Errorf("%v: %d %s", err, status, code)
		}
	}
}

// A rule that says no is final, in its own words.
func TestARuleIsFinal(t *testing.T) {
	local := open(t, t.TempDir())
	h := programs(local)
	_, err := admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "alice"})
	is.New(t).NoErr(err)
	_, err = admin.CreateUser.Do(t.Context(), local, admin.NewUser{Name: "bob"})
	is.New(t).NoErr(err)
	_, err = admin.DisableUser.Do(t.Context(), local, "bob")
	is.New(t).NoErr(err)
	for _, test := range []struct{ call, body, want string }{
		{"create-user", `{"name":"alice"}`, "exists already"},
		{"create-key", `{"user":"bob","name":"k"}`, "disabled"},
		{"invite-user", `{"user":"bob"}`, "disabled"},
		{"revoke-key", `"img_live_x"`, "KEY_ID"},
		{"resolve-dispute", `{"generation":"gen_x"}`, "no generation"},
	} {
		status, said := ask(h, test.call, test.body)
		if status != http.StatusUnprocessableEntity || !strings.Contains(said, test.want) ||
			!strings.Contains(said, `"code":"refused"`) {
			t.Errorf("%s: %d %s", test.call, status, said)
		}
	}
	for call, body := range map[string]string{"grant": `{"user":"alice","credits":0}`,
		"revoke": `{"user":"alice","credits":9}`} {
		r := httptest.NewRequest(http.MethodPost, adminserver.OpsPath+call, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer img_ops_x")
		r.Header.Set("Idempotency-Key", "one")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		is.New(t).Equal(w.Code, http.StatusUnprocessableEntity)
	}
	local.NoConsole = true
	status, said := ask(h, "invite-user", `{"user":"alice"}`)
	is.New(t).Equal(status, http.StatusUnprocessableEntity)
	is.New(t).True(strings.Contains(said, "no console"))
}
