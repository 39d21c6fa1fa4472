// Package adminserver carries out the calls of package imagegen/client/admin. [Local] does so on an opened database.
// [NewServer] offers Local on a server's unix socket, and [Ops] over HTTP to programs with operator keys. [Open] gives
// a command whichever it can reach, the socket or the database.
//
// The audit trail names the actor: a context from [AsCommand], the peer of the socket, or an operator key. The
// package has no rules of its own about users, keys and credits; those are in packages account and engine and in the
// ledger. It adds the words that operators read: errors say what happened, and what to do. After ErrDisk, or when the
// connection to a server breaks, the outcome of a change is unknown.
package adminserver

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/imagegend/imagegend/cmd/imagegend/internal/backups"
	"github.com/imagegend/imagegend/cmd/imagegend/internal/data"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/client/admin"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/imagegend/imagegend/imagegen/engine"
	"github.com/imagegend/imagegend/imagegen/webhook"
)

// Local carries calls out on an opened database. In a server, the socket and the operators' programs call it; a command
// without a server calls it itself. The engine need not be started: nothing that Local does waits for one of its
// loops. All fields are set before the first call and do not change. It is safe for concurrent use.
type Local struct {
	Engine *engine.Engine
	DB     data.Store

	Console   string // address of the console, with a slash at the end; "": not known here
	NoConsole bool   // the console is turned off

	Money console.Money // zero: the settings of serve are not known here

	Backing *backups.Schedule // nil: no scheduled backups are made

	Webhooks *webhook.Deliverer // nil: there are none, or no server
}

var _ admin.Caller = (*Local)(nil)

// Call implements [admin.Caller].
func (l *Local) Call(ctx context.Context, name, _ string, in, out any) error {
	all := l.calls()
	i := slices.IndexFunc(all, func(c call) bool { return c.name == name })
	if i < 0 {
		return fmt.Errorf("there is no call %q", name)
	}
	return all[i].do(ctx, in, out)
}

// calls are all calls, each with the function that carries it out.
func (l *Local) calls() []call {
	accounts := l.Engine.Accounts()
	return []call{
		on(admin.CreateUser, l.createUser),
		on(admin.ListUsers, l.listUsers),
		on(admin.SetAccountType, l.setAccountType),
		on(admin.SetNotifyBelow, l.setNotifyBelow),
		on(admin.SetSponsor, l.setSponsor),
		on(admin.ListMembers, l.listMembers),
		on(admin.DisableUser, l.changing(accounts.DisableUser)),
		on(admin.SuspendUser, l.changing(accounts.SuspendUser)),
		on(admin.ResumeUser, l.changing(accounts.ResumeUser)),
		on(admin.RemovePasskeys, l.changing(l.removePasskeys)),
		on(admin.InviteUser, l.inviteUser),
		on(admin.CreateKey, l.createKey),
		on(admin.ListKeys, l.listKeys),
		on(admin.RevokeKey, l.revokeKey),
		on(admin.LimitKey, l.limitKey),
		on(admin.CreateOpsKey, l.createOpsKey),
		on(admin.ListOpsKeys, l.listOpsKeys),
		on(admin.RevokeOpsKey, l.revokeOpsKey),
		on(admin.GrantCredits, l.grantCredits),
		on(admin.RevokeCredits, l.revokeCredits),
		on(admin.ListLots, l.listLots),
		on(admin.ListEntries, l.listEntries),
		on(admin.SumUsage, l.sumUsage),
		on(admin.SumTotals, l.sumTotals),
		on(admin.ListGenerations, l.listGenerations),
		on(admin.GetGeneration, l.getGeneration),
		on(admin.EraseGeneration, l.eraseGeneration),
		on(admin.ListDisputes, l.listDisputes),
		on(admin.ResolveDispute, l.resolveDispute),
		on(admin.ListTrail, l.listTrail),
		on(admin.ListEvents, l.listEvents),
		on(admin.ListWebhooks, l.listWebhooks),
		on(admin.TestWebhook, l.testWebhook),
		on(admin.ResendWebhook, l.resendWebhook),
		on(admin.Audit, l.audit),
		stream(admin.Backup, l.Backup),
		on(admin.GetBackups, l.getBackups),
		on(admin.GetReadiness, l.getReadiness),
		on(admin.GetClock, l.getClock),
		on(admin.ConfirmClock, l.confirmClock),
	}
}

// call is an [admin.Call] or an [admin.Download] without its types. Pointers to requests and answers are any here.
type call struct {
	name  string
	scope account.Scope
	in    func() any           // an empty request
	out   func() any           // an empty answer; nil: the answer is a stream
	ref   func(in any) *string // where a request holds its reference; nil: the call has none
	do    func(ctx context.Context, in, out any) error
}

// on connects a call with the function that carries it out.
func on[In, Out any](c admin.Call[In, Out], do func(context.Context, In) (Out, error)) call {
	served := call{name: c.Name, scope: c.Scope, in: func() any { return new(In) }, out: func() any { return new(Out) },
		do: func(ctx context.Context, in, out any) (err error) {
			*out.(*Out), err = do(ctx, *in.(*In))
			return err
		}}
	if c.Ref != nil {
		served.ref = func(in any) *string { return c.Ref(in.(*In)) }
	}
	return served
}

// stream connects a download with the function that carries it out.
func stream(d admin.Download, do func(context.Context, io.Writer) error) call {
	return call{name: d.Name, scope: d.Scope, do: func(ctx context.Context, _, out any) error {
		return do(ctx, out.(io.Writer))
	}}
}
