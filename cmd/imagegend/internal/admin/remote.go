package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
)

// remote is the Service of a running server, reached through its socket. The server's errors arrive as its words,
// without their type; only ErrDisk is told apart. A call has no time limit but that of its context. remote is safe
// for concurrent use.
type remote struct{ http http.Client }

var _ Service = (*remote)(nil)

// newRemote returns a remote that connects to a socket at its first call. Close releases its connections.
func newRemote(socket string) *remote {
	var d net.Dialer
	return &remote{http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return d.DialContext(ctx, "unix", socket) },
	}}}
}

// Close releases idle connections. Calls under way go on.
func (r *remote) Close() error {
	r.http.CloseIdleConnections()
	return nil
}

// post sends a call and returns the answer if its status is 200; the caller then closes its body. Another status whose
// body is no error of this interface means that the server does not know the call.
func (r *remote) post(ctx context.Context, method string, in any) (*http.Response, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://imagegend/"+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("the running server did not answer: %w", err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	var f failure
	if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error == "" {
		return nil, fmt.Errorf("the running server does not know %q: it is of another version than this command", method)
	}
	if f.Disk {
		return nil, ErrDisk // in the same words as without a server
	}
	return nil, errors.New(f.Error)
}

// call sends a call and decodes the answer. If the connection breaks, it is unknown whether the server carried the
// call out.
func call[Out any](ctx context.Context, r *remote, method string, in any) (out Out, err error) {
	resp, err := r.post(ctx, method, in)
	if err != nil {
		return out, err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return out, fmt.Errorf("the running server broke off its answer: %w", err)
	}
	return out, nil
}

func (r *remote) CreateUser(ctx context.Context, u NewUser) (User, error) {
	return call[User](ctx, r, createUser, u)
}

func (r *remote) Users(ctx context.Context) ([]User, error) {
	return call[[]User](ctx, r, users, none{})
}

func (r *remote) SetAccountType(ctx context.Context, t AccountType) (User, error) {
	return call[User](ctx, r, setAccountType, t)
}

func (r *remote) DisableUser(ctx context.Context, name string) (User, error) {
	return call[User](ctx, r, disableUser, name)
}

func (r *remote) RemovePasskeys(ctx context.Context, name string) (User, error) {
	return call[User](ctx, r, removePasskeys, name)
}

func (r *remote) SuspendUser(ctx context.Context, name string) (User, error) {
	return call[User](ctx, r, suspendUser, name)
}

func (r *remote) ResumeUser(ctx context.Context, name string) (User, error) {
	return call[User](ctx, r, resumeUser, name)
}

func (r *remote) InviteUser(ctx context.Context, i Invitation) (Link, error) {
	return call[Link](ctx, r, inviteUser, i)
}

func (r *remote) CreateKey(ctx context.Context, k NewKey) (RawKey, error) {
	return call[RawKey](ctx, r, createKey, k)
}

func (r *remote) Keys(ctx context.Context, user string) ([]Key, error) {
	return call[[]Key](ctx, r, keys, user)
}

func (r *remote) RevokeKey(ctx context.Context, id string) (Key, error) {
	return call[Key](ctx, r, revokeKey, id)
}

func (r *remote) CreateOpsKey(ctx context.Context, k NewOpsKey) (RawOpsKey, error) {
	return call[RawOpsKey](ctx, r, createOpsKey, k)
}

func (r *remote) OpsKeys(ctx context.Context) ([]OpsKey, error) {
	return call[[]OpsKey](ctx, r, opsKeys, none{})
}

func (r *remote) RevokeOpsKey(ctx context.Context, id string) (OpsKey, error) {
	return call[OpsKey](ctx, r, revokeOpsKey, id)
}

func (r *remote) LimitKey(ctx context.Context, l KeyLimit) (Key, error) {
	return call[Key](ctx, r, limitKey, l)
}

func (r *remote) Usage(ctx context.Context, q UsageQuery) (UsageReport, error) {
	return call[UsageReport](ctx, r, usage, q)
}

func (r *remote) Grant(ctx context.Context, g Grant) (Granted, error) {
	return call[Granted](ctx, r, grant, g)
}

func (r *remote) Revoke(ctx context.Context, v Revocation) (Revoked, error) {
	return call[Revoked](ctx, r, revoke, v)
}

func (r *remote) Lots(ctx context.Context, user string) ([]Lot, error) {
	return call[[]Lot](ctx, r, lots, user)
}

func (r *remote) History(ctx context.Context, p HistoryPage) ([]Entry, error) {
	return call[[]Entry](ctx, r, history, p)
}

func (r *remote) Generations(ctx context.Context, q GenerationQuery) ([]GenerationLine, error) {
	return call[[]GenerationLine](ctx, r, generations, q)
}

func (r *remote) Generation(ctx context.Context, id string) (Generation, error) {
	return call[Generation](ctx, r, generation, id)
}

func (r *remote) EraseGeneration(ctx context.Context, id string) error {
	_, err := call[none](ctx, r, eraseGeneration, id)
	return err
}

func (r *remote) Disputes(ctx context.Context) ([]Dispute, error) {
	return call[[]Dispute](ctx, r, disputes, none{})
}

func (r *remote) Resolve(ctx context.Context, how Resolution) (Dispute, error) {
	return call[Dispute](ctx, r, resolveDispute, how)
}

func (r *remote) Trail(ctx context.Context, q TrailQuery) (TrailPage, error) {
	return call[TrailPage](ctx, r, trail, q)
}

func (r *remote) Audit(ctx context.Context) (imagegen.AuditReport, error) {
	return call[imagegen.AuditReport](ctx, r, audit, none{})
}

// Backup: only a stream that ends with an empty trailer is a whole archive.
func (r *remote) Backup(ctx context.Context, w io.Writer) error {
	resp, err := r.post(ctx, backup, none{})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("the backup broke off: %w", err)
	}
	if text := resp.Trailer.Get(errorTrailer); text != "" {
		return errors.New(text)
	}
	return nil
}

func (r *remote) Backups(ctx context.Context) (Backups, error) {
	return call[Backups](ctx, r, backupStatus, none{})
}

func (r *remote) Readiness(ctx context.Context) (Readiness, error) {
	return call[Readiness](ctx, r, readiness, none{})
}

func (r *remote) Clock(ctx context.Context) (Clock, error) {
	return call[Clock](ctx, r, clock, none{})
}

func (r *remote) ConfirmClock(ctx context.Context) error {
	_, err := call[none](ctx, r, confirmClock, none{})
	return err
}
