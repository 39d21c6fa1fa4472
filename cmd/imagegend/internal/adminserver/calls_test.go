package adminserver_test

import (
	"bytes"
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/adminserver"
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/storage"
)

// Each call that is declared is carried out, under its name.
func TestEveryDeclaredCallIsCarriedOut(t *testing.T) {
	is := is.New(t)
	files, err := filepath.Glob("../../../../imagegen/client/admin/*.go")
	is.NoErr(err)
	var declared []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		is.NoErr(err)
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				declared = append(declared, names(t, g)...)
			}
		}
	}
	carriedOut := adminserver.Names(open(t, t.TempDir()))
	slices.Sort(declared)
	slices.Sort(carriedOut)
	is.Equal(cmp.Diff(declared, carriedOut), "")
}

// names returns the values of the fields Name in a declaration.
func names(t *testing.T, d ast.Decl) (found []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		if kv, ok := n.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "Name" {
				name, err := strconv.Unquote(kv.Value.(*ast.BasicLit).Value)
				is.New(t).NoErr(err)
				found = append(found, name)
			}
		}
		return true
	})
	return found
}

// An operator key can make the calls of its scopes and no others. A call without a scope does not exist over HTTP.
func TestScopeOfEachCall(t *testing.T) {
	local := open(t, t.TempDir())
	scopes := map[account.Scope][]string{
		account.ScopeRead: {"users", "keys", "lots", "history", "generations", "disputes", "trail", "readiness",
			"clock", "backups", "usage", "totals", "members", "events", "webhooks"},
		account.ScopeUsers: {"create-user", "set-account-type", "set-notify-below",
			"suspend-user", "resume-user", "disable-user"},
		account.ScopeKeys:    {"create-key", "limit-key", "revoke-key"},
		account.ScopeCredits: {"grant", "revoke", "set-sponsor"},
		account.ScopeData: {"generation", "erase-generation", "resolve-dispute", "audit", "backup", "confirm-clock",
			"test-webhook", "resend-webhook"},
		account.ScopeAll: {"invite-user"},
	}
	for _, scope := range account.ScopeNames() {
		h := allowing(local, account.Scopes(scope))
		for _, call := range adminserver.Names(local) {
			want := http.StatusForbidden
			switch exists := slices.ContainsFunc(account.ScopeNames(), func(s account.Scope) bool {
				return slices.Contains(scopes[s], call)
			}); {
			case !exists:
				want = http.StatusNotFound
			case call == "backup" && (scope == account.ScopeData || scope == account.ScopeAll):
				want = http.StatusOK // it reads no body
			case scope == account.ScopeAll || slices.Contains(scopes[scope], call):
				want = http.StatusBadRequest // for its body
			}
			if status, said := ask(h, call, "?"); status != want {
				t.Errorf("%s with the scope %s: status %d, want %d: %.100s", call, scope, status, want, said)
			}
		}
	}
}

// allowing answers operators' programs, whose key has these scopes.
func allowing(l *adminserver.Local, scopes account.Scopes) http.Handler {
	o := &adminserver.Ops{Local: l, Log: slog.New(slog.DiscardHandler),
		Verify: func(context.Context, string) (account.OperatorKey, error) {
			return account.OperatorKey{Scopes: scopes}, nil
		},
		Address: func(*http.Request) (netip.Addr, error) { return netip.MustParseAddr("127.0.0.1"), nil }}
	return o.Handler()
}

// A key that is revoked while the body of a call arrives carries nothing out.
func TestKeyIsRevokedWhileItsCallArrives(t *testing.T) {
	is := is.New(t)
	local := open(t, t.TempDir())
	var revoked atomic.Bool
	o := &adminserver.Ops{Local: local, Log: slog.New(slog.DiscardHandler),
		Verify: func(context.Context, string) (account.OperatorKey, error) {
			if revoked.Load() {
				return account.OperatorKey{}, imagegen.ErrInvalidKey
			}
			return account.OperatorKey{Scopes: "users"}, nil
		},
		Address: func(*http.Request) (netip.Addr, error) { return netip.MustParseAddr("127.0.0.1"), nil }}
	body, more := io.Pipe()
	go func() {
		io.WriteString(more, `{"name":`)
		revoked.Store(true)
		io.WriteString(more, `"alice"}`)
		more.Close()
	}()
	r := httptest.NewRequest(http.MethodPost, adminserver.OpsPath+"create-user", body)
	r.Header.Set("Authorization", "Bearer img_ops_x")
	w := httptest.NewRecorder()
	o.Handler().ServeHTTP(w, r)
	is.Equal(w.Code, http.StatusUnauthorized)
	users, err := admin.ListUsers.Do(t.Context(), local, admin.None{})
	is.NoErr(err)
	is.Equal(len(users), 0)
}

// client is one of a server over HTTP.
func client(t *testing.T, h http.Handler) *admin.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := admin.New(server.URL, "img_ops_x", nil)
	is.New(t).NoErr(err)
	return c
}

// A program makes a backup over HTTP, and notices one that is not whole.
func TestBackupOverHTTP(t *testing.T) {
	is, ctx := is.New(t), t.Context()
	local := open(t, t.TempDir())
	_, err := admin.CreateUser.Do(ctx, local, admin.NewUser{Name: "alice"})
	is.NoErr(err)
	c := client(t, programs(local))
	var archive bytes.Buffer
	is.NoErr(admin.Backup.Do(ctx, c, &archive))
	is.NoErr(storage.Restore(ctx, &archive, t.TempDir()+"/restored"))

	local.DB = failing{local.DB}
	refused(t, admin.Backup.Do(ctx, c, io.Discard), "an image could", "not be read")
	c = client(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write(make([]byte, 1<<20))
		panic(http.ErrAbortHandler)
	}))
	refused(t, admin.Backup.Do(ctx, c, io.Discard), "the backup broke off")
	c = client(t, allowing(local, "read"))
	var answer *admin.Error
	is.True(errors.As(admin.Backup.Do(ctx, c, io.Discard), &answer))
	is.Equal(answer.Status, http.StatusForbidden)
}
